/* run_check.h: tells before a program starts whether it can be recorded. */
#ifndef CLI_RUN_RUN_CHECK_H
#define CLI_RUN_RUN_CHECK_H

#include <limits.h>
#include <stdbool.h>

#include "import/import_go.h"

typedef struct run_check {
    bool recordable;
    bool is_static;              /* the recorder has to be injected: see attach/enter.h */
    bool is_go;                  /* the profile of Go's own heap can be read, even if nothing else
                                    can be recorded: see run_go.h */
    go_program go;               /* valid if is_go */
    import_error no_go;          /* why the heap of a Go program cannot be read; an empty reason:
                                    not a Go program */
    char program[PATH_MAX];      /* the file that will be executed: for a script, its interpreter */
    char reason[PATH_MAX + 160]; /* if not recordable: why, as the second half of a sentence */
    const char *instead;         /* what the user can do about it; NULL: unknown */
} run_check;

/* Looks at the program that `name` (a path, or a name to be found in $PATH) would start. A program
 * that cannot be found or read counts as recordable: reporting that is left to execve. */
void run_check_command(run_check *check, const char *name);

/* Says in one line why the program runs without being recorded, or is recorded only in part. Says
 * nothing if it is recorded completely. */
void run_check_say(const run_check *check);

/* Reports in one line if and why the program cannot be recorded by a library, and returns whether
 * it can be. `preload`, the recorder's file or "", becomes a path that LD_PRELOAD can carry.
 * `entering` becomes the path of the library to be injected into a static program; it stays empty
 * for others. Of a Go program, *go tells how to read its heap. */
bool run_check_recordable(const char *program, char preload[PATH_MAX], char entering[PATH_MAX],
                          go_program *go);

/* Reports the result of injecting the recorder into a static program. `outcome` continues a
 * sentence that starts with the program's name. */
void run_check_say_entered(const char *program, bool is_entered, const char *outcome);

/* Finds the file of a program, by its path or in $PATH. Returns false if there is none that can be
 * executed. */
bool run_check_find(const char *name, char path[PATH_MAX]);

#endif
