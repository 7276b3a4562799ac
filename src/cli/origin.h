/* origin.h: of what a trace is that a command reads, and what messages call it. What a command line
 * names may have been joined, cut or merged before: that is in memory then, and its path says
 * nothing. */
#ifndef CLI_ORIGIN_H
#define CLI_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>

/* What messages call the trace at `path`. */
const char *origin_name(const char *path);

/* What a command line names it by; until it is asked for another one. */
const char *origin_words(const char *path);

/* Whether it is in memory: no file of that name is there for others. */
bool origin_is_memory(const char *path);

/* Whether it is a window of a longer one: what stands at its very start lived then, and was
 * allocated before. */
bool origin_is_window(const char *path);

/* The word of the command line that it was made of; `path` if it was not made. */
const char *origin_word(const char *path);

/* The first of the segments that were joined to it; NULL: none were. */
const char *origin_joined(const char *path);

/* What follows is remembered for as long as the process. */

/* That all traces together are called by these words. */
void origin_keep_words(char *const *words, size_t n);

/* Returns the path of what `fd` holds, and was made of this word; NULL: no memory. */
char *origin_made(const char *word, int fd);

/* The same of what is all traces together: `n` of what `what` says. Of segments that were joined,
 * the first one; else NULL. */
char *origin_combined(size_t n, const char *what, const char *segment, int fd);

#endif
