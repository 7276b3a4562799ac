/* agent_config.c: parses the settings. Keys about a recording become options of `attach`, whose own
 * parser checks them. */
#include "cli/agent/agent_config.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/attach/attach_command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/toml.h"

enum { DEFAULT_SCAN_US = 5000000, LEAST_SCAN_US = 100000, DEFAULT_MAX_PROCESSES = 100 };
#define DEFAULT_SIZE "--max-size=200M"

typedef enum key_kind {
    KEY_PATTERN, /* in a rule: a string that is stored in it */
    KEY_OPTION,  /* in a rule: an option of `attach` with a value */
    KEY_FLAG,    /* in a rule: an option of `attach` without a value */
    KEY_LABELS,
    /* in the table [agent]: */
    KEY_AGENT_TEXT, /* a string that is stored in the settings */
    KEY_AGENT_BOOL, /* so is true or false */
    KEY_AGENT_SCAN,
    KEY_AGENT_MOST,
} key_kind;

typedef struct key_info {
    const char *name;
    key_kind kind;
    size_t at; /* offset of what is stored in the rule, or in the settings */
} key_info;

static const key_info keys[] = {
    {"name", KEY_PATTERN, offsetof(agent_rule, name)},
    {"command", KEY_PATTERN, offsetof(agent_rule, command)},
    {"arguments", KEY_PATTERN, offsetof(agent_rule, arguments)},
    {"user", KEY_PATTERN, offsetof(agent_rule, user)},
    {"container", KEY_PATTERN, offsetof(agent_rule, container)},
    {"token-file", KEY_PATTERN, offsetof(agent_rule, token_file)},
    {"rate", KEY_OPTION, 0},
    {"depth", KEY_OPTION, 0},
    {"keep", KEY_OPTION, 0},
    {"max-size", KEY_OPTION, 0},
    {"overhead", KEY_OPTION, 0},
    {"push", KEY_OPTION, 0},
    {"every", KEY_OPTION, 0},
    {"context", KEY_OPTION, 0},
    {"go", KEY_FLAG, 0},
    {"mmap", KEY_FLAG, 0},
    {"native", KEY_FLAG, 0},
    {"push-threads", KEY_FLAG, 0},
    {"no-symbolize", KEY_FLAG, 0},
    {"labels", KEY_LABELS, 0},
    {"folder", KEY_AGENT_TEXT, offsetof(agent_config, folder)},
    {"status", KEY_AGENT_TEXT, offsetof(agent_config, status)},
    {"scan", KEY_AGENT_SCAN, 0},
    {"max-processes", KEY_AGENT_MOST, 0},
    {"pprof", KEY_AGENT_BOOL, offsetof(agent_config, pprof)},
    {"sys-admin", KEY_AGENT_BOOL, offsetof(agent_config, sys_admin)},
};
enum { N_KEYS = sizeof keys / sizeof *keys };

#define RULE_KEYS                                                                                  \
    "name, command, arguments, user, container, rate, depth, keep, max-size, overhead, push, "     \
    "every, labels, token-file, context, go, mmap, native, push-threads, no-symbolize"
#define AGENT_KEYS "folder, status, scan, max-processes, pprof, sys-admin"

typedef enum table_kind { TABLE_NONE, TABLE_AGENT, TABLE_PROCESS } table_kind;

typedef struct config_reading {
    agent_config *config;
    table_kind table;
    bool has_agent, seen[N_KEYS];
} config_reading;

static agent_rule *current(const config_reading *r) {
    return &r->config->rules.items[r->config->rules.count - 1];
}

/* ---- values ------------------------------------------------------------------------------ */

static bool keep_word(agent_rule *rule, const char *word, unsigned line, toml_error *error) {
    return (word && vec_push(&rule->words, word) && vec_push(&rule->lines, line)) ||
           toml_refuse(error, "not enough memory");
}

static bool add_word(config_reading *r, unsigned line, toml_error *error, const char *name,
                     const char *value) {
    char word[TOML_STRING_MAX + 32];
    const int n = value ? snprintf(word, sizeof word, "--%s=%s", name, value)
                        : snprintf(word, sizeof word, "--%s", name);
    const char *kept = n < (int)sizeof word ? intern(&r->config->strings, word, (size_t)n) : NULL;
    return keep_word(current(r), kept, line, error);
}

static bool take_option(config_reading *r, const char *name, const toml_value *v,
                        toml_error *error) {
    char number[32];
    if (v->kind != TOML_NUMBER)
        return toml_is_string(v, error) && add_word(r, v->line, error, name, v->text);
    snprintf(number, sizeof number, "%.15g", v->number);
    return add_word(r, v->line, error, name, number);
}

static bool take_labels(config_reading *r, const toml_value *v, toml_error *error) {
    if (v->kind != TOML_LIST)
        return toml_refuse(error, "expected a list of strings, like [\"team=a\"]");
    for (size_t i = 0; i < v->n_items; i++)
        if (!add_word(r, v->line, error, "label", v->items[i]))
            return false;
    return true;
}

static bool take_scan(agent_config *c, const toml_value *v, toml_error *error) {
    return (v->kind == TOML_STRING && options_parse_time(v->text, &c->scan_us) &&
            c->scan_us >= LEAST_SCAN_US) ||
           toml_refuse(error, "expected a time of at least 100ms, like \"5s\"");
}

static bool take_max_processes(agent_config *c, const toml_value *v, toml_error *error) {
    if (v->kind != TOML_NUMBER || !(v->number >= 1 && v->number <= 100000))
        return toml_refuse(error, "expected a number from 1 to 100000");
    c->max_processes = (uint64_t)v->number;
    return true;
}

static bool take_value(void *context, int key, const toml_value *v, toml_error *error) {
    config_reading *r = context;
    const key_info *k = &keys[key];
    bool wanted = false;
    switch (k->kind) {
    case KEY_PATTERN:
        return toml_take_text(v, (const char **)((char *)current(r) + k->at), error);
    case KEY_OPTION:
        return take_option(r, k->name, v, error);
    case KEY_FLAG:
        return toml_take_bool(v, &wanted, error) &&
               (!wanted || add_word(r, v->line, error, k->name, NULL));
    case KEY_LABELS:
        return take_labels(r, v, error);
    case KEY_AGENT_TEXT:
        return toml_take_text(v, (const char **)((char *)r->config + k->at), error);
    case KEY_AGENT_BOOL:
        return toml_take_bool(v, (bool *)((char *)r->config + k->at), error);
    case KEY_AGENT_SCAN:
        return take_scan(r->config, v, error);
    case KEY_AGENT_MOST:
        return take_max_processes(r->config, v, error);
    }
    return false;
}

/* ---- tables ------------------------------------------------------------------------------ */

static bool has_seen(const config_reading *r, const char *name) {
    for (int i = 0; i < N_KEYS; i++)
        if (strcmp(keys[i].name, name) == 0)
            return r->seen[i];
    return false;
}

/* Checks that a rule is complete, and adds defaults. */
static bool finish_table(config_reading *r, toml_error *error) {
    if (r->table != TABLE_PROCESS)
        return true;
    agent_rule *rule = current(r);
    const char *reason = NULL;
    if (!rule->name || !*rule->name || strpbrk(rule->name, "/\n") || rule->name[0] == '.')
        reason = "the process needs a `name`, which becomes that of a folder";
    else if (!rule->command && !rule->arguments && !rule->user && !rule->container)
        reason = "the process needs `command`, `arguments`, `user` or `container`, by which it is "
                 "found";
    else if (has_seen(r, "token-file") && !has_seen(r, "push"))
        reason = "`token-file` requires `push`";
    if (!reason)
        return has_seen(r, "keep") || has_seen(r, "max-size") ||
               keep_word(rule, DEFAULT_SIZE, rule->line, error);
    error->line = rule->line;
    error->column = 1;
    return toml_refuse(error, reason);
}

static bool take_table(void *context, const char *name, bool is_list, unsigned line,
                       toml_error *error) {
    config_reading *r = context;
    if (!finish_table(r, error))
        return false;
    const bool is_agent = !is_list && strcmp(name, "agent") == 0;
    if (!is_agent && (!is_list || strcmp(name, "process") != 0))
        return toml_refuse(error, "expected [agent] or [[process]]");
    if (is_agent && r->has_agent)
        return toml_refuse(error, "[agent] is given twice");
    r->table = is_agent ? TABLE_AGENT : TABLE_PROCESS;
    r->has_agent |= is_agent;
    memset(r->seen, 0, sizeof r->seen);
    return is_agent || vec_push(&r->config->rules, ((agent_rule){.line = line})) ||
           toml_refuse(error, "not enough memory");
}

static bool take_key(void *context, const char *name, int *key, toml_error *error) {
    config_reading *r = context;
    if (r->table == TABLE_NONE)
        return toml_refuse(error, "expected [agent] or [[process]]");
    const bool of_agent = r->table == TABLE_AGENT;
    *key = 0;
    while (*key < N_KEYS &&
           (strcmp(keys[*key].name, name) != 0 || (keys[*key].kind >= KEY_AGENT_TEXT) != of_agent))
        ++*key;
    if (*key == N_KEYS)
        return toml_refuse_key(error, name, of_agent ? AGENT_KEYS : RULE_KEYS);
    if (r->seen[*key])
        return toml_refuse(error, "this key is given twice");
    return r->seen[*key] = true;
}

static bool take_end(void *context, toml_error *error) {
    config_reading *r = context;
    if (!finish_table(r, error))
        return false;
    if (!r->config->folder || r->config->folder[0] != '/')
        return toml_refuse(error, "[agent] needs a `folder`, an absolute path");
    if (r->config->pprof && !r->config->status)
        return toml_refuse(error, "`pprof` requires `status`");
    return r->config->rules.count > 0 || toml_refuse(error, "there is no [[process]]");
}

/* ---- the whole file -------------------------------------------------------------------------- */

/* Checks options of a rule as `attach` does. */
static int judge_words(const char *const *items, size_t n) {
    static parsed_line line;
    VEC(char *) words = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++)
        ok = !items[i] || vec_push(&words, (char *)(uintptr_t)items[i]);
    int status = STATUS_FAILED;
    if (!ok || !vec_push(&words, (char *)"1") || !vec_push(&words, NULL))
        message_no_memory();
    else
        status = options_parse(&command_attach, words.items, &line);
    if (status == STATUS_OK)
        status = attach_check_options(line.options);
    vec_free(&words);
    return status;
}

/* Returns the line of the word without which the rule is right, or else of one that is wrong by
 * itself; otherwise the line in which the rule begins. */
static unsigned wrong_line(agent_rule *rule) {
    const size_t n = rule->words.count;
    bool right = false;
    size_t i = 0;
    for (; i < n && !right; i++) {
        const char *word = rule->words.items[i];
        rule->words.items[i] = NULL;
        right = judge_words(rule->words.items, n) == STATUS_OK;
        rule->words.items[i] = word;
    }
    for (size_t j = 0; !right && j < n; j++) {
        right = judge_words(&rule->words.items[j], 1) == STATUS_USAGE;
        i = j + 1;
    }
    return right ? rule->lines.items[i - 1] : rule->line;
}

static int check_options(const agent_config *c, agent_rule *rule) {
    char place[PATH_MAX];
    message_set_place("");
    int status = judge_words(rule->words.items, rule->words.count);
    if (status != STATUS_OK) {
        snprintf(place, sizeof place, "%s:%u", c->path, wrong_line(rule));
        message_set_place(place);
        status = judge_words(rule->words.items, rule->words.count);
    }
    message_set_place(NULL);
    return status;
}

int agent_config_read(agent_config *c, const char *path) {
    *c = (agent_config){
        .path = path, .scan_us = DEFAULT_SCAN_US, .max_processes = DEFAULT_MAX_PROCESSES};
    config_reading r = {.config = c};
    const toml_taker taker = {.table = take_table,
                              .key = take_key,
                              .value = take_value,
                              .end = take_end,
                              .context = &r,
                              .strings = &c->strings};
    int status = toml_read(path, &taker);
    for (size_t i = 0; status == STATUS_OK && i < c->rules.count; i++)
        status = check_options(c, &c->rules.items[i]);
    return status;
}

void agent_config_free(agent_config *c) {
    for (size_t i = 0; i < c->rules.count; i++) {
        vec_free(&c->rules.items[i].words);
        vec_free(&c->rules.items[i].lines);
    }
    vec_free(&c->rules);
    intern_free(&c->strings);
}
