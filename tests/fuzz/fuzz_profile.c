/* fuzz_profile.c: libFuzzer's entry: any bytes, read as a profile with its table of blocks, which
 * must agree with the events one by one. */
#include <string.h>

#include "profile/profile.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

typedef struct counts {
    uint64_t samples[CCT_SOURCES], blocks[CCT_SOURCES], suspect;
    uint64_t latest, duration; /* to the latest event; as the reader says */
} counts;

static memtrace_reader *open_trace(const uint8_t *bytes, size_t size) {
    memtrace_reader *r = NULL;
    const memtrace_status status = memtrace_reader_open_memory(bytes, size, NULL, &r, NULL);
    REQUIRE(status != MEMTRACE_NOMEM && (status == MEMTRACE_OK) == (r != NULL));
    return r;
}

static void count_event(counts *c, const memtrace_event *e) {
    c->latest = e->time > c->latest ? e->time : c->latest;
    if (e->kind != MEMTRACE_ALLOC)
        return;
    c->samples[e->source] += e->samples;
    c->blocks[e->source]++;
    c->suspect += e->suspect;
}

static counts count_events(const uint8_t *bytes, size_t size) {
    counts c = {0};
    memtrace_event event;
    memtrace_reader *r = open_trace(bytes, size);
    while (memtrace_reader_next(r, &event) == MEMTRACE_OK)
        count_event(&c, &event);
    c.duration = memtrace_reader_duration(r);
    REQUIRE(c.duration >= c.latest);
    memtrace_reader_close(r);
    return c;
}

static void check_rows(const block_table *b) {
    for (size_t i = 0; i < b->count; i++) {
        REQUIRE(blocks_born(b, i) <= blocks_died(b, i) &&
                blocks_born(b, i) <= blocks_promoted(b, i));
        REQUIRE(blocks_born(b, i) <= b->last &&
                (blocks_died(b, i) <= b->last || blocks_died(b, i) == BLOCKS_NEVER));
    }
}

static void check_profile(memtrace_reader *r, const counts *c, const profile_options *options) {
    profile p = {0};
    REQUIRE(profile_read(&p, r, options) == MEMTRACE_OK);
    REQUIRE(memcmp(p.samples, c->samples, sizeof p.samples) == 0);
    REQUIRE(memcmp(p.blocks, c->blocks, sizeof p.blocks) == 0);
    REQUIRE(p.suspect_blocks == c->suspect);
    REQUIRE(p.duration == c->duration || p.duration == c->latest); /* the trace is cut short */
    REQUIRE(p.table.count == (options->keep_blocks ? cct_sum(p.blocks) : 0));
    check_rows(&p.table);
    profile_free(&p);
    memtrace_reader_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    memtrace_reader *r = open_trace(bytes, size);
    if (!r)
        return 0;
    memtrace_reader_close(r);
    const counts c = count_events(bytes, size);
    check_profile(open_trace(bytes, size), &c, &(profile_options){.keep_blocks = true});
    check_profile(open_trace(bytes, size), &c,
                  &(profile_options){.keep_blocks = true, .keep_order = true});
    check_profile(open_trace(bytes, size), &c, &(profile_options){.track_promotion = true});
    return 0;
}
