/* mcp_child.h: one command of allotrace in a process of its own, whose output is kept. A command
 * can then be ended at any moment, and what it does wrong ends nothing else. */
#ifndef CLI_MCP_MCP_CHILD_H
#define CLI_MCP_MCP_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { MCP_CHILD_MOST = 4 << 20 }; /* bytes of output that are kept */

typedef struct mcp_child {
    pid_t pid;  /* also of its process group */
    int out;    /* what it writes, on either stream; -1: it has ended */
    int end;    /* can be read once it has ended; others may write to `out` still */
    char *text; /* ends with a NUL */
    size_t size, room;
    bool cut;   /* it wrote more than is kept */
    int status; /* as of wait, once it has ended */
} mcp_child;

/* Runs this program with these words, which end with NULL; it reads no input. False: there is no
 * process, and errno says why. */
bool mcp_child_start(mcp_child *c, char *const *words);

/* Takes what can be read now, once one of its descriptors can. False: it has ended, and `status` is
 * known. */
bool mcp_child_read(mcp_child *c);

void mcp_child_free(mcp_child *c);

#endif
