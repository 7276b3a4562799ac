/* shell.h: words for command lines that users copy. */
#ifndef BASE_SHELL_H
#define BASE_SHELL_H

/* Returns the word as a shell needs it, in single quotes if necessary. The caller frees it. Returns
 * NULL when there is no memory. */
char *shell_word(const char *word);

#endif
