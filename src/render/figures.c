/* figures.c: a JSON number is the shortest text that reads back as the same double. Bars and
 * sparklines are drawn with block characters, in eighths. */
#include "render/figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

size_t figure_columns(const char *text) {
    return utf8_columns(text, strlen(text));
}

/* Counts significant digits, without leading and trailing zeros. */
static int significant_digits(const char *number) {
    int n = 0, up_to_last = 0;
    for (const char *c = number; *c && *c != 'e'; c++) {
        const bool digit = *c >= '0' && *c <= '9';
        n += digit && (n > 0 || *c != '0');
        up_to_last = digit && *c != '0' ? n : up_to_last;
    }
    return up_to_last;
}

enum { FEW_DIGITS = 6, SURE_DIGITS = 15, MOST_DIGITS = 17 };

/* If any number with up to 15 digits reads back as `x`, it is `x` printed with 15 digits, minus
 * trailing zeros. */
void figure_json_number(output *o, double x) {
    char text[32];
    int digits = SURE_DIGITS - 1;
    if (x == nearbyint(x) && fabs(x) < 0x1p53) {
        output_format(o, "%.0f", x + 0.0);
        return;
    }
    do
        snprintf(text, sizeof text, "%.*g", ++digits, x);
    while (digits < MOST_DIGITS && strtod(text, NULL) != x);
    if (digits == SURE_DIGITS) {
        digits = significant_digits(text);
        snprintf(text, sizeof text, "%.*g", digits > FEW_DIGITS ? digits : FEW_DIGITS, x);
    }
    output_text(o, isfinite(x) ? text : "null");
}

/* A shorter bar shows nothing useful. */
enum { LEAST_BAR = 4 };

void figure_bar(output *o, double share, unsigned width) {
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const unsigned left = output_columns_left(o);
    width = width < left ? width : left;
    if (width < LEAST_BAR)
        return;
    unsigned eighths = (unsigned)(fmin(fmax(share, 0), 1) * width * 8 + 0.5);
    if (eighths == 0 && share > 0)
        eighths = 1;
    for (; eighths >= 8; eighths -= 8)
        output_text(o, "█");
    output_text(o, parts[eighths]);
}

void figure_spark(output *o, double share) {
    static const char *const levels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    int level = (int)ceil(share * 8) - 1;
    output_text(o, level < 0 ? " " : levels[level < 8 ? level : 7]);
}

void figure_json(output *o, const figure *f) {
    output_format(o, "\"value\":%.0f,\"low\":%.0f,\"high\":%.0f,\"samples\":%" PRIu64, f->value,
                  f->low, f->high, f->samples);
}
