/* run_check.h: whether a program can be recorded, told before it starts. */
#ifndef CLI_RUN_RUN_CHECK_H
#define CLI_RUN_RUN_CHECK_H

#include <limits.h>
#include <stdbool.h>

#include "import/import_go.h"

typedef struct run_check {
    bool recordable;
    bool is_static;              /* the recorder has to be put into it: see attach/enter.h */
    bool is_go;                  /* Go's own heap can be read, also if nothing else is recordable:
                                    see run_go.h */
    go_program go;               /* if so */
    import_error no_go;          /* why not, for a program of Go's; an empty reason: it is none */
    char program[PATH_MAX];      /* the file that will run: for a script, its interpreter */
    char reason[PATH_MAX + 160]; /* unless recordable: why, as the second half of a sentence */
    const char *instead;         /* what to do about it; NULL: nothing is known */
} run_check;

/* Looks at what `command` (a path, or a name to be found in $PATH) would start. What cannot be
 * found or read counts as recordable: to refuse it is the kernel's business. */
void run_check_command(run_check *check, const char *command);

/* Finds the file of a program, by its path or in $PATH. False: there is none that can be executed.
 */
bool run_check_find(const char *command, char path[PATH_MAX]);

#endif
