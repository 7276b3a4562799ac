/* module.c: the module is derived from the path. Folders that only tell where something was built
 * or installed are skipped. Sources of the C library and of languages' libraries are recognized by
 * their form. Whether a module matches is decided once per location. */
#include "query/module.h"

#include <ctype.h>
#include <string.h>

#include "languages/language.h"
#include "languages/libc_files.h"
#include "query/lens.h"

typedef language_name piece;

static bool piece_is(piece x, const char *text) {
    return strlen(text) == x.size && memcmp(text, x.text, x.size) == 0;
}

static bool piece_is_among(piece x, const char *const *texts) {
    for (; *texts; texts++)
        if (piece_is(x, *texts))
            return true;
    return false;
}

/* Removes the last part of a path and returns it. */
static piece take_last(piece *path) {
    while (path->size > 0 && path->text[path->size - 1] == '/')
        path->size--;
    size_t begin = path->size;
    while (begin > 0 && path->text[begin - 1] != '/')
        begin--;
    const piece last = {.text = path->text + begin, .size = path->size - begin};
    path->size = begin;
    return last;
}

/* ---- libraries by their sources ---------------------------------------------------------- */

static const char *library_of(const char *file) {
    if (libc_has_file(file))
        return "libc";
    if (strstr(file, "/include/c++/v1/"))
        return "libc++";
    return strstr(file, "/include/c++/") || strstr(file, "libstdc++-v3/") ? "libstdc++" : NULL;
}

/* ---- folders ----------------------------------------------------------------------------- */

/* Whether a folder's name tells nothing about its files if there is another folder. */
static bool is_common(piece folder) {
    static const char *const common[] = {"src",  "lib",    "include", "source", "sources",
                                         "bits", "detail", "details", "impl",   "internal",
                                         ".",    "..",     NULL};
    return piece_is_among(folder, common);
}

static piece folder_of(piece path) {
    piece name = take_last(&path), nearest = {0};
    while ((name = take_last(&path)).size > 0) {
        if (!is_common(name))
            return name;
        if (nearest.size == 0 && name.text[0] != '.')
            nearest = name;
    }
    return nearest;
}

/* Returns where a text begins in a piece; the piece's size: nowhere. */
static size_t piece_find(piece x, const char *text) {
    const size_t n = strlen(text);
    for (size_t i = 0; i + n <= x.size; i++)
        if (piece_is((piece){.text = x.text + i, .size = n}, text))
            return i;
    return x.size;
}

/* Returns what comes after the last dot; the whole piece if there is none. */
static piece extension_of(piece base) {
    size_t begin = base.size;
    while (begin > 0 && base.text[begin - 1] != '.')
        begin--;
    return (piece){.text = base.text + begin, .size = base.size - begin};
}

/* Whether a file is machine code, that is, has no extension of a source. */
static bool is_binary(piece base) {
    const piece extension = extension_of(base);
    if (extension.size == base.size || extension.size == 0 || extension.size > 4 ||
        piece_is(extension, "so") || piece_find(base, ".so.") < base.size)
        return true;
    for (size_t i = 0; i < extension.size; i++)
        if (!isalpha((unsigned char)extension.text[i]) && extension.text[i] != '+')
            return true;
    return false;
}

/* Returns the path without a build id, such as that of `/usr/bin/perl[1a2b]`. */
static piece path_of(const char *file) {
    size_t size = strlen(file);
    const char *build = size > 0 && file[size - 1] == ']' ? strrchr(file, '[') : NULL;
    return (piece){.text = file, .size = build ? (size_t)(build - file) : size};
}

/* Returns `libc` of `libc.so.6`, for libraries whose sources also have that module; else the name
 * itself. */
static piece binary_name(piece base) {
    static const char *const known[] = {"libc", "libc++", "libstdc++", NULL};
    const piece bare = {.text = base.text, .size = piece_find(base, ".so")};
    return piece_is_among(bare, known) ? bare : base;
}

static piece find(const profile_location *place) {
    const char *library = library_of(place->file);
    if (library)
        return (piece){.text = library, .size = strlen(library)};
    const piece of_file = languages_module_of_file(place->file);
    if (of_file.size > 0)
        return of_file;
    const piece path = path_of(place->file);
    piece rest = path;
    const piece base = take_last(&rest);
    if (base.size > 0 && is_binary(base))
        return binary_name(base);
    const piece folder = folder_of(path);
    const piece of_function = languages_module_of_function(place->function);
    return folder.size > 0 ? folder : of_function.size > 0 ? of_function : base;
}

const char *module_name_of(intern_table *names, const profile_location *place) {
    const piece found = find(place);
    return intern(names, found.text ? found.text : "", found.size);
}

/* ---- who allocates ----------------------------------------------------------------------- */

enum { OF_HEAP = 1, OF_EXTERNAL = 2, KNOWN_NOT = 1, KNOWN = 2 };

typedef struct search {
    lens lens;
    intern_table names;
    uint8_t *known; /* by location */
    bool (*matches)(const void *context, const char *module);
    const void *context;
    bool failed;
} search;

static bool allocates(search *s, uint32_t node, bool external) {
    uint32_t wrapper;
    const uint32_t at = lens_site(&s->lens, node, external, &wrapper).location;
    if (at == LENS_NOWHERE)
        return s->matches(s->context, "");
    if (s->known[at] == 0) {
        const char *module = module_name_of(&s->names, &s->lens.profile->locations.items[at]);
        s->failed |= !module;
        s->known[at] = module && s->matches(s->context, module) ? KNOWN : KNOWN_NOT;
    }
    return s->known[at] == KNOWN;
}

bool module_mark_nodes(const profile *p, bool matches(const void *context, const char *module),
                       const void *context, uint8_t *nodes) {
    search s = {.known = calloc(p->locations.count + 1, 1), .matches = matches, .context = context};
    bool ok = s.known && lens_init(&s.lens, p, true, NULL);
    for (uint32_t i = 0; ok && i < cct_count(&p->tree); i++)
        nodes[i] |= (uint8_t)((allocates(&s, i, false) ? OF_HEAP : 0) |
                              (allocates(&s, i, true) ? OF_EXTERNAL : 0));
    lens_free(&s.lens);
    intern_free(&s.names);
    free(s.known);
    return ok && !s.failed;
}
