/* options.c: parses values by the kind of the option, and stores them at its offset in the
 * command's struct. For an unknown option, suggests the nearest one, or what to use instead. */
#include "cli/options.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/number.h"
#include "cli/message.h"
#include "cli/traces.h"

/* ---- values ------------------------------------------------------------------------------ */

/* A percent sign may follow the number. */
static bool parse_percent(const char *text, double *value) {
    size_t size = number_read(text, value);
    size += size && text[size] == '%';
    return size && !text[size] && *value <= 100;
}

/* Fractions of a microsecond are cut off. The small addend compensates for binary rounding. */
bool options_parse_time(const char *text, uint64_t *micros) {
    static const struct {
        const char *unit;
        double micros;
    } units[] = {{"", 1e6}, {"s", 1e6},    {"ms", 1e3},  {"us", 1},
                 {"µs", 1}, {"min", 60e6}, {"h", 3600e6}};
    double value = 0;
    size_t size = number_read(text, &value);
    for (size_t i = 0; size && i < sizeof units / sizeof *units; i++)
        if (strcmp(text + size, units[i].unit) == 0) {
            const double exact = value * units[i].micros;
            if (!(exact < 9e18))
                return false;
            *micros = (uint64_t)(exact + 1e-6 * (exact < 1e15));
            return true;
        }
    return false;
}

static bool parse_choice(const option *o, const char *text, int *value) {
    for (int i = 0; o->choices[i]; i++)
        if (strcmp(o->choices[i], text) == 0) {
            *value = i;
            return true;
        }
    return false;
}

static const char *choice_name(const void *of, size_t i) {
    return ((const option *)of)->choices[i];
}

/* Returns the choice that a word probably means; NULL: none. */
static const char *meant_choice(const option *o, const char *text) {
    size_t n = 0;
    for (const option_synonym *s = o->synonyms; s && s->word; s++)
        if (strcasecmp(s->word, text) == 0)
            return s->choice;
    while (o->choices[n])
        n++;
    const char *near = nearest_name(text, strlen(text), choice_name, o, n);
    return near && (strncmp(near, text, strlen(text)) == 0 ||
                    2 * nearest_distance(near, text) < strlen(text))
               ? near
               : NULL; /* short words are all near each other */
}

static int refuse_choice(const command *cmd, const option *o, const char *text) {
    const char *meant = meant_choice(o, text);
    char known[256] = "";
    for (size_t i = 0, used = 0; o->choices[i] && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 o->choices[i]);
    return meant ? message_usage(cmd, "--%s: `%s` is not one of %s; did you mean %s?", o->name,
                                 text, known, meant)
                 : message_usage(cmd, "--%s: `%s` is not one of %s", o->name, text, known);
}

static int refuse_value(const command *cmd, const option *o, const char *text) {
    switch (o->kind) {
    case OPTION_COUNT:
        return message_usage(cmd, "--%s: `%s` is %s", o->name, text,
                             number_parse_whole(text, &(uint64_t){0}) == NUMBER_TOO_LARGE
                                 ? "too large: at most 18446744073709551615"
                                 : "not a whole number");
    case OPTION_FILE:
        return message_usage(cmd, "--%s: file name is empty", o->name);
    case OPTION_PERCENT:
        return message_usage(cmd, "--%s: `%s` is not a percentage from 0 to 100", o->name, text);
    case OPTION_TIME:
        return message_usage(cmd, "--%s: `%s` is not a time such as 10min, 1.5s or 20ms", o->name,
                             text);
    case OPTION_RATE:
        return message_usage(cmd, "--%s: `%s` is not a rate above 0 and at most 1, such as 1e-5",
                             o->name, text);
    default:
        return refuse_choice(cmd, o, text);
    }
}

static int add_text(const command *cmd, const option *o, const char *text, option_texts *texts) {
    if (texts->n == OPTION_TEXTS_MAX)
        return message_usage(cmd, "--%s can be given at most %d times", o->name, OPTION_TEXTS_MAX);
    texts->items[texts->n++] = text;
    return STATUS_OK;
}

/* Operands so far came before the option; the following ones belong to it. */
static int store_head(const command *cmd, const option *o, size_t n_operands, size_t *at) {
    if (*at)
        return message_usage(cmd, "--%s is given twice", o->name);
    *at = 1 + n_operands;
    return STATUS_OK;
}

static int store(const command *cmd, const option *o, const char *text, parsed_line *line) {
    void *at = line->options + o->at;
    double number;
    switch (o->kind) {
    case OPTION_FLAG:
        *(bool *)at = true;
        return STATUS_OK;
    case OPTION_FILE:
        if (!*text)
            return refuse_value(cmd, o, text);
        *(const char **)at = text;
        return STATUS_OK;
    case OPTION_TEXT:
        *(const char **)at = text;
        return STATUS_OK;
    case OPTION_COUNT:
        return number_parse_whole(text, at) == NUMBER_WHOLE ? STATUS_OK
                                                            : refuse_value(cmd, o, text);
    case OPTION_PERCENT:
        if (!parse_percent(text, &number))
            return refuse_value(cmd, o, text);
        *(double *)at = number;
        return STATUS_OK;
    case OPTION_RATE:
        if (!number_parse(text, &number) || !(number > 0 && number <= 1))
            return refuse_value(cmd, o, text);
        *(double *)at = number;
        return STATUS_OK;
    case OPTION_TIME:
        return options_parse_time(text, at) ? STATUS_OK : refuse_value(cmd, o, text);
    case OPTION_CHOICE:
        return parse_choice(o, text, at) ? STATUS_OK : refuse_value(cmd, o, text);
    case OPTION_TEXTS:
        return add_text(cmd, o, text, at);
    case OPTION_HEAD:
        return store_head(cmd, o, line->n_operands, at);
    }
    return STATUS_USAGE;
}

/* ---- words ------------------------------------------------------------------------------- */

const option *options_find(const command *cmd, const char *name, size_t size) {
    for (size_t i = 0; i < cmd->n_options; i++)
        if (strncmp(cmd->options[i].name, name, size) == 0 && !cmd->options[i].name[size])
            return &cmd->options[i];
    return NULL;
}

static const option *find_short(const command *cmd, char letter) {
    for (size_t i = 0; i < cmd->n_options; i++)
        if (cmd->options[i].letter == letter)
            return &cmd->options[i];
    return NULL;
}

static const char *option_name(const void *of, size_t i) {
    const command *cmd = of;
    return cmd->options[i].name;
}

/* Returns what to use instead of an option that the command lacks; NULL: unknown. */
static const char *instead_of(const command *cmd, const char *name, size_t size) {
    for (const option_lack *l = cmd->lacks; l && l->option; l++)
        if (strlen(l->option) == size && strncmp(l->option, name, size) == 0)
            return l->instead;
    return NULL;
}

static int refuse_unknown(const command *cmd, const char *name, size_t size) {
    const char *instead = instead_of(cmd, name, size);
    if (instead)
        return message_usage(cmd, "%s has no option --%.*s; use %s", cmd->name, (int)size, name,
                             instead);
    const char *nearest = nearest_name(name, size, option_name, cmd, cmd->n_options);
    if (nearest)
        return message_usage(cmd, "%s has no option --%.*s; did you mean --%s?", cmd->name,
                             (int)size, name, nearest);
    return message_usage(cmd, "%s has no option --%.*s", cmd->name, (int)size, name);
}

/* Letters that mean the same for all commands. */
static int refuse_letter(const command *cmd, char letter) {
    const char *name = letter == 'n'   ? "top"
                       : letter == 'f' ? "filter"
                       : letter == 'm' ? "measure"
                                       : "";
    const char *instead = instead_of(cmd, name, strlen(name));
    if (instead)
        return message_usage(cmd, "%s has no option -%c; use %s", cmd->name, letter, instead);
    return message_usage(cmd, "%s has no option -%c", cmd->name, letter);
}

/* Parses the word `--name[=value]`, and the next word if that is the value. */
static int parse_long(const command *cmd, char ***words, parsed_line *line) {
    const char *name = **words + 2;
    size_t size = strcspn(name, "=");
    const char *value = name[size] ? name + size + 1 : NULL;
    ++*words;
    const option *o = options_find(cmd, name, size);
    if (!o)
        return refuse_unknown(cmd, name, size);
    if (!option_takes_value(o) && value)
        return message_usage(cmd, "--%s takes no value", o->name);
    if (option_takes_value(o) && !value) {
        value = **words;
        if (!value)
            return message_usage(cmd, "--%s needs a value", o->name);
        ++*words;
    }
    return store(cmd, o, value, line);
}

/* Parses a word of short options, `-abc` or `-nVALUE`, and the next word if that is the value. */
static int parse_short(const command *cmd, char ***words, parsed_line *line) {
    const char *letters = **words + 1;
    ++*words;
    for (; *letters; letters++) {
        const option *o = find_short(cmd, *letters);
        if (!o)
            return refuse_letter(cmd, *letters);
        if (!option_takes_value(o)) {
            store(cmd, o, NULL, line);
            continue;
        }
        const char *value = letters[1] ? letters + 1 : **words;
        if (!value)
            return message_usage(cmd, "-%c needs a value", *letters);
        if (!letters[1])
            ++*words;
        return store(cmd, o, value, line);
    }
    return STATUS_OK;
}

static int check_operands(const command *cmd, const parsed_line *line) {
    static const struct {
        size_t least, most;
        const char *needs; /* NULL: an unexpected operand is named */
    } counts[] = {
        [OPERAND_NONE] = {0, 0, NULL},
        [OPERAND_TRACE] = {1, 1, "needs a trace file"},
        [OPERAND_TRACES] = {1, SIZE_MAX, "needs a trace file"},
        [OPERAND_FACTOR] = {2, 2, "needs a factor and a trace file"},
        [OPERAND_SITE] = {2, SIZE_MAX, "needs a function and a trace file"},
        [OPERAND_SOURCE] = {1, 1, "needs one source file"},
        [OPERAND_SETTINGS] = {1, 1, "needs one file of settings"},
        [OPERAND_PROFILE] = {1, 1, "needs one profile"},
        [OPERAND_PROGRAM] = {1, SIZE_MAX, "needs a program to run"},
        [OPERAND_PROCESS] = {1, 1, "needs a process id"},
        [OPERAND_RECORDING] = {1, SIZE_MAX, "needs a trace file or a process id"},
        [OPERAND_CONTROL] = {2, 3, "needs a process id and an action"},
        [OPERAND_COMMAND] = {0, 1, "takes one command"},
        [OPERAND_SHELL] = {1, 1, "needs the name of a shell"},
    };
    const size_t n = line->n_operands;
    for (size_t i = 0; i < n && cmd->operand != OPERAND_PROGRAM; i++)
        if (!*line->operands[i])
            return message_usage(cmd, "%s: word %zu is empty", cmd->name, i + 1);
    if (cmd->operand == OPERAND_NONE && n > 0)
        return message_usage(cmd, "%s takes no `%s`", cmd->name, line->operands[0]);
    if (cmd->operand == OPERAND_TRACE && n > 1)
        return traces_combine(cmd) ? STATUS_OK
                                   : message_usage(cmd, "%s takes only one trace; unexpected `%s`",
                                                   cmd->name, line->operands[1]);
    return n >= counts[cmd->operand].least && n <= counts[cmd->operand].most
               ? STATUS_OK
               : message_usage(cmd, "%s %s", cmd->name, counts[cmd->operand].needs);
}

static bool is_help(const char *word) {
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int options_parse(const command *cmd, char **words, parsed_line *line) {
    assert(cmd->options_size <= OPTIONS_MAX_SIZE);
    *line = (parsed_line){.operands = words};
    if (cmd->defaults)
        memcpy(line->options, cmd->defaults, cmd->options_size);
    char **keep = words; /* where the next operand goes; never after `words` */
    while (*words) {
        char *word = *words;
        int status = STATUS_OK;
        if (strcmp(word, "--") == 0) {
            words++;
            break;
        }
        if (is_help(word)) {
            line->help = true;
            return STATUS_OK;
        }
        if (word[0] != '-' || word[1] == '\0') {
            if (cmd->operand == OPERAND_PROGRAM)
                break;
            *keep++ = word;
            line->n_operands++;
            words++;
        } else if (word[1] == '-') {
            status = parse_long(cmd, &words, line);
        } else {
            status = parse_short(cmd, &words, line);
        }
        if (status != STATUS_OK)
            return status;
    }
    while (*words)
        *keep++ = *words++;
    *keep = NULL;
    line->n_operands = (size_t)(keep - line->operands);
    return check_operands(cmd, line);
}
