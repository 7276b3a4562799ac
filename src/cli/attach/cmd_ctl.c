/* cmd_ctl.c: `allotrace ctl PID ACTION`: controls a recording in progress. */
#include <stdio.h>
#include <string.h>

#include "attach/attach.h"
#include "cli/attach/attach_command.h"
#include "cli/message.h"

static const struct {
    enum control_action action;
    const char *name;
} orders[] = {
#define ORDER(id, name, behind) {CONTROL_##id, name},
    CONTROL_ORDERS(ORDER, )
#undef ORDER
};

static bool find_action(const char *name, enum control_action *action) {
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (strcmp(orders[i].name, name) == 0) {
            *action = orders[i].action;
            return true;
        }
    return false;
}

static int run(const void *options, char **operands) {
    static control request;
    const char *name = operands[2]; /* NULL: not given */
    enum control_action action;
    remote_reason why;
    pid_t pid;
    (void)options;
    if (!attach_parse_pid(operands[0], &pid))
        return message_usage(&command_ctl, "`%s` is not a process id", operands[0]);
    if (!find_action(operands[1], &action))
        return message_usage(&command_ctl, "`%s` is not one of " CONTROL_ORDER_NAMES(", "),
                             operands[1]);
    if ((action == CONTROL_MARK) != (name != NULL))
        return message_usage(&command_ctl, name ? "%s takes no name" : "%s needs a name",
                             operands[1]);
    if (name && (!*name || strlen(name) > 255))
        return message_usage(&command_ctl, "the name of a mark must have 1 to 255 bytes");
    request = (control){.action = action};
    if (name)
        memcpy(request.text, name, strlen(name) + 1); /* fits, since its length was checked */
    if (!attach_control(pid, NULL, &request, NULL, &why))
        return message_error("%s", why.text);
    if (request.outcome != CONTROL_DONE)
        return message_error(request.outcome == CONTROL_IDLE
                                 ? "process %d is not being recorded"
                                 : "process %d contains a different version of the recorder",
                             (int)pid);
    if (action == CONTROL_STATUS)
        printf("%s: %s\n", request.reply, request.stopped ? "sampling is stopped" : "recording");
    return STATUS_OK;
}

#define ORDER_USAGE(id, name, behind) name behind

const command command_ctl = {
    .name = "ctl",
    .group = GROUP_RECORD,
    .minor = true,
    .operand = OPERAND_CONTROL,
    .usage = "PID " CONTROL_ORDERS(ORDER_USAGE, "|"),
    .summary = "control a running recording",
    .description = "Controls the recorder in a process started by `allotrace run` or recorded by "
                   "`allotrace attach`:\n"
                   "\n"
                   "`stop` stops sampling new blocks, and `start` resumes it. Blocks that were "
                   "already sampled are still followed, and both commands set a mark. `mark NAME` "
                   "marks the current moment in the trace. `flush` writes all buffered events to "
                   "the file. `status` prints where the trace is written.\n"
                   "\n"
                   "Each command stops one thread of the process for a few milliseconds. Programs "
                   "can set marks themselves with <allotrace/mark.h>.",
    .example = "allotrace ctl 4711 mark 'cache warm'\n"
               "allotrace ctl 4711 flush\n",
    .run = run,
};
