/* say.h: the one way in which the recorder speaks to the user while the program runs: single lines
 * on standard error, `allotrace: …`, when recording cannot start or has to end. */
#ifndef RECORD_SAY_H
#define RECORD_SAY_H

#include <stdbool.h>

/* Remembers which file standard error is, so that a descriptor 2 that the program has closed and
 * used for something else never gets a line of ours. */
void say_init(void);

/* False if nobody can hear us. "allotrace: SUBJECT: MESSAGE" and ": the system's word for os_error"
 * unless that is 0. */
bool say_to_user(const char *subject, const char *message, int os_error);

#endif
