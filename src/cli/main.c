/* main.c: finds the command named by the first word, or by the program's own name, parses its
 * command line and runs it. */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/run/run_check.h"
#include "cli/traces.h"
#include "export/otlp.h"
#include "trace/replacement.h"

/* If standard output is closed, or a file reaches its size limit, the write fails with an error,
 * and no signal kills the command. Programs started by a command must not inherit that. */
static void notice_at_writes(const command *cmd) {
    if (cmd->operand == OPERAND_PROGRAM)
        return;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

/* Cleans up, and dies by the signal. The default action is restored only here (no SA_RESETHAND):
 * timeout(1), for example, may send the signal twice, and the second one must not kill the process
 * before it has cleaned up. */
static void clean_up(int sig) {
    replacement_interrupted();
    progress_interrupted();
    signal(sig, SIG_DFL);
    raise(sig);
}

/* Removes incomplete results on interruption. Otherwise a temporary file would remain next to the
 * file that it was to replace. */
static void clean_up_when_interrupted(void) {
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction old, new = {.sa_handler = clean_up};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(ends[i], &new, NULL);
}

/* Flushes standard output. It is not a failure that its reader has gone. */
static int finish(int status) {
    errno = 0;
    bool failed = fflush(stdout) != 0 || ferror(stdout);
    if (failed && errno != EPIPE && errno != 0)
        return message_error("standard output: %s", strerror(errno));
    return status;
}

static int run_command(const command *cmd, char **words) {
    parsed_line line;
    int status = options_parse(cmd, words, &line);
    if (status != STATUS_OK)
        return status;
    notice_at_writes(cmd);
    clean_up_when_interrupted();
    if (line.help)
        help_command(stdout, cmd);
    else if ((status = traces_gather(cmd, &line)) == STATUS_OK)
        status = cmd->run(line.options, line.operands);
    progress_end();
    return finish(status);
}

/* Handles a first word that is not a command: a trace, or a program to be recorded. */
static int run_without_command(char **words) {
    char path[PATH_MAX];
    const bool is_program = run_check_find(words[0], path);
    if (!is_program &&
        (access(words[0], F_OK) == 0 || strpbrk(words[0], "./") || strcmp(words[0], "-") == 0))
        return run_command(&command_summary, words);
    const char *near = command_nearest(words[0]);
    if (!is_program)
        return command_refuse(words[0]);
    if (near)
        return message_usage(NULL,
                             "there is no command `%s`; did you mean `%s`? To record the program "
                             "%s: allotrace run -- %s%s",
                             words[0], near, words[0], words[0], words[1] ? " …" : "");
    return message_usage(NULL,
                         "there is no command `%s`; to record this program: allotrace run -- %s%s",
                         words[0], words[0], words[1] ? " …" : "");
}

static bool is_version(const char *word) {
    return strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0;
}

static int show_version(void) {
    puts("allotrace " ALLOTRACE_VERSION);
    puts("profiles are pushed by OTLP " OTLP_VERSION
         " (opentelemetry.proto.profiles.v1development)");
    return finish(STATUS_OK);
}

static bool is_long_option(const command *cmd, const char *name) {
    return options_find(cmd, name, strcspn(name, "=")) || strcmp(name, "help") == 0 ||
           strcmp(name, "version") == 0;
}

/* The OCaml tools with these names accept long options with a single dash: `-port 8080`. */
static int run_alias(const command *cmd, char **words) {
    for (char **word = words; *word && strcmp(*word, "--") != 0; word++) {
        const bool is_long =
            (*word)[0] == '-' && (*word)[1] && (*word)[2] && is_long_option(cmd, *word + 1);
        char *twice = is_long ? text_format("-%s", *word) : NULL;
        *word = twice ? twice : *word; /* never freed */
    }
    return *words && is_version(*words) ? show_version() : run_command(cmd, words);
}

int main(int argc, char **argv) {
    setlocale(LC_CTYPE, "C.UTF-8"); /* for the widths of characters */
    const char *program = argc > 0 ? path_base(argv[0]) : "";
    const command *cmd = command_find_alias(program);
    if (cmd)
        return run_alias(cmd, argv + 1);
    if (argc < 2) {
        help_start(stderr);
        return STATUS_USAGE;
    }
    const char *word = argv[1];
    if (is_version(word))
        return show_version();
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return run_command(&command_help, argv + argc);
    cmd = command_find(word);
    if (cmd)
        return run_command(cmd, argv + 2);
    if (word[0] == '-' && word[1])
        return message_usage(NULL, "unknown option %s before the command", word);
    return run_without_command(argv + 1);
}
