/* shell.h: words for command lines that users copy. */
#ifndef BASE_SHELL_H
#define BASE_SHELL_H

/* Returns the word as a shell needs it, in single quotes if necessary. The caller frees it. Returns
 * NULL when there is no memory. */
char *shell_word(const char *word);

/* Returns `words`, which may be NULL and is freed, with another word behind. The caller frees the
 * result. Returns NULL when there is no memory. */
char *shell_add_word(char *words, const char *word);

#endif
