/* java.c: Java; see language.h. */
#include <string.h>

#include "languages/language.h"

static bool has_file(const char *file) {
    static const char *const folders[] = {"java/", "javax/", "jdk/", "sun/", "com/sun/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strncmp(file, folders[i], strlen(folders[i])) == 0)
            return true;
    return false;
}

const language java_language = {.name = "Java", .source = ".java", .has_file = has_file};
