/* agent_find.h: which processes of this machine a rule of the agent is meant for. */
#ifndef CLI_AGENT_AGENT_FIND_H
#define CLI_AGENT_AGENT_FIND_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/agent/agent_config.h"

typedef struct found_process {
    pid_t pid;
    uint64_t start;         /* clock ticks after boot: together with the pid, the process */
    uid_t uid;              /* its effective user */
    const agent_rule *rule; /* the first that fits */
    char program[NAME_MAX + 1];
} found_process;

typedef VEC(found_process) found_processes;

/* Looks at all processes; those that run allotrace are none. False when there is no memory, or
 * nothing is to be seen. */
bool agent_find(const agent_config *c, found_processes *found);

/* When a process began; 0: there is none. */
uint64_t agent_find_start(pid_t pid);

#endif
