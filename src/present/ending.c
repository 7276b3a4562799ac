/* ending.c: see ending.h. */
#include "present/ending.h"

#include "render/render.h"

void ending_json(output *o, const profile *p) {
    const table end = {.columns = ending_columns, .n_columns = ending_n_columns};
    if (!profile_ends_early(p))
        return;
    output_text(o, ",\n \"ends_early\":{");
    render_json_fields(o, &end, &p->end);
    output_char(o, '}');
}
