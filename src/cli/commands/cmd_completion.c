/* cmd_completion.c: `allotrace completion SHELL`: generates completion scripts from the table of
 * commands. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/help.h"
#include "cli/message.h"
#include "contract/control.h"

/* X(name), separated by `between`. */
#define SHELLS(X, between)                                                                         \
    X(bash) between X(zsh)                                                                         \
    between X(fish)                                                                                \
    between X(plain)
#define SHELL_NAME(name)     #name
#define SHELL_NAMES(between) SHELLS(SHELL_NAME, between)

/* The options of a command include --help, as the last one. */
static size_t option_count(const command *cmd) {
    return cmd->n_options + 1;
}

static const option *option_at(const command *cmd, size_t i) {
    return i < cmd->n_options ? &cmd->options[i] : &help_option;
}

static void print_command_names(const char *separator) {
    for (size_t i = 0; i < command_count; i++)
        printf("%s%s", i ? separator : "", command_table[i]->name);
}

/* Prints the values of an option, separated by blanks. */
static void print_choices(const option *o) {
    for (size_t i = 0; o->choices[i]; i++)
        printf("%s%s", i ? " " : "", o->choices[i]);
}

/* Prints the programs that a script is for, besides allotrace. */
static void print_aliases(void) {
    for (size_t i = 0; i < command_count; i++)
        if (command_table[i]->alias)
            printf(" %s", command_table[i]->alias);
}

/* Prints what bash and zsh do to find the command that a program's name stands for. */
static void print_alias_cases(void) {
    for (size_t i = 0; i < command_count; i++)
        if (command_table[i]->alias)
            printf("        %s) cmd=%s ;;\n", command_table[i]->alias, command_table[i]->name);
}

/* Prints `text` for use within single quotes. `quote` stands for a single quote: `'\''` in sh and
 * zsh, `\'` in fish. Characters in `escaped` get a backslash. */
static void print_quoted(const char *text, const char *quote, const char *escaped) {
    for (; *text; text++) {
        if (*text == '\'')
            fputs(quote, stdout);
        else if (strchr(escaped, *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

/* Prints the options of `cmd` that take a value, in all spellings, such as `--output|-o`. */
static void print_options_with_values(const command *cmd, const char *between) {
    const char *before = "";
    for (size_t i = 0; i < option_count(cmd); i++) {
        const option *o = option_at(cmd, i);
        if (!option_takes_value(o))
            continue;
        printf("%s--%s", before, o->name);
        if (o->letter)
            printf("%s-%c", between, o->letter);
        before = between;
    }
}

/* ---- bash -------------------------------------------------------------------------------- */

static void bash_option_values(const command *cmd) {
    for (size_t i = 0; i < cmd->n_options; i++) {
        const option *o = &cmd->options[i];
        if (!option_takes_value(o))
            continue;
        printf("        %s:--%s", cmd->name, o->name);
        if (o->letter)
            printf("|%s:-%c", cmd->name, o->letter);
        fputs(") ", stdout);
        if (o->kind == OPTION_FILE) {
            fputs("COMPREPLY=($(compgen -f -- \"$cur\"))", stdout);
        } else if (o->kind == OPTION_CHOICE) {
            fputs("COMPREPLY=($(compgen -W '", stdout);
            print_choices(o);
            fputs("' -- \"$cur\"))", stdout);
        } else {
            fputs("COMPREPLY=()", stdout);
        }
        fputs("; return ;;\n", stdout);
    }
}

static void bash_options(const command *cmd) {
    printf("            %s) words='", cmd->name);
    for (size_t i = 0; i < option_count(cmd); i++)
        printf("%s--%s", i ? " " : "", option_at(cmd, i)->name);
    fputs("' ;;\n", stdout);
}

static void bash_operands(const command *cmd) {
    static const char *const actions[] = {
        [OPERAND_NONE] = "COMPREPLY=()",
        [OPERAND_TRACE... OPERAND_PROFILE] = "COMPREPLY=($(compgen -f -- \"$cur\"))",
        [OPERAND_PROGRAM] = "COMPREPLY=($(compgen -c -f -- \"$cur\"))",
        [OPERAND_PROCESS] = "COMPREPLY=($(compgen -W \"$(ps -u $UID -o pid=)\" -- \"$cur\"))",
        [OPERAND_RECORDING] = "COMPREPLY=($(compgen -f -W \"$(ps -u $UID -o pid=)\" -- \"$cur\"))",
        [OPERAND_CONTROL] = "COMPREPLY=($(compgen -W \"" CONTROL_ORDER_NAMES(
            " ") " $(ps -u $UID -o pid=)\" -- \"$cur\"))",
        [OPERAND_COMMAND] = "COMPREPLY=($(compgen -W \"$commands\" -- \"$cur\"))",
        [OPERAND_SHELL] = "COMPREPLY=($(compgen -W '" SHELL_NAMES(" ") "' -- \"$cur\"))",
    };
    printf("        %s) %s ;;\n", cmd->name, actions[cmd->operand]);
}

/* Words after the program are completed by the program's own rules, if the shell provides that. */
static void bash_program(const command *cmd) {
    if (cmd->operand != OPERAND_PROGRAM)
        return;
    printf("    if [[ $cmd == %s ]]; then\n"
           "        local at=2\n"
           "        while ((at < COMP_CWORD)); do\n"
           "            case ${COMP_WORDS[at]} in\n"
           "                ",
           cmd->name);
    print_options_with_values(cmd, "|");
    fputs(") ((at += 1)); [[ ${COMP_WORDS[at]} != = ]] || ((at += 1)) ;;\n"
          "                --) ((at += 1)); break ;;\n"
          "                -*) ;;\n"
          "                *) break ;;\n"
          "            esac\n"
          "            ((at += 1))\n"
          "        done\n"
          "        if ((at < COMP_CWORD)) && declare -F _command_offset >/dev/null; then\n"
          "            _command_offset $at\n"
          "            return\n"
          "        elif ((at < COMP_CWORD)); then\n"
          "            COMPREPLY=($(compgen -f -- \"$cur\"))\n"
          "            return\n"
          "        fi\n"
          "    fi\n",
          stdout);
}

static void print_bash(void) {
    fputs("# bash completion of allotrace; made by `allotrace completion bash`\n"
          "_allotrace() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local cmd=${COMP_WORDS[1]} words='' commands='",
          stdout);
    print_command_names(" ");
    fputs("'\n    case ${COMP_WORDS[0]##*/} in\n", stdout);
    print_alias_cases();
    fputs("        *) if ((COMP_CWORD == 1)); then\n"
          "               COMPREPLY=($(compgen -W \"$commands --help --version\" -- \"$cur\"))\n"
          "               return\n"
          "           fi ;;\n"
          "    esac\n",
          stdout);
    for (size_t i = 0; i < command_count; i++)
        bash_program(command_table[i]);
    fputs("    case $cmd:$prev in\n", stdout);
    for (size_t i = 0; i < command_count; i++)
        bash_option_values(command_table[i]);
    fputs("    esac\n"
          "    if [[ $cur == -* ]]; then\n"
          "        case $cmd in\n",
          stdout);
    for (size_t i = 0; i < command_count; i++)
        bash_options(command_table[i]);
    fputs("        esac\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
          "        return\n"
          "    fi\n"
          "    case $cmd in\n",
          stdout);
    for (size_t i = 0; i < command_count; i++)
        bash_operands(command_table[i]);
    fputs("    esac\n"
          "}\n"
          "complete -o filenames -F _allotrace allotrace",
          stdout);
    print_aliases();
    putchar('\n');
}

/* ---- zsh --------------------------------------------------------------------------------- */

static void zsh_option(const option *o) {
    char argument[HELP_ARGUMENT_SIZE];
    help_argument(o, argument);
    if (o->letter)
        printf(" \\\n                '(-%c --%s)'{-%c,--%s}'", o->letter, o->name, o->letter,
               o->name);
    else
        printf(" \\\n                '--%s", o->name);
    putchar('[');
    print_quoted(o->help, "'\\''", "[]:\\");
    putchar(']');
    if (o->kind == OPTION_CHOICE) {
        printf(":%s:(", o->name);
        print_choices(o);
        putchar(')');
    } else if (option_takes_value(o)) {
        printf(":%s:%s", argument, o->kind == OPTION_FILE ? "_files" : "");
    }
    putchar('\'');
}

static void zsh_operands(const command *cmd) {
    static const char *const actions[] = {
        [OPERAND_NONE] = "",
        [OPERAND_TRACE] = "'1:trace:_files'",
        [OPERAND_TRACES] = "'*:trace:_files'",
        [OPERAND_FACTOR] = "'1:factor:' '2:trace:_files'",
        [OPERAND_SITE] = "'1:function:' '2:trace:_files'",
        [OPERAND_SOURCE] = "'1:source:_files -g \"*.ml\"'",
        [OPERAND_SETTINGS] = "'1:settings:_files -g \"*.toml\"'",
        [OPERAND_PROFILE] = "'1:profile:_files'",
        [OPERAND_PROGRAM] =
            "'*::program:{ if [[ $words[1] = -- ]] && ((CURRENT-- > 1)); then shift words; "
            "fi; _normal }'",
        [OPERAND_PROCESS] = "'1:process:_pids'",
        [OPERAND_RECORDING] = "'1:trace or process:{ _alternative files:trace:_files "
                              "processes:process:_pids }'",
        [OPERAND_CONTROL] = "'1:process:_pids' '2:action:(" CONTROL_ORDER_NAMES(" ") ")' '3:name:'",
        [OPERAND_COMMAND] = "\"1:command:($names)\"",
        [OPERAND_SHELL] = "'1:shell:(" SHELL_NAMES(" ") ")'",
    };
    printf("            %s) _arguments -s", cmd->name);
    for (size_t i = 0; i < option_count(cmd); i++)
        zsh_option(option_at(cmd, i));
    if (actions[cmd->operand][0])
        printf(" \\\n                %s", actions[cmd->operand]);
    fputs(" ;;\n", stdout);
}

static void print_zsh(void) {
    fputs("#compdef allotrace", stdout);
    print_aliases();
    fputs("\n# zsh completion of allotrace; made by `allotrace completion zsh`\n"
          "_allotrace() {\n"
          "    local names='", /* zsh has a $commands of its own */
          stdout);
    print_command_names(" ");
    fputs("' cmd\n    local -a summaries=(\n", stdout);
    for (size_t i = 0; i < command_count; i++) {
        printf("        '%s:", command_table[i]->name);
        print_quoted(command_table[i]->summary, "'\\''", ":\\");
        fputs("'\n", stdout);
    }
    fputs("    )\n"
          "    case ${words[1]:t} in\n",
          stdout);
    print_alias_cases();
    fputs("        *) if ((CURRENT == 2)); then\n"
          "               _describe command summaries\n"
          "               return\n"
          "           fi\n"
          "           cmd=${words[2]}\n"
          "           shift words\n"
          "           ((CURRENT--)) ;;\n"
          "    esac\n"
          "    case $cmd in\n",
          stdout);
    for (size_t i = 0; i < command_count; i++)
        zsh_operands(command_table[i]);
    fputs("    esac\n"
          "}\n"
          "_allotrace \"$@\"\n",
          stdout);
}

/* ---- fish -------------------------------------------------------------------------------- */

static void fish_option(const char *condition, const option *o) {
    printf("complete %s -l %s", condition, o->name);
    if (o->letter)
        printf(" -s %c", o->letter);
    if (o->kind == OPTION_FILE) {
        fputs(" -rF", stdout);
    } else if (o->kind == OPTION_CHOICE) {
        fputs(" -xa '", stdout);
        print_choices(o);
        putchar('\'');
    } else if (option_takes_value(o)) {
        fputs(" -x", stdout);
    }
    fputs(" -d '", stdout);
    print_quoted(o->help, "\\'", "\\");
    fputs("'\n", stdout);
}

/* Prints the words from the program on, and returns whether there are any: they are completed by
 * the program's own rules. */
static void fish_program(const command *cmd) {
    fputs("function __allotrace_program\n"
          "    set -l words (commandline -opc)[3..]\n"
          "    set -l found 1\n"
          "    while set -q words[1]\n"
          "        switch $words[1]\n"
          "            case ",
          stdout);
    print_options_with_values(cmd, " ");
    fputs("\n"
          "                set -e words[1]\n"
          "            case --\n"
          "                set -e words[1]\n"
          "                set found 0\n"
          "                break\n"
          "            case '-*'\n"
          "            case '*'\n"
          "                set found 0\n"
          "                break\n"
          "        end\n"
          "        set -e words[1]\n"
          "    end\n"
          "    string escape -- $words\n"
          "    return $found\n"
          "end\n"
          "function __allotrace_complete_program\n"
          "    complete --do-complete=(string join ' ' -- (__allotrace_program) \"$(commandline "
          "-ct)\")\n"
          "end\n",
          stdout);
    printf("complete -c allotrace -n '__fish_seen_subcommand_from %s' -f -a "
           "'(__allotrace_complete_program)'\n",
           cmd->name);
}

static void fish_command(const command *cmd) {
    char condition[128];
    printf("complete -c allotrace -n __fish_use_subcommand -f -a %s -d '", cmd->name);
    print_quoted(cmd->summary, "\\'", "\\");
    fputs("'\n", stdout);
    if (cmd->operand == OPERAND_PROGRAM)
        fish_program(cmd);
    snprintf(condition, sizeof condition, "-c allotrace -n '__fish_seen_subcommand_from %s%s'",
             cmd->name,
             cmd->operand == OPERAND_PROGRAM ? "; and not __allotrace_program >/dev/null" : "");
    for (size_t i = 0; i < option_count(cmd); i++)
        fish_option(condition, option_at(cmd, i));
    if (cmd->operand == OPERAND_SHELL)
        printf("complete %s -f -a '" SHELL_NAMES(" ") "'\n", condition);
    if (cmd->operand == OPERAND_PROCESS || cmd->operand == OPERAND_CONTROL)
        printf("complete %s -f -a '(__fish_complete_pids)'\n", condition);
    if (cmd->operand == OPERAND_RECORDING)
        printf("complete %s -a '(__fish_complete_pids)'\n", condition);
    if (cmd->operand == OPERAND_CONTROL)
        printf("complete %s -f -a '" CONTROL_ORDER_NAMES(" ") "'\n", condition);
    if (cmd->operand == OPERAND_COMMAND) {
        printf("complete %s -f -a '", condition);
        print_command_names(" ");
        fputs("'\n", stdout);
    }
    if (!cmd->alias)
        return;
    snprintf(condition, sizeof condition, "-c %s", cmd->alias);
    for (size_t i = 0; i < option_count(cmd); i++)
        fish_option(condition, option_at(cmd, i));
}

static void print_fish(void) {
    fputs("# fish completion of allotrace; made by `allotrace completion fish`\n"
          "complete -c allotrace -n __fish_use_subcommand -f -l help -s h -d 'list all commands'\n"
          "complete -c allotrace -n __fish_use_subcommand -f -l version -s V -d 'show the "
          "version'\n",
          stdout);
    for (size_t i = 0; i < command_count; i++)
        fish_command(command_table[i]);
}

/* ---- plain ------------------------------------------------------------------------------- */

/* For other tools, prints tab-separated rows: command, option, argument, help, letter. */
static void print_plain(void) {
    for (size_t i = 0; i < command_count; i++)
        for (size_t j = 0; j < option_count(command_table[i]); j++) {
            const option *o = option_at(command_table[i], j);
            char argument[HELP_ARGUMENT_SIZE];
            help_argument(o, argument);
            printf("%s\t--%s\t%s\t%s\t%.1s\n", command_table[i]->name, o->name, argument, o->help,
                   &o->letter);
        }
}

static int run(const void *options, char **operands) {
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {
#define SHELL_ROW(name) {#name, print_##name},
        SHELLS(SHELL_ROW, )
#undef SHELL_ROW
    };
    (void)options;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(operands[0], shells[i].name) == 0) {
            shells[i].print();
            return STATUS_OK;
        }
    return message_usage(&command_completion, "completion: `%s` is not one of " SHELL_NAMES(", "),
                         operands[0]);
}

const command command_completion = {
    .name = "completion",
    .group = GROUP_LOOK,
    .minor = true,
    .operand = OPERAND_SHELL,
    .usage = SHELL_NAMES("|"),
    .summary = "print a shell's completion script",
    .description = "Prints a script with which a shell completes commands, options and files. "
                   "`make install` installs these scripts. `plain` lists every command with its "
                   "options, separated by tabs, for other tools.",
    .example = "source <(allotrace completion bash)\n",
    .run = run,
};
