/* environment.h: the environment of a program that starts without the recorder. A process under
 * `allotrace run` starts such a program where only the first process is traced. With the recorder
 * preloaded, the program would load it just to find that out. It gets its environment unchanged,
 * except that LD_PRELOAD does not name the recorder. Allocates nothing: exec must work after vfork
 * and in signal handlers. */
#ifndef RECORD_ENVIRONMENT_H
#define RECORD_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

enum { ENVIRONMENT_TEXT = 1024 }; /* size in bytes of LD_PRELOAD without the recorder */

/* Returns how many entries environment_without_us needs. Returns 0 if the program gets `envp`
 * unchanged: it may record, it would not load the recorder anyway, or there are too many entries.
 * `becomes`: the calling process becomes the program. */
size_t environment_room(char *const envp[], bool becomes);

/* Writes `envp` without the recorder to `entries`, and returns them. */
char **environment_without_us(char *const envp[], char **entries, char text[ENVIRONMENT_TEXT]);

/* Returns the socket on which `run` is asked to follow a program that starts with this environment
 * (handover.h); NULL: there is none, or the program is not to be recorded. */
const char *environment_handover(char *const envp[]);

/* Returns the value of a variable; NULL: it is not set. */
const char *environment_value(char *const envp[], const char *name);

#endif
