/* name_sets.c: the patterns of each set, and how names are matched. Parameters, template
 * arguments and return types are removed first. Alternatives are tried one by one, because
 * fnmatch(3) is slow and allocates for a list, and is seldom needed for a single one. */
#include "query/name_sets.h"

#include <ctype.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "languages/language.h"
#include "languages/libc_files.h"

static const char *const patterns[N_NAME_SETS] = {
#define NAME_SET_PATTERN(name, pattern) pattern,
    NAME_SETS(NAME_SET_PATTERN)
#undef NAME_SET_PATTERN
};
_Static_assert(N_NAME_SETS <= 64, "a set is one word");

enum { HOW = FNM_EXTMATCH | FNM_CASEFOLD };

/* Returns the position after `operator` and its symbol, in which brackets are not brackets; `c` if
 * there is none. */
static const char *skip_operator(const char *c) {
    static const char word[] = "operator";
    if (strncmp(c, word, sizeof word - 1) != 0)
        return c;
    c += sizeof word - 1;
    if (strncmp(c, "()", 2) == 0)
        return c + 2;
    return c + strspn(c, "+-*/%^&|~!=<>[],");
}

const char *name_bare(const char *name) {
    const char *bare = name;
    int depth = 0;
    for (const char *c = name; *c; c++) {
        const char *after = skip_operator(c);
        if (after != c) /* after it there is no return type */
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
    return name; /* without parameters it is not C++ */
}

static const char anonymous[] = "(anonymous namespace)";

/* A part of a name. */
typedef struct part {
    const char *text;
    size_t size;
} part;

static bool is_same(part a, part b) {
    return a.size == b.size && memcmp(a.text, b.text, a.size) == 0;
}

/* Splits a function into the class with its template arguments, such as `A<x>::B`, and its own name
 * before the parameters. */
static bool split_member(const char *bare, part *scope, part *member) {
    const char *last = NULL, *c = bare;
    if (strncmp(c, anonymous, sizeof anonymous - 1) == 0)
        c += sizeof anonymous - 1;
    for (int depth = 0; *c && (*c != '(' || depth > 0); c++) {
        if (strncmp(c + 1, anonymous, sizeof anonymous - 1) == 0)
            c += sizeof anonymous;
        const char *after = skip_operator(c);
        if (after != c) {
            c = after;
            break;
        }
        depth += (*c == '<') - (*c == '>');
        if (depth == 0 && c[0] == ':' && c[1] == ':')
            last = c;
    }
    if (!last || *c != '(')
        return false;
    *scope = (part){.text = bare, .size = (size_t)(last - bare)};
    *member = (part){.text = last + 2, .size = (size_t)(c - last) - 2};
    return true;
}

/* Returns `B` of `A<x>::B<y>`. */
static part class_name(part scope) {
    const char *begin = scope.text, *end = scope.text + scope.size, *open = NULL;
    int depth = 0;
    for (const char *c = scope.text; c < end; c++) {
        if (*c == '<' && depth++ == 0)
            open = c;
        depth -= *c == '>';
        if (depth == 0 && *c == ':')
            begin = c + 1, open = NULL;
    }
    return (part){.text = begin, .size = (size_t)((open ? open : end) - begin)};
}

bool name_is_copy(const char *function) {
    static const char ending[] = " const&)", assigns[] = "operator=";
    const char *bare = name_bare(function);
    part scope, member;
    if (!split_member(bare, &scope, &member))
        return false;
    const part parameter = {.text = member.text + member.size + 1, .size = scope.size};
    const part assignment = {.text = assigns, .size = sizeof assigns - 1};
    if (strlen(parameter.text) < scope.size + sizeof ending - 1 || !is_same(scope, parameter) ||
        strncmp(parameter.text + scope.size, ending, sizeof ending - 1) != 0)
        return false;
    return is_same(member, assignment) || is_same(member, class_name(scope));
}

#define SIGNS "*?[]@+!()|\\"

/* An alternative of a set's pattern. */
typedef struct alternative {
    part pattern;
    size_t plain; /* size of what is before its first special character */
    unsigned set;
    const struct alternative *next;
} alternative;

/* The alternatives by their first character, in lower case; under 0 those of which it is special.
 * Most names need only a look at a few. */
static const alternative *beginning[UCHAR_MAX + 1];

/* Returns the end of an alternative: a bar outside of brackets, or the end of the pattern. */
static const char *skip_alternative(const char *c) {
    for (int depth = 0; *c && (depth > 0 || *c != '|'); c++)
        if (*c == '[')
            c = strchr(c + 2, ']'); /* a bracket at the first place is an ordinary character */
        else
            depth += (*c == '(') - (*c == ')');
    return c;
}

static void list_alternatives(void) {
#define NAME_SET_PATTERN(name, pattern) pattern "|"
    static alternative all[sizeof(NAME_SETS(NAME_SET_PATTERN)) / 2];
#undef NAME_SET_PATTERN
    alternative *a = all;
    for (unsigned set = 0; set < N_NAME_SETS; set++)
        for (const char *begin = patterns[set], *end; begin; begin = *end ? end + 1 : NULL) {
            const size_t plain = strcspn(begin, SIGNS);
            const alternative **first = &beginning[plain > 0 ? tolower((unsigned char)*begin) : 0];
            end = skip_alternative(begin);
            *a = (alternative){.pattern = {.text = begin, .size = (size_t)(end - begin)},
                               .plain = plain,
                               .set = set,
                               .next = *first};
            *first = a++;
        }
}

static bool ends_as(const char *name, part end) {
    const size_t size = strlen(name);
    return size >= end.size && strncasecmp(name + size - end.size, end.text, end.size) == 0;
}

/* Avoids fnmatch for the most frequent patterns: a text, `text*` and `*text`. Most names do not
 * match. */
static bool matches(const alternative *a, const char *name) {
    enum { ROOM = 512 };
    char one[ROOM];
    const part pattern = a->pattern,
               rest = {.text = pattern.text + a->plain, .size = pattern.size - a->plain};
    if (strncasecmp(pattern.text, name, a->plain) != 0)
        return false;
    if (rest.size == 0)
        return !name[a->plain];
    if (*rest.text == '*' && strcspn(rest.text + 1, SIGNS) >= rest.size - 1)
        return ends_as(name + a->plain, (part){.text = rest.text + 1, .size = rest.size - 1});
    if (pattern.size >= ROOM)
        return false;
    memcpy(one, pattern.text, pattern.size);
    one[pattern.size] = '\0';
    return fnmatch(one, name, HOW) == 0;
}

/* Returns which of the wanted sets a name is in. */
static name_sets match(const char *name, name_sets wanted) {
    static pthread_once_t listed = PTHREAD_ONCE_INIT;
    pthread_once(&listed, list_alternatives);
    const char *bare = name_bare(name);
    const int firsts[] = {tolower((unsigned char)*bare), 0};
    name_sets found = 0;
    for (int i = *firsts ? 0 : 1; i < 2; i++)
        for (const alternative *a = beginning[firsts[i]]; a; a = a->next) {
            const name_sets set = UINT64_C(1) << a->set;
            if ((wanted & ~found & set) && matches(a, bare))
                found |= set;
        }
    return found;
}

name_sets name_sets_of(const char *name) {
    return match(name, ~UINT64_C(0));
}

bool name_is_library(const char *name) {
    return match(name, NAMES(LIBRARY)) != 0;
}

bool name_is_library_file(const char *file) {
    static const language_pattern files[] = {
        {"/include/c++/", "*/include/c++/*"},
        {"/libstdc++.so", "*/libstdc++.so*"},
        {"/libc++", "*/libc++*.so*"},
        {"/libc.so", "*/libc.so*"},
        {"/usr/include/", "/usr/include/*bits/*.h"},
    };
    return libc_has_file(file) || language_matches(file, files, sizeof files / sizeof *files) ||
           languages_have_file(file);
}
