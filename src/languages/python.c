/* python.c: Python, by the files of CPython; see language.h. */
#include <string.h>

#include "base/text.h"
#include "languages/language.h"
#include "languages/libc_files.h"

/* Of the interpreter's own sources. */
static const char *const folders[] = {"/Modules/", "/Objects/", "/Python/", "/Parser/",
                                      "/Include/"};
enum { N_FOLDERS = sizeof folders / sizeof *folders };

/* As Debian builds it, beside a folder `build-…`. */
static bool is_debians(const char *file) {
    return strncmp(libc_skip_dots(file), "build-", 6) == 0;
}

/* Its own sources, in whatever folder of its name it was built. */
static bool is_interpreters(const char *file) {
    for (size_t i = 0; i < N_FOLDERS; i++) {
        const char *at = strstr(file, folders[i]), *name = strcasestr(file, "python");
        if (at && ((name && name < at) || is_debians(file)))
            return true;
    }
    return strstr(file, "/libpython3.") || strstr(file, "/bin/python3.");
}

/* Modules that are part of it, frozen or files. Other packages are in folders called site-packages,
 * dist-packages. */
static bool has_file(const char *file) {
    return strncmp(file, "<frozen ", 8) == 0 ||
           (strstr(file, "/lib/python3.") && !strstr(file, "-packages/")) || is_interpreters(file);
}

/* The folder that ends there, slashes behind it left out. */
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

/* CPython's own sources, in the folder of a release or a clone. */
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

/* A free-threaded one, such as python3.14t, cannot, and would not start. */
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
};
