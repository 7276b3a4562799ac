/* shell.c: a word of harmless signs stays as it is; any other stands in single quotes, in which
 * only the quote itself needs care. */
#include "base/shell.h"

#include <stdlib.h>
#include <string.h>

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                            "_./%+:@,=-";
static const char quote[] = "'\\''"; /* ends the quotes, adds one, and begins them again */

char *shell_word(const char *word) {
    const size_t size = strlen(word);
    if (size && strspn(word, plain) == size)
        return strdup(word);
    char *text = malloc(size * (sizeof quote - 1) + sizeof "''"), *to = text;
    if (!text)
        return NULL;
    *to++ = '\'';
    for (; *word; word++)
        to = *word == '\'' ? mempcpy(to, quote, sizeof quote - 1) : mempcpy(to, word, 1);
    memcpy(to, "'", 2);
    return text;
}
