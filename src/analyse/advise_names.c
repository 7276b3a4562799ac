/* advise_names.c: see advise_names.h. */
#include "analyse/advise_names.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

static const char *const patterns[ADVISE_N_NAMES] = {
#define ADVISE_NAME_PATTERN(name, pattern) pattern,
    ADVISE_NAMES(ADVISE_NAME_PATTERN)
#undef ADVISE_NAME_PATTERN
};
_Static_assert(ADVISE_N_NAMES <= 64, "a set is one word");

static const char *const library_files[] = {
    "*/include/c++/*", "*/libstdc++.so*", "*/libc++*.so*", "*/libc.so*", "/rustc/*/library/*",
};

enum { HOW = FNM_EXTMATCH | FNM_CASEFOLD };

/* Behind `operator`: its symbol, in which brackets are none. */
static const char *skip_operator(const char *c) {
    static const char word[] = "operator";
    if (strncmp(c, word, sizeof word - 1) != 0)
        return c;
    c += sizeof word - 1;
    if (strncmp(c, "()", 2) == 0)
        return c + 2;
    return c + strspn(c, "+-*/%^&|~!=<>[],");
}

const char *advise_bare_name(const char *name) {
    const char *bare = name;
    int depth = 0;
    for (const char *c = name; *c; c++) {
        const char *behind = skip_operator(c);
        if (behind != c) /* nothing behind it is a return type */
            return depth == 0 ? bare : name;
        if (*c == '(' && depth == 0 && strncmp(c, "(anonymous", 10) != 0)
            return bare;
        if (*c == '<' || *c == '(')
            depth++;
        else if (*c == '>' || *c == ')')
            depth--;
        else if (*c == ' ' && depth == 0)
            bare = c + 1;
    }
    return name; /* no parameters: not C++ */
}

advise_names advise_names_of(const char *name) {
    const char *bare = advise_bare_name(name);
    advise_names set = 0;
    for (unsigned i = 0; i < ADVISE_N_NAMES; i++)
        if (fnmatch(patterns[i], bare, HOW) == 0)
            set |= UINT64_C(1) << i;
    return set;
}

bool advise_is_library_file(const char *file) {
    for (size_t i = 0; i < sizeof library_files / sizeof *library_files; i++)
        if (fnmatch(library_files[i], file, HOW) == 0)
            return true;
    return false;
}
