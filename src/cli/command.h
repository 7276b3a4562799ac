/* command.h: the description of a command, and the table of all commands.
 *
 * Problem. A command has options, a help text, completions for three shells, a manual page, an exit
 * status and messages. Written by hand, these soon disagree.
 *
 * Approach. Each command is defined in a file cmd_NAME.c as `const command command_NAME`, and
 * listed in COMMANDS. Dispatch, option parsing (options.h), `--help` (help.h), completions and the
 * OPTIONS section of the manual are all generated from these structs, so that nothing about a
 * command is written twice. A command that queries a profile needs little code of its own:
 * question.h covers all steps from the trace file to the costs, and prints the resulting document.
 *
 * This folder has what commands share. commands/ has the small commands; larger ones have folders
 * of their own: run/ (a program from start to summary), attach/, agent/, ring/ (recordings in
 * segments), view/, top/, instrument/, mcp/.
 *
 * Invariants. A command computes nothing (src/query does) and lays out nothing (src/render does).
 * Standard output has only its result. Everything else is a line on standard error that says what
 * happened, where, and what to do (message.h). An exit status means the same for all commands,
 * except those named below. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of the help. */
#define COMMANDS(X)                                                                                \
    X(run)                                                                                         \
    X(attach)                                                                                      \
    X(detach)                                                                                      \
    X(agent)                                                                                       \
    X(ctl)                                                                                         \
    X(instrument)                                                                                  \
    X(view)                                                                                        \
    X(top)                                                                                         \
    X(summary)                                                                                     \
    X(hotspots)                                                                                    \
    X(types)                                                                                       \
    X(tree)                                                                                        \
    X(callers)                                                                                     \
    X(callees)                                                                                     \
    X(peak)                                                                                        \
    X(timeline)                                                                                    \
    X(leaks)                                                                                       \
    X(lifetimes)                                                                                   \
    X(stats)                                                                                       \
    X(advise)                                                                                      \
    X(diff)                                                                                        \
    X(check)                                                                                       \
    X(info)                                                                                        \
    X(dump)                                                                                        \
    X(export)                                                                                      \
    X(doctor)                                                                                      \
    X(symbolize)                                                                                   \
    X(trim)                                                                                        \
    X(subsample)                                                                                   \
    X(merge)                                                                                       \
    X(import)                                                                                      \
    X(anonymise)                                                                                   \
    X(mcp)                                                                                         \
    X(help)                                                                                        \
    X(completion)

/* Exit statuses, the same for all commands, except that `run` returns its program's. */
typedef enum exit_status {
    STATUS_OK = 0,
    STATUS_FAILED = 1,  /* an input cannot be used, or an output cannot be written */
    STATUS_USAGE = 2,   /* the command line is wrong */
    STATUS_DEFECTS = 3, /* doctor only: the trace is readable, but damaged */
    STATUS_BEYOND = 3,  /* check only: an amount is certainly beyond its limit */
    STATUS_UNSURE = 4,  /* check only: an amount may be beyond its limit, and none certainly is */
} exit_status;

#define OPTION_TEXTS_MAX 16

typedef struct option_texts {
    const char *items[OPTION_TEXTS_MAX];
    size_t n;
} option_texts;

/* X(identifier, type of the value) */
#define OPTION_KINDS(X)                                                                            \
    X(FLAG, bool) /* takes no argument */                                                          \
    X(TEXT, const char *)                                                                          \
    X(FILE, const char *) /* completes to file names */                                            \
    X(COUNT, uint64_t)                                                                             \
    X(PERCENT, double)     /* 0 to 100; may be followed by `%` */                                  \
    X(RATE, double)        /* 0 < rate <= 1 */                                                     \
    X(TIME, uint64_t)      /* microseconds; `1.5s`, `20ms`, `300us`, `2min`, `1h`; default: s */   \
    X(CHOICE, int)         /* an index into `choices` */                                           \
    X(TEXTS, option_texts) /* may be given several times */                                        \
    X(HEAD, size_t)        /* operands follow; 1 + the number of operands before it; 0: not given */

#define OPTION_KIND_ID(id, type) OPTION_##id,
typedef enum option_kind { OPTION_KINDS(OPTION_KIND_ID) } option_kind;
#undef OPTION_KIND_ID

#define OPTION_KIND_VALUE(id, type) typedef type option_value_##id;
OPTION_KINDS(OPTION_KIND_VALUE)
#undef OPTION_KIND_VALUE

/* What others call a choice. */
typedef struct option_synonym {
    const char *word, *choice;
} option_synonym;

typedef struct option {
    const char *name;               /* without the dashes */
    char letter;                    /* short form; 0: none */
    option_kind kind;               /* also determines the type of the value at `at` */
    size_t at;                      /* offset of the value in the command's options */
    const char *argument;           /* name of its value in the help; NULL for flags and choices */
    const char *const *choices;     /* NULL-terminated; NULL unless kind is OPTION_CHOICE */
    const option_synonym *synonyms; /* suggested for a word that is no choice; terminated by an
                                       entry without a word; NULL: none */
    const char *help;               /* one paragraph, lower case, no full stop at the end */
    const char *brief; /* text for `--help` if that is shorter; empty: not shown there, since a
                          topic that another option refers to explains it; NULL: `help` */
} option;

/* Parts of an option's row: its kind, and the field that gets the value, whose type is checked. */
#define OPTION_SETS(id, type, field)                                                               \
    .kind = OPTION_##id,                                                                           \
    .at = offsetof(type, field) + 0 * sizeof(&((type *)0)->field == (option_value_##id *)0)
#define OPTION_TAKES(id, type, field, argument_)                                                   \
    OPTION_SETS(id, type, field), .argument = (argument_)
#define OPTION_CHOOSES(type, field, choices_)                                                      \
    OPTION_SETS(CHOICE, type, field), .choices = (choices_)

static inline bool option_takes_value(const option *o) {
    return o->kind != OPTION_FLAG && o->kind != OPTION_HEAD;
}

/* The operands, which also determine completions. */
typedef enum operand_kind {
    OPERAND_NONE,
    /* From here to OPERAND_PROFILE, the last operand is a file. */
    OPERAND_TRACE,     /* exactly one trace; `-` is standard input */
    OPERAND_TRACES,    /* one or more */
    OPERAND_FACTOR,    /* a number and one trace */
    OPERAND_SITE,      /* a function and one trace */
    OPERAND_SOURCE,    /* a source file */
    OPERAND_SETTINGS,  /* a file of settings */
    OPERAND_PROFILE,   /* a profile of another tool */
    OPERAND_PROGRAM,   /* a program and its arguments: options end at the first operand */
    OPERAND_PROCESS,   /* the id of a process */
    OPERAND_RECORDING, /* one trace, or the id of a process */
    OPERAND_CONTROL,   /* the id of a process, what to do, and its argument */
    OPERAND_COMMAND,   /* the name of a command, or nothing */
    OPERAND_SHELL,     /* the name of a shell */
} operand_kind;

#define COMMAND_GROUPS(X)                                                                          \
    X(RECORD, "Record")                                                                            \
    X(LOOK, "Look at a trace")                                                                     \
    X(CHANGE, "Repair and change traces")

typedef enum command_group {
#define COMMAND_GROUP_NAME(name, title) GROUP_##name,
    COMMAND_GROUPS(COMMAND_GROUP_NAME)
#undef COMMAND_GROUP_NAME
        N_COMMAND_GROUPS
} command_group;

/* An option that other commands have and this one lacks. */
typedef struct option_lack {
    const char *option;  /* without dashes */
    const char *instead; /* what to use instead: an option of the command, or another command */
} option_lack;

/* For commands that write a trace with the whole content of another one. */
extern const option_lack command_lacks_of_copies[];

typedef struct command {
    const char *name;
    const char *alias;        /* a program name that also invokes this command; NULL: none */
    command_group group;      /* its group in the overview */
    bool minor;               /* the overview only lists its name at the end */
    operand_kind operand;     /* its operands */
    const char *usage;        /* its operands as shown, e.g. "FILE…" */
    const char *summary;      /* its purpose: a few words, lower case, no full stop */
    const char *description;  /* paragraphs, separated by empty lines */
    const char *example;      /* command lines, each with a newline */
    const char *statuses;     /* lines about exit statuses beyond the common ones; NULL: none */
    const option *options;    /* without --help, which all commands have */
    const option_lack *lacks; /* terminated by an entry without an option; NULL: none */
    size_t n_options;
    size_t options_size;  /* size of the struct that `at` is an offset in; at most
                             OPTIONS_MAX_SIZE */
    const void *defaults; /* a struct of that size; NULL: all zero */

    /* Executes the command. `operands` ends with NULL. Returns the exit status. */
    int (*run)(const void *options, char **operands);
} command;

/* Returns the number of operands that a command has got. */
static inline size_t command_n_operands(char *const *operands) {
    size_t n = 0;
    while (operands[n])
        n++;
    return n;
}

#define OPTIONS_MAX_SIZE 768

#define COMMAND_DECLARE(name) extern const command command_##name;
COMMANDS(COMMAND_DECLARE)
#undef COMMAND_DECLARE

extern const command *const command_table[];
extern const size_t command_count;

/* Return the command with that name or alias, or NULL. */
const command *command_find(const char *name);
const command *command_find_alias(const char *program);

/* Returns the command name that the user may have meant; NULL: none is similar. */
const char *command_nearest(const char *name);

/* Reports that there is no such command, with a suggestion if there is one. Returns
 * STATUS_USAGE. */
int command_refuse(const char *name);

/* ---- options of commands -------------------------------------------------------------------- */

#define OPTIONS_OF(specs, defaults_)                                                               \
    .options = (specs), .n_options = sizeof(specs) / sizeof *(specs),                              \
    .options_size = sizeof(defaults_), .defaults = &(defaults_)

/* For commands that read traces. `field` of `type` is a bool. */
#define OPTION_STRICT(type, field)                                                                 \
    {                                                                                              \
        .name = "strict", OPTION_SETS(FLAG, type, field),                                          \
        .help = "stop at the first defect of a trace instead of skipping it with a warning",       \
        .brief = "stop at the first defect of a trace"                                             \
    }

#endif
