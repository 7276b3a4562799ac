/* module.c: the module is derived from the path. Folders that only tell where something was built
 * or installed are skipped. Sources of the C library, CPython, and Rust's and OCaml's libraries are
 * recognized by their form. Whether a module matches is decided once per location. */
#include "query/module.h"

#include <ctype.h>
#include <string.h>

#include "query/lens.h"
#include "query/libc_files.h"

/* A part of a text. */
typedef struct piece {
    const char *text;
    size_t size;
} piece;

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

static piece take_first(const char *path) {
    return (piece){.text = path, .size = strcspn(path, "/")};
}

/* ---- libraries by their sources ---------------------------------------------------------- */

static bool begins_with(piece x, const char *text) {
    const size_t size = strlen(text);
    return x.size >= size && memcmp(x.text, text, size) == 0;
}

/* Whether a file is a source of CPython, in the folder of a release or clone, or as Debian builds
 * it, next to a folder `build-…`. */
static bool is_of_cpython(const char *file) {
    static const char *const folders[] = {"/Modules/", "/Objects/", "/Python/",
                                          "/Parser/",  "/Include/", NULL};
    const bool debians = strncmp(libc_skip_dots(file), "build-", 6) == 0;
    for (const char *const *folder = folders; *folder; folder++) {
        const char *at = strstr(file, *folder);
        piece path = {.text = file, .size = at ? (size_t)(at - file) : 0};
        const piece above = take_last(&path);
        if (begins_with(above, "Python-3") || begins_with(above, "python3") ||
            begins_with(above, "cpython") || (debians && piece_is(above, "..")))
            return true;
    }
    return false;
}

static const char *library_of(const char *file) {
    if (libc_has_file(file))
        return "libc";
    if (is_of_cpython(file))
        return "cpython";
    if (strstr(file, "/include/c++/v1/"))
        return "libc++";
    return strstr(file, "/include/c++/") || strstr(file, "libstdc++-v3/") ? "libstdc++" : NULL;
}

/* Returns `alloc` of "/rustc/…/library/alloc/src/vec.rs". */
static piece rust_library(const char *file) {
    static const char below[] = "/library/";
    const char *at = strncmp(file, "/rustc/", 7) == 0 ? strstr(file, below) : NULL;
    return at ? take_first(at + sizeof below - 1) : (piece){0};
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

/* Whether a file is machine code, that is, has no extension of a source. */
static bool is_binary(piece base) {
    const char *dot = memrchr(base.text, '.', base.size);
    if (memmem(base.text, base.size, ".so.", 4))
        return true;
    if (!dot)
        return base.size > 0;
    const size_t size = base.size - (size_t)(dot + 1 - base.text);
    if (size == 0 || size > 4 || (size == 2 && memcmp(dot, ".so", 3) == 0))
        return true;
    for (size_t i = 0; i < size; i++)
        if (!isalpha((unsigned char)dot[1 + i]) && dot[1 + i] != '+')
            return true;
    return false;
}

/* Returns the first part of an OCaml name, for files that are known without a folder: `Stdlib` of
 * `Stdlib__Map.Make.bal`. */
static piece ocaml_library(const char *function) {
    size_t n = 0;
    if (!isupper((unsigned char)function[0]))
        return (piece){0};
    while (isalnum((unsigned char)function[n]) || function[n] == '\'')
        n++;
    const char next = function[n] == '_' ? function[n + 1] : '\0';
    const bool ends = function[n] == '.' || next == '_' || islower((unsigned char)next);
    return (piece){.text = function, .size = ends ? n : 0};
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
    const char *ending = memmem(base.text, base.size, ".so", 3);
    const piece bare = {.text = base.text, .size = ending ? (size_t)(ending - base.text) : 0};
    return piece_is_among(bare, known) ? bare : base;
}

static piece find(const profile_location *place) {
    const piece path = path_of(place->file);
    piece rest = path;
    const piece base = take_last(&rest), rust = rust_library(place->file);
    const char *library = library_of(place->file);
    if (library)
        return (piece){.text = library, .size = strlen(library)};
    if (base.size > 0 && is_binary(base))
        return binary_name(base);
    if (rust.size > 0)
        return rust;
    const piece folder = folder_of(path);
    const piece ocaml = ocaml_library(place->function);
    return folder.size > 0 ? folder : ocaml.size > 0 ? ocaml : base;
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
