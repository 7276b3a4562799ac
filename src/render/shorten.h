/* shorten.h: names where there is little room. The function's own name is what stays longest: its
 * arguments give way first, then the arguments of templates, then what stands around the name. */
#ifndef RENDER_SHORTEN_H
#define RENDER_SHORTEN_H

#include "profile/profile.h"
#include "render/output.h"

/* `name`, in at most `room` columns. */
void shorten_text(output *o, const char *name, size_t room);

/* `FILE:LINE FUNCTION`, or of a function with all its lines `FUNCTION (FILE)`; the folders of the
 * file give way before the name does. */
void shorten_place(output *o, const profile_location *place, bool by_line, size_t room);

#endif
