/* heirs.c: implements heirs.h. A program that loads no modules pays at each fork only for reading
 * how many were loaded. A program that had one of the runtimes from the start does not even pay for
 * that. */
#include "record/heirs.h"

#include "base/hot.h"
#include "platform/module.h"
#include "record/runtime.h"

static HOT_DATA struct {
    uint64_t changes; /* module_changes at the last look */
    bool is_planned;  /* the plan's runtime was set here; look again when modules change */
    bool has_begun;   /* in this process or an ancestor; the runtime then stays */
    bool has_told;
} heirs;

static bool heirs_come(enum runtime_id id, const config *c) {
    const struct runtime *const r = runtimes[id];
    return (c->heaps[id] & CONFIG_HEAP) && r->has_come && r->has_come();
}

static const char *heirs_find(const config *c, struct session_plan *plan) {
    const char *why = NULL;
    for (int id = 0; id < N_RUNTIMES; id++) {
        if (!heirs_come((enum runtime_id)id, c) || runtimes[id]->find(&why) != RUNTIME_RECORDABLE)
            continue;
        plan->runtime = runtimes[id];
        plan->runtime_depth = c->runtime_depths[id];
        plan->parameters = runtimes[id]->parameters();
        return NULL;
    }
    return why;
}

HOT_CODE bool heirs_may_come(const struct session_plan *plan) {
    return !heirs.has_begun && (!plan->runtime || heirs.is_planned) && plan->records_malloc &&
           module_changes() != heirs.changes;
}

const char *heirs_look(const config *c, struct session_plan *plan) {
    heirs.changes = module_changes();
    plan->runtime = NULL;
    const char *const why = heirs_find(c, plan);
    heirs.is_planned = plan->runtime;
    if (!why || heirs.has_told)
        return NULL;
    heirs.has_told = true;
    return why;
}

HOT_CODE void heirs_begin(const struct session_plan *plan) {
    if (!heirs.is_planned || heirs.has_begun)
        return;
    heirs.has_begun = true;
    if (plan->runtime->begin)
        plan->runtime->begin();
}

bool heirs_have_begun(void) {
    return heirs.has_begun;
}
