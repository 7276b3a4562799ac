/* process_id.h: the id of a process as an operand. */
#ifndef CLI_PROCESS_ID_H
#define CLI_PROCESS_ID_H

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/types.h>

static inline bool process_id_parse(const char *text, pid_t *pid) {
    char *end;
    long number = strtol(text, &end, 10);
    *pid = (pid_t)number;
    return *text >= '0' && *text <= '9' && !*end && number > 0 && number <= INT_MAX;
}

#endif
