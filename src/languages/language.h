/* language.h: what the tools that read traces know about languages and their runtimes: names of
 * files and functions, and hints for a recording.
 *
 * Problem. Reports have to tell a language's own libraries from the program, and hints depend on
 * the runtime. Each language has its own answers, and the callers should not need to know which
 * language they deal with.
 *
 * Way. Each language is a `struct language` in a file of its own, and an entry in LANGUAGES. A row
 * leaves out the fields that do not apply to its language. Callers ask all rows. How a runtime is
 * recorded is in src/runtimes/. The names of functions that advice is about are in
 * query/name_sets.h, since they are parts of rules. */
#ifndef LANGUAGES_LANGUAGE_H
#define LANGUAGES_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>

/* A part of a text; size 0: none. */
typedef struct language_name {
    const char *text;
    size_t size;
} language_name;

typedef struct language {
    const char *name;   /* for users */
    const char *source; /* suffix of its source files: a trace with such files names the language */
    const char *entry;  /* the function in which its programs begin, if not main */

    /* Returns whether a file belongs to the language's own libraries or to its runtime. */
    bool (*has_file)(const char *file);

    /* Return the module of a place (query/module.h) that its folders do not tell: from its file,
     * or, if no folder is known, from its function. */
    language_name (*module_of_file)(const char *file);
    language_name (*module_of_function)(const char *function);

    /* Returns a setting with which a program of that name takes all memory from malloc, or NULL. */
    const char *(*whole_malloc)(const char *program);
    /* Suffix of functions whose place is only approximate, and a hint that says why, and what
     * helps. */
    const char *rough, *rough_hint;
    const char *growth_hint; /* why a line at which memory grows may not be the one that keeps it */
} language;

/* In the order in which reports list them. */
#define LANGUAGES(X) X(ocaml) X(python) X(lua) X(java) X(lox) X(rust) X(go) X(php)

enum {
#define LANGUAGE_COUNT(name) +1
    N_LANGUAGES = LANGUAGES(LANGUAGE_COUNT)
#undef LANGUAGE_COUNT
};
extern const language *const languages[N_LANGUAGES];

bool languages_have_file(const char *file);
bool languages_begin_in(const char *function);
language_name languages_module_of_file(const char *file);
language_name languages_module_of_function(const char *function);
const char *languages_whole_malloc(const char *program);

/* ---- for the rows -------------------------------------------------------------------------- */

/* A pattern of files. `has` is a text that each match contains; checking it first is faster than
 * fnmatch(3). */
typedef struct language_pattern {
    const char *has, *pattern;
} language_pattern;

bool language_matches(const char *file, const language_pattern *patterns, size_t n);

#endif
