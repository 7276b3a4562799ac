/* advise_names.c: the patterns of each set, and how names are matched. Parameters, template
 * arguments and return types are removed first. Alternatives are tried one by one, because
 * fnmatch(3) is slow and allocates for a list, and is seldom needed for a single one. */
#include "query/advise_names.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

#include "languages/language.h"
#include "languages/libc_files.h"

static const char *const patterns[ADVISE_N_NAMES] = {
#define ADVISE_NAME_PATTERN(name, pattern) pattern,
    ADVISE_NAMES(ADVISE_NAME_PATTERN)
#undef ADVISE_NAME_PATTERN
};
_Static_assert(ADVISE_N_NAMES <= 64, "a set is one word");

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

const char *advise_bare_name(const char *name) {
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

bool advise_is_copy(const char *function) {
    static const char ending[] = " const&)", assigns[] = "operator=";
    const char *bare = advise_bare_name(function);
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

/* Whether a letter or digit differs from a character, in more than its case. */
static bool differs(char letter, char other) {
    enum { CASE = 'a' ^ 'A' };
    return isalnum((unsigned char)letter) && ((letter ^ other) & ~CASE) != 0;
}

/* Whether a name begins with the text before the first special character of a pattern. The first
 * character decides that for most names. */
static bool begins_as(const char *pattern, const char *name) {
    return !differs(*pattern, *name) && strncasecmp(pattern, name, strcspn(pattern, SIGNS)) == 0;
}

/* Returns the end of an alternative: a bar outside of brackets, or the end of the pattern. */
static const char *skip_alternative(const char *c) {
    for (int depth = 0; *c && (depth > 0 || *c != '|'); c++)
        if (*c == '[')
            c = strchr(c + 2, ']'); /* a bracket at the first place is an ordinary character */
        else
            depth += (*c == '(') - (*c == ')');
    return c;
}

static bool ends_as(const char *name, part end) {
    const size_t size = strlen(name);
    return size >= end.size && strncasecmp(name + size - end.size, end.text, end.size) == 0;
}

/* Avoids fnmatch for the most frequent patterns: a text, `text*` and `*text`. Most names do not
 * match. */
static bool matches_one(part pattern, const char *name) {
    enum { ROOM = 512 };
    char one[ROOM];
    const size_t n = strcspn(pattern.text, SIGNS);
    const part rest = {.text = pattern.text + n, .size = pattern.size - n};
    if (strncasecmp(pattern.text, name, n) != 0)
        return false;
    if (rest.size == 0)
        return !name[n];
    if (*rest.text == '*' && strcspn(rest.text + 1, SIGNS) >= rest.size - 1)
        return ends_as(name + n, (part){.text = rest.text + 1, .size = rest.size - 1});
    if (pattern.size >= ROOM)
        return false;
    memcpy(one, pattern.text, pattern.size);
    one[pattern.size] = '\0';
    return fnmatch(one, name, HOW) == 0;
}

/* Returns false if the pattern cannot match. Any text after a bar is taken for an alternative, so
 * the result may be true too often but not too rarely. */
static bool may_match(const char *pattern, const char *name) {
    for (const char *c = pattern; !begins_as(c, name); c++)
        if (!(c = strchr(c, '|')))
            return false;
    return true;
}

static bool matches(unsigned number, const char *bare) {
    if (!may_match(patterns[number], bare))
        return false;
    const char *begin = patterns[number], *end = skip_alternative(begin);
    while (!matches_one((part){.text = begin, .size = (size_t)(end - begin)}, bare)) {
        if (!*end)
            return false;
        begin = end + 1;
        end = skip_alternative(begin);
    }
    return true;
}

advise_names advise_names_of(const char *name) {
    const char *bare = advise_bare_name(name);
    advise_names set = 0;
    for (unsigned i = 0; i < ADVISE_N_NAMES; i++)
        if (matches(i, bare))
            set |= UINT64_C(1) << i;
    return set;
}

bool advise_is_library_name(const char *name) {
    return matches(ADVISE_NUMBER_LIBRARY, advise_bare_name(name));
}

bool advise_is_library_file(const char *file) {
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
