/* tables.c: implements tables.h. The section headers of the file say where .eh_frame is. */
#include "platform/tables.h"

#include <limits.h>

#include "platform/cfi.h"
#include "platform/module.h"
#include "platform/patch.h"
#include "platform/symbols.h"

enum { MOST_TABLES = 16 };

static struct made { uintptr_t low, table, end; } tables[MOST_TABLES];
static unsigned n_tables;

static bool find_eh_frame(const struct module *m, uintptr_t *start, uintptr_t *end) {
    char path[PATH_MAX];
    uintptr_t low, high;
    module_path(m, path, sizeof path);
    if (!symbols_section(path, ".eh_frame", start, end))
        return false;
    *start += m->bias;
    *end += m->bias;
    return *start < *end && module_segment(m, *start, &low, &high) && *end <= high;
}

static void make_table(const struct module *m, void *context) {
    uintptr_t start, end;
    (void)context;
    if (m->eh_frame_hdr || !m->text_low || n_tables == MOST_TABLES ||
        !find_eh_frame(m, &start, &end))
        return;
    const size_t size = cfi_make_table((const uint8_t *)start, (const uint8_t *)end, NULL, 0);
    uint8_t *const room = size ? patch_room(m->low, size) : NULL;
    if (!room || !cfi_make_table((const uint8_t *)start, (const uint8_t *)end, room, size))
        return;
    tables[n_tables].low = m->low;
    tables[n_tables].table = (uintptr_t)room;
    tables[n_tables++].end = (uintptr_t)room + size;
}

void tables_make_missing(void) {
    module_each(make_table, NULL);
}

uintptr_t tables_find(uintptr_t low, uintptr_t *end) {
    for (unsigned i = 0; i < n_tables; i++)
        if (tables[i].low == low) {
            *end = tables[i].end;
            return tables[i].table;
        }
    *end = 0;
    return 0;
}
