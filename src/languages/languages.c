/* languages.c: the table of languages, and functions that ask all of its rows. */
#include <fnmatch.h>
#include <string.h>

#include "languages/language.h"

#define DECLARE(name) extern const language name##_language;
LANGUAGES(DECLARE)

#define ROW(name) &name##_language,
const language *const languages[N_LANGUAGES] = {LANGUAGES(ROW)};

bool languages_have_file(const char *file) {
    for (size_t i = 0; i < N_LANGUAGES; i++)
        if (languages[i]->has_file && languages[i]->has_file(file))
            return true;
    return false;
}

bool languages_begin_in(const char *function) {
    for (size_t i = 0; i < N_LANGUAGES; i++)
        if (languages[i]->entry && strcmp(languages[i]->entry, function) == 0)
            return true;
    return false;
}

language_name languages_module_of_file(const char *file) {
    language_name found = {0};
    for (size_t i = 0; i < N_LANGUAGES && !found.size; i++)
        if (languages[i]->module_of_file)
            found = languages[i]->module_of_file(file);
    return found;
}

language_name languages_module_of_function(const char *function) {
    language_name found = {0};
    for (size_t i = 0; i < N_LANGUAGES && !found.size; i++)
        if (languages[i]->module_of_function)
            found = languages[i]->module_of_function(function);
    return found;
}

const char *languages_whole_malloc(const char *program) {
    const char *setting = NULL;
    for (size_t i = 0; i < N_LANGUAGES && !setting; i++)
        if (languages[i]->whole_malloc)
            setting = languages[i]->whole_malloc(program);
    return setting;
}

bool language_matches(const char *file, const language_pattern *patterns, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strcasestr(file, patterns[i].has) &&
            fnmatch(patterns[i].pattern, file, FNM_EXTMATCH | FNM_CASEFOLD) == 0)
            return true;
    return false;
}
