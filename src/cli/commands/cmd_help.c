/* cmd_help.c: `allotrace help [COMMAND|TOPIC]`: shows help texts. */
#include "cli/help.h"
#include "cli/message.h"
#include "cli/topics.h"

static int run(const void *options, char **operands) {
    (void)options;
    if (!operands[0]) {
        help_overview(stdout);
        return STATUS_OK;
    }
    const command *cmd = command_find(operands[0]);
    if (!cmd && topic_print(stdout, operands[0]))
        return STATUS_OK;
    if (!cmd) {
        const char *near = command_nearest(operands[0]);
        near = near ? near : topic_nearest(operands[0]);
        return message_usage(NULL, "there is no command or topic `%s`%s%s%s", operands[0],
                             near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
    }
    help_command(stdout, cmd);
    return STATUS_OK;
}

const command command_help = {
    .name = "help",
    .group = GROUP_LOOK,
    .minor = true,
    .operand = OPERAND_COMMAND,
    .usage = "[COMMAND|TOPIC]",
    .summary = "show help for a command or topic",
    .description =
        "Shows the help of a command, a topic (filter, measures, intervals, sites, heaps, "
        "environment, index, keep, push, statuses), or a rule of advise. Without an argument, "
        "lists all commands.",
    .example = "allotrace help hotspots\n"
               "allotrace help filter\n"
               "allotrace help string-concat\n",
    .run = run,
};
