/* shell.c: a word of harmless characters is unchanged; any other is put in single quotes, within
 * which only a quote needs treatment. */
#include "base/shell.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                            "_./%+:@,=-";
static const char quote[] = "'\\''"; /* ends the quotes, adds an escaped quote, and reopens them */

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

char *shell_add_word(char *words, const char *word) {
    char *last = shell_word(word);
    char *all = last ? text_format("%s%s%s", words ? words : "", words ? " " : "", last) : NULL;
    free(last);
    free(words);
    return all;
}
