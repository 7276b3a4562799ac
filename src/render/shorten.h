/* shorten.h: shortens names to fit. The function's own name is kept longest: first its arguments
 * are dropped, then template arguments, then what surrounds the name:
 *
 *     ns::map<K, V>::insert(pair)
 *     ns::map<K, V>::insert(…)
 *     ns::map<…>::insert(…)
 *     …insert(…) */
#ifndef RENDER_SHORTEN_H
#define RENDER_SHORTEN_H

#include "profile/profile.h"
#include "render/output.h"

/* Writes `name` in at most `room` columns. */
void shorten_text(output *o, const char *name, size_t room);

/* Writes `FILE:LINE FUNCTION` or, for a function with all its lines, `FUNCTION (FILE)`. The file's
 * folders are dropped before the name is shortened. */
void shorten_place(output *o, const profile_location *place, bool by_line, size_t room);

#endif
