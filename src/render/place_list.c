/* place_list.c: places and strings are identified by address, since equal ones are interned. */
#include "render/place_list.h"

#include "query/module.h"
#include "render/column.h"

int64_t place_list_add(place_list *l, const profile_location *place) {
    uint32_t n;
    if (!place)
        return -1;
    return map64_number(&l->index, (uintptr_t)place, &n) &&
                   (n < l->places.count || vec_push(&l->places, place))
               ? (int64_t)n
               : -2;
}

int64_t place_list_string(place_list *l, const char *text) {
    uint32_t n;
    if (!text || !*text)
        return 0;
    return map64_number(&l->string_index, (uintptr_t)text, &n) &&
                   (n < l->strings.count || vec_push(&l->strings, text))
               ? (int64_t)n + 1
               : -2;
}

static const char *module_at(place_list *l, size_t i) {
    return module_name_of(&l->modules, l->places.items[i]);
}

/* Writes the strings, after numbering those of the places. */
static bool write_strings(output *o, place_list *l) {
    for (size_t i = 0; i < l->places.count; i++)
        if (place_list_string(l, l->places.items[i]->function) < 0 ||
            place_list_string(l, l->places.items[i]->file) < 0 || !module_at(l, i) ||
            place_list_string(l, module_at(l, i)) < 0)
            return false;
    output_text(o, "\"strings\":[\"\"");
    for (size_t i = 0; i < l->strings.count; i++) {
        output_char(o, ',');
        output_json(o, l->strings.items[i]);
    }
    output_char(o, ']');
    return true;
}

bool place_list_write(output *o, place_list *l, const profile *p, bool by_line,
                      const uint8_t *matches) {
    enum { ID, FUNCTION, FILE_NAME, LINE, MODULE, MATCH };
    static const char *const names[] = {"id", "function", "file", "line", "module", "match"};
    if (!write_strings(o, l))
        return false;
    output_text(o, ",\n\"places\":{");
    for (int k = ID; k <= (matches ? MATCH : MODULE); k++) {
        json_column c;
        column_start(&c, o, names[k], k == ID);
        for (size_t i = 0; i < l->places.count; i++) {
            const profile_location *place = l->places.items[i];
            size_t id = (size_t)(place - p->locations.items);
            column_integer(&c, k == ID          ? (int64_t)id
                               : k == FUNCTION  ? place_list_string(l, place->function)
                               : k == FILE_NAME ? place_list_string(l, place->file)
                               : k == LINE      ? (by_line ? place->line : 0)
                               : k == MODULE    ? place_list_string(l, module_at(l, i))
                                                : matches[id]);
        }
        column_end(&c);
    }
    output_char(o, '}');
    return true;
}

void place_list_free(place_list *l) {
    map64_free(&l->index);
    map64_free(&l->string_index);
    intern_free(&l->modules);
    vec_free(&l->places);
    vec_free(&l->strings);
}
