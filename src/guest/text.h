/* text.h: numbers and names as reports show them. */
#ifndef GUEST_TEXT_H
#define GUEST_TEXT_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>

#include "query/estimate.h"

enum { TEXT_NUMBER = 96 }; /* bytes for any number below, with the NUL */

/* Writes a size such as 400KB, with three digits and a decimal unit. */
void text_size(char *to, double bytes);

/* Write exact numbers as they are, estimates with their error. */
void text_count(char *to, estimate e);
void text_bytes(char *to, estimate e);

/* Makes this thread's LC_CTYPE UTF-8, which determines the width of characters, if the system has
 * it, and the other categories C. The result must be passed to text_restore, which undoes this. */
locale_t text_use_utf8(void);
void text_restore(locale_t before);

/* Whether one of the comma-separated patterns matches the whole text. */
bool text_matches(const char *patterns, const char *s);

/* Returns the start of the shortest suffix of `path`, at a component, that no other path has. */
size_t text_unique_suffix(const char *path, const char *const *others, size_t n);

#endif
