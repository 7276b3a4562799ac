/* environment.h: the environment of a program that starts without the recorder: one that a process
 * under `allotrace run` starts, where the trace is that of the first process alone. It would load
 * the recorder to find out just that. It gets its environment as it is, but for LD_PRELOAD, which
 * lacks us. Takes no memory but the caller's: exec has to work after vfork and in signal handlers.
 */
#ifndef RECORD_ENVIRONMENT_H
#define RECORD_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

enum { ENVIRONMENT_TEXT = 1024 }; /* bytes, for LD_PRELOAD without us */

/* How many entries environment_without_us needs; 0: the program gets `envp` as it is, since it may
 * record, or would not load us anyway, or there are too many. `becomes`: the calling process
 * becomes the program. */
size_t environment_room(char *const envp[], bool becomes);

/* `envp` without us, in `entries`. */
char **environment_without_us(char *const envp[], char **entries, char text[ENVIRONMENT_TEXT]);

/* Where `run` is asked to follow a program that starts with it (handover.h); NULL: nowhere, or the
 * program is not to be recorded. */
const char *environment_handover(char *const envp[]);

/* The value of a variable; NULL: it is not there. */
const char *environment_value(char *const envp[], const char *name);

#endif
