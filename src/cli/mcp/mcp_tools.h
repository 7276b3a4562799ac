/* mcp_tools.h: the tools that `allotrace mcp` offers. Each is a command of allotrace, with
 * parameters that become its words. Paths are confined to the allowed folders. */
#ifndef CLI_MCP_MCP_TOOLS_H
#define CLI_MCP_MCP_TOOLS_H

#include <jansson.h>
#include <stdbool.h>

enum { MCP_WORDS = 64, MCP_FOLDERS = 16, MCP_REASON = 256 };

typedef struct mcp_limits {
    char *folders[MCP_FOLDERS]; /* resolved paths; relative paths in arguments are relative to the
                                   first */
    size_t n_folders;
    bool allow_run;
} mcp_limits;

/* The words of a command line for mcp_child_start, terminated by NULL. */
typedef struct mcp_words {
    char *items[MCP_WORDS + 1];
    size_t n;
} mcp_words;

typedef struct mcp_tool mcp_tool;

/* Returns the result of `tools/list`, or NULL if there is no memory. */
json_t *mcp_tools_list(const mcp_limits *limits);

/* Returns NULL if there is no such tool, or the limits do not allow it. */
const mcp_tool *mcp_tool_find(const mcp_limits *limits, const char *name);

/* Makes the command line of a call. The caller frees `words` in any case. Returns false, with the
 * cause in `reason`, if an argument is wrong. */
bool mcp_tool_words(const mcp_tool *t, const mcp_limits *limits, json_t *arguments,
                    mcp_words *words, char reason[MCP_REASON]);
void mcp_words_free(mcp_words *words);

/* Makes the tool's answer from the command's output. The caller frees the result. NULL: the output
 * is the answer. */
char *mcp_tool_answer(const mcp_tool *t, const mcp_limits *limits, json_t *arguments,
                      const char *printed);

#endif
