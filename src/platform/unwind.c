/* unwind.c: the row cache and the walk over the stack.
 * Walking takes one *row* for each frame. A row says how to get from the registers sp and bp inside
 * a function, at one return address, to those of its caller. Nearly all functions need no more, so
 * a warm walk costs a cache probe and two loads for each frame. A row is compiled from the module's
 * tables (cfi.h) when its address is first seen.
 * Some frames need more registers: realigned stacks interrupted in their prologue, the loader's
 * lazy binding, hand-written assembly. When the walk meets one, it starts over from the beginning
 * with all registers and without the cache. That is slow, exact, and rare.
 * Addresses are handled as *keys*: a return address, or an interrupted address + 1. So the
 * instruction to look up is always at key - 1.
 * Modules are loaded and unloaded. The cache keeps a list of the modules that it has rows of and
 * that can be unloaded. Before each walk it checks that all of them are still loaded, and forgets
 * everything if one is not. So neither a hook into the loader nor a lock is needed. */
#include "platform/unwind.h"

#include <string.h>

#include "platform/cfi.h"
#include "platform/cpu.h"
#include "platform/maps.h"
#include "platform/module.h"
#include "platform/pages.h"
#include "platform/unwind_signal.h"
#include "platform/unwind_walk.h"

size_t unwind_cache_size(void) {
    return sizeof(unwind_cache);
}

void unwind_cache_flush(unwind_cache *cache) {
    pages_clear(cache->rows, sizeof cache->rows);
    pages_clear(cache->fast, sizeof cache->fast);
    cache->module_count = 0;
    cache->flushes++;
}

/* --- modules --- */

void unwind_cache_check(unwind_cache *cache) {
    for (size_t i = 0; i < cache->module_count; i++)
        if (!module_persists(&cache->modules[i])) {
            unwind_cache_flush(cache);
            return;
        }
}

static void cache_admit_module(unwind_cache *cache, const struct module *module) {
    if (module_is_permanent(module))
        return;
    for (size_t i = 0; i < cache->module_count; i++)
        if (cache->modules[i].low == module->low)
            return;
    if (cache->module_count == MODULES_MAX)
        unwind_cache_flush(cache);
    cache->modules[cache->module_count++] = module_identify(module);
}

/* --- rows --- */

/* Stores "base + offset" or "*(base + inner)" in the row. Returns false if the base is neither sp
 * nor bp, or if the numbers do not fit. */
static bool row_set_cfa(struct row *row, const struct cfi_value *cfa) {
    bool loaded = cfa->kind == CFI_LOADED;
    uint64_t ra = cfa->offset - (uint64_t)(row->cfa_words * WORD);
    int64_t offset = loaded ? cfa->inner : (int64_t)ra;
    if (cfa->kind == CFI_CONSTANT || (cfa->base != UNWIND_SP && cfa->base != UNWIND_BP) ||
        offset != (int32_t)offset || (loaded && cfa->offset != 0))
        return false;
    row->offset = (int32_t)offset;
    row->bits |= (cfa->base == UNWIND_BP ? ROW_FROM_BP : 0) | (loaded ? ROW_LOADED : 0);
    return true;
}

static bool row_compile_cfa(struct row *row, const struct cfi_cfa *cfa) {
    struct cfi_value value = {
        .kind = CFI_RELATIVE, .base = (uint8_t)cfa->reg, .offset = (uint64_t)cfa->rule.offset};
    /* The pc is the only register whose value is known here. The expression of x86-64's PLT stubs
     * uses it. */
    const uintptr_t reg[UNWIND_REGISTERS] = {[UNWIND_RA] = row->key - 1};
    struct cfi_context context = {.reg = reg,
                                  .known = UNWIND_RA_IS_REGISTER ? 0 : UNWIND_BIT(UNWIND_RA)};
    if (cfa->rule.kind == CFI_VAL_EXPRESSION && !cfi_evaluate(&cfa->rule, &context, NULL, &value))
        return false;
    return cfa->rule.kind != CFI_UNDEFINED && row_set_cfa(row, &value);
}

static bool row_compile_ra(struct row *row, const struct cfi_rule *ra) {
    if (ra->kind == CFI_SAME && UNWIND_RA_IS_REGISTER) {
        row->bits |= ROW_RA_IN_LR;
        return true;
    }
    row->cfa_words = (int16_t)(ra->offset / -WORD);
    return ra->kind == CFI_OFFSET && row->cfa_words * -WORD == ra->offset;
}

static bool row_compile_bp(struct row *row, const struct cfi_rule *bp) {
    int64_t bytes;
    if (bp->kind == CFI_SAME || bp->kind == CFI_UNDEFINED)
        return true;
    if (bp->kind == CFI_OFFSET && !(row->bits & ROW_RA_IN_LR)) {
        bytes = (int64_t)((uint64_t)bp->offset + (uint64_t)(row->cfa_words * WORD));
        row->bits |= ROW_SAVES_BP;
    } else if (bp->kind == CFI_EXPRESSION) {
        struct cfi_value value;
        struct cfi_context nothing = {.known = 0};
        if (!cfi_evaluate(bp, &nothing, NULL, &value) || value.kind != CFI_RELATIVE ||
            value.base != UNWIND_BP)
            return false;
        bytes = (int64_t)value.offset;
        row->bits |= ROW_BP_AT_BP;
    } else {
        return false;
    }
    row->bp_words = (int8_t)(bytes / WORD);
    return row->bp_words * WORD == bytes;
}

static void row_compile(struct row *row, const struct cfi_function *function,
                        const struct cfi_rules *rules) {
    const struct cfi_rule *ra = &rules->reg[function->ra_reg];
    if (ra->kind == CFI_UNDEFINED) {
        row->bits = ROW_END;
        return;
    }
    bool simple = !function->signal_frame && function->ra_reg == UNWIND_RA &&
                  rules->reg[UNWIND_SP].kind == CFI_SAME && row_compile_ra(row, ra) &&
                  row_compile_cfa(row, &rules->cfa) && row_compile_bp(row, &rules->reg[UNWIND_BP]);
    if (!simple)
        row->bits = ROW_COMPLEX;
}

/* Returns the address of the aligned word that contains the byte at `address`. */
static uintptr_t word_of(uintptr_t address) {
    return address & ~(uintptr_t)(WORD - 1);
}

/* `module` is NULL for code outside of all modules: emulators put the signal trampoline there. */
static bool is_signal_return(const struct module *module, uintptr_t key) {
    uintptr_t low, high = key + UNWIND_SIGNAL_CODE_SIZE;
    bool readable = module ? module_segment(module, key, &low, &high)
                           : maps_readable(word_of(key)) && maps_readable(word_of(high - 1));
    return readable && unwind_signal_returns_at(key, high);
}

/* No call returns to the first instruction of a function. Such a return address was written by
 * whoever made the stack (makecontext), to run that function at the end. There are no frames
 * further out. */
static bool is_made_up(const struct module *module, uintptr_t key) {
    struct cfi_function function;
    return cfi_find(module, key, &function) && function.start == key;
}

/* Compiles the row of `key`. Returns false if the row must not be cached, because replacement of
 * its code would go unnoticed. */
static bool row_make(unwind_cache *cache, struct row *row, uintptr_t key) {
    struct module module;
    struct cfi_function function;
    uintptr_t pc = key - 1;
    *row = (struct row){.key = key, .bits = ROW_NO_TABLE};
    if (!module_find(pc, &module)) {
        row->bits = is_signal_return(NULL, key) ? ROW_SIGNAL : ROW_NO_TABLE;
        return false;
    }
    cache_admit_module(cache, &module);
    if (is_signal_return(&module, key))
        row->bits = ROW_SIGNAL;
    else if (cfi_find(&module, pc, &function) && cfi_run(&function, pc, &cache->machine)) {
        row->bits = 0;
        row_compile(row, &function, &cache->machine.now);
    } else if (is_made_up(&module, key) || module_starts_process(&module, pc)) {
        row->bits = ROW_END;
    }
    return true;
}

static struct row *cache_set(unwind_cache *cache, uintptr_t key) {
    size_t place = (size_t)(unwind_cache_place(cache, key) - cache->rows);
    return &cache->rows[place - place % ROW_WAYS];
}

/* Counts rows that were replaced by others and enlarges the used part of the tables when there are
 * many. No row is moved: a row that is not found is compiled again. */
static void cache_note_replaced(unwind_cache *cache) {
    const size_t used = (cache->more_rows | (FIRST_ROWS - 1)) + 1;
    if (++cache->replaced < used / 8 || used == ROW_SETS * ROW_WAYS)
        return;
    cache->replaced = 0;
    cache->more_rows = 4 * used - 1;
    cache->more_fast = (4 * cache->more_rows + 3) & (FAST_STEPS - 1);
}

const struct row *unwind_cache_search(unwind_cache *cache, uintptr_t key, struct row *uncached) {
    struct row *set = cache_set(cache, key);
    for (size_t i = 0; i < ROW_WAYS; i++)
        if (set[i].key == key)
            return &set[i];
    if (!row_make(cache, uncached, key))
        return uncached;
    struct row *place = unwind_cache_place(cache, key);
    for (size_t i = 0; i < ROW_WAYS && place->key; i++)
        if (!set[i].key)
            place = &set[i];
    if (place->key)
        cache_note_replaced(cache);
    *place = *uncached;
    return place;
}

/* --- the walk --- */

/* Reads a word that the step depends on, and remembers it. */
static bool walk_read(struct walk *walk, uintptr_t address, uintptr_t *word) {
    if (!stack_read(&walk->view, address, word))
        return false;
    if (walk->n_words < UNWIND_STEP_WORDS)
        walk->words[walk->n_words] = (struct word){.address = address, .value = *word};
    walk->n_words++;
    return true;
}

/* Steps from a signal handler's return to the frame that the signal interrupted, which may be on
 * another stack. */
static enum step step_signal(struct walk *walk) {
    struct unwind_frame *frame = &walk->frame, at;
    uintptr_t context = frame->sp + UNWIND_SIGNAL_CONTEXT, pc;
    if (!walk_read(walk, context + UNWIND_SIGNAL_PC, &pc) ||
        !walk_read(walk, context + UNWIND_SIGNAL_SP, &at.sp) ||
        !walk_read(walk, context + UNWIND_SIGNAL_BP, &at.bp))
        return STEP_FAILED;
    *frame = (struct unwind_frame){.key = pc + 1, .sp = at.sp, .bp = at.bp};
    walk->flags |= UNWIND_SIGNAL;
    walk_look_at(walk, at.sp);
    return STEP_ON;
}

/* Steps by the frame pointer, if it points to a plausible saved bp with a plausible return address
 * above it. */
static enum step step_by_frame_pointer(struct walk *walk) {
    struct unwind_frame *frame = &walk->frame;
    struct module module;
    uintptr_t bp, ra;
    if (frame->bp < frame->sp || !walk_read(walk, frame->bp, &bp) ||
        !walk_read(walk, frame->bp + WORD, &ra))
        return STEP_FAILED;
    ra = cpu_strip_signature(ra);
    bool chained = bp > frame->bp; /* generated code is accepted, too: it is in no module */
    if (!module_find(ra - 1, &module) && !(chained && maps_readable(word_of(ra))))
        return STEP_FAILED;
    *frame = (struct unwind_frame){.key = ra, .sp = frame->bp + 2 * WORD, .bp = bp};
    walk->flags |= UNWIND_GUESSED;
    return STEP_ON;
}

/* Steps by a row of a special kind. */
static __attribute__((noinline)) enum step step_by_kind(struct walk *walk, unsigned kind) {
    switch (kind) {
    case ROW_END:
        return STEP_END;
    case ROW_SIGNAL:
        return step_signal(walk);
    case ROW_NO_TABLE:
        return step_by_frame_pointer(walk);
    default:
        return STEP_COMPLEX;
    }
}

/* Returns the return address from its register. That is valid only in the innermost frame and in an
 * interrupted frame; the latter needs the walk with all registers. Returns 0 otherwise. */
static uintptr_t link_register(const struct walk *walk) {
    const struct unwind_start *start = walk->start;
    bool innermost = walk->frame.key == start->pc + 1 && walk->frame.sp == start->reg[UNWIND_SP];
    return innermost ? start->reg[UNWIND_RA] : 0;
}

/* Where the return address of walk->frame is (unless it is in a register), and the CFA of that
 * frame. */
struct place {
    uintptr_t ra_slot, cfa;
};

static bool row_locate(struct walk *walk, const struct row *row, struct place *place) {
    const struct unwind_frame *frame = &walk->frame;
    uintptr_t base = row->bits & ROW_FROM_BP ? frame->bp : frame->sp;
    uintptr_t at = base + (uintptr_t)row->offset, words = (uintptr_t)(row->cfa_words * WORD);
    if (row->bits & ROW_LOADED && !walk_read(walk, at, &at))
        return false;
    place->ra_slot = row->bits & ROW_LOADED ? at - words : at;
    place->cfa = place->ra_slot + words;
    return true;
}

static bool row_read_bp(struct walk *walk, const struct row *row, const struct place *place,
                        uintptr_t *bp) {
    uintptr_t words = (uintptr_t)(row->bp_words * WORD);
    *bp = walk->frame.bp;
    if (row->bits & ROW_BP_AT_BP)
        return walk_read(walk, *bp + words, bp);
    return !(row->bits & ROW_SAVES_BP) || walk_read(walk, place->ra_slot + words, bp);
}

enum step step_uncommon(struct walk *walk, const struct row *row) {
    struct place place;
    struct unwind_frame caller;
    bool in_register = row->bits & ROW_RA_IN_LR;
    if (row->bits & ROW_KIND)
        return step_by_kind(walk, row->bits & ROW_KIND);
    if (!row_locate(walk, row, &place) || !row_read_bp(walk, row, &place, &caller.bp) ||
        (!in_register && !walk_read(walk, place.ra_slot, &caller.key)))
        return STEP_FAILED;
    if (in_register && (caller.key = link_register(walk)) == 0)
        return STEP_COMPLEX;
    caller.key = cpu_strip_signature(caller.key);
    caller.sp = place.cfa;
    if (caller.sp < walk->frame.sp || (caller.sp == walk->frame.sp && !in_register))
        return STEP_FAILED;
    walk->frame = caller;
    return caller.key ? STEP_ON : STEP_END;
}

/* Walks from walk->frame outwards. */
static enum step walk_by_rows(struct walk *walk, uintptr_t *pcs, size_t max, size_t *count) {
    enum step step;
    struct unwind_frame frame = walk->frame;
    size_t n = 0;
    for (;;) {
        const struct row *row = unwind_cache_row(walk->cache, frame.key, &walk->uncached);
        if (__builtin_expect(row->bits & ROW_UNCOMMON, 0)) {
            walk->frame = frame;
            walk->n_words = 0;
            step = step_uncommon(walk, row);
            frame = walk->frame;
        } else {
            step = walk_step_by_row(&walk->view, row, &frame);
        }
        if (step != STEP_ON || n == max)
            break;
        pcs[n++] = frame.key;
    }
    if (step == STEP_ON)
        walk->flags |= UNWIND_CUT;
    *count = n;
    return step;
}

/* --- the walk with all registers: a frame is a struct unwind_start, its pc is key - 1 --- */

static bool full_cfa(const struct cfi_cfa *cfa, const struct cfi_context *context, uint64_t *out) {
    struct cfi_value value;
    if (cfa->rule.kind == CFI_VAL_EXPRESSION) {
        bool valid = cfi_evaluate(&cfa->rule, context, NULL, &value);
        *out = value.offset;
        return valid;
    }
    if (cfa->rule.kind != CFI_VAL_OFFSET || !(context->known & UNWIND_BIT(cfa->reg)))
        return false;
    *out = context->reg[cfa->reg] + (uint64_t)cfa->rule.offset;
    return true;
}

/* Computes the caller's value of register `i`. Returns false if it is lost. */
static bool full_register(const struct cfi_rule *rule, unsigned i,
                          const struct cfi_context *context, const uint64_t *cfa, uintptr_t *out) {
    struct cfi_value value;
    switch (rule->kind) {
    case CFI_SAME:
        *out = i == UNWIND_SP ? *cfa : context->reg[i];
        return i == UNWIND_SP || context->known & UNWIND_BIT(i);
    case CFI_OFFSET:
        return stack_read(context->view, *cfa + (uint64_t)rule->offset, out);
    case CFI_VAL_OFFSET:
        *out = *cfa + (uint64_t)rule->offset;
        return true;
    case CFI_REGISTER:
        if (rule->offset < 0 || rule->offset >= UNWIND_REGISTERS ||
            !(context->known & UNWIND_BIT(rule->offset)))
            return false;
        *out = context->reg[rule->offset];
        return true;
    case CFI_EXPRESSION:
        return cfi_evaluate(rule, context, cfa, &value) &&
               stack_read(context->view, value.offset, out);
    case CFI_VAL_EXPRESSION:
        if (!cfi_evaluate(rule, context, cfa, &value))
            return false;
        *out = value.offset;
        return true;
    default:
        return false;
    }
}

/* Steps to the caller by the rules in the machine. */
static enum step full_apply(struct walk *walk, const struct cfi_function *function,
                            struct unwind_start *frame) {
    const struct cfi_rules *rules = &walk->cache->machine.now;
    struct unwind_start caller = {.known = 0};
    if (!UNWIND_RA_IS_REGISTER) {
        frame->reg[UNWIND_RA] = frame->pc;
        frame->known |= UNWIND_BIT(UNWIND_RA);
    }
    struct cfi_context context = {.reg = frame->reg, .known = frame->known, .view = &walk->view};
    uint64_t cfa;
    if (rules->reg[function->ra_reg].kind == CFI_UNDEFINED)
        return STEP_END;
    if (!full_cfa(&rules->cfa, &context, &cfa))
        return STEP_FAILED;
    for (unsigned i = 0; i < UNWIND_REGISTERS; i++)
        if (full_register(&rules->reg[i], i, &context, &cfa, &caller.reg[i]))
            caller.known |= UNWIND_BIT(i);
    uint64_t needed = UNWIND_BIT(function->ra_reg) | UNWIND_BIT(UNWIND_SP);
    if ((caller.known & needed) != needed)
        return STEP_FAILED;
    uintptr_t key = cpu_strip_signature(caller.reg[function->ra_reg]);
    caller.pc = function->signal_frame ? key : key - 1;
    bool inwards = caller.reg[UNWIND_SP] < frame->reg[UNWIND_SP];
    bool stuck = caller.reg[UNWIND_SP] == frame->reg[UNWIND_SP] && caller.pc == frame->pc;
    if (!function->signal_frame && key == 0)
        return STEP_END;
    if (!function->signal_frame && (inwards || stuck))
        return STEP_FAILED;
    *frame = caller;
    return STEP_ON;
}

/* Takes all registers that the kernel has saved, after checking that each word of them is
 * readable. */
static enum step full_step_signal(struct walk *walk, struct unwind_start *frame) {
    uintptr_t context = frame->reg[UNWIND_SP] + UNWIND_SIGNAL_CONTEXT;
    for (size_t i = 0; i < UNWIND_SIGNAL_SIZE; i += WORD)
        if (!stack_view_admits(&walk->view, context + i))
            return STEP_FAILED;
    unwind_start_from_context(frame, (const ucontext_t *)context);
    walk->flags |= UNWIND_SIGNAL;
    return STEP_ON;
}

static enum step full_step_by_frame_pointer(struct walk *walk, struct unwind_start *frame) {
    walk->frame = (struct unwind_frame){.sp = frame->reg[UNWIND_SP], .bp = frame->reg[UNWIND_BP]};
    enum step step = step_by_frame_pointer(walk);
    frame->pc = walk->frame.key - 1;
    frame->reg[UNWIND_SP] = walk->frame.sp;
    frame->reg[UNWIND_BP] = walk->frame.bp;
    frame->known = UNWIND_BIT(UNWIND_SP) | UNWIND_BIT(UNWIND_BP);
    return step;
}

static enum step full_step(struct walk *walk, struct unwind_start *frame) {
    struct module module;
    struct cfi_function function;
    uintptr_t key = frame->pc + 1;
    bool found = module_find(frame->pc, &module);
    if (is_signal_return(found ? &module : NULL, key))
        return full_step_signal(walk, frame);
    if (found && cfi_find(&module, frame->pc, &function) &&
        cfi_run(&function, frame->pc, &walk->cache->machine))
        return full_apply(walk, &function, frame);
    if (found && is_made_up(&module, key))
        return STEP_END;
    return full_step_by_frame_pointer(walk, frame);
}

/* Walks with all registers, from the start. */
static enum step walk_slow(struct walk *walk, uintptr_t *pcs, size_t max, size_t *count) {
    struct unwind_start frame = *walk->start;
    enum step step;
    walk_look_at(walk, frame.reg[UNWIND_SP]);
    walk->flags = 0;
    *count = 0;
    while ((step = full_step(walk, &frame)) == STEP_ON) {
        walk_look_at(walk, frame.reg[UNWIND_SP]);
        if (*count == max) {
            walk->flags |= UNWIND_CUT;
            break;
        }
        pcs[(*count)++] = frame.pc + 1;
    }
    return step;
}

size_t unwind_stack(unwind_cache *cache, const struct unwind_start *start, uintptr_t stack_low,
                    uintptr_t stack_high, uintptr_t *pcs, size_t max, unsigned *flags) {
    size_t count = 0;
    uintptr_t sp = start->reg[UNWIND_SP];
    struct walk walk = {
        .cache = cache, .start = start, .stack_low = stack_low, .stack_high = stack_high};
    walk.frame = (struct unwind_frame){.key = start->pc + 1, .sp = sp, .bp = start->reg[UNWIND_BP]};
    walk_look_at(&walk, sp);
    unwind_cache_check(cache);
    enum step step = walk_by_rows(&walk, pcs, max, &count);
    if (step == STEP_COMPLEX)
        step = walk_slow(&walk, pcs, max, &count);
    if (step == STEP_FAILED)
        walk.flags |= UNWIND_FAILED;
    if (flags)
        *flags = walk.flags;
    return count;
}
