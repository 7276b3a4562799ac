/* commands.c: the table of commands, and searches in it. */
#include <string.h>

#include "base/nearest.h"
#include "cli/command.h"
#include "cli/message.h"

const command *const command_table[] = {
#define COMMAND_ENTRY(name) &command_##name,
    COMMANDS(COMMAND_ENTRY)
#undef COMMAND_ENTRY
};
const size_t command_count = sizeof command_table / sizeof *command_table;

const option_lack command_lacks_of_copies[] = {
    {"filter", "allotrace hotspots --filter FILTER"},
    {"measure", "allotrace hotspots --measure MEASURE"},
    {"top", "allotrace hotspots --top N"},
    {"json", "allotrace dump --format json"},
    {"csv", "allotrace export --to csv"},
    {0},
};

const command *command_find(const char *name) {
    for (size_t i = 0; i < command_count; i++)
        if (strcmp(command_table[i]->name, name) == 0)
            return command_table[i];
    return NULL;
}

const command *command_find_alias(const char *program) {
    for (size_t i = 0; i < command_count; i++)
        if (command_table[i]->alias && strcmp(command_table[i]->alias, program) == 0)
            return command_table[i];
    return NULL;
}

static const char *name_of(const void *context, size_t i) {
    (void)context;
    return command_table[i]->name;
}

/* What other profilers (perf, memray) call something that a command does. */
static const struct {
    const char *theirs, *ours;
} elsewhere[] = {
    {"record", "run"},  {"report", "hotspots"}, {"table", "hotspots"},
    {"script", "dump"}, {"flamegraph", "view"}, {"live", "top"},
};

const char *command_nearest(const char *name) {
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strcmp(elsewhere[i].theirs, name) == 0)
            return elsewhere[i].ours;
    return nearest_name(name, strlen(name), name_of, NULL, command_count);
}

int command_refuse(const char *name) {
    const char *near = command_nearest(name);
    return near ? message_usage(NULL, "there is no command `%s`; did you mean `%s`?", name, near)
                : message_usage(NULL, "there is no command `%s`", name);
}
