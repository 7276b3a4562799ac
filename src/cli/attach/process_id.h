/* process_id.h: parses a process id given as an operand. */
#ifndef CLI_ATTACH_PROCESS_ID_H
#define CLI_ATTACH_PROCESS_ID_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/number.h"

static inline bool process_id_parse(const char *text, pid_t *pid) {
    uint64_t number;
    if (number_parse_whole(text, &number) != NUMBER_WHOLE || number == 0 || number > INT_MAX)
        return false;
    *pid = (pid_t)number;
    return true;
}

#endif
