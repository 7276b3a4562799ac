/* export_perfetto.c: a native heap profile for Perfetto: what each stack had allocated and freed at
 * steps through the trace, and at the peak.
 *
 * Strings, frames and stacks are interned once, in the first packets, which are small, as Perfetto
 * reads none of 256 MB or more. Each later packet is a snapshot of the sums so far, and has only
 * the stacks whose sums changed: readers take differences. Field numbers are those of
 * perfetto_trace.proto. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "export/exports.h"
#include "export/protobuf.h"
#include "paths/path_sums.h"
#include "query/estimate.h"

enum { TRACE_PACKET = 1 };
enum { PACKET_PROCESS_TREE = 2, PACKET_CLOCK_SNAPSHOT = 6, PACKET_TIMESTAMP = 8 };
enum { PACKET_SEQUENCE_ID = 10, PACKET_INTERNED_DATA = 12, PACKET_SEQUENCE_FLAGS = 13 };
enum { PACKET_PROFILE = 37 };
enum { CLOCK_SNAPSHOT_CLOCKS = 1, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum clock { REALTIME = 1, MONOTONIC_COARSE = 4 /* of profiles */, BOOTTIME = 6 /* of traces */ };
enum { PROCESS_TREE_PROCESSES = 1, PROCESS_PID = 1, PROCESS_CMDLINE = 3 };
enum { INTERNED_FUNCTION_NAMES = 5, INTERNED_FRAMES = 6, INTERNED_CALLSTACKS = 7 };
enum { INTERNED_BUILD_IDS = 16, INTERNED_MAPPING_PATHS = 17, INTERNED_MAPPINGS = 19 };
enum { IID = 1, STRING_STR = 2, MAPPING_BUILD_ID = 2, MAPPING_PATH = 7 };
enum { FRAME_NAME = 2, FRAME_MAPPING = 3, FRAME_PC = 4, CALLSTACK_FRAMES = 2 };
enum { PROFILE_PROCESS_DUMPS = 5, PROFILE_INDEX = 7 };
enum { DUMP_PID = 1, DUMP_SAMPLES = 2, DUMP_TIMESTAMP = 9, DUMP_HEAP_NAME = 11 };
enum { DUMP_INTERVAL = 12, SAMPLE_CALLSTACK = 1, SAMPLE_ALLOCATED = 2, SAMPLE_FREED = 3 };
enum { SAMPLE_N_ALLOCATED = 5, SAMPLE_N_FREED = 6 };
enum { SEQUENCE = 1, STATE_CLEARED = 1, NEEDS_STATE = 2 };

enum {
    STEPS = 50, /* equal ones; one more snapshot is of the peak */
    NEVER = UINT8_MAX,
    FRAME_SIZE = 3,          /* bytes of most frames in a stack */
    INTERNED_SIZE = 1 << 16, /* bytes of a packet of interned data, or a few more */
};

/* What a stack had allocated and freed so far. */
typedef struct sums {
    double bytes[2], blocks[2];
    bool changed, is_met;
} sums;

typedef struct perfetto {
    const export_subject *subject;
    const profile *profile;
    path_tree *tree;
    blocks_moment moments[STEPS + 1];
    uint8_t *steps[2]; /* by row: the first moment at which it was allocated, freed; NEVER: none */
    sums *sums;        /* by node of the tree */
    VEC(uint32_t) changed;
    uint64_t pid;
    bool has_interned; /* some was written */
    output *out;
    output packet, part, inner, item;
} perfetto;

/* ---- moments ----------------------------------------------------------------------------- */

/* Times are in nanoseconds since the start, and none is 0. */
static uint64_t clock_of(uint64_t time) {
    return time * 1000 + 1;
}

static bool find_moments(perfetto *w) {
    const profile *p = w->profile;
    blocks_most most;
    size_t n = 0;
    if (!blocks_peak(&p->table, &most))
        return false;
    for (uint64_t i = 1; i <= STEPS; i++) {
        const uint64_t time =
            i == STEPS ? p->duration : (uint64_t)((double)p->duration * (double)i / STEPS);
        if (n + 1 == i && most.at.time <= time)
            w->moments[n++] = most.at;
        w->moments[n++] = blocks_end_of(time);
    }
    return true;
}

static bool has_come(const block_table *b, size_t row, unsigned freed, blocks_moment m) {
    if (m.place == BLOCKS_NOWHERE)
        return blocks_time(b, freed ? BLOCKS_DIED : BLOCKS_BORN, row) <= m.time;
    return freed ? b->after[row] <= m.place : blocks_place(b, row) <= m.place;
}

static uint8_t step_of(const perfetto *w, size_t row, unsigned freed) {
    size_t low = 0, high = STEPS + 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (has_come(&w->profile->table, row, freed, w->moments[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    return low > STEPS ? NEVER : (uint8_t)low;
}

static bool find_steps(perfetto *w) {
    const block_table *b = &w->profile->table;
    const uint8_t *kept = w->subject->kept;
    for (unsigned freed = 0; freed < 2; freed++) {
        w->steps[freed] = malloc(b->count + 1);
        for (size_t i = 0; w->steps[freed] && i < b->count; i++)
            w->steps[freed][i] = kept && !kept[i] ? NEVER : step_of(w, i, freed);
    }
    return w->steps[0] && w->steps[1];
}

/* ---- packets ----------------------------------------------------------------------------- */

static void end_packet(perfetto *w) {
    protobuf_number(&w->packet, PACKET_SEQUENCE_ID, SEQUENCE);
    protobuf_message(w->out, TRACE_PACKET, &w->packet);
}

static void put_clock(perfetto *w, enum clock id, uint64_t time) {
    protobuf_number(&w->inner, CLOCK_ID, id);
    protobuf_number(&w->inner, CLOCK_TIMESTAMP, time);
    protobuf_message(&w->part, CLOCK_SNAPSHOT_CLOCKS, &w->inner);
}

static void put_clocks(perfetto *w) {
    put_clock(w, REALTIME, w->profile->info.start_time * 1000);
    put_clock(w, MONOTONIC_COARSE, clock_of(0));
    put_clock(w, BOOTTIME, clock_of(0));
    protobuf_message(&w->packet, PACKET_CLOCK_SNAPSHOT, &w->part);
    end_packet(w);
}

static void put_text(output *o, unsigned field, const char *text) {
    output utf8;
    output_start(&utf8, OUTPUT_MEMORY);
    output_utf8(&utf8, text);
    protobuf_message(o, field, &utf8);
    output_finish(&utf8);
}

static void put_process(perfetto *w) {
    protobuf_number(&w->inner, PROCESS_PID, w->pid);
    put_text(&w->inner, PROCESS_CMDLINE, w->profile->info.executable_name);
    protobuf_message(&w->part, PROCESS_TREE_PROCESSES, &w->inner);
    protobuf_number(&w->packet, PACKET_TIMESTAMP, clock_of(0));
    protobuf_message(&w->packet, PACKET_PROCESS_TREE, &w->part);
    end_packet(w);
}

/* ---- interned data ----------------------------------------------------------------------- */

static void put_interned_text(perfetto *w, unsigned field, uint64_t iid, const char *text) {
    protobuf_number(&w->inner, IID, iid);
    put_text(&w->inner, STRING_STR, text);
    protobuf_message(&w->part, field, &w->inner);
}

static void put_mapping(perfetto *w) {
    put_interned_text(w, INTERNED_BUILD_IDS, 1, "");
    put_interned_text(w, INTERNED_MAPPING_PATHS, 1, path_base(w->profile->info.executable_name));
    protobuf_number(&w->inner, IID, 1);
    protobuf_number(&w->inner, MAPPING_BUILD_ID, 1);
    protobuf_number(&w->inner, MAPPING_PATH, 1);
    protobuf_message(&w->part, INTERNED_MAPPINGS, &w->inner);
}

/* A frame is a function. Readers take frames of equal code for the same, so each has its own. */
static void put_frame(perfetto *w, uint64_t iid, const char *function) {
    put_interned_text(w, INTERNED_FUNCTION_NAMES, iid, *function ? function : "[unknown]");
    protobuf_number(&w->inner, IID, iid);
    protobuf_number(&w->inner, FRAME_NAME, iid);
    protobuf_number(&w->inner, FRAME_MAPPING, 1);
    protobuf_number(&w->inner, FRAME_PC, iid);
    protobuf_message(&w->part, INTERNED_FRAMES, &w->inner);
}

static size_t n_places(const perfetto *w) {
    return w->tree->places->locations.count;
}

static bool put_callstack(perfetto *w, uint32_t node, path_places *path) {
    if (!path_tree_walk(w->tree, node, path))
        return false;
    protobuf_number(&w->inner, IID, node + UINT64_C(1));
    for (size_t i = 0; i < path->count; i++)
        protobuf_number(&w->inner, CALLSTACK_FRAMES, path->items[i] + UINT64_C(1));
    if (path->count == 0)
        protobuf_number(&w->inner, CALLSTACK_FRAMES, n_places(w) + 1);
    protobuf_message(&w->part, INTERNED_CALLSTACKS, &w->inner);
    return true;
}

/* Finds the stacks that have blocks, and announces the size of the whole. */
static bool meet_stacks(perfetto *w) {
    size_t *ends = malloc((n_places(w) + 1) * sizeof *ends);
    for (size_t i = 0; ends && i < n_places(w); i++)
        ends[i] = FRAME_SIZE * (i + 1);
    uint64_t *lengths = ends ? path_tree_lengths(w->tree, ends) : NULL, size = 0;
    for (size_t i = 0; lengths && i < w->profile->table.count; i++) {
        const uint32_t node = path_tree_end(w->tree, w->profile->table.node[i]);
        if (w->steps[0][i] != NEVER && !w->sums[node].is_met)
            size += lengths[node];
        w->sums[node].is_met |= w->steps[0][i] != NEVER;
    }
    free(ends);
    free(lengths);
    return lengths && output_expect(w->out, size);
}

/* Writes what was interned, if it has at least so many bytes. */
static void write_interned(perfetto *w, size_t least) {
    if (w->part.used < least)
        return;
    protobuf_number(&w->packet, PACKET_TIMESTAMP, clock_of(0));
    protobuf_number(&w->packet, PACKET_SEQUENCE_FLAGS,
                    w->has_interned ? NEEDS_STATE : STATE_CLEARED);
    protobuf_message(&w->packet, PACKET_INTERNED_DATA, &w->part);
    end_packet(w);
    w->has_interned = true;
}

static bool put_interned(perfetto *w) {
    path_places path = {0};
    bool ok = true;
    put_mapping(w);
    for (uint32_t i = 0; i < n_places(w); i++) {
        put_frame(w, i + UINT64_C(1), path_tree_location(w->tree, i)->function);
        write_interned(w, INTERNED_SIZE);
    }
    put_frame(w, n_places(w) + 1, "");
    for (uint32_t i = 0; ok && i < w->tree->n && output_goes_on(w->out); i++) {
        ok = !w->sums[i].is_met || put_callstack(w, i, &path);
        write_interned(w, INTERNED_SIZE);
    }
    vec_free(&path);
    write_interned(w, 1);
    return ok;
}

/* ---- snapshots --------------------------------------------------------------------------- */

static void add_row(perfetto *w, size_t row, unsigned freed) {
    const block_table *b = &w->profile->table;
    const uint32_t node = path_tree_end(w->tree, b->node[row]);
    sums *s = &w->sums[node];
    estimate_blocks one = {0};
    estimate_blocks_add(&one, blocks_length(b, row) + 1, w->profile->info.sample_rate);
    s->bytes[freed] += cost_bytes(w->profile, blocks_samples(b, row));
    s->blocks[freed] += one.count;
    if (!s->changed)
        w->changed.items[w->changed.count++] = node; /* has room for all */
    s->changed = true;
}

static void put_sample(perfetto *w, uint32_t node) {
    sums *s = &w->sums[node];
    protobuf_number(&w->item, SAMPLE_CALLSTACK, node + UINT64_C(1));
    protobuf_number(&w->item, SAMPLE_ALLOCATED, (uint64_t)llround(s->bytes[0]));
    protobuf_number(&w->item, SAMPLE_FREED, (uint64_t)llround(s->bytes[1]));
    protobuf_number(&w->item, SAMPLE_N_ALLOCATED, (uint64_t)llround(s->blocks[0]));
    protobuf_number(&w->item, SAMPLE_N_FREED, (uint64_t)llround(s->blocks[1]));
    protobuf_message(&w->inner, DUMP_SAMPLES, &w->item);
    s->changed = false;
}

static void put_snapshot(perfetto *w, size_t step) {
    const uint64_t time = clock_of(w->moments[step].time);
    vec_clear(&w->changed);
    for (size_t i = 0; i < w->profile->table.count; i++)
        for (unsigned freed = 0; freed < 2; freed++)
            if (w->steps[freed][i] == step)
                add_row(w, i, freed);
    protobuf_number(&w->inner, DUMP_PID, w->pid);
    for (size_t i = 0; i < w->changed.count; i++)
        put_sample(w, w->changed.items[i]);
    protobuf_number(&w->inner, DUMP_TIMESTAMP, time);
    put_text(&w->inner, DUMP_HEAP_NAME, "heap");
    protobuf_number(&w->inner, DUMP_INTERVAL,
                    (uint64_t)llround(profile_bytes_per_sample(w->profile)));
    protobuf_message(&w->part, PROFILE_PROCESS_DUMPS, &w->inner);
    protobuf_number(&w->part, PROFILE_INDEX, step);
    protobuf_number(&w->packet, PACKET_TIMESTAMP, time);
    protobuf_number(&w->packet, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
    protobuf_message(&w->packet, PACKET_PROFILE, &w->part);
    end_packet(w);
}

static bool write_all(perfetto *w) {
    w->sums = calloc(w->tree->n + 1, sizeof *w->sums);
    if (!w->sums || !vec_reserve(&w->changed, w->tree->n) || !find_moments(w) || !find_steps(w))
        return false;
    if (!meet_stacks(w))
        return w->out->error;
    put_clocks(w);
    put_process(w);
    bool ok = put_interned(w);
    for (size_t i = 0; ok && i <= STEPS && output_goes_on(w->out); i++)
        put_snapshot(w, i);
    return ok;
}

bool export_perfetto(output *o, export_subject *s) {
    const profile *p = s->lens->profile;
    perfetto w = {.subject = s,
                  .profile = p,
                  .tree = path_tree_see(s->lens, PLACE_BY_NAME),
                  .pid = p->info.pid ? p->info.pid : 1,
                  .out = o};
    output *const parts[] = {&w.packet, &w.part, &w.inner, &w.item};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        output_start(parts[i], OUTPUT_MEMORY);
    const bool ok = w.tree && write_all(&w);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        output_finish(parts[i]);
    path_tree_free(w.tree);
    free(w.steps[0]);
    free(w.steps[1]);
    free(w.sums);
    vec_free(&w.changed);
    return ok;
}
