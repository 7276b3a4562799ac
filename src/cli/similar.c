/* similar.c: see similar.h. */
#include "cli/similar.h"

#include <string.h>

#include "cli/message.h"
#include "cli/options.h"

enum { LONGEST_NAME = 64 };

/* What comes before a name in a longer one, and from where on it is no longer of it. */
typedef struct name_shape {
    const char *before, *behind;
} name_shape;

static const name_shape shapes[] = {[FILTER_NAME_FUNCTION] = {":. ", "(<"},
                                    [FILTER_NAME_FILE] = {"/", ""},
                                    [FILTER_NAME_TYPE] = {":. ", "(<"}};

/* How far a name is from what was asked for, as a whole and by its parts; what a function takes
 * does not count. No other is nearer than one of which it is a part in other letters. */
static size_t distance_of(const name_shape *shape, const char *text, const char *wanted) {
    char name[LONGEST_NAME];
    size_t size = strcspn(text, shape->behind);
    while (size > 0 && strchr(shape->before, text[size - 1]))
        size--;
    if (strcasestr(text, wanted))
        return 0;
    if (size == 0 || size >= sizeof name)
        return SIZE_MAX;
    memcpy(name, text, size);
    name[size] = '\0';
    size_t least = options_distance(name, wanted);
    for (char *rest = name, *part; (part = strsep(&rest, shape->before));) {
        const size_t distance = options_distance(part, wanted);
        least = distance < least ? distance : least;
    }
    return least;
}

static size_t names_in(const profile *p, filter_name_of of) {
    return of == FILTER_NAME_TYPE ? p->frames.count : p->locations.count;
}

static const char *name_at(const profile *p, filter_name_of of, size_t i) {
    const char *text = of == FILTER_NAME_TYPE   ? p->frames.items[i].type
                       : of == FILTER_NAME_FILE ? p->locations.items[i].file
                                                : p->locations.items[i].function;
    return text ? text : "";
}

/* Of several that are as near, the one with the shortest name is shown. */
static void hint_at_nearest(const profile *p, filter_name_of of, const char *wanted) {
    const char *best = NULL;
    size_t least = strlen(wanted) / 4; /* a letter in four may be wrong */
    for (size_t i = 0; i < names_in(p, of); i++) {
        const char *text = name_at(p, of, i);
        const size_t distance = distance_of(&shapes[of], text, wanted);
        if (distance < least || (distance == least && (!best || strlen(text) < strlen(best)))) {
            best = text;
            least = distance;
        }
    }
    if (best)
        message_hint("there is `%s`", best);
}

void similar_hint(const profile *p, const char *wanted) {
    hint_at_nearest(p, FILTER_NAME_FUNCTION, wanted);
}

static bool is_known(const profile *p, const filter_name *name) {
    for (size_t i = 0; i < names_in(p, name->of); i++) {
        const char *text = name_at(p, name->of, i);
        if (name->whole ? strcmp(text, name->text) == 0 : strstr(text, name->text) != NULL)
            return true;
    }
    return false;
}

void similar_hint_filter(const profile *p, const filter *f) {
    filter_name name;
    for (size_t i = 0; f && filter_plain_name(f, i, &name); i++)
        if (!is_known(p, &name))
            hint_at_nearest(p, name.of, name.text);
}
