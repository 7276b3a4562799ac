/* text.h: numbers and names as reports show them. */
#ifndef GUEST_TEXT_H
#define GUEST_TEXT_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>

#include "query/estimate.h"

enum { TEXT_NUMBER = 96 }; /* room for any number below, with its end */

/* 400KB: decimal units, three digits. */
void text_size(char *to, double bytes);

/* Exact numbers as they are, others with their error. */
void text_count(char *to, estimate e);
void text_bytes(char *to, estimate e);

/* Makes LC_CTYPE of this thread UTF-8, by which characters have columns, if the system can, and the
 * rest C. What it returns is for text_restore, which makes all as it was. */
locale_t text_use_utf8(void);
void text_restore(locale_t before);

/* Does one of the comma-separated patterns match all of the text? */
bool text_matches(const char *patterns, const char *s);

/* How many bytes of path[0] are not needed to tell it from the others by its last parts. */
size_t text_unique_suffix(const char *path, const char *const *others, size_t n);

#endif
