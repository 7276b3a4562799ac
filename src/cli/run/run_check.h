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

/* Looks at what `name` (a path, or a name to be found in $PATH) would start. What cannot be
 * found or read counts as recordable: to refuse it is the kernel's business. */
void run_check_command(run_check *check, const char *name);

/* Says in one line why it runs without being recorded, or only in part; nothing if neither. */
void run_check_say(const run_check *check);

/* What has come of putting the recorder into a static one: `said` goes on from its name. */
void run_check_say_entered(const char *program, bool is_entered, const char *said);

/* Finds the file of a program, by its path or in $PATH. False: there is none that can be executed.
 */
bool run_check_find(const char *name, char path[PATH_MAX]);

#endif
