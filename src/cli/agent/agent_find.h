/* agent_find.h: finds the processes of this machine that a rule of the agent matches. */
#ifndef CLI_AGENT_AGENT_FIND_H
#define CLI_AGENT_AGENT_FIND_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/agent/agent_config.h"

typedef struct found_process {
    pid_t pid;
    uint64_t start;         /* clock ticks after boot; identifies the process together with the
                               pid */
    uid_t uid;              /* its effective user */
    const agent_rule *rule; /* the first rule that matches */
    char program[NAME_MAX + 1];
} found_process;

typedef VEC(found_process) found_processes;

/* Finds all matching processes, except those that run allotrace. Returns false if there is no
 * memory, or /proc cannot be read. */
bool agent_find(const agent_config *c, found_processes *found);

/* Returns when a process started; 0: there is no such process, or it has ended. */
uint64_t agent_find_start(pid_t pid);

#endif
