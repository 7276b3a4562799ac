/* names.c: see names.h. Demangling is libiberty's. */
#include "symbolize/names.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The Itanium prefix, which Rust's older scheme shares, and that of Rust's newer one. */
static bool looks_mangled(const char *symbol) {
    return strncmp(symbol, "_Z", 2) == 0 || strncmp(symbol, "_R", 2) == 0;
}

const char *name_demangle(intern_table *strings, const char *symbol) {
    char *plain = NULL;
    if (looks_mangled(symbol))
        plain = cplus_demangle(symbol, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI);
    const char *name = plain ? plain : symbol;
    name = intern(strings, name, strlen(name));
    free(plain);
    return name;
}

/* Appends the parts of `path` to `out`, which holds a normalised path without a slash at its end;
 * returns the new end. A path that is not absolute keeps the `..` that lead out of it. */
static char *append_parts(char *out, char *end, const char *path, bool absolute) {
    while (*path) {
        size_t n = strcspn(path, "/");
        bool up = n == 2 && path[0] == '.' && path[1] == '.';
        char *slash = end > out ? memrchr(out, '/', (size_t)(end - out)) : NULL;
        const char *last = slash ? slash + 1 : out;
        bool can_rise = end > out && !(end - last == 2 && memcmp(last, "..", 2) == 0);
        if (up && (can_rise || absolute)) {
            end = slash ? slash : out;
        } else if (n && !(n == 1 && path[0] == '.')) {
            if (absolute || end > out)
                *end++ = '/';
            end = mempcpy(end, path, n);
        }
        path += n;
        path += *path == '/';
    }
    return end;
}

/* Whether a relative folder stands in front of the file already, as it does for some files of a
 * unit that was compiled with its paths mapped to relative ones. */
static bool has_folder(const char *file, const char *folder) {
    size_t size = strlen(folder);
    return size && strncmp(file, folder, size) == 0 && file[size] == '/';
}

const char *name_path(intern_table *strings, const char *folder, const char *file) {
    if (!folder || file[0] == '/' || has_folder(file, folder))
        folder = "";
    const char *first = *folder ? folder : file;
    bool absolute = first[0] == '/';
    char *path = malloc(strlen(folder) + strlen(file) + sizeof "//");
    if (!path)
        return NULL;
    char *end = append_parts(path, path, folder, absolute);
    end = append_parts(path, end, file, absolute);
    const char *name = intern(strings, path, (size_t)(end - path));
    free(path);
    return name;
}
