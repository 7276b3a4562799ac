/* Tests of indexes: they say what the trace says, or are not used. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile/index_parts.h"
#include "query/query.h"
#include "query/stats.h"
#include "tape.h"

static const index_stamp stamp = {
    .size = 1000, .seconds = 2000, .nanoseconds = 3000, .sample = 4000, .mode = 0600};
static const index_remarks no_remarks;
static const index_parts everything = {.blocks = true, .order = true, .in_order = true};

/* A folder of its own for each test, which is a process. */
static char folder[64], path[128];

static void make_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/test_index.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/t.ctf.idx", folder);
}

static void remove_folder(void) {
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0); /* no temporary file is left */
}

/* ---- profiles ---------------------------------------------------------------------------- */

static void make_profile(profile *p) {
    const profile_options how = {.track_promotion = true, .keep_blocks = true, .keep_order = true};
    tape t;
    tape_start(&t, 0.5);
    remark(&t, 5, MARK, 0);
    uint64_t a = allocate(&t, 6, MEMTRACE_MINOR, 9, 3, STACK(MAIN, LEAF));
    remark(&t, 7, GAUGE, 4096);
    remark(&t, 7, WORKER, 0);
    allocate(&t, 7, MEMTRACE_MINOR, 9, 1, STACK(MAIN, INLINED));
    allocate(&t, 8, MEMTRACE_MAJOR, UINT64_C(5000000000), 70000, STACK(MAIN, LEAF));
    uint64_t b = allocate(&t, 9, MEMTRACE_EXTERNAL, 9, 5, STACK(MAIN, PARSE, TYPED));
    allocate(&t, 9, MEMTRACE_EXTERNAL, 3, 2, STACK(NOWHERE));
    ck_assert_int_eq(memtrace_stream_promote(t.streams[1], 10, a), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_stream_collect(t.streams[1], 11, b), MEMTRACE_OK);
    tape_read_with(&t, p, true, &how);
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_places(const profile *a, const profile *b) {
    bool same = a->frames.count == b->frames.count && a->locations.count == b->locations.count &&
                a->marks.count == b->marks.count && a->table.spans.count == b->table.spans.count;
    for (size_t i = 0; same && i < a->table.spans.count; i++) {
        const blocks_span *x = &a->table.spans.items[i], *y = &b->table.spans.items[i];
        same = x->first == y->first && x->domain == y->domain && x->kind == y->kind &&
               same_text(x->text, y->text);
    }
    for (size_t i = 0; same && i < a->frames.count; i++) {
        const profile_frame *x = &a->frames.items[i], *y = &b->frames.items[i];
        same = x->first == y->first && x->n == y->n && same_text(x->type, y->type);
    }
    for (size_t i = 0; same && i < a->locations.count; i++) {
        const profile_location *x = &a->locations.items[i], *y = &b->locations.items[i];
        same = same_text(x->file, y->file) && same_text(x->function, y->function) &&
               x->line == y->line;
    }
    for (size_t i = 0; same && i < a->marks.count; i++) {
        const profile_mark *x = &a->marks.items[i], *y = &b->marks.items[i];
        same = x->time == y->time && same_text(x->name, y->name) && x->value == y->value &&
               x->is_gauge == y->is_gauge;
    }
    return same;
}

static bool same_tree(const cct *a, const cct *b) {
    bool same = cct_count(a) == cct_count(b) && a->n_stacks == b->n_stacks &&
                a->totals.count == b->totals.count;
    for (uint32_t i = 0; same && i < cct_count(a); i++)
        same = cct_frame(a, i) == cct_frame(b, i) && cct_parent(a, i) == cct_parent(b, i);
    for (uint32_t i = 0; same && i < a->totals.count; i++) {
        const cct_totals *x = &a->totals.items[i], *y = &b->totals.items[i];
        const cct_sums s = cct_sums_at(a, i), t = cct_sums_at(b, i);
        same = s.samples == t.samples && s.blocks == t.blocks && x->node == y->node &&
               x->source == y->source && x->is_first == y->is_first && x->next == y->next;
    }
    return same;
}

static bool same_table(const block_table *a, const block_table *b) {
    bool same = a->count == b->count && a->order.count == b->order.count;
    same &= !a->promoted == !b->promoted;
    same &= !a->place == !b->place && !a->elsewhere == !b->elsewhere;
    for (size_t i = 0; same && a->elsewhere && i < a->count; i++)
        same = blocks_freed_by(a, i) == blocks_freed_by(b, i);
    for (size_t i = 0; same && i < a->count; i++)
        same = a->node[i] == b->node[i] && a->domain[i] == b->domain[i] &&
               a->source[i] == b->source[i] && blocks_born(a, i) == blocks_born(b, i) &&
               blocks_promoted(a, i) == blocks_promoted(b, i) &&
               blocks_died(a, i) == blocks_died(b, i) && blocks_place(a, i) == blocks_place(b, i) &&
               a->after[i] == b->after[i] && blocks_length(a, i) == blocks_length(b, i) &&
               blocks_samples(a, i) == blocks_samples(b, i);
    for (size_t i = 0; same && i < a->order.count; i++)
        same = a->order.items[i] == b->order.items[i];
    return same;
}

static void check_same(const profile *a, const profile *b) {
    ck_assert_double_eq(a->info.sample_rate, b->info.sample_rate);
    ck_assert_uint_eq(a->info.start_time, b->info.start_time);
    ck_assert_uint_eq(a->info.pid, b->info.pid);
    ck_assert_uint_eq(a->info.version, b->info.version);
    ck_assert_uint_eq(a->info.word_size, b->info.word_size);
    ck_assert_str_eq(a->info.executable_name, b->info.executable_name);
    ck_assert_str_eq(a->info.host_name, b->info.host_name);
    ck_assert_str_eq(a->info.runtime_params, b->info.runtime_params);
    ck_assert_str_eq(a->info.context, b->info.context);
    ck_assert_mem_eq(a->samples, b->samples, sizeof a->samples);
    ck_assert_mem_eq(a->blocks, b->blocks, sizeof a->blocks);
    ck_assert(
        a->promoted_samples == b->promoted_samples && a->promoted_blocks == b->promoted_blocks &&
        a->collected_blocks == b->collected_blocks && a->suspect_blocks == b->suspect_blocks &&
        a->duration == b->duration && a->n_domains == b->n_domains);
    ck_assert(same_places(a, b));
    ck_assert(same_tree(&a->tree, &b->tree));
    ck_assert(same_table(&a->table, &b->table));
}

static index_status load_all(profile *p) {
    index_remarks remarks;
    return index_load(path, &stamp, "1", &everything, p, &remarks);
}

static void save_all(const profile *p) {
    ck_assert_int_eq(index_save(path, &stamp, "1", &everything, p, &no_remarks), 0);
}

/* ---- tests ------------------------------------------------------------------------------- */

START_TEST(a_profile_comes_back_as_it_was) {
    profile p, back;
    make_profile(&p);
    save_all(&p);
    ck_assert_int_eq(load_all(&back), INDEX_OK);
    ck_assert_uint_eq(back.marks.count, 2);
    ck_assert_uint_eq(back.table.large.count, 1);
    check_same(&p, &back);
    profile_free(&p);
    profile_free(&back);
}
END_TEST

static void round_trip(const char *trace) {
    const profile_options how = {.track_promotion = true, .keep_blocks = true, .keep_order = true};
    memtrace_reader *reader;
    profile p = {0}, back;
    ck_assert_int_eq(memtrace_reader_open(trace, NULL, &reader, NULL), MEMTRACE_OK);
    ck_assert_int_eq(profile_read(&p, reader, &how), MEMTRACE_OK);
    memtrace_reader_close(reader);
    save_all(&p);
    ck_assert_int_eq(load_all(&back), INDEX_OK);
    ck_assert_uint_gt(back.table.count, 0);
    check_same(&p, &back);
    profile_free(&p);
    profile_free(&back);
}

START_TEST(real_profiles_come_back_as_they_were) {
    const char *const names[] = {"irmin-replay.ctf", "ocamlopt.ctf"};
    char trace[512];
    snprintf(trace, sizeof trace, "%s/traces/%s", getenv("TEST_DATA"), names[_i]);
    round_trip(trace);
}
END_TEST

/* Thousands of frames a stack, and more blocks and nodes than one piece of the file holds. */
START_TEST(large_profiles_come_back_as_they_were) {
    enum { BLOCKS = 10000, DEEPEST = 1000 };
    const profile_options how = {.track_promotion = true, .keep_blocks = true, .keep_order = true};
    static uint64_t stack[DEEPEST];
    uint64_t random = 1, depth = DEEPEST, id = 0;
    profile p, back;
    tape t;
    tape_start(&t, 0.5);
    for (size_t i = 0; i < DEEPEST; i++)
        stack[i] = MAIN + i % 3;
    for (uint64_t i = 0; i < BLOCKS; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        depth = random >> 62 ? depth - (depth > 1) : 1 + (random >> 40) % DEEPEST;
        stack[depth - 1] = MAIN + (random >> 33) % 40;
        uint64_t block = allocate(&t, i, (memtrace_source)(i % 3), 8 + (random >> 50), 1 + i % 5,
                                  stack, (size_t)depth);
        if (i % 2)
            ck_assert_int_eq(memtrace_stream_collect(t.streams[0], i, id), MEMTRACE_OK);
        id = block;
    }
    tape_read_with(&t, &p, false, &how);
    ck_assert_uint_eq(p.table.count, BLOCKS);
    save_all(&p);
    ck_assert_int_eq(load_all(&back), INDEX_OK);
    check_same(&p, &back);
    profile_free(&p);
    profile_free(&back);
}
END_TEST

START_TEST(a_profile_of_nothing_comes_back) {
    tape t;
    profile p, back;
    tape_start(&t, 0.5);
    tape_read_blocks(&t, &p, false);
    save_all(&p);
    ck_assert_int_eq(load_all(&back), INDEX_OK);
    check_same(&p, &back);
    profile_free(&p);
    profile_free(&back);
}
END_TEST

START_TEST(what_was_wrong_with_the_trace_is_remembered) {
    const index_remarks met = {
        .items = {{.defect = MEMTRACE_DEFECT_CUT_SHORT, .count = 7, .first_offset = 99}}, .n = 1};
    index_remarks remarks;
    profile p, back;
    make_profile(&p);
    ck_assert_int_eq(index_save(path, &stamp, "1", &everything, &p, &met), 0);
    ck_assert_int_eq(index_load(path, &stamp, "1", &everything, &back, &remarks), INDEX_OK);
    ck_assert_uint_eq(remarks.n, 1);
    ck_assert_int_eq(remarks.items[0].defect, MEMTRACE_DEFECT_CUT_SHORT);
    ck_assert_uint_eq(remarks.items[0].count, 7);
    ck_assert_uint_eq(remarks.items[0].first_offset, 99);
    ck_assert_ptr_nonnull(strstr(remarks.items[0].text, "cut short"));
    profile_free(&p);
    profile_free(&back);
}
END_TEST

START_TEST(parts_that_are_not_there_are_missed) {
    const index_parts some = {.blocks = true};
    index_remarks remarks;
    profile p, back;
    make_profile(&p);
    ck_assert_int_eq(index_save(path, &stamp, "1", &some, &p, &no_remarks), 0);
    ck_assert_int_eq(index_load(path, &stamp, "1", &some, &back, &remarks), INDEX_OK);
    ck_assert_uint_eq(back.table.count, p.table.count);
    profile_free(&back);
    ck_assert_int_eq(index_load(path, &stamp, "1", &(index_parts){0}, &back, &remarks), INDEX_OK);
    ck_assert_uint_eq(back.table.count, 0);
    profile_free(&back);
    ck_assert_int_eq(load_all(&back), INDEX_LACKS);
    profile_free(&p);
}
END_TEST

/* The costs of a question whose columns alone were read are those of the whole profile. */
static void check_question(const profile *p, measure m, const char *text) {
    filter *f = NULL;
    filter_error error;
    profile back;
    query_result whole, part;
    index_remarks remarks;
    ck_assert(!*text || filter_parse(text, &f, &error));
    const query_spec spec = {.measure = m, .moment = 9, .filter = f};
    const index_parts needs = {.blocks = true, .columns = query_columns(&spec)};
    ck_assert_uint_ne(needs.columns, BLOCKS_ALL_COLUMNS);
    ck_assert_int_eq(index_load(path, &stamp, "1", &needs, &back, &remarks), INDEX_OK);
    ck_assert_uint_eq(back.table.count, p->table.count);
    ck_assert(query_run(&whole, p, &spec) && query_run(&part, &back, &spec));
    ck_assert_uint_eq(part.costs.count, whole.costs.count);
    for (size_t i = 0; i < part.costs.count; i++) {
        const cost_entry a = cost_list_at(&part.costs, i), b = cost_list_at(&whole.costs, i);
        const cost_entry *x = &a, *y = &b;
        ck_assert(x->node == y->node && x->external == y->external);
        ck_assert(x->cost.samples == y->cost.samples && x->cost.blocks == y->cost.blocks &&
                  x->cost.weight == y->cost.weight);
    }
    query_free(&whole);
    query_free(&part);
    profile_free(&back);
    filter_free(f);
}

START_TEST(a_question_reads_its_columns_alone) {
    static const char *const filters[] = {
        "",         "alloc:7us..", "live:8us",    "live:@peak", "size:>=1K", "life:<3us",
        "promoted", "-survived",   "heap:major",  "domain:0",   "fn:leaf",   "file:*",
        "type:*",   "size:>100G",  "live:..@end", "hide:leaf",  "-domain:1", "alloc:..@peak"};
    profile p;
    make_profile(&p);
    save_all(&p);
    for (int m = MEASURE_ALLOCATED; m <= MEASURE_BYTESECONDS; m++)
        for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
            check_question(&p, (measure)m, filters[i]);
    profile_free(&p);
}
END_TEST

START_TEST(the_peak_is_remembered) {
    profile p, back;
    blocks_most most, most_back;
    make_profile(&p);
    save_all(&p);
    ck_assert_int_eq(load_all(&back), INDEX_OK);
    ck_assert(back.table.peak && back.table.peak->known);
    ck_assert(blocks_peak(&p.table, &most));
    ck_assert(blocks_peak(&back.table, &most_back));
    ck_assert_uint_eq(most_back.at.time, most.at.time);
    ck_assert_uint_eq(most_back.at.place, most.at.place);
    ck_assert_uint_eq(most_back.samples, most.samples);
    ck_assert_uint_gt(most.samples, 0);
    profile_free(&p);
    profile_free(&back);
}
END_TEST

/* Such as an order of events that the table does not know of. */
START_TEST(an_order_that_cannot_be_is_damage) {
    enum { DEAD = 99999 /* the row of one that died */ };
    static const struct {
        uint32_t row;
        blocks_event kind;
    } wrong[] = {
        {0, BLOCKS_BORN},        /* again */
        {0, BLOCKS_PROMOTED},    /* the same */
        {DEAD, BLOCKS_DIED},     /* the same */
        {0, BLOCKS_DIED},        /* it lives */
        {DEAD, BLOCKS_PROMOTED}, /* it was not */
        {99, BLOCKS_BORN},       /* there is no such row */
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        profile p, back;
        make_profile(&p);
        uint32_t dead = 1;
        while (dead + 1 < p.table.count && blocks_died(&p.table, dead) == BLOCKS_NEVER)
            dead++;
        ck_assert_uint_ne(blocks_promoted(&p.table, 0), BLOCKS_NEVER);
        ck_assert_uint_eq(blocks_promoted(&p.table, dead), BLOCKS_NEVER);
        ck_assert_uint_eq(blocks_died(&p.table, 0), BLOCKS_NEVER);
        ck_assert_uint_ne(blocks_died(&p.table, dead), BLOCKS_NEVER);
        const uint32_t row = wrong[i].row == DEAD ? dead : wrong[i].row;
        ck_assert(vec_push(&p.table.order, (uint64_t)row << 2 | wrong[i].kind));
        save_all(&p);
        ck_assert_int_eq(load_all(&back), INDEX_DAMAGED);
        profile_free(&p);
    }
}
END_TEST

START_TEST(another_trace_or_version_is_stale) {
    index_remarks remarks;
    profile p, back;
    make_profile(&p);
    ck_assert_int_eq(load_all(&back), INDEX_ABSENT);
    save_all(&p);
    for (int i = 0; i < 4; i++) {
        index_stamp other = stamp;
        uint64_t *const fields[] = {&other.size, &other.seconds, &other.nanoseconds, &other.sample};
        ++*fields[i];
        ck_assert_int_eq(index_load(path, &other, "1", &everything, &back, &remarks), INDEX_STALE);
    }
    ck_assert_int_eq(index_load(path, &stamp, "2", &everything, &back, &remarks), INDEX_STALE);
    profile_free(&p);
}
END_TEST

START_TEST(a_stamp_changes_with_the_trace) {
    char trace[160], byte = 'x';
    index_stamp before, after;
    snprintf(trace, sizeof trace, "%s/t.ctf", folder);
    int fd = open(trace, O_RDWR | O_CREAT, 0600);
    ck_assert_int_eq(ftruncate(fd, 3 << 20), 0);
    ck_assert(index_stamp_take(trace, &before));
    ck_assert_uint_eq(before.size, 3 << 20);
    ck_assert_int_eq(pwrite(fd, &byte, 1, (3 << 20) - 1), 1);
    struct timespec same[2] = {
        {.tv_nsec = UTIME_OMIT},
        {.tv_sec = (time_t)before.seconds, .tv_nsec = (long)before.nanoseconds}};
    ck_assert_int_eq(futimens(fd, same), 0);
    ck_assert(index_stamp_take(trace, &after));
    ck_assert_uint_eq(before.nanoseconds, after.nanoseconds);
    ck_assert(!index_stamp_equal(&before, &after)); /* by what it holds alone */
    close(fd);
    unlink(trace);
    ck_assert(!index_stamp_take(trace, &after));
    ck_assert(!index_stamp_take("/dev/null", &after));
}
END_TEST

/* ---- damage ------------------------------------------------------------------------------ */

typedef struct content {
    uint64_t words[4096];
    size_t size; /* bytes */
} content;

static void read_file(content *c) {
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, c->words, sizeof c->words);
    ck_assert(n > 0 && n < (ssize_t)sizeof c->words);
    c->size = (size_t)n;
    close(fd);
}

static void write_file(const content *c, size_t size) {
    int fd = open(path, O_WRONLY | O_TRUNC);
    ck_assert_int_eq(write(fd, c->words, size), (ssize_t)size);
    close(fd);
}

static void check_unusable(void) {
    profile back;
    const index_status status = load_all(&back);
    ck_assert(status == INDEX_DAMAGED || status == INDEX_STALE);
    ck_assert_uint_eq(back.tree.frames.count, 0);
}

START_TEST(a_shortened_index_is_damaged) {
    static content c;
    profile p;
    make_profile(&p);
    save_all(&p);
    read_file(&c);
    for (size_t size = 0; size < c.size; size++) {
        write_file(&c, size);
        check_unusable();
    }
    profile_free(&p);
}
END_TEST

START_TEST(an_index_with_any_changed_byte_is_damaged) {
    static content c;
    profile p;
    make_profile(&p);
    save_all(&p);
    read_file(&c);
    for (size_t i = 0; i < c.size; i++) {
        ((unsigned char *)c.words)[i] ^= (unsigned char)(1 << i % 8);
        write_file(&c, c.size);
        check_unusable();
        ((unsigned char *)c.words)[i] ^= (unsigned char)(1 << i % 8);
    }
    profile_free(&p);
}
END_TEST

START_TEST(a_peak_that_cannot_be_is_damage) {
    static content c;
    const uint64_t limit = 1000000;
    profile p;
    make_profile(&p);
    save_all(&p);
    for (int i = 0; i < 3; i++) {
        read_file(&c);
        index_head *head = (index_head *)c.words;
        *(i == 0 ? &head->peak_time : i == 1 ? &head->peak_place : &head->peak_samples) = limit;
        head->sum = 0;
        head->sum = index_checksum(c.words, INDEX_HEAD_WORDS);
        write_file(&c, c.size);
        check_unusable();
        save_all(&p);
    }
    profile_free(&p);
}
END_TEST

static void make_sums_right(content *c) {
    index_head *head = (index_head *)c->words;
    for (int i = 0; i < INDEX_N_SECTIONS; i++) {
        index_section *s = &head->sections[i];
        s->sum = index_checksum(c->words + s->offset / 8, s->size / 8);
    }
    head->sum = 0;
    head->sum = index_checksum(c->words, INDEX_HEAD_WORDS);
}

/* Whatever is accepted can be queried: the sanitizers see to that. */
static void query_all(const profile *p) {
    for (int m = MEASURE_ALLOCATED; m <= MEASURE_BYTESECONDS; m++) {
        query_result q;
        ck_assert(query_run(&q, p, &(query_spec){.measure = (measure)m, .moment = 9}));
        query_free(&q);
    }
    stats s;
    ck_assert(stats_query(p, &(stats_spec){.large = 256}, &s));
    stats_free(&s);
}

static void ask_in_part(void) {
    const query_spec spec = {.measure = MEASURE_BLOCKS, .moment = 9};
    const index_parts needs = {.blocks = true, .columns = query_columns(&spec)};
    index_remarks remarks;
    profile back;
    query_result q;
    if (index_load(path, &stamp, "1", &needs, &back, &remarks) != INDEX_OK)
        return;
    ck_assert(query_run(&q, &back, &spec));
    query_free(&q);
    profile_free(&back);
}

START_TEST(a_forged_index_is_harmless) {
    static content c, forged;
    profile p, back;
    size_t n_refused = 0;
    const uint64_t values[] = {0, 1, 2, UINT32_MAX, UINT64_MAX / 8, UINT64_MAX};
    make_profile(&p);
    save_all(&p);
    read_file(&c);
    for (size_t at = INDEX_HEAD_WORDS; at < c.size / 8; at++)
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            forged = c;
            forged.words[at] = values[i];
            make_sums_right(&forged);
            write_file(&forged, forged.size);
            const index_status status = load_all(&back);
            n_refused += status == INDEX_DAMAGED;
            ask_in_part();
            ck_assert(status == INDEX_OK || status == INDEX_DAMAGED);
            if (status == INDEX_OK)
                query_all(&back);
            profile_free(&back);
        }
    ck_assert_uint_gt(n_refused, c.size / 8);
    profile_free(&p);
}
END_TEST

/* ---- trees that cannot be, with sums that are right ------------------------------------------ */

/* A parent stands before its child, so that every way leads to the root. */
static void forge_parents(profile *p) {
    p->tree.parents.items[p->tree.parents.count - 1] = (uint32_t)cct_count(&p->tree) - 1;
}

/* A way from the first total of a node into a circle of two, in which one is the next of two
 * others; a total that is the next of none makes up for that. */
static void forge_circle(profile *p) {
    const uint32_t a = (uint32_t)p->tree.totals.count, node = p->tree.totals.items[0].node;
    ck_assert(p->tree.totals.items[0].is_first);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert(vec_push(&p->tree.totals, ((cct_totals){.node = node, .next = CCT_NO_TOTALS})));
    cct_totals *totals = p->tree.totals.items;
    uint32_t last = 0;
    while (totals[last].next != CCT_NO_TOTALS)
        last = totals[last].next;
    totals[last].next = totals[a + 1].next = a;
    totals[a].next = a + 1;
}

static void forge_samples(profile *p) {
    p->samples[MEMTRACE_MINOR]++;
}

static void forge_blocks(profile *p) {
    p->blocks[MEMTRACE_EXTERNAL]--;
}

/* The sums of all sources must fit together, too. */
static void forge_overflow(profile *p) {
    ck_assert(cct_add_at(&p->tree, 0, (cct_sums){.samples = INT64_MAX}));
    p->samples[p->tree.totals.items[0].source] += INT64_MAX;
}

START_TEST(a_tree_that_cannot_be_is_damage) {
    static void (*const forge[])(profile *) = {forge_parents, forge_circle, forge_samples,
                                               forge_blocks, forge_overflow};
    profile p, back;
    make_profile(&p);
    forge[_i](&p);
    save_all(&p);
    ck_assert_int_eq(load_all(&back), INDEX_DAMAGED);
    profile_free(&p);
}
END_TEST

/* ---- columns ----------------------------------------------------------------------------- */

/* Reads a section without a name in which stands what `put` puts there. */
static void enter_written(index_stream *s, void (*put)(index_stream *)) {
    const int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert(index_stream_open(s, fd));
    index_begin(s, 0);
    put(s);
    const index_section section = index_end(s);
    ck_assert_int_eq(s->error, 0);
    index_enter(s, &section);
}

static void leave_written(index_stream *s) {
    close(s->fd);
    index_stream_close(s);
}

/* Columns whose numbers are so far apart, and thus take 0, 1, 2, 4 and 8 bytes each. */
static const uint64_t spans[] = {0, UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX - 1000};

enum { COLUMN_BASE = 1000, COLUMN_NUMBERS = 37 };

static uint64_t number_at(uint64_t span, size_t i) {
    return COLUMN_BASE + (i == 0 ? 0 : i == 1 ? span : span / i);
}

static void put_columns(index_stream *s) {
    for (size_t c = 0; c < sizeof spans / sizeof *spans; c++) {
        uint64_t numbers[COLUMN_NUMBERS];
        for (size_t i = 0; i < COLUMN_NUMBERS; i++)
            numbers[i] = number_at(spans[c], i);
        index_put_column(s, numbers, COLUMN_NUMBERS);
    }
}

START_TEST(columns_come_back_at_every_width) {
    index_stream s;
    enter_written(&s, put_columns);
    for (size_t c = 0; c < sizeof spans / sizeof *spans; c++) {
        uint8_t as_8[COLUMN_NUMBERS];
        uint16_t as_16[COLUMN_NUMBERS];
        uint32_t as_32[COLUMN_NUMBERS];
        uint64_t as_64[COLUMN_NUMBERS];
        const index_column column = index_get_packed(&s, COLUMN_NUMBERS);
        ck_assert_uint_eq(column.width, c ? 1u << (c - 1) : 0);
        const index_range range = index_column_range(&column);
        ck_assert_uint_eq(range.least, COLUMN_BASE);
        ck_assert_uint_eq(range.most, COLUMN_BASE + spans[c]);
        index_unpack_8(&column, as_8);
        index_unpack_16(&column, as_16);
        index_unpack_32(&column, as_32);
        index_unpack_64(&column, as_64);
        for (size_t i = 0; i < COLUMN_NUMBERS; i++) {
            const uint64_t x = number_at(spans[c], i);
            ck_assert_uint_eq(as_8[i], (uint8_t)x);
            ck_assert_uint_eq(as_16[i], (uint16_t)x);
            ck_assert_uint_eq(as_32[i], (uint32_t)x);
            ck_assert_uint_eq(as_64[i], x);
        }
    }
    ck_assert(index_leave(&s));
    leave_written(&s);
}
END_TEST

/* 2^64 - 2, and up to 255 more than that. */
static void put_beyond(index_stream *s) {
    index_put(s, UINT64_MAX - 1);
    index_put(s, 1);
    index_put(s, UINT64_C(0xFF00));
}

START_TEST(numbers_beyond_64_bits_may_be_anything) {
    index_stream s;
    enter_written(&s, put_beyond);
    const index_column column = index_get_packed(&s, 2);
    const index_range range = index_column_range(&column);
    ck_assert_uint_eq(range.least, 0);
    ck_assert_uint_eq(range.most, UINT64_MAX);
    leave_written(&s);
}
END_TEST

static uint64_t strange_width;

static void put_strange_width(index_stream *s) {
    index_put(s, COLUMN_BASE);
    index_put(s, strange_width);
    for (size_t i = 0; i < 8 * strange_width; i++)
        index_put(s, i);
}

/* The numbers are there, but such numbers are not written, and would be read as other ones. */
START_TEST(a_width_that_is_no_type_is_damage) {
    static const uint64_t widths[] = {3, 16};
    index_stream s;
    strange_width = widths[_i];
    enter_written(&s, put_strange_width);
    const index_column column = index_get_packed(&s, 8);
    ck_assert_uint_eq(column.width, 0);
    ck_assert(!index_leave(&s));
    leave_written(&s);
}
END_TEST

/* ---- writing ----------------------------------------------------------------------------- */

START_TEST(an_index_that_cannot_be_written_leaves_nothing) {
    profile p;
    make_profile(&p);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(index_save(path, &stamp, "1", &everything, &p, &no_remarks), EISDIR);
    ck_assert_int_eq(rmdir(path), 0);
    profile_free(&p);
}
END_TEST

START_TEST(an_index_is_as_private_as_its_trace_and_follows_no_link) {
    char other[160];
    struct stat st;
    profile p;
    make_profile(&p);
    snprintf(other, sizeof other, "%s/other", folder);
    close(open(other, O_WRONLY | O_CREAT, 0600));
    ck_assert_int_eq(symlink(other, path), 0);
    save_all(&p);
    ck_assert_int_eq(lstat(path, &st), 0);
    ck_assert(S_ISREG(st.st_mode));
    ck_assert_uint_eq(st.st_mode & 0777, 0600);
    ck_assert_int_eq(stat(other, &st), 0);
    ck_assert_int_eq(st.st_size, 0);
    unlink(other);
    profile_free(&p);
}
END_TEST

START_TEST(several_processes_may_write_at_once) {
    enum { WRITERS = 4, TIMES = 20 };
    profile p, back;
    make_profile(&p);
    save_all(&p);
    for (int i = 0; i < WRITERS; i++)
        if (fork() == 0) {
            int failed = 0;
            for (int j = 0; j < TIMES; j++)
                failed |= index_save(path, &stamp, "1", &everything, &p, &no_remarks);
            _exit(failed != 0);
        }
    for (int j = 0; j < WRITERS * TIMES; j++) {
        ck_assert_int_eq(load_all(&back), INDEX_OK); /* never half of one */
        profile_free(&back);
    }
    for (int i = 0; i < WRITERS; i++) {
        int status;
        ck_assert(wait(&status) > 0);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    profile_free(&p);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("index");
    TCase *t = tcase_create("index");
    tcase_add_checked_fixture(t, make_folder, remove_folder);
    tcase_add_test(t, a_profile_comes_back_as_it_was);
    tcase_add_loop_test(t, real_profiles_come_back_as_they_were, 0, 2);
    tcase_add_test(t, large_profiles_come_back_as_they_were);
    tcase_add_test(t, a_profile_of_nothing_comes_back);
    tcase_add_test(t, what_was_wrong_with_the_trace_is_remembered);
    tcase_add_test(t, parts_that_are_not_there_are_missed);
    tcase_add_test(t, a_question_reads_its_columns_alone);
    tcase_add_test(t, the_peak_is_remembered);
    tcase_add_test(t, a_peak_that_cannot_be_is_damage);
    tcase_add_test(t, an_order_that_cannot_be_is_damage);
    tcase_add_test(t, another_trace_or_version_is_stale);
    tcase_add_test(t, a_stamp_changes_with_the_trace);
    tcase_add_test(t, a_shortened_index_is_damaged);
    tcase_add_test(t, an_index_with_any_changed_byte_is_damaged);
    tcase_add_test(t, a_forged_index_is_harmless);
    tcase_add_loop_test(t, a_tree_that_cannot_be_is_damage, 0, 5);
    tcase_add_test(t, an_index_that_cannot_be_written_leaves_nothing);
    tcase_add_test(t, an_index_is_as_private_as_its_trace_and_follows_no_link);
    tcase_add_test(t, several_processes_may_write_at_once);
    tcase_add_test(t, columns_come_back_at_every_width);
    tcase_add_test(t, numbers_beyond_64_bits_may_be_anything);
    tcase_add_loop_test(t, a_width_that_is_no_type_is_damage, 0, 2);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
