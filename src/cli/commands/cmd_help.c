/* cmd_help.c: `allotrace help [COMMAND]`. */
#include "cli/help.h"

static int run(const void *options, char **operands, size_t n_operands) {
    (void)options;
    if (n_operands == 0) {
        help_overview(stdout);
        return STATUS_OK;
    }
    const command *cmd = command_find(operands[0]);
    if (!cmd)
        return command_refuse(operands[0]);
    help_command(stdout, cmd);
    return STATUS_OK;
}

const command command_help = {
    .name = "help",
    .group = GROUP_OTHER,
    .operand = OPERAND_COMMAND,
    .usage = "[COMMAND]",
    .summary = "explain a command, or list all",
    .description = "Explains a command as its `--help` does; without one, lists all commands.",
    .example = "allotrace help hotspots\n",
    .run = run,
};
