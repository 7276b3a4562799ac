/* language.h: what tools know of languages and their runtimes, who were in no process of theirs:
 * how files and functions are called, and what people should know of a recording.
 *
 * Problem. Reports have to tell a language's own libraries from the program, and hints say what a
 * runtime does. Each language has its own answers, and what asks should not have to know whose.
 *
 * Way. A `struct language` each, in a file of its own, and one line in LANGUAGES. Fields that say
 * nothing of a language are left out of its row; whoever asks goes through all rows. How a runtime
 * is recorded stands in src/runtimes/; and the names of functions that advice is about, in
 * query/advise_names.h, since they are parts of rules. */
#ifndef LANGUAGES_LANGUAGE_H
#define LANGUAGES_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>

/* A part of a text; of size 0: there is none. */
typedef struct language_name {
    const char *text;
    size_t size;
} language_name;

typedef struct language {
    const char *name;   /* as people call it */
    const char *source; /* how names of its source files end, in whose traces it is named */
    const char *entry;  /* the function in which its programs begin, other than main */

    /* Whether a file is of the language's own libraries, or of its runtime. */
    bool (*has_file)(const char *file);

    /* What a place belongs to, as in query/module.h, where folders do not tell: by its file; or,
     * where no folder is known, by its function. */
    language_name (*module_of_file)(const char *file);
    language_name (*module_of_function)(const char *function);

    /* A setting by which a program of that name takes all memory from malloc, or NULL. */
    const char *(*whole_malloc)(const char *program);
    /* Functions whose names end so are known only roughly, and why, and what helps. */
    const char *rough, *rough_hint;
} language;

/* In the order in which reports name them. */
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

/* A pattern of files, and a text without which it cannot match: fnmatch(3) is slow. */
typedef struct language_pattern {
    const char *has, *pattern;
} language_pattern;

bool language_matches(const char *file, const language_pattern *patterns, size_t n);

#endif
