/* budget_file.c: a parser by recursive descent: a line at a time, values by the key that they
 * belong to. What a table lacks is found out when the next one begins. */
#include "cli/budget_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli/command.h"
#include "cli/message.h"

enum { STRING_MAX = 1024, FILE_MAX = 1 << 24 };

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

typedef struct parser {
    const char *at, *line_start;
    unsigned line;
    intern_table *strings;
    const budget_rule *defaults;
    budget_rules *rules;
    bool seen[N_KEYS];  /* in the current table */
    const char *header; /* where the current table begins; NULL: none yet */
    unsigned header_line;
    filter_error filter_error;
    budget_error *error;
} parser;

static bool fail_at(parser *p, unsigned line, size_t column, const char *reason) {
    *p->error = (budget_error){.line = line, .column = (unsigned)column + 1};
    snprintf(p->error->reason, sizeof p->error->reason, "%s", reason);
    return false;
}

static bool fail(parser *p, const char *reason) {
    return fail_at(p, p->line, (size_t)(p->at - p->line_start), reason);
}

static void skip_blanks(parser *p) {
    p->at += strspn(p->at, " \t");
}

/* A comment, and the end of the line. */
static bool end_line(parser *p) {
    skip_blanks(p);
    if (*p->at == '#')
        p->at += strcspn(p->at, "\n");
    if (*p->at == '\r' && p->at[1] == '\n')
        p->at++;
    if (*p->at == '\0')
        return true;
    if (*p->at != '\n')
        return fail(p, "expected the end of the line");
    p->line_start = ++p->at;
    p->line++;
    return true;
}

/* ---- values -------------------------------------------------------------------------------- */

static bool escape(parser *p, char *c) {
    static const char from[] = "\"\\tn", to[] = "\"\\\t\n";
    const char *found = *++p->at ? strchr(from, *p->at) : NULL;
    if (!found)
        return fail(p, "this escape is not supported");
    *c = to[found - from];
    return true;
}

static bool parse_string(parser *p, char text[STRING_MAX]) {
    char quote = *p->at;
    size_t size = 0;
    if (quote != '"' && quote != '\'')
        return fail(p, "expected a string");
    for (p->at++; *p->at != quote; p->at++) {
        char c = *p->at;
        if (c == '\0' || c == '\n')
            return fail(p, "the string is not closed");
        if (c == '\\' && quote == '"' && !escape(p, &c))
            return false;
        if (size + 1 == STRING_MAX)
            return fail(p, "the string is too long");
        text[size++] = c;
    }
    p->at++;
    text[size] = '\0';
    return true;
}

static bool parse_factor(parser *p, double *value) {
    size_t size = number_read(p->at, value);
    if (size == 0)
        return fail(p, "expected a number");
    if (!(*value > 1) || !isfinite(*value))
        return fail(p, "the factor must be above 1");
    p->at += size;
    return true;
}

static bool parse_amount(parser *p, budget_rule *rule) {
    char text[STRING_MAX];
    const char *start = p->at;
    if (!parse_string(p, text))
        return false;
    if (budget_parse_amount(text, &rule->amount, &rule->unit))
        return true;
    p->at = start;
    return fail(p, "expected an amount, like \"12 MB\", \"300 words\" or \"50000 blocks\"");
}

static bool parse_measure(parser *p, measure *m) {
    char text[STRING_MAX];
    const char *start = p->at;
    if (!parse_string(p, text))
        return false;
    for (size_t i = 0; i < N_MEASURES; i++)
        if (strcmp(measure_infos[i].name, text) == 0) {
            *m = (measure)i;
            return true;
        }
    p->at = start;
    return fail(
        p, "expected allocated, blocks, live, peak, promoted, survived, temporary or byteseconds");
}

static bool parse_name(parser *p, const char **name) {
    char text[STRING_MAX];
    if (!parse_string(p, text))
        return false;
    *name = intern(p->strings, text, strlen(text));
    return *name || fail(p, "not enough memory");
}

/* A filter as it stands, once it is known to be one. The column is right as long as nothing before
 * it is escaped. */
static bool parse_filter(parser *p, const char **text) {
    filter *f;
    const char *start = p->at;
    if (!parse_name(p, text))
        return false;
    bool ok = filter_parse(*text, &f, &p->filter_error);
    filter_free(f);
    if (ok)
        return true;
    p->at = start + p->filter_error.column;
    return fail(p, p->filter_error.column ? p->filter_error.reason : "not enough memory");
}

/* ---- tables -------------------------------------------------------------------------------- */

/* An amount whose unit says more than the default measure takes its own. */
static const char *unfit(const parser *p, budget_rule *r) {
    if (!p->seen[KEY_MEASURE] && !budget_fits(r->measure, r->unit))
        r->measure = budget_measure_of(r->unit);
    if (budget_fits(r->measure, r->unit))
        return NULL;
    return r->measure == MEASURE_BLOCKS
               ? "this measure takes an amount in `blocks`"
               : "B*s, KB*s … belong to the measure byteseconds, and to no other";
}

/* What a table must have once it ends. */
static bool finish_table(parser *p) {
    if (!p->header)
        return true;
    const char *reason = NULL;
    if (!p->seen[KEY_MAX] && !p->seen[KEY_EXPECT])
        reason = "the budget needs `max` or `expect`";
    else if (p->seen[KEY_MAX] && p->seen[KEY_EXPECT])
        reason = "`max` and `expect` exclude each other";
    else if (p->seen[KEY_MAX] && p->seen[KEY_WITHIN])
        reason = "`within` requires `expect`";
    else
        reason = unfit(p, &p->rules->items[p->rules->count - 1]);
    return !reason || fail_at(p, p->header_line, 0, reason);
}

static bool begin_table(parser *p) {
    static const char header[] = "[[budget]]";
    if (!finish_table(p))
        return false;
    if (strncmp(p->at, header, sizeof header - 1) != 0)
        return fail(p, "expected [[budget]]");
    p->header = p->at;
    p->header_line = p->line;
    p->at += sizeof header - 1;
    memset(p->seen, 0, sizeof p->seen);
    budget_rule rule = *p->defaults;
    rule.site = "total";
    return vec_push(p->rules, rule) || fail(p, "not enough memory");
}

static bool parse_value(parser *p, rule_key key, budget_rule *rule) {
    switch (key) {
    case KEY_NAME:
        return parse_name(p, &rule->name);
    case KEY_SITE:
        return parse_name(p, &rule->site);
    case KEY_FILTER:
        return parse_filter(p, &rule->filter);
    case KEY_MEASURE:
        return parse_measure(p, &rule->measure);
    case KEY_WITHIN:
        return parse_factor(p, &rule->within);
    case KEY_EXPECT:
        if (rule->within <= 0)
            rule->within = 10;
        return parse_amount(p, rule);
    case KEY_MAX:
    case N_KEYS:
        break;
    }
    return parse_amount(p, rule);
}

static bool parse_pair(parser *p) {
    size_t size = strcspn(p->at, "= \t\r\n#"), key = 0;
    while (key < N_KEYS && (strlen(keys[key]) != size || strncmp(keys[key], p->at, size) != 0))
        key++;
    if (!p->header)
        return fail(p, "expected [[budget]]");
    if (key == N_KEYS)
        return fail(p, "expected name, site, filter, measure, max, expect or within");
    if (p->seen[key])
        return fail(p, "this key is given twice");
    p->seen[key] = true;
    p->at += size;
    skip_blanks(p);
    if (*p->at != '=')
        return fail(p, "expected `=`");
    p->at++;
    skip_blanks(p);
    return parse_value(p, (rule_key)key, &p->rules->items[p->rules->count - 1]);
}

bool budget_file_parse(const char *text, const budget_rule *defaults, intern_table *strings,
                       budget_rules *rules, budget_error *error) {
    parser p = {.at = text,
                .line_start = text,
                .line = 1,
                .strings = strings,
                .defaults = defaults,
                .rules = rules,
                .error = error};
    while (*p.at) {
        skip_blanks(&p);
        bool ok = true;
        if (*p.at == '[')
            ok = begin_table(&p);
        else if (*p.at && !strchr("#\r\n", *p.at))
            ok = parse_pair(&p);
        if (!ok || !end_line(&p))
            return false;
    }
    return finish_table(&p);
}

/* ---- files --------------------------------------------------------------------------------- */

static char *read_all(const char *path) {
    FILE *in = fopen(path, "r");
    if (!in)
        return NULL;
    char *text = NULL;
    size_t size = 0, got;
    do {
        char *grown = size < FILE_MAX ? realloc(text, size + 4097) : NULL;
        if (!grown) {
            free(text);
            fclose(in);
            errno = size < FILE_MAX ? ENOMEM : EFBIG;
            return NULL;
        }
        text = grown;
        got = fread(text + size, 1, 4096, in);
        size += got;
    } while (got > 0);
    text[size] = '\0';
    int failed = ferror(in) ? errno : 0;
    fclose(in);
    if (failed) {
        free(text);
        errno = failed;
        return NULL;
    }
    return text;
}

int budget_file_read(const char *path, const budget_rule *defaults, intern_table *strings,
                     budget_rules *rules) {
    char *text = read_all(path);
    if (!text) {
        message_error("%s: %s", path, strerror(errno));
        return STATUS_FAILED;
    }
    budget_error error;
    bool ok = budget_file_parse(text, defaults, strings, rules, &error);
    free(text);
    if (ok)
        return STATUS_OK;
    message_error("%s:%u:%u: %s", path, error.line, error.column, error.reason);
    return STATUS_FAILED;
}
