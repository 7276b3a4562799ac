/* python.c: Python, recognized by the files of CPython; see language.h. */
#include <string.h>

#include "base/text.h"
#include "languages/language.h"
#include "languages/libc_files.h"

/* Folders of the interpreter's sources. */
static const char *const folders[] = {"/Modules/", "/Objects/", "/Python/", "/Parser/",
                                      "/Include/"};
enum { N_FOLDERS = sizeof folders / sizeof *folders };

/* Returns whether Debian built it, in a folder `build-…` beside the sources. */
static bool is_debians(const char *file) {
    return strncmp(libc_skip_dots(file), "build-", 6) == 0;
}

/* Returns whether the file belongs to the interpreter, in any build folder whose path contains
 * "python". */
static bool is_interpreters(const char *file) {
    for (size_t i = 0; i < N_FOLDERS; i++) {
        const char *at = strstr(file, folders[i]), *name = strcasestr(file, "python");
        if (at && ((name && name < at) || is_debians(file)))
            return true;
    }
    return strstr(file, "/libpython3.") || strstr(file, "/bin/python3.");
}

/* Returns whether the file is of the interpreter or the standard library, frozen or not. Other
 * packages are in folders called site-packages or dist-packages. */
static bool has_file(const char *file) {
    return strncmp(file, "<frozen ", 8) == 0 ||
           (strstr(file, "/lib/python3.") && !strstr(file, "-packages/")) || is_interpreters(file);
}

/* Returns the name of the folder that ends at `end`, without slashes after it. */
static language_name folder_before(const char *file, const char *end) {
    while (end > file && end[-1] == '/')
        end--;
    const char *begin = end;
    while (begin > file && begin[-1] != '/')
        begin--;
    return (language_name){begin, (size_t)(end - begin)};
}

static bool begins_with(language_name x, const char *text) {
    const size_t size = strlen(text);
    return x.size >= size && memcmp(x.text, text, size) == 0;
}

/* Returns whether the file is one of CPython's sources, in the folder of a release or a clone. */
static bool is_of_cpython(const char *file) {
    for (size_t i = 0; i < N_FOLDERS; i++) {
        const char *at = strstr(file, folders[i]);
        const language_name above = folder_before(file, at ? at : file);
        if (begins_with(above, "Python-3") || begins_with(above, "python3") ||
            begins_with(above, "cpython") ||
            (is_debians(file) && above.size == 2 && begins_with(above, "..")))
            return true;
    }
    return false;
}

static language_name module_of_file(const char *file) {
    static const char name[] = "cpython";
    return is_of_cpython(file) ? (language_name){name, sizeof name - 1} : (language_name){0};
}

/* A free-threaded build, such as python3.14t, would not start with this setting. */
static const char *whole_malloc(const char *program) {
    const bool can = strncmp(program, "python", 6) == 0 && !text_ends_with(program, "t");
    return can ? "PYTHONMALLOC=malloc" : NULL;
}

const language python_language = {
    .name = "Python",
    .source = ".py",
    .has_file = has_file,
    .module_of_file = module_of_file,
    .whole_malloc = whole_malloc,
    .growth_hint =
        "CPython reuses dead lists, dicts, tuples and floats, which stay at the line that "
        "made them first: if that line keeps nothing, look for other code that keeps "
        "objects of this type",
};
