/* origin.h: remembers where a trace comes from, and how messages name it. A trace named on the
 * command line may have been joined, cut or merged. The result is in memory then, and its path says
 * nothing to a user. */
#ifndef CLI_ORIGIN_H
#define CLI_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the name of the trace at `path` in messages. */
const char *origin_name(const char *path);

/* Returns the words that name it in a command line, valid until the next call. */
const char *origin_command_words(const char *path);

/* Returns the words that give a report the same part of it: with --last if that was used. Valid
 * until the next call. */
const char *origin_report_words(const char *path);

/* Returns whether it is in memory, so that other processes have no such file. */
bool origin_is_memory(const char *path);

/* Returns whether it is a window of a longer trace. Blocks at its very start were allocated
 * earlier. */
bool origin_is_window(const char *path);

/* Returns the word of the command line that it was made from, or `path` if it was not made. */
const char *origin_source(const char *path);

/* Returns the first of the segments that were joined to it; NULL: none were. */
const char *origin_joined(const char *path);

/* The functions below store their results for the life of the process. */

/* Remembers the words of the command line that name all traces together. */
void origin_keep_words(char *const *words, size_t n);

/* Remembers that of each trace only the last microseconds are wanted. */
void origin_keep_last(uint64_t us);

/* Registers the trace in `fd` as made from `word`. Returns its path, or NULL if there is no
 * memory. */
char *origin_made(const char *word, int fd);

/* Registers the trace in `fd` as the combination of all `n` traces; `what` is the plural for
 * messages. `segment` is the first segment if segments were joined, else NULL. Returns its path. */
char *origin_combined(size_t n, const char *what, const char *segment, int fd);

#endif
