/* rust.c: Rust; see language.h. */
#include <string.h>

#include "languages/language.h"

static bool has_file(const char *file) {
    static const language_pattern files[] = {
        {"/rustc/", "/rustc/*/library/*"},
        {"/rustc-", "*/rustc-*/library/@(alloc|core|std)/*"},
        {"/rustlib/", "*/rustlib/src/rust/library/*"},
    };
    return language_matches(file, files, sizeof files / sizeof *files);
}

/* Returns alloc for "/rustc/…/library/alloc/src/vec.rs". */
static language_name module_of_file(const char *file) {
    static const char below[] = "/library/";
    const char *at = strncmp(file, "/rustc/", 7) == 0 ? strstr(file, below) : NULL;
    const char *name = at ? at + sizeof below - 1 : "";
    return (language_name){name, strcspn(name, "/")};
}

const language rust_language = {
    .name = "Rust", .has_file = has_file, .module_of_file = module_of_file};
