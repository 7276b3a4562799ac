/* names.c: libiberty demangles. Long symbols are demangled in a thread of their own, with the large
 * stack that this needs. OCaml's symbols and file paths are parsed here. */
#include "symbolize/names.h"

#include <libiberty/demangle.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allotrace/memtrace.h"
#include "base/vec.h"
#include "trace/short_name.h"

#define STYLE (DMGL_PARAMS | DMGL_ANSI)

/* Recognizes the Itanium prefix, which Rust's older scheme shares, and that of Rust's newer
 * scheme. */
bool name_is_mangled(const char *symbol) {
    return strncmp(symbol, "_Z", 2) == 0 || strncmp(symbol, "_R", 2) == 0;
}

enum {
    LONG_SYMBOL = 1000, /* bytes: libiberty refuses longer ones, to limit its use of the stack */
    LONGEST_SYMBOL = 1 << 16,
    LONGEST_NAME = 1 << 20, /* bytes: a symbol can describe a name larger than any memory */
    STACK_SIZE = 64 << 20,  /* enough for the longest symbol; only the used part takes memory */
};

/* The state of demangling a long symbol. */
typedef struct demangling {
    const char *symbol;
    VEC(char) name;
    jmp_buf give_up; /* safe, as libiberty holds no memory here */
    bool done;
} demangling;

static void add_part(const char *part, size_t size, void *context) {
    demangling *d = context;
    if (d->name.count + size > LONGEST_NAME || !vec_reserve(&d->name, size))
        longjmp(d->give_up, 1);
    memcpy(d->name.items + d->name.count, part, size);
    d->name.count += size;
}

static void *demangle_here(void *context) {
    demangling *d = context;
    if (setjmp(d->give_up) == 0)
        d->done = cplus_demangle_v3_callback(d->symbol, STYLE | DMGL_NO_RECURSE_LIMIT, add_part, d);
    return NULL;
}

static bool run_with_large_stack(void *(*run)(void *), void *context) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    bool ran = pthread_attr_setstacksize(&attributes, STACK_SIZE) == 0 &&
               pthread_create(&thread, &attributes, run, context) == 0 &&
               pthread_join(thread, NULL) == 0;
    pthread_attr_destroy(&attributes);
    return ran;
}

static char *demangle_long(const char *symbol, size_t size) {
    demangling d = {.symbol = symbol};
    if (size > LONGEST_SYMBOL)
        return NULL;
    if (run_with_large_stack(demangle_here, &d) && d.done && vec_push(&d.name, '\0'))
        return d.name.items;
    vec_free(&d.name);
    return NULL;
}

static char *demangle(const char *symbol) {
    const size_t size = strlen(symbol);
    if (!name_is_mangled(symbol))
        return NULL;
    char *name = cplus_demangle(symbol, DMGL_AUTO | STYLE);
    return name || size < LONG_SYMBOL ? name : demangle_long(symbol, size);
}

/* Names are shortened here rather than when writing, since each is written many times. */
static const char *intern_short(intern_table *strings, const char *name) {
    char kept[MEMTRACE_MAX_NAME];
    const char *end = short_name_put(kept, name, strlen(name), sizeof kept);
    return intern(strings, kept, (size_t)(end - kept));
}

const char *name_demangle(intern_table *strings, const char *symbol) {
    char *plain = demangle(symbol);
    const char *name = intern_short(strings, plain ? plain : symbol);
    free(plain);
    return name;
}

/* ---- OCaml ------------------------------------------------------------------------------- */

/* The parts of a symbol: caml UNIT SEPARATOR FUNCTION _NUMBER */
typedef struct ocaml_symbol {
    const char *unit, *function;
    size_t unit_size, function_size; /* without the number */
} ocaml_symbol;

static bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

/* Finds where the function begins after the unit, which may be a path, as in Dune__exe__Main. The
 * unit ends after its last part that looks like a module. If such a part is the last of all, as for
 * functors, that part is the function. Returns NULL if there is no function. */
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

/* Writes a name, replacing escapes such as `$2b` by the character. Returns the end. */
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
    if (!o.function[o.function_size]) /* the module's entry */
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

/* Appends the parts of `path` to `out`, which holds a normalized path without a final slash.
 * Returns the new end. A path that is not absolute keeps leading `..`. */
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

/* Whether the file begins with the relative folder already, as some files do in a unit whose paths
 * were mapped to relative ones by the compiler. */
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
