/* mcp_child.h: runs a command of allotrace in a process of its own, and collects its output. So the
 * command can be ended at any time, and its crash affects nothing else. */
#ifndef CLI_MCP_MCP_CHILD_H
#define CLI_MCP_MCP_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/vec.h"

enum { MCP_CHILD_MOST = 4 << 20 }; /* maximum size of kept output, bytes */

typedef struct mcp_child {
    pid_t pid; /* also the id of its process group */
    int out;   /* pipe with both of its output streams; -1: the child has ended */
    int end;   /* pidfd, readable once the child has ended; its own children may still have `out`
                  open */
    VEC(char) text; /* output; a NUL follows it */
    bool cut;       /* there was more output than is kept */
    int status;     /* as from waitpid, once it has ended */
} mcp_child;

/* Runs this program with the given words, the last of which is NULL. It has no input. Returns false
 * with errno set if it cannot be started. */
bool mcp_child_start(mcp_child *c, char *const *words);

/* Reads available output. To be called when `out` or `end` is readable. Returns false if the child
 * has ended; then `status` is set. */
bool mcp_child_read(mcp_child *c);

void mcp_child_free(mcp_child *c);

#endif
