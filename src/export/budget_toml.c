/* budget_toml.c: rounds maxima up, in a unit that leaves at least three digits. Values that equal
 * the default are left out. */
#include "export/budget_toml.h"

#include <math.h>

/* Writes a basic string. Control characters become question marks. */
static void put_text(output *o, const char *key, const char *text) {
    output_format(o, "%s = \"", key);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            output_char(o, '\\');
        output_char(o, (unsigned char)*text < ' ' ? '?' : *text);
    }
    output_text(o, "\"\n");
}

/* Writes a maximum in a unit that leaves at least three digits, so that rounding up adds at most
 * one percent. */
static void put_maximum(output *o, budget_unit unit, double most) {
    static const struct {
        const char *name;
        double size;
    } larger[] = {{"MB", 1 << 20}, {"KB", 1 << 10}};
    const char *name = unit == BUDGET_BYTESECONDS ? "B" : check_unit(unit);
    bool bytes = unit == BUDGET_BYTES || unit == BUDGET_BYTESECONDS;
    for (size_t i = 0; bytes && i < sizeof larger / sizeof *larger; i++)
        if (most >= 100 * larger[i].size) {
            most = ceil(most / larger[i].size);
            name = larger[i].name;
            break;
        }
    output_format(o, "max = \"%.0f %s%s\"\n", most, name, unit == BUDGET_BYTESECONDS ? "*s" : "");
}

void budget_toml_write(output *o, const check_report *c) {
    output_text(o, "# Allocation budgets, checked by: allotrace check --budget FILE TRACE\n"
                   "# Written by: allotrace check --update FILE TRACE\n");
    for (size_t i = 0; i < c->n; i++) {
        const budget_rule *r = &c->rules[i];
        output_text(o, "\n[[budget]]\n");
        if (r->name)
            put_text(o, "name", r->name);
        put_text(o, "site", r->site);
        if (r->filter)
            put_text(o, "filter", r->filter);
        if (r->measure != MEASURE_ALLOCATED)
            put_text(o, "measure", measure_infos[r->measure].name);
        put_maximum(o, r->unit, budget_maximum(&c->results[i]));
    }
}
