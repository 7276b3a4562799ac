/* mcp_source.h: shows lines of a source file with the share allocated on each. */
#ifndef CLI_MCP_MCP_SOURCE_H
#define CLI_MCP_MCP_SOURCE_H

/* `report` is the JSON of `hotspots` by line. Shows `around` lines before and after `line`; 0: the
 * line that allocates most. The caller frees the result. Returns NULL if there is no memory. */
char *mcp_source(const char *path, const char *report, long long line, long long around);

#endif
