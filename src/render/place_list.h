/* place_list.h: the names in an answer, each stored once, so that its columns hold numbers. */
#ifndef RENDER_PLACE_LIST_H
#define RENDER_PLACE_LIST_H

#include "base/intern.h"
#include "base/map64.h"
#include "base/vec.h"
#include "profile/profile.h"
#include "render/output.h"

/* The places of one answer, in order of first use, and its strings. Valid when zeroed. */
typedef struct place_list {
    map64 index, string_index;
    VEC(const profile_location *) places;
    VEC(const char *) strings; /* without the first one, which is empty */
    intern_table modules;
} place_list;

/* Returns the number of a place; -1 for NULL, -2 when there is no memory. */
int64_t place_list_add(place_list *l, const profile_location *place);
int64_t place_list_string(place_list *l, const char *text); /* 0 for NULL and "" */

/* Writes `"strings":[…],"places":{…}`. `matches`, by location, may be NULL. */
bool place_list_write(output *o, place_list *l, const profile *p, bool by_line,
                      const uint8_t *matches);
void place_list_free(place_list *l);

#endif
