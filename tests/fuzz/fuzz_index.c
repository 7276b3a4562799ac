/* fuzz_index.c: libFuzzer's entry: an index file with any content. What is read from it must answer
 * every kind of question as if it came from a trace.
 *
 * Checksums and the stamp of the trace are made right first: what is fuzzed is behind them. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "profile/index_parts.h"
#include "query/query.h"
#include "query/stats.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const index_stamp stamp = {.size = 1, .seconds = 2, .nanoseconds = 3, .sample = 4};

enum { MOST_WORDS = 1 << 13 };

/* The sections of the input where its head says they are, or one after the other. */
static size_t mend(uint64_t *words, size_t n) {
    index_head head;
    memcpy(&head, words, sizeof head);
    head.magic = INDEX_MAGIC;
    head.format = INDEX_FORMAT;
    head.maker = hash_bytes("fuzz", 4);
    head.trace_size = stamp.size;
    head.trace_seconds = stamp.seconds;
    head.trace_nanoseconds = stamp.nanoseconds;
    head.trace_sample = stamp.sample;
    head.in_order = 1;
    size_t at = INDEX_HEAD_WORDS;
    for (int i = 0; i < INDEX_N_SECTIONS; i++) {
        const size_t left = (n - at) / INDEX_LANES * INDEX_LANES;
        size_t want = (size_t)(head.sections[i].size / sizeof *words) / INDEX_LANES * INDEX_LANES;
        want = want < left ? want : left;
        head.sections[i] = (index_section){.offset = at * sizeof *words,
                                           .size = want * sizeof *words,
                                           .sum = index_checksum(words + at, want)};
        at += want;
    }
    head.sum = 0;
    memcpy(words, &head, sizeof head);
    words[INDEX_HEAD_WORDS - 1] = index_checksum(words, INDEX_HEAD_WORDS);
    return at;
}

static void ask_measures(const profile *p) {
    for (int m = MEASURE_ALLOCATED; m <= MEASURE_BYTESECONDS; m++) {
        query_result q;
        const query_spec spec = {
            .measure = (measure)m, .moment = p->duration / 2, .keep_rows = m % 2};
        if (query_run(&q, p, &spec))
            query_free(&q);
    }
}

static void ask_others(const profile *p) {
    stats s;
    for (int major_only = 0; major_only < 2; major_only++) {
        const stats_spec spec = {.major_only = major_only, .large = 256, .segments = 2};
        if (stats_query(p, &spec, &s))
            stats_free(&s);
    }
    for (uint32_t node = 0; node < cct_count(&p->tree); node++)
        profile_type(p, node);
}

/* With the columns alone that it looks at. */
static void load_for(const char *path, measure m, const filter *f) {
    const query_spec spec = {.measure = m, .moment = QUERY_END, .filter = f};
    const index_parts needs = {.blocks = true, .columns = query_columns(&spec)};
    profile p;
    query_result q;
    index_remarks remarks;
    if (index_load(path, &stamp, "fuzz", &needs, &p, &remarks) != INDEX_OK)
        return;
    if (query_run(&q, &p, &spec))
        query_free(&q);
    profile_free(&p);
}

static void load_in_part(const char *path) {
    static filter *f;
    filter_error error;
    if (!f && !filter_parse("live:@peak size:>=1K", &f, &error))
        return;
    load_for(path, MEASURE_SURVIVED, NULL);
    load_for(path, MEASURE_BLOCKS, NULL);
    load_for(path, MEASURE_PROMOTED, f);
}

static void load(const char *path, const index_parts *needs) {
    profile p;
    index_remarks remarks;
    if (index_load(path, &stamp, "fuzz", needs, &p, &remarks) != INDEX_OK)
        return;
    if (needs->blocks)
        ask_measures(&p);
    if (needs->order)
        ask_others(&p);
    profile_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static uint64_t words[MOST_WORDS];
    char path[64];
    const size_t n = size / sizeof *words < MOST_WORDS ? size / sizeof *words : MOST_WORDS;
    if (n < INDEX_HEAD_WORDS)
        return 0;
    memcpy(words, bytes, n * sizeof *words);
    const size_t used = mend(words, n) * sizeof *words;
    const int fd = memfd_create("index", MFD_CLOEXEC);
    if (fd < 0 || write(fd, words, used) != (ssize_t)used)
        return close(fd), 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    load(path, &(index_parts){0});
    load(path, &(index_parts){.blocks = true, .in_order = true});
    load(path, &(index_parts){.blocks = true, .order = true});
    load_in_part(path);
    close(fd);
    return 0;
}
