/* help.c: lays out all help texts: usage, options in two columns (or one below the other on a
 * narrow terminal), and the overview. */
#include "cli/help.h"

#include <ctype.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/terminal.h"

enum {
    WIDTH = 80,
    NARROW = 60,
    OPTION_COLUMN = 30,
    NARROW_OPTION_COLUMN = 8,
    SUMMARY_COLUMN = 14,
    MOST_CHOICES = 20
};

static size_t width(void) {
    const unsigned columns = terminal_columns();
    return columns && columns < WIDTH ? columns : WIDTH;
}

/* On a narrow terminal, an option's text is below it. */
static size_t option_column(void) {
    return width() < NARROW ? NARROW_OPTION_COLUMN : OPTION_COLUMN;
}

/* Prints `text`, folded at blanks. The first line starts at `column`, the others are indented by
 * `indent`. Newlines in the text are kept. */
static void print_wrapped(FILE *out, const char *text, size_t column, size_t indent) {
    const size_t most = width();
    bool line_start = true;
    while (*text) {
        if (*text == '\n') {
            fputc('\n', out);
            if (text[1] != '\n' && text[1] != '\0')
                fprintf(out, "%*s", (int)indent, "");
            column = indent;
            line_start = true;
            text++;
            continue;
        }
        size_t size = strcspn(text, " \n"), wide = utf8_columns(text, size);
        if (!line_start && column + 1 + wide > most) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            line_start = true;
        }
        fprintf(out, "%s%.*s", line_start ? "" : " ", (int)size, text);
        column += wide + !line_start;
        line_start = false;
        text += size;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

void help_text(FILE *out, const char *text) {
    print_wrapped(out, text, 0, 0);
}

void help_item(FILE *out, size_t column, const char *term, const char *text) {
    fprintf(out, "  %-*s", (int)column - 2, term);
    print_wrapped(out, text, column, column);
}

const option help_option = {
    .name = "help", .letter = 'h', .kind = OPTION_FLAG, .help = "show this help"};

static void print_usage(FILE *out, const command *cmd) {
    fprintf(out, "usage: allotrace %s%s%s%s\n", cmd->name, cmd->n_options ? " [OPTIONS]" : "",
            cmd->usage[0] ? " " : "", cmd->usage);
}

void help_argument(const option *o, char buffer[HELP_ARGUMENT_SIZE]) {
    buffer[0] = '\0';
    if (o->kind != OPTION_CHOICE) {
        snprintf(buffer, HELP_ARGUMENT_SIZE, "%s", o->argument ? o->argument : "");
        return;
    }
    for (size_t i = 0, used = 0; o->choices[i] && used < HELP_ARGUMENT_SIZE; i++)
        used += (size_t)snprintf(buffer + used, HELP_ARGUMENT_SIZE - used, "%s%s", i ? "|" : "",
                                 o->choices[i]);
}

/* Prints an option's head. If it does not fit on a line, it continues below its value, which begins
 * at `indent`. */
static void print_head(FILE *out, const char *head, size_t indent) {
    const size_t most = width();
    size_t column = 0;
    while (*head) {
        size_t size = strcspn(head, "|");
        size += head[size] == '|';
        if (column > indent && column + size > most) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        fprintf(out, "%.*s", (int)size, head);
        column += size;
        head += size;
    }
}

/* Makes a name, such as MEASURE, for choices that have a topic of their own. */
static void name_argument(const char *name, char argument[HELP_ARGUMENT_SIZE]) {
    size_t i = 0;
    for (; name[i]; i++)
        argument[i] = (char)toupper((unsigned char)name[i]);
    argument[i] = '\0';
}

static void print_option(FILE *out, const option *o) {
    char argument[HELP_ARGUMENT_SIZE], head[HELP_ARGUMENT_SIZE + 64];
    if (o->brief && !*o->brief)
        return;
    help_argument(o, argument);
    if (o->brief && strlen(argument) > MOST_CHOICES)
        name_argument(o->name, argument);
    char shorter[8] = "    ";
    if (o->letter)
        snprintf(shorter, sizeof shorter, "-%c, ", o->letter);
    const size_t column = option_column();
    const int argument_at =
        snprintf(head, sizeof head, "  %s--%s%s", shorter, o->name, argument[0] ? " " : "");
    snprintf(head + argument_at, sizeof head - (size_t)argument_at, "%s", argument);
    print_head(out, head, (size_t)argument_at);
    if (strlen(head) + 2 > column)
        fprintf(out, "\n%*s", (int)column, "");
    else
        fprintf(out, "%*s", (int)(column - strlen(head)), "");
    print_wrapped(out, o->brief ? o->brief : o->help, column, column);
}

/* Exit statuses common to all commands are one line; `run` has its own list. */
static void print_statuses(FILE *out, const command *cmd) {
    fputs(cmd->operand == OPERAND_PROGRAM
              ? "\nExit status:\n"
              : "\nExit status: 0 success; 1 an input or output cannot be used; 2 wrong usage",
          out);
    if (cmd->operand != OPERAND_PROGRAM)
        fputs(cmd->statuses ? ";\n" : ".\n", out);
    fputs(cmd->statuses ? cmd->statuses : "", out);
}

void help_command(FILE *out, const command *cmd) {
    print_usage(out, cmd);
    fputc('\n', out);
    print_wrapped(out, cmd->description, 0, 0);
    fputs("\nOptions:\n", out);
    for (size_t i = 0; i < cmd->n_options; i++)
        print_option(out, &cmd->options[i]);
    print_option(out, &help_option);
    fputs(strchr(cmd->example, '\n') != strrchr(cmd->example, '\n') ? "\nExamples:\n"
                                                                    : "\nExample:\n",
          out);
    for (const char *line = cmd->example; *line;) {
        size_t size = strcspn(line, "\n");
        fprintf(out, "  %.*s\n", (int)size, line);
        line += size + (line[size] == '\n');
    }
    print_statuses(out, cmd);
}

/* Lists the names of minor commands. */
static void print_minor(FILE *out) {
    char names[256];
    size_t used = 0;
    for (size_t i = 0; i < command_count; i++)
        if (command_table[i]->minor && used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                     command_table[i]->name);
    fputs("\nMore: ", out);
    print_wrapped(out, names, strlen("More: "), 2);
}

void help_overview(FILE *out) {
    static const char *const titles[] = {
#define COMMAND_GROUP_TITLE(name, title) title,
        COMMAND_GROUPS(COMMAND_GROUP_TITLE)
#undef COMMAND_GROUP_TITLE
    };
    fputs("allotrace: see where a program allocates memory.\n\n"
          "usage: allotrace COMMAND [OPTIONS] [FILE…]\n",
          out);
    for (int group = 0; group < N_COMMAND_GROUPS; group++) {
        fprintf(out, "\n%s:\n", titles[group]);
        for (size_t i = 0; i < command_count; i++)
            if ((int)command_table[i]->group == group && !command_table[i]->minor)
                help_item(out, SUMMARY_COLUMN, command_table[i]->name, command_table[i]->summary);
    }
    print_minor(out);
    fputs("\n`allotrace help COMMAND` explains a command. Further help topics: filter,\n"
          "measures, intervals, sites, heaps, environment, index, keep, push, statuses.\n"
          "FILE may be compressed with gzip or zstd; `-` is standard input.\n",
          out);
}

void help_start(FILE *out) {
    fputs("allotrace: see where a program allocates memory.\n"
          "\n"
          "  allotrace run -- PROGRAM ARGS…   record a program\n"
          "  allotrace FILE.ctf               summarize a trace\n"
          "  allotrace help                   list all commands\n",
          out);
}
