/* wrappers.c: splits a name into words, at underscores and capitals. The last word that means
 * allocating is the core. Words after it must be known suffixes; is_wrapper checks those before
 * it. */
#include "query/wrappers.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

enum { MAX_WORDS = 8, MAX_NAME = 64, MOST_OF_KIND = 40 };

typedef enum word_kind { CORE, WEAK_CORE, GLUED, GENERIC, SUFFIX, OBJECT, N_KINDS } word_kind;

/* In lower case; NULL at the end. */
static const char *const known[N_KINDS][MOST_OF_KIND + 1] = {
    [CORE] = {"malloc", "calloc", "realloc", "reallocarray", "mallocarray", "reallocf", "zalloc",
              "memalign", "strdup", "strndup", "memdup", "asprintf", "vasprintf", "reallocate",
              "mallocz", "memdupz", "repalloc"},
    [WEAK_CORE] = {"alloc", "allocate"},
    [GLUED] = {"x", "safe", "sys", "mem", "my", "k", "e", "p", "z", "try", "n", "i", "x2", "l"},
    [GENERIC] = {"mem",     "memory", "safe",     "sys",     "x",    "raw", "do", "try",
                 "checked", "debug",  "default",  "aligned", "heap", "gc",  "db", "object",
                 "libc",    "std",    "stdalloc", "m",       "l",    "fts5"},
    [SUFFIX] = {"n",        "nn",        "array",   "sized",  "size",     "raw",    "zero",
                "zeroed",   "clear",     "aligned", "atomic", "loc",      "gently", "default",
                "debug",    "safe",      "or",      "die",    "fail",     "nofail", "impl",
                "internal", "unguarded", "usable",  "num",    "extended", "huge",   "finish",
                "free",     "alarm",     "with",    "printf", "vprintf"},
    [OBJECT] = {"array", "buf",   "buffer", "hash",  "list", "map",    "node",   "queue",
                "set",   "stack", "string", "table", "tree", "vector", "bench",  "child",
                "load",  "main",  "parse",  "read",  "run",  "test",   "thread", "worker"},
};

/* The words of a name, in lower case, one after the other in `text`. */
typedef struct name_words {
    char text[MAX_NAME + MAX_WORDS];
    const char *words[MAX_WORDS];
    size_t n;
} name_words;

static bool is_known(const char *word, word_kind kind) {
    for (const char *const *text = known[kind]; *text; text++)
        if (strcmp(*text, word) == 0)
            return true;
    return false;
}

/* Whether a word begins here by a change of case: at B of fooBar, and at F of XMLFoo. */
static bool case_changes(const char *at, const char *start) {
    if (at == start || !isupper((unsigned char)*at))
        return false;
    return islower((unsigned char)at[-1]) || isdigit((unsigned char)at[-1]) ||
           (isupper((unsigned char)at[-1]) && islower((unsigned char)at[1]));
}

/* Whether a word continues here: StrDup and StrNDup are one word. */
static bool goes_on(const char *word, size_t size, const char *at) {
    return size == 3 && strncmp(word, "str", 3) == 0 &&
           (strncmp(at, "Dup", 3) == 0 || strncmp(at, "NDup", 4) == 0);
}

static bool split(const char *name, name_words *w) {
    size_t used = 0;
    bool within = false;
    if (strlen(name) > MAX_NAME)
        return false;
    for (const char *c = name; *c; c++) {
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
        const char *word = w->n ? w->words[w->n - 1] : w->text;
        if (within && goes_on(word, (size_t)(w->text + used - word), c)) {
            while (*c && *c != 'p')
                w->text[used++] = (char)tolower((unsigned char)*c++);
        } else if (within && (*c == '_' || case_changes(c, name))) {
            w->text[used++] = '\0';
            within = false;
        }
        if (*c == '_')
            continue;
        if (!within && w->n == MAX_WORDS)
            return false;
        if (!within)
            w->words[w->n++] = w->text + used;
        within = true;
        w->text[used++] = (char)tolower((unsigned char)*c);
    }
    w->text[used] = '\0';
    return w->n > 0;
}

/* Whether the first `size` letters of a word are glued prefixes. */
static bool is_glued(const char *word, size_t size) {
    if (size == 0)
        return true;
    for (const char *const *text = known[GLUED]; *text; text++) {
        size_t n = strlen(*text);
        if (n <= size && strncmp(word, *text, n) == 0 && is_glued(word + n, size - n))
            return true;
    }
    return false;
}

/* Whether a word is a core, with prefixes and digits; `*weak` if it is `alloc` or `allocate`
 * without a prefix. */
static bool is_core(const char *word, bool *weak) {
    size_t size = strlen(word);
    if (strncmp(word, "prealloc", 8) == 0)
        return false; /* preallocates; does not resize */
    while (size > 0 && isdigit((unsigned char)word[size - 1]))
        size--;
    for (word_kind kind = CORE; kind <= WEAK_CORE; kind++)
        for (const char *const *text = known[kind]; *text; text++) {
            size_t n = strlen(*text);
            if (n <= size && strncmp(word + size - n, *text, n) == 0 && is_glued(word, size - n)) {
                *weak = kind == WEAK_CORE && n == size;
                return true;
            }
        }
    return false;
}

/* Returns the index of the last core, after which there are only suffixes; w->n: none. */
static size_t find_core(const name_words *w, bool *weak) {
    for (size_t i = w->n; i-- > 0;) {
        if (is_core(w->words[i], weak))
            return i;
        bool digits = w->words[i][strspn(w->words[i], "0123456789")] == '\0';
        if (!digits && !is_known(w->words[i], SUFFIX))
            break;
    }
    return w->n;
}

static bool is_wrapper(const char *function, bool *resizes) {
    name_words w = {.n = 0};
    bool weak = false;
    if (!split(function, &w))
        return false;
    size_t core = find_core(&w, &weak);
    if (core == w.n)
        return false;
    for (size_t i = 0; i < core; i++)
        if (!is_known(w.words[i], GENERIC) && (i > 0 || is_known(w.words[i], OBJECT)))
            return false;
    *resizes = strstr(w.words[core], "realloc") != NULL;
    return !weak || core == 0 || is_known(w.words[core - 1], GENERIC);
}

/* Such as os::malloc(unsigned long, MEMFLAGS), (anonymous namespace)::safe_malloc(unsigned
 * long). */
static bool is_scoped_wrapper(const char *function) {
    static const char anonymous[] = "(anonymous namespace)::";
    const char *at = function, *colons;
    bool of_namespaces = true, resizes = false;
    char name[MAX_NAME + 1];
    for (;; at = colons + 2) {
        while (strncmp(at, anonymous, sizeof anonymous - 1) == 0)
            at += sizeof anonymous - 1;
        size_t n = strcspn(at, "(:<");
        if (at[n] == '(' || at[n] == '\0') {
            if (n >= sizeof name)
                return false;
            memcpy(name, at, n);
            name[n] = '\0';
            break;
        }
        colons = at + n;
        if (n == 0 || colons[0] != ':' || colons[1] != ':')
            return false;
        of_namespaces &= !isupper((unsigned char)*at);
    }
    if (strcasecmp(name, "alloc") == 0 || strcasecmp(name, "allocate") == 0)
        return false; /* a method that allocates what its class is about */
    return is_wrapper(name, &resizes) && (of_namespaces || !resizes);
}

/* Such as Node::operator new(unsigned long), ns::Pool<int>::operator new[](unsigned long). The
 * global operator is not a wrapper; traces have it as the type of what it allocates. */
static bool is_operator_of_class(const char *function) {
    static const char text[] = "::operator new";
    const char *last = "";
    int depth = 0; /* of nesting in arguments of templates and functions */
    for (const char *at = function; *at; at++) {
        depth += (*at == '<' || *at == '(') - (*at == '>' || *at == ')');
        if (depth == 0 && at[0] == ':' && at[1] == ':')
            last = at;
    }
    return strncmp(last, text, sizeof text - 1) == 0 && strchr("[(< ", last[sizeof text - 1]);
}

/* Wrappers of widely used programs that do not follow the pattern: PostgreSQL, Redis modules, GLib,
 * GCC, nginx, PHP, HotSpot. Parameters of C++ are ignored. */
static bool is_well_known(const char *function) {
    static const char *const names[] = {"AllocSetAlloc",
                                        "AllocSetAllocFromNewBlock",
                                        "AllocSetAllocLarge",
                                        "AllocSetRealloc",
                                        "AllocateHeap",
                                        "GenerationAlloc",
                                        "MemoryContextAlloc",
                                        "MemoryContextAllocExtended",
                                        "MemoryContextAllocHuge",
                                        "MemoryContextAllocZero",
                                        "MemoryContextAllocZeroAligned",
                                        "MemoryContextStrdup",
                                        "RM_Alloc",
                                        "ReallocateHeap",
                                        "SlabAlloc",
                                        "g_slice_alloc",
                                        "g_slice_alloc0",
                                        "ggc_internal_alloc",
                                        "ngx_alloc",
                                        "ngx_palloc_block",
                                        "ngx_palloc_large",
                                        "ngx_palloc_small",
                                        "zend_mm_alloc_huge",
                                        "zend_mm_alloc_large"};
    const size_t n = strcspn(function, "(");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(function, names[i], n) == 0 && names[i][n] == '\0')
            return true;
    return false;
}

bool wrapper_name(const char *function) {
    bool resizes;
    if (is_well_known(function) || is_operator_of_class(function))
        return true;
    return strpbrk(function, ":(") ? is_scoped_wrapper(function) : is_wrapper(function, &resizes);
}
