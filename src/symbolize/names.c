/* names.c: see names.h. Demangling is libiberty's. */
#include "symbolize/names.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdio.h>
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

/* ---- OCaml ------------------------------------------------------------------------------- */

/* caml UNIT SEPARATOR FUNCTION _NUMBER */
typedef struct ocaml_symbol {
    const char *unit, *function;
    size_t unit_size, function_size; /* without the number */
} ocaml_symbol;

static bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

/* Where the function begins behind the unit, which may be a path, as in Dune__exe__Main: behind the
 * last part of it that looks like a module, or as this part if it is the last, as functors are.
 * NULL: nowhere. */
static const char *split_at_underscores(const char *unit, const char **end) {
    const char *module = unit, *at = unit;
    while ((at = strstr(at, "__"))) {
        at += 2;
        module = is_upper(*at) ? at : module;
    }
    *end = strstr(module, "__");
    if (!*end && module > unit)
        *end = module - 2;
    return *end ? *end + 2 : NULL;
}

static bool ocaml_symbol_parse(ocaml_symbol *o, const char *symbol) {
    static const char digits[] = "0123456789";
    static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_'$.";
    if (strncmp(symbol, "caml", 4) != 0 || !is_upper(symbol[4]) || symbol[strspn(symbol, all)])
        return false;
    const char *unit = symbol + 4, *end = strrchr(unit, '.');
    const char *function = end ? end + 1 : split_at_underscores(unit, &end);
    if (!function || !*function)
        return false;
    size_t size = strlen(function), named = size;
    while (named > 0 && strchr(digits, function[named - 1]))
        named--;
    if (named > 1 && named < size && function[named - 1] == '_')
        size = named - 1;
    else if (strcmp(function, "entry") != 0)
        return false;
    *o = (ocaml_symbol){.unit = unit,
                        .unit_size = (size_t)(end - unit),
                        .function = function,
                        .function_size = size};
    return true;
}

bool name_is_ocaml(const char *symbol) {
    ocaml_symbol o;
    return ocaml_symbol_parse(&o, symbol);
}

/* Puts a name, in which `$2b` stands for a sign, in full; returns its end. */
static char *put_unescaped(char *to, const char *name, size_t size) {
    for (size_t i = 0; i < size; i++) {
        unsigned sign;
        if (name[i] == '$' && i + 2 < size && sscanf(name + i + 1, "%2x", &sign) == 1 &&
            sign > ' ' && sign < 0x7F) {
            *to++ = (char)sign;
            i += 2;
        } else {
            *to++ = name[i];
        }
    }
    return to;
}

const char *name_ocaml(intern_table *strings, const char *symbol, bool numbered) {
    ocaml_symbol o;
    if (!ocaml_symbol_parse(&o, symbol))
        return intern(strings, symbol, strlen(symbol));
    if (!o.function[o.function_size]) /* the entry */
        return intern(strings, o.unit, o.unit_size);
    char *name = malloc(strlen(symbol) + sizeof ".()");
    if (!name)
        return NULL;
    const bool is_operator = o.function[0] == '$',
               keeps = numbered || (o.function_size == 3 && memcmp(o.function, "fun", 3) == 0);
    char *end = mempcpy(name, o.unit, o.unit_size);
    *end++ = '.';
    if (is_operator)
        *end++ = '(';
    end = put_unescaped(end, o.function, o.function_size);
    if (is_operator)
        *end++ = ')';
    if (keeps)
        end = mempcpy(end, o.function + o.function_size, strlen(o.function + o.function_size));
    const char *kept = intern(strings, name, (size_t)(end - name));
    free(name);
    return kept;
}

/* ---- files ------------------------------------------------------------------------------- */

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
