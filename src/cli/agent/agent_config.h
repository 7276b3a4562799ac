/* agent_config.h: the settings of `allotrace agent`, a file of TOML (cli/toml.h): a table `[agent]`
 * and tables `[[process]]`, rules of which the first that fits a process says how it is recorded.
 */
#ifndef CLI_AGENT_AGENT_CONFIG_H
#define CLI_AGENT_AGENT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/vec.h"

/* Strings are the configuration's; NULL: not given. Those by which processes are found are
 * patterns of fnmatch(3). */
typedef struct agent_rule {
    const char *name;
    const char *command;   /* the file name of the program, or the one it was called by */
    const char *arguments; /* its whole command line, words separated by blanks */
    const char *user;      /* whose it is, a name or a number */
    const char *container; /* a line of its /proc/PID/cgroup */
    const char *token_file;
    unsigned line;           /* where the rule begins */
    VEC(const char *) words; /* options of `attach` */
} agent_rule;

typedef struct agent_config {
    const char *path;
    const char *folder; /* in which the recordings are */
    const char *status; /* HOST:PORT or unix:PATH; NULL: nobody may ask */
    uint64_t scan_us;   /* between looks at the processes of this machine */
    uint64_t max_processes;
    bool pprof;     /* who may ask for the status may ask for profiles */
    bool sys_admin; /* the capability of this name is kept */
    VEC(agent_rule) rules;
    intern_table strings;
} agent_config;

/* Returns a status, after having said what is wrong. */
int agent_config_read(agent_config *c, const char *path);
void agent_config_free(agent_config *c);

#endif
