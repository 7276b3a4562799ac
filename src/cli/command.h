/* command.h: what a command is, and the one table of commands.
 *
 * Problem. A command has options, a help text, completions for three shells, a page of the manual,
 * an exit status and messages; written by hand, these disagree within a month.
 *
 * Way. Each command lives in a file cmd_NAME.c that defines `const command command_NAME`; COMMANDS
 * lists them. Dispatch, option parsing (options.h), `--help` (help.h), completions and the OPTIONS
 * of the manual all come from these structs, so that nothing about a command is written twice. A
 * command that asks a profile something has little to do besides: question.h goes the way from the
 * file to the costs and to the document that is printed.
 *
 * The files here are what commands share; commands/ has the small ones, a folder each the larger
 * ones: run/ (a program from start to summary), attach/, ring/ (recordings in segments), view/,
 * top/, instrument/, mcp/.
 *
 * What must hold. A command computes nothing (src/query does) and lays out nothing (src/render
 * does). Its result alone goes to standard output; all else is a line on standard error that says
 * what, where, and what to do (message.h). An exit status means the same everywhere, but for those
 * that are named below. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order in which the help shows them. */
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

/* What the process returns; the same for all commands (`run` passes its program's on). */
typedef enum exit_status {
    STATUS_OK = 0,
    STATUS_FAILED = 1,  /* an input cannot be used or an output cannot be written */
    STATUS_USAGE = 2,   /* the command line is wrong */
    STATUS_DEFECTS = 3, /* doctor alone: the trace is readable, but damaged */
    STATUS_BEYOND = 3,  /* check alone: an amount is beyond its limits */
    STATUS_UNSURE = 4,  /* check alone: an amount may be; none surely is */
} exit_status;

typedef enum option_kind {
    OPTION_FLAG,    /* bool; takes no argument */
    OPTION_TEXT,    /* const char * */
    OPTION_FILE,    /* const char *; completes to file names */
    OPTION_COUNT,   /* uint64_t */
    OPTION_PERCENT, /* double, 0 … 100; a `%` behind it is allowed */
    OPTION_RATE,    /* double, 0 < rate <= 1 */
    OPTION_TIME, /* uint64_t, microseconds: `1.5s`, `20ms`, `300us`, `2min`; seconds without unit */
    OPTION_CHOICE, /* int, an index into `choices` */
    OPTION_TEXTS,  /* option_texts: may be given several times */
    OPTION_HEAD,   /* size_t: operands follow it; 1 + how many stood before it; 0: not given */
} option_kind;

#define OPTION_TEXTS_MAX 16

typedef struct option_texts {
    const char *items[OPTION_TEXTS_MAX];
    size_t n;
} option_texts;

typedef struct option {
    const char *name;           /* without the dashes */
    char letter;                /* short form; 0: none */
    option_kind kind;           /* also says what type stands at `at` */
    size_t at;                  /* offset of the value in the command's options */
    const char *argument;       /* its name in the help; NULL for flags and choices */
    const char *const *choices; /* NULL-terminated; NULL unless kind is OPTION_CHOICE */
    const char *help;           /* one paragraph, lower case, no full stop at the end */
    const char *brief; /* what `--help` shows, where that is less; empty: a topic shows it, of which
                          another option tells; NULL: the same */
} option;

static inline bool option_takes_value(const option *o) {
    return o->kind != OPTION_FLAG && o->kind != OPTION_HEAD;
}

/* What stands behind the options; also tells the completion what to offer. */
typedef enum operand_kind {
    OPERAND_NONE,
    OPERAND_TRACE,     /* exactly one trace; `-` is standard input */
    OPERAND_TRACES,    /* one or more */
    OPERAND_FACTOR,    /* a number, and one trace */
    OPERAND_SITE,      /* a function, and one trace */
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

/* An option that others have and a command lacks. */
typedef struct option_lack {
    const char *option;  /* without dashes */
    const char *instead; /* what does the same: an option of the command, another command */
} option_lack;

/* Of those that write a trace with all that is in another one. */
extern const option_lack command_lacks_of_copies[];

typedef struct command {
    const char *name;
    const char *alias;        /* the program name that also means this command; NULL: none */
    command_group group;      /* under which the overview lists it */
    bool minor;               /* the overview merely names it, at its end */
    operand_kind operand;     /* what it takes */
    const char *usage;        /* its operands as shown, e.g. "FILE…" */
    const char *summary;      /* what it is for: a few words, lower case, no full stop */
    const char *description;  /* paragraphs, separated by an empty line */
    const char *example;      /* command lines, each ended by a newline */
    const char *statuses;     /* exit statuses beyond the common ones, as lines; NULL: none */
    const option *options;    /* without --help, which all have */
    const option_lack *lacks; /* ended by one without option; NULL: none to speak of */
    size_t n_options;
    size_t options_size;  /* of the struct that `at` points into; at most OPTIONS_MAX_SIZE */
    const void *defaults; /* such a struct; NULL: all zero */

    /* `operands` ends with NULL. Returns the exit status. */
    int (*run)(const void *options, char **operands, size_t n_operands);
} command;

#define OPTIONS_MAX_SIZE 320

#define COMMAND_DECLARE(name) extern const command command_##name;
COMMANDS(COMMAND_DECLARE)
#undef COMMAND_DECLARE

extern const command *const command_table[];
extern const size_t command_count;

/* NULL if there is none of this name. */
const command *command_find(const char *name);
const command *command_find_alias(const char *program);

/* The known name that the user may have meant; NULL if none is near. */
const char *command_nearest(const char *name);

/* Says that there is none of this name, and which one may be meant; returns STATUS_USAGE. */
int command_refuse(const char *name);

/* ---- for the options of commands --------------------------------------------------------- */

#define OPTIONS_OF(specs, defaults_)                                                               \
    .options = (specs), .n_options = sizeof(specs) / sizeof *(specs),                              \
    .options_size = sizeof(defaults_), .defaults = &(defaults_)

/* For commands that read traces; `field` of `type` is a bool. */
#define OPTION_STRICT(type, field)                                                                 \
    {                                                                                              \
        .name = "strict", .kind = OPTION_FLAG, .at = offsetof(type, field),                        \
        .help = "stop at the first defect of a trace instead of skipping it with a warning",       \
        .brief = "stop at the first defect of a trace"                                             \
    }

#endif
