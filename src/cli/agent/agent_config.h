/* agent_config.h: the settings of `allotrace agent`, a TOML file (cli/toml.h) with a table
 * `[agent]` and tables `[[process]]`. Each `[[process]]` is a rule; the first rule that matches a
 * process says how it is recorded. */
#ifndef CLI_AGENT_AGENT_CONFIG_H
#define CLI_AGENT_AGENT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/vec.h"

/* A rule. The configuration owns the strings; NULL: not given. `command`, `arguments`, `user` and
 * `container` are patterns of fnmatch(3). */
typedef struct agent_rule {
    const char *name;
    const char *command;   /* matches the file name of the program, or the name it was called by */
    const char *arguments; /* matches the whole command line, words separated by blanks */
    const char *user;      /* matches the user's name or id */
    const char *container; /* matches a line of /proc/PID/cgroup */
    const char *token_file;
    unsigned line;           /* line of the file in which the rule begins */
    VEC(const char *) words; /* options of `attach` */
    VEC(unsigned) lines;     /* by word: where it is in the file */
} agent_rule;

typedef struct agent_config {
    const char *path;
    const char *folder; /* contains the recordings */
    const char *status; /* HOST:PORT or unix:PATH of the status server; NULL: none */
    uint64_t scan_us;   /* microseconds between scans of this machine's processes */
    uint64_t max_processes;
    bool pprof;     /* the status server also serves profiles */
    bool sys_admin; /* keep the capability CAP_SYS_ADMIN */
    VEC(agent_rule) rules;
    intern_table strings;
} agent_config;

/* Reads the settings. Returns an exit status, after reporting errors. */
int agent_config_read(agent_config *c, const char *path);
void agent_config_free(agent_config *c);

#endif
