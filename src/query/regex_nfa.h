/* regex_nfa.h: extended regular expressions of POSIX, on bytes, with the GNU escapes (\w, \<, ...)
 * and without back references. An expression from an untrusted source, such as a client of the
 * viewer, cannot use much memory, nor more time than its size times that of the text; regcomp and
 * regexec do not guarantee that. An expression is compiled to at most NFA_MAX steps, and a match
 * allocates nothing. */
#ifndef QUERY_REGEX_NFA_H
#define QUERY_REGEX_NFA_H

#include <stdbool.h>
#include <stddef.h>

enum { NFA_MAX = 500 };

typedef struct regex_nfa regex_nfa;

/* Returns 0 or a code of <regex.h> for regerror; REG_ESIZE if the expression is too large. On
 * success the caller frees `*nfa`. */
int regex_nfa_compile(regex_nfa **nfa, const char *pattern);
void regex_nfa_free(regex_nfa *nfa); /* NULL is allowed */

/* Whether some part of the text matches. Any number of threads may call it at once. */
bool regex_nfa_match(const regex_nfa *nfa, const char *text);

#endif
