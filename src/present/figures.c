/* figures.c: see figures.h. */
#include "present/figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

figure figure_of(const profile *p, uint64_t samples) {
    double word = p->info.word_size / 8.0;
    estimate words = estimate_words(samples, p->info.sample_rate);
    return (figure){.samples = samples,
                    .value = words.value * word,
                    .low = words.low * word,
                    .high = words.high * word,
                    .margin = estimate_normal_margin(samples, p->info.sample_rate) * word};
}

figure_text figure_bytes(double bytes) {
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
    enum { LAST = sizeof units / sizeof *units - 1 };
    int unit = 0;
    while (unit < LAST && bytes >= (unit == 0 ? 1023.5 : 1023.95)) { /* as it would be rounded */
        bytes /= 1024;
        unit++;
    }
    figure_text t;
    if (bytes < 1e6)
        snprintf(t.text, sizeof t.text, "%.*f %s", unit > 0, bytes, units[unit]);
    else /* of a damaged trace */
        snprintf(t.text, sizeof t.text, "%.3g %s", bytes, units[unit]);
    return t;
}

figure_text figure_count(uint64_t n) {
    char digits[OUTPUT_U64_MAX];
    const char *p = output_u64_digits(n, digits), *end = digits + sizeof digits;
    figure_text t;
    size_t used = 0;
    for (; p < end; p++) {
        t.text[used++] = *p;
        if ((end - p) % 3 == 1 && p + 1 < end)
            t.text[used++] = ',';
    }
    t.text[used] = '\0';
    return t;
}

double figure_rate_up(double rate) {
    double step = pow(10, floor(log10(rate)) - 1);
    return fmin(1, ceil(rate / step - 1e-9) * step);
}

figure_text figure_rate(double rate) {
    figure_text t;
    if (rate >= 0.001) {
        snprintf(t.text, sizeof t.text, "%.6g", rate);
        return t;
    }
    char digits[32];
    snprintf(digits, sizeof digits, "%.5e", rate); /* 1.00000e-04 */
    char *e = strchr(digits, 'e');
    *e = '\0';
    snprintf(t.text, sizeof t.text, "%.6ge%ld", strtod(digits, NULL), strtol(e + 1, NULL, 10));
    return t;
}

figure_text figure_duration(uint64_t micros) {
    figure_text t;
    double seconds = (double)micros / 1e6;
    uint64_t whole = (micros + 500000) / 1000000;
    if (micros < 1000)
        snprintf(t.text, sizeof t.text, "%" PRIu64 " µs", micros);
    else if (seconds < 0.9995) /* limits as they would be rounded */
        snprintf(t.text, sizeof t.text, "%.3g ms", seconds * 1e3);
    else if (seconds < 59.995)
        snprintf(t.text, sizeof t.text, "%.2f s", seconds);
    else if (whole < 3600)
        snprintf(t.text, sizeof t.text, "%" PRIu64 " min %" PRIu64 " s", whole / 60, whole % 60);
    else
        snprintf(t.text, sizeof t.text, "%" PRIu64 " h %" PRIu64 " min", whole / 3600,
                 whole / 60 % 60);
    return t;
}

figure_text figure_date(uint64_t micros) {
    figure_text t = {"unknown"};
    time_t seconds = (time_t)(micros / 1000000);
    struct tm tm;
    if (gmtime_r(&seconds, &tm))
        strftime(t.text, sizeof t.text, "%Y-%m-%d %H:%M:%S UTC", &tm);
    return t;
}

const char *figure_unit(measure_unit unit) {
    static const char *const names[] = {
        [UNIT_BYTES] = "B", [UNIT_BLOCKS] = "blocks", [UNIT_BYTESECONDS] = "B·s"};
    return names[unit];
}

size_t figure_columns(const char *text) {
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80; /* not the rest of a UTF-8 character */
    return n;
}

figure figure_between(const profile *p, uint64_t samples, blocks_spread spread) {
    figure f = figure_of(p, samples);
    if (p->info.sample_rate < 1 || spread.low == spread.high)
        return f;
    f.low = figure_of(p, spread.low).value;
    f.high = figure_of(p, spread.high).value;
    f.margin = (f.high - f.low) / 2;
    f.has_ends = true;
    return f;
}

/* The interval of nine samples at a small rate reaches 1.65 times as far up as down. */
static bool is_lopsided(const figure *f) {
    return f->has_ends || f->high - f->value > 1.64 * (f->value - f->low);
}

figure_range figure_error(const figure *f, const char *margin, const char *low, const char *high) {
    figure_range t = {"exact"};
    if (f->low >= f->high)
        return t;
    if (is_lopsided(f))
        snprintf(t.text, sizeof t.text, "%.40s … %.40s", low, high);
    else
        snprintf(t.text, sizeof t.text, "± %.40s", margin);
    return t;
}

figure_range figure_margin(const figure *f) {
    return figure_error(f, figure_bytes(f->margin).text, figure_bytes(f->low).text,
                        figure_bytes(f->high).text);
}

figure_range figure_beside(figure_range error) {
    figure_range t = {""};
    if (strncmp(error.text, "± ", strlen("± ")) == 0)
        snprintf(t.text, sizeof t.text, " %.90s", error.text);
    else if (strcmp(error.text, "exact") != 0)
        snprintf(t.text, sizeof t.text, " (%.90s)", error.text);
    return t;
}

double figure_percent(uint64_t part, uint64_t of) {
    return of ? 100.0 * (double)part / (double)of : 0;
}

void figure_json_number(output *o, double x) {
    char text[32];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    output_text(o, text);
}

void figure_json_estimate(output *o, estimate e, uint64_t samples) {
    output_text(o, "{\"value\":");
    figure_json_number(o, e.value);
    output_text(o, ",\"low\":");
    figure_json_number(o, e.low);
    output_text(o, ",\"high\":");
    figure_json_number(o, e.high);
    output_format(o, ",\"samples\":%" PRIu64 "}", samples);
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
