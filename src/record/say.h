/* say.h: the only way in which the recorder speaks to the user while the program runs: single lines
 * on standard error, `allotrace: …`, when recording cannot start or has to end. */
#ifndef RECORD_SAY_H
#define RECORD_SAY_H

#include <stdbool.h>

/* Remembers which file standard error is. If the program closes descriptor 2 and reuses it, nothing
 * is written there. */
void say_init(void);

/* Writes "allotrace: SUBJECT: MESSAGE" and, unless os_error is 0, ": " and the system's description
 * of os_error. Returns false if nothing could be written. */
bool say_to_user(const char *subject, const char *message, int os_error);

#endif
