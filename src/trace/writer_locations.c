/* writer_locations.c: codes are in a hash set, with 0 stored separately. Names are found by a
 * linear search in a table of FORMAT_NAMES entries, and moved to its front. If an event does not
 * fit, names are shortened (short_name.h) before locations are dropped: knowing every function
 * matters more than whole names. */
#include "trace/writer_locations.h"

#include <string.h>

#include "base/hash.h"
#include "trace/short_name.h"
#include "trace/writer_put.h"

/* ---- the set of announced codes ---- */

static uint64_t *set_find(uint64_t *slots, size_t n_slots, uint64_t code) {
    size_t i = hash_u64(code) & (n_slots - 1);
    while (slots[i] != 0 && slots[i] != code)
        i = (i + 1) & (n_slots - 1);
    return &slots[i];
}

static bool set_grow(code_set *set, code_set_reallocate *reallocate, void *context) {
    const size_t n = set->n_slots ? set->n_slots * 2 : 256;
    uint64_t *slots = reallocate(context, NULL, 0, n * sizeof *slots);
    if (!slots)
        return false;
    memset(slots, 0, n * sizeof *slots);
    for (size_t i = 0; i < set->n_slots; i++)
        if (set->slots[i] != 0)
            *set_find(slots, n, set->slots[i]) = set->slots[i];
    if (set->slots)
        reallocate(context, set->slots, set->n_slots * sizeof *slots, 0);
    set->slots = slots;
    set->n_slots = n;
    return true;
}

bool code_set_add(code_set *set, uint64_t code, code_set_reallocate *reallocate, void *context,
                  bool *added) {
    if (code == 0) {
        *added = !set->has_zero;
        set->has_zero = true;
        return true;
    }
    if (set->count >= set->n_slots / 2 && !set_grow(set, reallocate, context))
        return false;
    uint64_t *slot = set_find(set->slots, set->n_slots, code);
    *added = *slot == 0;
    *slot = code;
    set->count += *added;
    return true;
}

void code_set_free(code_set *set, code_set_reallocate *reallocate, void *context) {
    if (set->slots)
        reallocate(context, set->slots, set->n_slots * sizeof *set->slots, 0);
    *set = (code_set){0};
}

/* ---- names ---- */

static void table_init(name_table *table) {
    for (unsigned i = 0; i < FORMAT_NAMES; i++) {
        table->order[i] = (uint8_t)i;
        table->slots[i] = (name){0};
    }
}

void location_names_init(location_names *names) {
    table_init(&names->files);
}

static bool same(name a, name b) {
    return a.size == b.size && (a.bytes == b.bytes || memcmp(a.bytes, b.bytes, a.size) == 0);
}

/* Returns the code of a name: its position, or FORMAT_NAMES if it is new. */
static unsigned find_in_table(const name_table *table, name wanted) {
    for (unsigned i = 0; i < FORMAT_NAMES; i++) {
        const name *have = &table->slots[table->order[i]];
        if (!have->bytes)
            break; /* entries fill from the front */
        if (same(*have, wanted))
            return i;
    }
    return FORMAT_NAMES;
}

/* Moves the entry at `position` to the front; for a new name, the entry that falls off the end.
 * Returns its slot. */
static unsigned table_use(name_table *table, unsigned position, name used) {
    if (position == FORMAT_NAMES)
        position--;
    const uint8_t slot = table->order[position];
    memmove(&table->order[1], &table->order[0], position);
    table->order[0] = slot;
    table->slots[slot] = used;
    return slot;
}

static name name_of(const char *s) {
    return s ? (name){.bytes = s, .size = strlen(s)} : (name){.bytes = ""};
}

/* Returns the size including the final NUL. */
static size_t name_size(name n, size_t limit) {
    return short_name_size(n.bytes, n.size, limit) + 1;
}

static uint8_t *put_name(uint8_t *p, name n, size_t limit) {
    return put_u8((uint8_t *)short_name_put((char *)p, n.bytes, n.size, limit), 0);
}

/* ---- events ---- */

static uint64_t clamp(uint64_t value, uint64_t max) {
    return value < max ? value : max;
}

/* If both columns are at their maximum, readers may take them for the ones that a widespread
 * version of the OCaml library lets overflow into the file name's code. So the end column is kept
 * one below. */
static uint64_t end_char_of(const memtrace_location *l) {
    const uint64_t max = MEMTRACE_MAX_END_CHAR - (l->start_char >= MEMTRACE_MAX_START_CHAR);
    return clamp(l->end_char, max);
}

static uint64_t location_word(const memtrace_location *l, unsigned file, unsigned function) {
    const unsigned start_at = FORMAT_LINE_BITS, end_at = start_at + FORMAT_START_CHAR_BITS;
    const unsigned file_at = end_at + FORMAT_END_CHAR_BITS;
    return clamp(l->line, MEMTRACE_MAX_LINE) |
           clamp(l->start_char, MEMTRACE_MAX_START_CHAR) << start_at | end_char_of(l) << end_at |
           (uint64_t)file << file_at | (uint64_t)function << (file_at + FORMAT_NAME_BITS);
}

static uint8_t *put_location(location_names *names, uint8_t *p, const memtrace_location *l,
                             size_t limit) {
    const name file = name_of(l->file), function = name_of(l->function);
    const unsigned file_code = find_in_table(&names->files, file);
    name_table *functions = &names->functions[table_use(&names->files, file_code, file)];
    if (file_code == FORMAT_NAMES)
        table_init(functions);
    const unsigned function_code = find_in_table(functions, function);
    table_use(functions, function_code, function);

    const uint64_t word = location_word(l, file_code, function_code);
    p = put_u32(p, (uint32_t)word);
    p = put_u16(p, (uint16_t)(word >> 32));
    if (file_code == FORMAT_NAMES)
        p = put_name(p, file, limit);
    if (function_code == FORMAT_NAMES)
        p = put_name(p, function, limit);
    return p;
}

enum { LOCATION_EVENT_FIXED = 8 + 1 }; /* the code, and the number of locations */

/* Returns the size of a location. A file name equal to that of the location before is not written
 * again. */
static size_t location_size(const memtrace_location *l, const memtrace_location *before,
                            size_t limit) {
    const size_t function = name_size(name_of(l->function), limit);
    const bool again = before && same(name_of(l->file), name_of(before->file));
    return FORMAT_LOCATION_SIZE + function + (again ? 0 : name_size(name_of(l->file), limit));
}

static size_t event_size(const memtrace_location *locations, size_t n, size_t limit) {
    size_t size = LOCATION_EVENT_FIXED;
    for (size_t i = 0; i < n; i++)
        size += location_size(&locations[i], i > 0 ? &locations[i - 1] : NULL, limit);
    return size;
}

/* Shortens names rather than drop locations: knowing every function matters more than whole
 * names. */
static void fit_names(const memtrace_location *locations, size_t room, location_plan *plan) {
    plan->name = MEMTRACE_MAX_NAME;
    while ((plan->size = event_size(locations, plan->n, plan->name)) > room &&
           plan->name > SHORT_NAME_LEAST)
        plan->name = plan->name / 2 > SHORT_NAME_LEAST ? plan->name / 2 : SHORT_NAME_LEAST;
}

location_plan location_fit(memtrace_location *locations, size_t n, size_t room) {
    location_plan plan = {.n = n > MEMTRACE_MAX_LOCATIONS ? MEMTRACE_MAX_LOCATIONS : n};
    fit_names(locations, room, &plan);
    const size_t first =
        n > 0 && locations[0].file && strcmp(locations[0].file, MEMTRACE_TYPE_FILE) == 0;
    while (plan.size > room && plan.n > first + 1) {
        plan.n--;
        memmove(&locations[first], &locations[first + 1], (plan.n - first) * sizeof *locations);
        plan.size = event_size(locations, plan.n, plan.name);
    }
    return plan;
}

uint8_t *location_put(location_names *names, uint8_t *p, uint64_t code,
                      const memtrace_location *locations, const location_plan *plan) {
    p = put_u8(put_u64(p, code), (uint8_t)plan->n);
    for (size_t i = 0; i < plan->n; i++)
        p = put_location(names, p, &locations[i], plan->name);
    return p;
}
