/* mcp_tools.h: the tools that `allotrace mcp` offers, as data: each is a command of allotrace with
 * parameters that become its words. Paths are confined to folders. */
#ifndef CLI_MCP_MCP_TOOLS_H
#define CLI_MCP_MCP_TOOLS_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>

enum { MCP_WORDS = 64, MCP_FOLDERS = 16, MCP_REASON = 256 };

typedef struct mcp_limits {
    char *folders[MCP_FOLDERS]; /* without links and dots; relative paths start at the first */
    size_t n_folders;
    bool allow_run;
} mcp_limits;

/* The words of a command line, for mcp_child_start; NULL at the end. */
typedef struct mcp_words {
    char *items[MCP_WORDS + 1];
    size_t n;
} mcp_words;

typedef struct mcp_tool mcp_tool;

/* For `tools/list`; NULL: no memory. */
json_t *mcp_tools_list(const mcp_limits *limits);

/* NULL: there is none that these limits allow. */
const mcp_tool *mcp_tool_find(const mcp_limits *limits, const char *name);

/* Fills `words`, to be freed in any case. False: `reason` says which argument is wrong, and how. */
bool mcp_tool_words(const mcp_tool *t, const mcp_limits *limits, json_t *arguments,
                    mcp_words *words, char reason[MCP_REASON]);
void mcp_words_free(mcp_words *words);

/* What the tool says of what the command printed: NULL: just that. To be freed. */
char *mcp_tool_answer(const mcp_tool *t, const mcp_limits *limits, json_t *arguments,
                      const char *printed);

#endif
