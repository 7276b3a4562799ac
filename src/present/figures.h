/* figures.h: numbers as people read them, and what a number of samples stands for. */
#ifndef PRESENT_FIGURES_H
#define PRESENT_FIGURES_H

#include "analyse/blocks_spread.h"
#include "analyse/cost.h"
#include "analyse/estimate.h"
#include "analyse/profile.h"
#include "present/output.h"

/* What samples estimate, in bytes, with the limits of the exact 95 % interval; at rate 1 all are
 * equal. */
typedef struct figure {
    uint64_t samples;
    double value, low, high;
    double margin; /* 1.96 standard errors: the ± that people are shown where that is fair */
    bool has_ends; /* it is anywhere between its ends, which are shown */
} figure;

figure figure_of(const profile *p, uint64_t samples);

/* The same; at rate 1, of what is known only between two ends. */
figure figure_between(const profile *p, uint64_t samples, blocks_spread spread);

/* A number as text, by value, so that several can stand in one format. */
typedef struct figure_text {
    char text[40];
} figure_text;

/* Two of them and what stands between. */
typedef struct figure_range {
    char text[100];
} figure_range;

figure_text figure_bytes(double bytes);            /* 76.3 MB, where 1 MB is 2^20 bytes */
figure_text figure_count(uint64_t n);              /* 1,000 */
figure_text figure_rate(double rate);              /* 1e-4 */
double figure_rate_up(double rate);                /* to two digits, not above 1 */
figure_text figure_duration(uint64_t micros);      /* 1.25 s, 3 min 20 s */
figure_text figure_date(uint64_t micros);          /* since the epoch: 2026-11-20 12:30:05 UTC */
const char *figure_unit(measure_unit unit);        /* as JSON has it: B, blocks, B·s */
figure_range figure_margin(const figure *f);       /* ± 4.7 MB; 94.6 KB … 2.8 MB; exact */
double figure_percent(uint64_t part, uint64_t of); /* 0 if `of` is 0 */

/* How far the truth may be from a figure: the margin; both ends of its interval where these are not
 * about equally far away, as with fewer than ten samples; or `exact`. For figures in other units,
 * of the texts that are given. */
figure_range figure_error(const figure *f, const char *margin, const char *low, const char *high);

/* The same to stand behind the value, with a blank: in parentheses if it has two ends, empty if it
 * is exact. */
figure_range figure_beside(figure_range error);

/* The columns of a terminal that a text takes. */
size_t figure_columns(const char *text);

/* As few digits as give the same number back. */
void figure_json_number(output *o, double x);

/* `{"value":…,"low":…,"high":…,"samples":…}` of what is no number of bytes. */
void figure_json_estimate(output *o, estimate e, uint64_t samples);

/* `share` of `width` characters as a bar of blocks, in eighths of a character; at least the
 * thinnest one if it is not 0. Without trailing blanks. */
void figure_bar(output *o, double share, unsigned width);

/* One character of a row of them, as high as `share` of 1. */
void figure_spark(output *o, double share);

/* `"value":…,"low":…,"high":…,"samples":…`, the same wherever an estimate stands in JSON. */
void figure_json(output *o, const figure *f);

#endif
