/* mcp_source.h: lines of a source file, each with what is allocated there. */
#ifndef CLI_MCP_MCP_SOURCE_H
#define CLI_MCP_MCP_SOURCE_H

/* `report` is JSON of `hotspots --by line`. `line` stands in the middle, with `around` lines before
 * and behind it; 0: the one that allocates most. To be freed; NULL: no memory. */
char *mcp_source(const char *path, const char *report, long long line, long long around);

#endif
