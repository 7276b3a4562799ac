/* figures.c: see figures.h. */
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

void figure_json_number(output *o, double x) {
    char text[32];
    if (isnan(x)) {
        output_text(o, "null");
        return;
    }
    if (x == nearbyint(x) && fabs(x) < 0x1p53) {
        output_format(o, "%.0f", x);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    output_text(o, text);
}

/* Shorter ones show nothing. */
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
