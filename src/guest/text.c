/* text.c: sizes have three digits and a unit; estimates have their error. Matching a pattern never
 * backtracks beyond the last star. */
#include "guest/text.h"

#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/utf8.h"

void text_size(char *to, double bytes) {
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
    size_t u = 0;
    for (; bytes >= 999.5 && u + 1 < sizeof units / sizeof *units; u++)
        bytes /= 1000;
    int decimals = u == 0 || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2;
    int n = snprintf(to, TEXT_NUMBER, "%.*f", decimals, bytes);
    if (decimals) {
        while (to[n - 1] == '0')
            n--;
        n -= to[n - 1] == '.';
    }
    snprintf(to + n, (size_t)(TEXT_NUMBER - n), "%s", units[u]);
}

void text_count(char *to, estimate e) {
    if (e.low == e.high)
        snprintf(to, TEXT_NUMBER, "%.0f", e.value);
    else
        snprintf(to, TEXT_NUMBER, "%.0f ± %.0f", e.value, estimate_margin(e));
}

void text_bytes(char *to, estimate e) {
    text_size(to, e.value);
    if (e.low == e.high)
        return;
    char margin[TEXT_NUMBER];
    text_size(margin, estimate_margin(e));
    size_t n = strlen(to);
    snprintf(to + n, TEXT_NUMBER - n, " ± %.32s", margin);
}

locale_t text_use_utf8(void) {
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    return uselocale(utf8);
}

void text_restore(locale_t before) {
    locale_t used = uselocale(before);
    if (used != before)
        freelocale(used);
}

/* ---- patterns and paths ---------------------------------------------------------------------- */

/* Matches the pattern that ends at `end`. If the part after a star does not match, the star takes
 * one more character. */
static bool pattern_matches(const char *p, const char *end, const char *s) {
    const char *star = NULL, *retry = NULL;
    while (*s) {
        if (p < end && *p == '*') {
            star = ++p;
            retry = s;
        } else if (p < end && *p == '?') {
            p++;
            s = utf8_next(s);
        } else if (p < end && *p == *s) {
            p++;
            s++;
        } else if (star) {
            p = star;
            s = retry = utf8_next(retry);
        } else {
            return false;
        }
    }
    while (p < end && *p == '*')
        p++;
    return p == end;
}

bool text_matches(const char *patterns, const char *s) {
    for (;;) {
        size_t n = strcspn(patterns, ",");
        if (n && pattern_matches(patterns, patterns + n, s))
            return true;
        if (!patterns[n])
            return false;
        patterns += n + 1;
    }
}

static bool is_unique(const char *suffix, const char *path, const char *const *others, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(others[i], path) != 0 && path_ends(others[i], suffix, strlen(suffix)))
            return false;
    return true;
}

size_t text_unique_suffix(const char *path, const char *const *others, size_t n) {
    size_t at = strlen(path);
    while (at > 0) {
        at--;
        if ((at == 0 || (path[at - 1] == '/' && path[at] != '/')) &&
            is_unique(path + at, path, others, n))
            return at;
    }
    return 0;
}
