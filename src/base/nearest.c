/* nearest.c: the Damerau-Levenshtein distance, which counts letters that are missing, added,
 * replaced, or swapped with a neighbor. A name that begins with what was typed is nearer than any
 * other except an exact match. */
#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { WORD_MAX = 64 };

size_t nearest_distance(const char *a, const char *b) {
    size_t m = strlen(a), n = strlen(b);
    if (m > WORD_MAX || n > WORD_MAX)
        return SIZE_MAX;
    size_t d[WORD_MAX + 1][WORD_MAX + 1]; /* d[i][j]: distance of the first i and j letters */
    for (size_t i = 0; i <= m; i++)
        for (size_t j = 0; j <= n; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            size_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[m][n];
}

/* Copies at most WORD_MAX bytes in lower case. */
static void fold(char word[WORD_MAX + 1], const char *text, size_t size) {
    size_t n = 0;
    for (; n < size && n < WORD_MAX && text[n]; n++)
        word[n] = (char)tolower((unsigned char)text[n]);
    word[n] = '\0';
}

const char *nearest_name(const char *text, size_t size, nearest_known *known, const void *context,
                         size_t n) {
    char word[WORD_MAX + 1], name[WORD_MAX + 1];
    const char *nearest = NULL;
    size_t least = 5; /* in half letters; a larger distance is no typing error */
    fold(word, text, size);
    for (size_t i = 0; i < n; i++) {
        fold(name, known(context, i), WORD_MAX);
        const size_t letters = nearest_distance(name, word);
        const bool begun = size > 1 && strncmp(name, word, size) == 0;
        const size_t distance = letters && begun ? 1 : letters > WORD_MAX ? SIZE_MAX : 2 * letters;
        if (distance < least) {
            least = distance;
            nearest = known(context, i);
        }
    }
    return nearest;
}
