/* import_memray_stacks.c: builds the stacks and records that the allocations of a memray capture
 * share. */
#include <string.h>

#include "import/import_memray.h"
#include "import/import_module.h"

enum {
    MOST_DEPTH = 4096,
    MOST_FRAMES = 1 << 27,
    MOST_SEGMENTS = 1 << 14, /* per generation */
    PYTHON_3_10 = 0x030A0000,
    PYTHON_3_11 = 0x030B0000,
    NO_LINE = -128, /* in line tables of 3.10 */
};

/* ---- lines --------------------------------------------------------------------------------- */

typedef struct table {
    const uint8_t *at, *end;
} table;

static uint32_t take_number(table *t) {
    uint32_t value = 0;
    for (unsigned shift = 0; t->at < t->end; shift += 6) {
        const uint8_t byte = *t->at++;
        value |= shift < 32 ? (uint32_t)(byte & 63) << shift : 0;
        if (!(byte & 64))
            break;
    }
    return value;
}

static int64_t take_signed(table *t) {
    const uint32_t value = take_number(t);
    return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

static void skip(table *t, size_t n) {
    t->at += n < (size_t)(t->end - t->at) ? n : (size_t)(t->end - t->at);
}

/* Returns the change of line in an entry of `co_linetable` since 3.11, and skips its columns. */
static int64_t take_entry(table *t, unsigned kind) {
    int64_t delta = 0;
    switch (kind) {
    case 15: /* no line */
        return 0;
    case 14: /* line and columns */
        delta = take_signed(t);
        take_number(t);
        take_number(t);
        take_number(t);
        return delta;
    case 13: /* line without columns */
        return take_signed(t);
    case 10:
    case 11:
    case 12:
        skip(t, 2);
        return (int64_t)kind - 10;
    default:
        skip(t, 1);
        return 0;
    }
}

/* Returns the line at `unit`, which counts instructions of two bytes; 0 if the table has none. */
static int64_t line_of_311(table t, uint64_t unit, int64_t line) {
    for (uint64_t at = 0; t.at < t.end;) {
        const uint8_t first = *t.at++;
        line += take_entry(&t, first >> 3 & 15);
        at += (first & 7) + 1U;
        if (unit < at)
            return line;
    }
    return 0;
}

/* Returns the line in a table of pairs: a length in bytes and a change of line. In 3.10, the change
 * applies to that length; before 3.10, it applies after it. */
static int64_t line_of_pairs(table t, uint64_t offset, int64_t line, bool is_310) {
    for (uint64_t at = 0; t.end - t.at >= 2; t.at += 2) {
        const int8_t delta = (int8_t)t.at[1];
        at += t.at[0];
        if (is_310 && delta != NO_LINE)
            line += delta;
        if (at > offset)
            break;
        if (!is_310)
            line += delta;
    }
    return line;
}

static uint64_t line_of(const memray_stacks *s, const memray_code *c, int64_t offset) {
    const table t = {.at = c->line_table,
                     .end = c->line_table ? c->line_table + c->line_table_size : NULL};
    const uint64_t at = offset < 0 ? 0 : (uint64_t)offset;
    int64_t line = c->line;
    if (c->line_table && (offset < 0 || c->line_table_size == 0))
        line = 0;
    else if (c->line_table && s->python >= PYTHON_3_11)
        line = line_of_311(t, at / 2, line);
    else if (c->line_table && s->python >= PYTHON_3_10)
        line = line_of_pairs(t, at * 2, line, true);
    else if (c->line_table)
        line = line_of_pairs(t, at, line, false);
    return line > 0 ? (uint64_t)line : 0;
}

/* ---- Python's frames ----------------------------------------------------------------------- */

void memray_stacks_code(memray_stacks *s, uint64_t id, memray_code code) {
    uint32_t *number = s->codes.count < INT32_MAX ? map64_put(&s->code_of, id) : NULL;
    if (number && vec_push(&s->codes, code))
        *number = (uint32_t)(s->codes.count - 1);
    else
        s->to->no_memory = true;
}

bool memray_stacks_frame(memray_stacks *s, uint64_t code, int64_t offset, bool is_entry,
                         uint32_t *frame) {
    const uint32_t k = map64_get(&s->code_of, code);
    if (k == MAP64_NONE)
        return false;
    const uint64_t key =
        (uint64_t)k << 33 | (uint64_t)(uint32_t)(int32_t)offset << 1 | (is_entry ? 1 : 0);
    if (!map64_number(&s->frame_of, key, frame)) {
        s->to->no_memory = true;
        return true;
    }
    if (*frame < s->frames.count)
        return true;
    const memray_code *c = &s->codes.items[k];
    const memray_frame made = {.place = import_add_place(s->to), .is_entry = is_entry};
    import_add_location(s->to, c->function, c->file, line_of(s, c, (int32_t)offset));
    s->to->no_memory |= !vec_push(&s->frames, made);
    return true;
}

uint32_t memray_stacks_node(memray_stacks *s, uint32_t parent, uint32_t frame) {
    uint32_t number;
    if ((s->nodes.count == 0 && !vec_push(&s->nodes, (memray_node){0})) ||
        !map64_number(&s->node_of, (uint64_t)parent << 32 | frame, &number)) {
        s->to->no_memory = true;
        return 0;
    }
    number++;
    if (number == s->nodes.count)
        s->to->no_memory |= !vec_push(&s->nodes, ((memray_node){.parent = parent, .frame = frame}));
    return number;
}

/* ---- native frames ------------------------------------------------------------------------- */

static uint32_t module_of(memray_stacks *s, const char *file) {
    uint32_t number;
    memray_module module = {.file = file};
    import_module found;
    if (!map64_number(&s->module_of, (uintptr_t)file, &number)) {
        s->to->no_memory = true;
        return 0;
    }
    if (number < s->modules.count)
        return number;
    import_module_look(&found, file, 0);
    memcpy(module.build_id, found.build_id, sizeof module.build_id);
    if (strstr(file, "python"))
        import_module_function(file, "_PyEval_EvalFrameDefault", &module.eval_start,
                               &module.eval_end);
    s->to->no_memory |= !vec_push(&s->modules, module);
    return number;
}

void memray_stacks_map(memray_stacks *s) {
    s->to->no_memory |= !vec_push(&s->generations, s->segments.count);
}

bool memray_stacks_image(memray_stacks *s, const char *file, uint64_t base, uint64_t address,
                         uint64_t size) {
    const memray_segment segment = {.start = base + address,
                                    .end = base + address + size,
                                    .base = base,
                                    .module = module_of(s, file)};
    if (s->generations.count == 0)
        memray_stacks_map(s);
    if (s->to->no_memory || !vec_push(&s->segments, segment))
        return s->to->no_memory = true;
    return s->segments.count - s->generations.items[s->generations.count - 1] <= MOST_SEGMENTS;
}

static const memray_segment *segment_of(const memray_stacks *s, uint64_t address,
                                        uint32_t generation) {
    if (generation == 0 || generation > s->generations.count)
        return NULL;
    const size_t end =
        generation < s->generations.count ? s->generations.items[generation] : s->segments.count;
    for (size_t i = s->generations.items[generation - 1]; i < end; i++) {
        const memray_segment *m = &s->segments.items[i];
        if (address > m->start && address <= m->end)
            return m;
    }
    return NULL;
}

static bool is_eval(const memray_stacks *s, const memray_segment *m, uint64_t address) {
    const memray_module *module = m ? &s->modules.items[m->module] : NULL;
    return m && address - 1 - m->base >= module->eval_start &&
           address - 1 - m->base < module->eval_end;
}

enum { IS_EVAL = UINT32_MAX - 1 };

/* Returns the place of an address, or IS_EVAL for the interpreter's loop. */
static uint32_t place_of(memray_stacks *s, uint64_t address, uint32_t generation) {
    uint32_t number, *place;
    if (!map64_number(&s->address_key, address, &number) ||
        !(place = map64_put(&s->address_of, (uint64_t)number << 32 | generation))) {
        s->to->no_memory = true;
        return 0;
    }
    if (*place != MAP64_NONE)
        return *place;
    const memray_segment *m = segment_of(s, address, generation);
    const memray_module *module = m ? &s->modules.items[m->module] : NULL;
    if (is_eval(s, m, address))
        return *place = IS_EVAL;
    *place = import_add_place(s->to);
    import_add_linked(s->to, m ? module->file : "", m ? module->build_id : "",
                      m ? address - m->base : address);
    return *place;
}

/* ---- stacks -------------------------------------------------------------------------------- */

static void push(memray_stacks *s, uint32_t place) {
    s->to->no_memory |= !vec_push(&s->path, place);
}

/* Adds Python's frames from `*node` up to the one called from C, which make up one evaluation. */
static void push_evaluation(memray_stacks *s, uint32_t *node) {
    while (*node != 0) {
        const memray_frame *f = &s->frames.items[s->nodes.items[*node].frame];
        push(s, f->place);
        *node = s->nodes.items[*node].parent;
        if (f->is_entry)
            return;
    }
}

static size_t count_evaluations(const memray_stacks *s, uint32_t node) {
    size_t n = 0;
    for (; node != 0; node = s->nodes.items[node].parent)
        n += s->frames.items[s->nodes.items[node].frame].is_entry ||
             s->nodes.items[node].parent == 0;
    return n;
}

/* Adds both stacks, innermost first, replacing each frame of the interpreter's loop by the Python
 * frames of its evaluation. Evaluations that have just begun may have no Python frame yet, so the
 * innermost surplus loops get none. Returns false if fewer loops than evaluations were found: then
 * it is unknown which frames belong together. */
static bool push_both(memray_stacks *s, uint32_t node, uint32_t native, uint32_t generation) {
    size_t loops = 0;
    const size_t evaluations = count_evaluations(s, node);
    for (uint32_t k = native; k != 0; k = s->natives.items[k - 1].parent)
        loops += place_of(s, s->natives.items[k - 1].address, generation) == IS_EVAL;
    if (loops < evaluations)
        return false;
    for (uint32_t k = native; k != 0; k = s->natives.items[k - 1].parent) {
        const uint32_t place = place_of(s, s->natives.items[k - 1].address, generation);
        if (place != IS_EVAL)
            push(s, place);
        else if (loops-- <= evaluations)
            push_evaluation(s, &node);
    }
    return true;
}

static void push_python(memray_stacks *s, uint32_t node) {
    for (; node != 0; node = s->nodes.items[node].parent)
        push(s, s->frames.items[s->nodes.items[node].frame].place);
}

/* Returns how many frames to keep: the outermost ones are memray's own. */
static size_t kept_python(const memray_stacks *s, uint32_t node) {
    size_t depth = 0;
    for (; node != 0; node = s->nodes.items[node].parent)
        depth++;
    return depth > s->skipped ? depth - s->skipped : 0;
}

/* Returns how many innermost frames of the path belong to the `kept` innermost Python frames. */
static size_t cut(const memray_stacks *s, uint32_t node, size_t kept) {
    size_t i = 0;
    for (; i < s->path.count && kept > 0; i++)
        if (s->path.items[i] == s->frames.items[s->nodes.items[node].frame].place) {
            kept--;
            node = s->nodes.items[node].parent;
        }
    return i;
}

static bool make_stack(memray_stacks *s, uint32_t node, uint32_t native, uint32_t generation,
                       bool is_main) {
    memray_stack made = {.first = s->to->frames.count};
    vec_clear(&s->path);
    if (native == 0 || !push_both(s, node, native, generation))
        push_python(s, node);
    if (s->to->no_memory)
        return true;
    made.n = s->path.count;
    if (is_main && s->skipped > 0)
        made.n = cut(s, node, kept_python(s, node));
    made.n = made.n < MOST_DEPTH ? made.n : MOST_DEPTH;
    if (made.first + made.n > MOST_FRAMES)
        return false;
    for (size_t i = made.n; i-- > 0;)
        s->to->no_memory |= !vec_push(&s->to->frames, s->path.items[i]);
    s->to->no_memory |= !vec_push(&s->stacks, made);
    return true;
}

static void number_record(memray_stacks *s, uint32_t stack, uint64_t bytes, uint32_t *record) {
    uint32_t size;
    if (s->to->no_memory || !map64_number(&s->size_of, bytes, &size) ||
        !map64_number(&s->record_of, (uint64_t)stack << 32 | size, record)) {
        s->to->no_memory = true;
        return;
    }
    const memray_stack *of = &s->stacks.items[stack];
    if (*record == s->to->records.count)
        s->to->no_memory |=
            !vec_push(&s->to->records,
                      ((import_record){.first = of->first, .n = of->n, .bytes = bytes})) ||
            !vec_push(&s->record_stacks, stack);
}

bool memray_stacks_record(memray_stacks *s, uint32_t node, uint32_t native, uint32_t generation,
                          bool is_main, uint64_t bytes, uint32_t *record) {
    uint32_t both, stack;
    *record = 0;
    if (s->to->no_memory || !map64_number(&s->stack_key, (uint64_t)node << 32 | native, &both) ||
        !map64_number(&s->stack_of,
                      (uint64_t)both << 32 | (uint64_t)(generation & INT32_MAX) << 1 | is_main,
                      &stack))
        return s->to->no_memory = true;
    if (stack == s->stacks.count && !make_stack(s, node, native, generation, is_main))
        return false;
    number_record(s, stack, bytes, record);
    return true;
}

void memray_stacks_resized(memray_stacks *s, uint32_t other, uint64_t bytes, uint32_t *record) {
    *record = 0;
    if (!s->to->no_memory)
        number_record(s, s->record_stacks.items[other], bytes, record);
}

void memray_stacks_free(memray_stacks *s) {
    map64 *const maps[] = {&s->code_of,    &s->frame_of,    &s->node_of,  &s->module_of,
                           &s->address_of, &s->address_key, &s->stack_of, &s->stack_key,
                           &s->record_of,  &s->size_of};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        map64_free(maps[i]);
    vec_free(&s->codes);
    vec_free(&s->frames);
    vec_free(&s->nodes);
    vec_free(&s->natives);
    vec_free(&s->segments);
    vec_free(&s->modules);
    vec_free(&s->generations);
    vec_free(&s->stacks);
    vec_free(&s->path);
    vec_free(&s->record_stacks);
}
