/* go.c: Go; see language.h. */
#include "languages/language.h"

/* Folders of its standard library. Other packages have a dot in the first part of their path. */
#define PACKAGES                                                                                   \
    "@(archive|bufio|bytes|cmp|compress|container|context|crypto|database|debug|embed|encoding|"   \
    "errors|expvar|flag|fmt|go|hash|html|image|index|internal|io|iter|log|maps|math|mime|net|os|"  \
    "path|plugin|reflect|regexp|runtime|slices|sort|strconv|strings|structs|sync|syscall|testing|" \
    "text|time|unicode|unique|unsafe|vendor|weak)/*.go"

static bool has_file(const char *file) {
    static const language_pattern files[] = {
        {".go", "*/@(go*([-0-9.])|toolchain[@]*)/src/" PACKAGES},
        {".go", PACKAGES}, /* from programs built without paths */
    };
    return language_matches(file, files, sizeof files / sizeof *files);
}

const language go_language = {.name = "Go", .has_file = has_file};
