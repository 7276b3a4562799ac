/* shell.h: words for command lines that people copy. */
#ifndef BASE_SHELL_H
#define BASE_SHELL_H

/* The word as shells take it: in single quotes if it needs any. The caller frees it; NULL: there is
 * no memory. */
char *shell_word(const char *word);

#endif
