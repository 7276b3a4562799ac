/* php.c: PHP; see language.h. */
#include <string.h>

#include "languages/language.h"

static const char *whole_malloc(const char *program) {
    return strncmp(program, "php", 3) == 0 ? "USE_ZEND_ALLOC=0" : NULL;
}

const language php_language = {.name = "PHP", .whole_malloc = whole_malloc};
