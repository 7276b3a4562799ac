/* regex_nfa.h: extended regular expressions as POSIX has them, in bytes, with the GNU escapes (\w,
 * \<,
 * ...) and without back references: whoever sends one, be it to the viewer, can neither make it
 * take memory nor more time than its size times the text's, which regcomp and regexec let them.
 * An expression is compiled to at most NFA_MAX steps; a match takes no memory. */
#ifndef QUERY_REGEX_NFA_H
#define QUERY_REGEX_NFA_H

#include <stdbool.h>
#include <stddef.h>

enum { NFA_MAX = 500 };

typedef struct regex_nfa regex_nfa;

/* 0, or a code of <regex.h>, which regerror knows: REG_ESIZE if it is too large. On success `*nfa`
 * is the caller's to free. */
int regex_nfa_compile(regex_nfa **nfa, const char *pattern);
void regex_nfa_free(regex_nfa *nfa); /* NULL is allowed */

/* Whether some part of the text matches. Any number of threads may ask at once. */
bool regex_nfa_match(const regex_nfa *nfa, const char *text);

#endif
