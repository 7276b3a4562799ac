/* budget_file.c: interprets keys and values of TOML. A table is checked for completeness when the
 * next one begins. */
#include "cli/budget_file.h"

#include <math.h>
#include <string.h>

/* X(name, text) */
#define RULE_KEYS(X)                                                                               \
    X(NAME, "name")                                                                                \
    X(SITE, "site")                                                                                \
    X(FILTER, "filter")                                                                            \
    X(MEASURE, "measure")                                                                          \
    X(MAX, "max")                                                                                  \
    X(EXPECT, "expect")                                                                            \
    X(WITHIN, "within")

typedef enum rule_key {
#define RULE_KEY(name, text) KEY_##name,
    RULE_KEYS(RULE_KEY)
#undef RULE_KEY
        N_KEYS
} rule_key;

static const char *const keys[N_KEYS] = {
#define RULE_KEY_TEXT(name, text) [KEY_##name] = text,
    RULE_KEYS(RULE_KEY_TEXT)
#undef RULE_KEY_TEXT
};

typedef struct reading {
    const budget_rule *defaults;
    budget_rules *rules;
    bool seen[N_KEYS]; /* keys of the current table */
    bool has_table;
    unsigned line; /* first line of the current table */
    filter_error filter_error;
} reading;

static budget_rule *current(const reading *r) {
    return &r->rules->items[r->rules->count - 1];
}

/* ---- values -------------------------------------------------------------------------------- */

static bool take_factor(const toml_value *v, double *factor, toml_error *error) {
    if (!toml_is_number(v, error))
        return false;
    *factor = v->number;
    return (*factor > 1 && isfinite(*factor)) || toml_refuse(error, "the factor must be above 1");
}

static bool take_amount(const toml_value *v, budget_rule *rule, toml_error *error) {
    if (!toml_is_string(v, error))
        return false;
    return budget_parse_amount(v->text, &rule->amount, &rule->unit) ||
           toml_refuse(error,
                       "expected an amount, like \"12 MB\", \"300 words\" or \"50000 blocks\"");
}

static bool take_measure(const toml_value *v, measure *m, toml_error *error) {
    if (!toml_is_string(v, error))
        return false;
    for (size_t i = 0; i < N_MEASURES; i++)
        if (strcmp(measure_infos[i].name, v->text) == 0) {
            *m = (measure)i;
            return true;
        }
    return toml_refuse(error, "expected allocated, blocks, live, peak, promoted, survived, "
                              "temporary or byteseconds");
}

/* Checks that a filter is valid, and keeps its text. The column of an error is right unless there
 * are escapes before it. */
static bool take_filter(reading *r, const toml_value *v, const char **text, toml_error *error) {
    filter *f;
    if (!toml_take_text(v, text, error))
        return false;
    const bool ok = filter_parse(*text, &f, &r->filter_error);
    filter_free(f);
    if (ok)
        return true;
    error->line = v->line;
    error->column = v->column + (unsigned)r->filter_error.column;
    return toml_refuse(error,
                       r->filter_error.column ? r->filter_error.reason : "not enough memory");
}

static bool take_value(void *context, int key, const toml_value *v, toml_error *error) {
    reading *r = context;
    budget_rule *rule = current(r);
    switch ((rule_key)key) {
    case KEY_NAME:
        return toml_take_text(v, &rule->name, error);
    case KEY_SITE:
        return toml_take_text(v, &rule->site, error);
    case KEY_FILTER:
        return take_filter(r, v, &rule->filter, error);
    case KEY_MEASURE:
        return take_measure(v, &rule->measure, error);
    case KEY_WITHIN:
        return take_factor(v, &rule->within, error);
    case KEY_EXPECT:
        if (rule->within <= 0)
            rule->within = 10;
        return take_amount(v, rule, error);
    case KEY_MAX:
    case N_KEYS:
        break;
    }
    return take_amount(v, rule, error);
}

/* ---- tables -------------------------------------------------------------------------------- */

/* If no measure is given and the unit does not fit the default one, chooses the measure by the
 * unit. */
static const char *unfit(const reading *r, budget_rule *rule) {
    if (!r->seen[KEY_MEASURE] && !budget_fits(rule->measure, rule->unit))
        rule->measure = budget_measure_of(rule->unit);
    if (budget_fits(rule->measure, rule->unit))
        return NULL;
    return rule->measure == MEASURE_BLOCKS
               ? "this measure takes an amount in `blocks`"
               : "B*s, KB*s … belong to the measure byteseconds, and to no other";
}

/* Checks that a table is complete. */
static bool finish_table(const reading *r, toml_error *error) {
    if (!r->has_table)
        return true;
    const char *reason = NULL;
    if (!r->seen[KEY_MAX] && !r->seen[KEY_EXPECT])
        reason = "the budget needs `max` or `expect`";
    else if (r->seen[KEY_MAX] && r->seen[KEY_EXPECT])
        reason = "`max` and `expect` exclude each other";
    else if (r->seen[KEY_MAX] && r->seen[KEY_WITHIN])
        reason = "`within` requires `expect`";
    else
        reason = unfit(r, current(r));
    if (!reason)
        return true;
    error->line = r->line;
    error->column = 1;
    return toml_refuse(error, reason);
}

static bool take_table(void *context, const char *name, bool is_list, unsigned line,
                       toml_error *error) {
    reading *r = context;
    if (!finish_table(r, error))
        return false;
    if (!is_list || strcmp(name, "budget") != 0)
        return toml_refuse(error, "expected [[budget]]");
    r->has_table = true;
    r->line = line;
    memset(r->seen, 0, sizeof r->seen);
    budget_rule rule = *r->defaults;
    rule.site = "total";
    return vec_push(r->rules, rule) || toml_refuse(error, "not enough memory");
}

static bool take_key(void *context, const char *name, int *key, toml_error *error) {
    reading *r = context;
    *key = 0;
    while (*key < N_KEYS && strcmp(keys[*key], name) != 0)
        ++*key;
    if (!r->has_table)
        return toml_refuse(error, "expected [[budget]]");
    if (*key == N_KEYS)
        return toml_refuse_key(error, name, "name, site, filter, measure, max, expect, within");
    if (r->seen[*key])
        return toml_refuse(error, "this key is given twice");
    return r->seen[*key] = true;
}

static bool take_end(void *context, toml_error *error) {
    return finish_table(context, error);
}

static toml_taker taker_of(reading *r, intern_table *strings) {
    return (toml_taker){.table = take_table,
                        .key = take_key,
                        .value = take_value,
                        .end = take_end,
                        .context = r,
                        .strings = strings};
}

bool budget_file_parse(const char *text, const budget_rule *defaults, intern_table *strings,
                       budget_rules *rules, toml_error *error) {
    reading r = {.defaults = defaults, .rules = rules};
    const toml_taker taker = taker_of(&r, strings);
    return toml_parse(text, &taker, error);
}

int budget_file_read(const char *path, const budget_rule *defaults, intern_table *strings,
                     budget_rules *rules) {
    reading r = {.defaults = defaults, .rules = rules};
    const toml_taker taker = taker_of(&r, strings);
    return toml_read(path, &taker);
}
