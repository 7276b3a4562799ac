/* export_stacks.h: what was allocated, by stack, for other tools: collapsed stacks as flame graph
 * scripts read them, and speedscope's JSON. Weights are estimates in the measure's unit. The output
 * is asked first whether it wants as much. False when
 * there is no memory; errors of writing stick to the output. */
#ifndef EXPORT_EXPORT_STACKS_H
#define EXPORT_EXPORT_STACKS_H

#include "query/cost.h"
#include "query/lens.h"
#include "render/output.h"

/* A line a stack, `outer;inner WEIGHT`, by functions. */
bool export_collapsed(output *o, const lens *l, measure m, const cost_list *costs);

/* A sampled profile, by lines; `name` is the title. */
bool export_speedscope(output *o, const lens *l, measure m, const cost_list *costs,
                       const char *name);

#endif
