/* Tests of exports, and of the queries behind them, on a small trace with known numbers. */
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "export/exports.h"
#include "export/protobuf.h"
#include "paths/path_tree.h"
#include "query/classes.h"
#include "trace_text.h"

/* ---- a profile --------------------------------------------------------------------------- */

/* What the codes of these tests stand for. */
enum { MAIN = 1, LEAF, SAME_LINE, INLINED, TYPED, NOWHERE, ODD };

static size_t locate(void *context, uint64_t code, memtrace_location *l, size_t max) {
    (void)context;
    ck_assert_uint_ge(max, 2);
    switch (code) {
    case MAIN:
        l[0] = (memtrace_location){.file = "main.c", .function = "main", .line = 10};
        return 1;
    case LEAF: /* two call sites in one line */
    case SAME_LINE:
        l[0] = (memtrace_location){.file = "leaf.c", .function = "leaf", .line = 20};
        return 1;
    case INLINED: /* leaf(), inlined into helper() */
        l[0] = (memtrace_location){.file = "help.c", .function = "helper", .line = 30};
        l[1] = (memtrace_location){.file = "leaf.c", .function = "leaf", .line = 21};
        return 2;
    case TYPED:
        l[0] = (memtrace_location){.file = MEMTRACE_TYPE_FILE, .function = "table, \"hash\""};
        l[1] = (memtrace_location){.file = "leaf.c", .function = "leaf", .line = 22};
        return 2;
    case ODD:
        l[0] = (memtrace_location){.file = "", .function = "a;b\n\"c\""};
        return 1;
    default:
        return 0;
    }
}

#define STACK(...) (const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8

static uint64_t allocate(memtrace_stream *s, uint64_t time, uint64_t length, uint64_t samples,
                         const uint64_t *stack, size_t n) {
    uint64_t id;
    ck_assert_int_eq(
        memtrace_stream_alloc(s, time, MEMTRACE_MINOR, length, samples, stack, n, 0, &id),
        MEMTRACE_OK);
    return id;
}

/* At rate 1/2, where a sample stands for 16 bytes. */
static memtrace_stream *record_start(fixture *f) {
    const memtrace_info info = {.sample_rate = 0.5,
                                .start_time = START_TIME,
                                .executable_name = "/bin/prog",
                                .host_name = "host",
                                .runtime_params = "",
                                .context = "a test"};
    memtrace_stream *s;
    *f = (fixture){.hooks = {.sink = fixture_sink, .locate = locate}};
    pthread_mutex_init(&f->lock, NULL);
    f->hooks.context = f;
    ck_assert_int_eq(memtrace_writer_open(&info, &f->hooks, &f->writer, NULL), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_stream_open(f->writer, 0, &s), MEMTRACE_OK);
    return s;
}

static void record(memtrace_stream *s) {
    const uint64_t a = allocate(s, 100, 3, 2, STACK(MAIN, LEAF));
    const uint64_t b = allocate(s, 200, 7, 1, STACK(MAIN, SAME_LINE));
    allocate(s, 300, 0, 1, STACK(MAIN, INLINED));
    ck_assert_int_eq(memtrace_stream_promote(s, 400, b), MEMTRACE_OK);
    allocate(s, 500, 1000, 500, STACK(MAIN, TYPED));
    ck_assert_int_eq(memtrace_stream_collect(s, 1099, a), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_stream_collect(s, 1200, b), MEMTRACE_OK);
    allocate(s, 1300, 1, 1, STACK(NOWHERE));
    allocate(s, 1400, 1, 1, STACK(ODD));
    allocate(s, 1500, 1, 1, NULL, 0);
}

static profile record_end(fixture *f, memtrace_stream *s) {
    profile p = {0};
    ck_assert_int_eq(memtrace_stream_close(s), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(f->writer), MEMTRACE_OK);
    memtrace_reader *reader = open_bytes(f->bytes.items, f->bytes.count);
    ck_assert_int_eq(profile_read(&p, reader, &(profile_options){.keep_blocks = true}),
                     MEMTRACE_OK);
    memtrace_reader_close(reader);
    fixture_free(f);
    return p;
}

static profile profile_made(void) {
    fixture f;
    memtrace_stream *s = record_start(&f);
    record(s);
    return record_end(&f, s);
}

/* What is exported: `hide` is a filter, or NULL. */
static lens lens_on(const profile *p, const char *hide) {
    lens l;
    filter *f = NULL;
    filter_error error;
    ck_assert(!hide || filter_parse(hide, &f, &error));
    ck_assert(lens_init(&l, p, true, f));
    filter_free(f);
    return l;
}

#define SUBJECT(...) (&(export_subject){__VA_ARGS__})

static void assert_output(output *o, const char *expected) {
    output_char(o, '\0');
    ck_assert_int_eq(o->error, 0);
    ck_assert_str_eq(o->buffer, expected);
    output_finish(o);
}

/* ---- stacks ------------------------------------------------------------------------------ */

START_TEST(stacks_of_equal_places_are_one) {
    profile p = profile_made();
    lens l = lens_on(&p, NULL);
    path_tree *t = path_tree_see(&l, PLACE_BY_LINE);
    path_places path = {0};
    ck_assert_ptr_nonnull(t);
    ck_assert_uint_eq(t->places->locations.count, 7);
    uint32_t n_leaves = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        ck_assert(path_tree_walk(t, i, &path));
        const profile_location *leaf =
            path.count ? path_tree_location(t, path.items[path.count - 1]) : NULL;
        n_leaves += leaf && leaf->line == 20;
        if (leaf && leaf->line == 21)
            ck_assert_uint_eq(path.count, 3); /* main, helper, leaf */
    }
    ck_assert_uint_eq(n_leaves, 1);
    vec_free(&path);
    path_tree_free(t);
    lens_free(&l);
    profile_free(&p);
}
END_TEST

START_TEST(collapsed_stacks_are_by_function) {
    profile p = profile_made();
    lens l = lens_on(&p, NULL);
    cost_list costs = {0};
    output o;
    output_start(&o, OUTPUT_MEMORY);
    ck_assert(cost_of_tree(&p, &costs) &&
              export_collapsed(&o, SUBJECT(.lens = &l, .costs = &costs)));
    assert_output(&o, "[unknown] 16\n"
                      "main;leaf 8048\n"
                      "main;helper;leaf 16\n"
                      "$6 16\n"
                      "a:b \"c\" 16\n");
    cost_list_free(&costs);
    lens_free(&l);
    profile_free(&p);
}
END_TEST

START_TEST(hidden_stacks_leave_their_costs) {
    profile p = profile_made();
    lens l = lens_on(&p, "hide:/./ hide:/^$/");
    cost_list costs = {0};
    output o;
    output_start(&o, OUTPUT_MEMORY);
    ck_assert(cost_of_tree(&p, &costs) &&
              export_collapsed(&o, SUBJECT(.lens = &l, .costs = &costs)));
    assert_output(&o, "[unknown] 8112\n");
    cost_list_free(&costs);
    lens_free(&l);
    profile_free(&p);
}
END_TEST

START_TEST(hidden_frames_are_gone_and_their_costs_stay) {
    profile p = profile_made();
    lens l = lens_on(&p, "hide:leaf");
    cost_list costs = {0};
    output o;
    output_start(&o, OUTPUT_MEMORY);
    ck_assert(cost_of_tree(&p, &costs) &&
              export_collapsed(&o, SUBJECT(.lens = &l, .costs = &costs)));
    assert_output(&o, "[unknown] 16\n"
                      "main 8048\n"
                      "main;helper 16\n"
                      "$6 16\n"
                      "a:b \"c\" 16\n");
    cost_list_free(&costs);
    lens_free(&l);
    profile_free(&p);
}
END_TEST

START_TEST(speedscope_shares_frames) {
    profile p = profile_made();
    lens l = lens_on(&p, NULL);
    cost_list costs = {0};
    output o;
    output_start(&o, OUTPUT_MEMORY);
    ck_assert(cost_of_tree(&p, &costs) &&
              export_speedscope(&o, SUBJECT(.lens = &l, .costs = &costs, .title = "t.ctf")));
    assert_output(&o, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                      "\"exporter\":\"allotrace\",\"name\":\"t.ctf\",\"activeProfileIndex\":0,\n"
                      "\"shared\":{\"frames\":[\n"
                      "{\"name\":\"main\",\"file\":\"main.c\",\"line\":10},\n"
                      "{\"name\":\"leaf\",\"file\":\"leaf.c\",\"line\":20},\n"
                      "{\"name\":\"helper\",\"file\":\"help.c\",\"line\":30},\n"
                      "{\"name\":\"leaf\",\"file\":\"leaf.c\",\"line\":21},\n"
                      "{\"name\":\"leaf\",\"file\":\"leaf.c\",\"line\":22},\n"
                      "{\"name\":\"$6\"},\n"
                      "{\"name\":\"a;b\\u000a\\\"c\\\"\"},\n"
                      "{\"name\":\"[unknown]\"}\n]},\n"
                      "\"profiles\":[{\"type\":\"sampled\",\"name\":\"allocated\",\"unit\":"
                      "\"bytes\",\"startValue\":0,\"endValue\":8112,\n"
                      "\"samples\":[\n[7],\n[0,1],\n[0,2,3],\n[0,4],\n[5],\n[6]\n]"
                      ",\"weights\":[16,48,16,8000,16,16]}]}\n");
    cost_list_free(&costs);
    lens_free(&l);
    profile_free(&p);
}
END_TEST

/* ---- rows -------------------------------------------------------------------------------- */

START_TEST(csv_has_a_row_a_block) {
    profile p = profile_made();
    lens l = lens_on(&p, NULL);
    const uint8_t kept[] = {1, 1, 1, 1, 0, 1, 1};
    output o;
    output_start(&o, OUTPUT_MEMORY);
    ck_assert(export_csv(&o, SUBJECT(.lens = &l, .kept = kept)));
    assert_output(
        &o,
        "time,lifetime,promoted,size,samples,bytes,source,domain,thread,scope,trace_id,span_id,"
        "type,"
        "site,stack\n"
        "100,999,,24,2,32,minor,0,,,,,,\"leaf@leaf.c:20\",\"main@main.c:10;leaf@leaf.c:20\"\n"
        "200,1000,200,56,1,16,minor,0,,,,,,\"leaf@leaf.c:20\",\"main@main.c:10;leaf@leaf.c:20\"\n"
        "300,,,0,1,16,minor,0,,,,,,\"leaf@leaf.c:21\","
        "\"main@main.c:10;helper@help.c:30;leaf@leaf.c:21\"\n"
        "500,,,8000,500,8000,minor,0,,,,,\"table, \"\"hash\"\"\",\"leaf@leaf.c:22\","
        "\"main@main.c:10;leaf@leaf.c:22\"\n"
        "1400,,,8,1,16,minor,0,,,,,,\"a;b\n\"\"c\"\"\",\"a;b\n\"\"c\"\"\"\n"
        "1500,,,8,1,16,minor,0,,,,,,\"\",\"\"\n");
    lens_free(&l);
    profile_free(&p);
}
END_TEST

/* ---- who watches ------------------------------------------------------------------------- */

typedef struct watching {
    uint64_t expected;
    bool wanted;
} watching;

static bool note_expected(void *context, uint64_t bytes) {
    watching *w = context;
    w->expected = bytes;
    return w->wanted;
}

/* An export of the profile by this format, the watch's answer being the given one; returns how much
 * was written. */
static uint64_t export_watched(int format, watching *w) {
    profile p = profile_made();
    lens l = lens_on(&p, NULL);
    cost_list costs = {0};
    const output_watch watch = {.expect = note_expected, .context = w};
    output o;
    output_start(&o, OUTPUT_MEMORY);
    o.watch = &watch;
    ck_assert(cost_of_tree(&p, &costs));
    ck_assert(format == 0   ? export_csv(&o, SUBJECT(.lens = &l))
              : format == 1 ? export_json(&o, SUBJECT(.lens = &l))
              : format == 2
                  ? export_collapsed(&o, SUBJECT(.lens = &l, .costs = &costs))
                  : export_speedscope(&o, SUBJECT(.lens = &l, .costs = &costs, .title = "t.ctf")));
    const uint64_t written = o.used;
    ck_assert_int_eq(o.error, w->wanted ? 0 : ECANCELED);
    output_finish(&o);
    cost_list_free(&costs);
    lens_free(&l);
    profile_free(&p);
    return written;
}

/* How much it will be is known beforehand, but for the text around it. */
START_TEST(how_much_it_will_be_is_said_first) {
    static const uint64_t around[] = {8, 8, 10, 700};
    watching w = {.wanted = true};
    const uint64_t written = export_watched(_i, &w);
    ck_assert_uint_ge(w.expected + around[_i], written);
    ck_assert_uint_le(w.expected, written + 8);
}
END_TEST

START_TEST(nothing_is_written_that_nobody_wants) {
    watching w = {.wanted = false};
    ck_assert_uint_eq(export_watched(_i, &w), 0);
}
END_TEST

static bool end_at_once(void *context, uint64_t bytes) {
    (void)bytes;
    ++*(int *)context;
    return false;
}

START_TEST(an_export_ends_when_nobody_waits) {
    static export_function *const formats[] = {export_collapsed, export_speedscope, export_pprof,
                                               export_perfetto};
    profile p = profile_made();
    lens l = lens_on(&p, NULL);
    cost_list costs = {0};
    ck_assert(cost_of_tree(&p, &costs));
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        int asked = 0;
        const output_watch watch = {.go_on = end_at_once, .context = &asked};
        output o;
        output_start(&o, OUTPUT_MEMORY);
        o.watch = &watch;
        ck_assert(formats[i](&o, SUBJECT(.lens = &l, .costs = &costs, .title = "t.ctf")));
        ck_assert_int_eq(asked, 1);
        ck_assert_int_eq(output_finish(&o), ECANCELED);
    }
    cost_list_free(&costs);
    lens_free(&l);
    profile_free(&p);
}
END_TEST

START_TEST(a_page_ends_when_nobody_waits) {
    char name[] = "t.ctf";
    profile p = profile_made();
    viewer v;
    int asked = 0;
    const output_watch watch = {.go_on = end_at_once, .context = &asked};
    output o;
    ck_assert(viewer_init(&v, (char *[]){name}, 1));
    ck_assert(viewer_publish(&v, 0, &p, NULL, 0, READING_WHOLE));
    output_start(&o, OUTPUT_MEMORY);
    o.watch = &watch;
    export_html(&o, SUBJECT(.viewer = &v));
    ck_assert_int_eq(asked, 1);
    ck_assert_int_eq(output_finish(&o), ECANCELED);
    viewer_free(&v);
}
END_TEST

START_TEST(json_has_an_object_a_block) {
    profile p = profile_made();
    lens l = lens_on(&p, NULL);
    const uint8_t kept[] = {0, 1, 0, 1, 0, 0, 1};
    output o;
    output_start(&o, OUTPUT_MEMORY);
    ck_assert(export_json(&o, SUBJECT(.lens = &l, .kept = kept)));
    assert_output(
        &o,
        "{\"time\":200,\"lifetime\":1000,\"promoted\":200,\"size\":56,\"samples\":1,\"bytes\":16,"
        "\"source\":\"minor\",\"domain\":0,\"thread\":null,\"scope\":null,\"trace_id\":null,\"span_"
        "id\":null,\"type\":null,\"site\":"
        "\"leaf@leaf.c:"
        "20\","
        "\"stack\":[\"main@main.c:10\",\"leaf@leaf.c:20\"]}\n"
        "{\"time\":500,\"lifetime\":null,\"promoted\":null,\"size\":8000,\"samples\":500,"
        "\"bytes\":8000,\"source\":\"minor\",\"domain\":0,\"thread\":null,\"scope\":null,\"trace_"
        "id\":null,\"span_id\":null,\"type\":"
        "\"table, "
        "\\\"hash\\\"\","
        "\"site\":\"leaf@leaf.c:22\",\"stack\":[\"main@main.c:10\",\"leaf@leaf.c:22\"]}\n"
        "{\"time\":1500,\"lifetime\":null,\"promoted\":null,\"size\":8,\"samples\":1,\"bytes\":16,"
        "\"source\":\"minor\",\"domain\":0,\"thread\":null,\"scope\":null,\"trace_id\":null,\"span_"
        "id\":null,\"type\":null,\"site\":"
        "null,\"stack\":[]"
        "}\n");
    lens_free(&l);
    profile_free(&p);
}
END_TEST

/* ---- classes ----------------------------------------------------------------------------- */

START_TEST(lifetimes_have_classes) {
    static const struct {
        uint64_t born, died;
        lifetime_class expected;
    } cases[] = {{5, 5, LIFETIME_1MS},
                 {5, 1004, LIFETIME_1MS},
                 {5, 1005, LIFETIME_10MS},
                 {0, 9999, LIFETIME_10MS},
                 {0, 10000, LIFETIME_100MS},
                 {0, 999999, LIFETIME_1S},
                 {0, 9999999, LIFETIME_10S},
                 {0, 10000000, LIFETIME_LONG},
                 {0, BLOCKS_NEVER - 1, LIFETIME_LONG},
                 {5, BLOCKS_NEVER, LIFETIME_ALIVE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_int_eq(lifetime_class_of(cases[i].born, cases[i].died), cases[i].expected);
}
END_TEST

typedef VEC(classes_group) group_list;

static bool take_group(void *context, const classes_group *g) {
    group_list *list = context;
    return vec_push(list, *g);
}

static bool refuse_group(void *context, const classes_group *g) {
    (void)g;
    ++*(size_t *)context;
    return false;
}

START_TEST(blocks_are_grouped) {
    profile p = profile_made();
    lens l = lens_on(&p, NULL);
    group_list list = {0};
    ck_assert(classes_query(&p, NULL, take_group, &list));
    ck_assert_uint_eq(list.count, 7); /* the two call sites of a line are two nodes */
    ck_assert_uint_eq(list.items[0].node, CCT_ROOT);
    const classes_group *g = &list.items[1];
    ck_assert_uint_eq(g->samples, 2);
    ck_assert_uint_eq(g->size, 5); /* 16..31 bytes */
    ck_assert_int_eq(g->lifetime, LIFETIME_1MS);
    ck_assert_double_eq_tol(g->blocks.count, 1 / (1 - 0.0625), 1e-12);
    ck_assert_int_eq(list.items[2].lifetime, LIFETIME_10MS);
    ck_assert_uint_eq(list.items[3].size, 0);
    ck_assert_int_eq(list.items[3].lifetime, LIFETIME_ALIVE);
    vec_clear(&list);
    const uint8_t none[7] = {0};
    ck_assert(classes_query(&p, none, take_group, &list));
    ck_assert_uint_eq(list.count, 0);
    size_t n_taken = 0;
    ck_assert(!classes_query(&p, NULL, refuse_group, &n_taken));
    ck_assert_uint_eq(n_taken, 1);
    vec_free(&list);
    lens_free(&l);
    profile_free(&p);
}
END_TEST

/* ---- protocol buffers -------------------------------------------------------------------- */

/* The examples of the format's documentation: 150 in field 1, "testing" in field 2, a message with
 * the first in field 3, and {3, 270, 86942} packed in field 6. */
START_TEST(protobuf_is_as_documented) {
    static const unsigned char expected[] = {0x08, 0x96, 0x01, 0x12, 0x07, 't',  'e',  's',  't',
                                             'i',  'n',  'g',  0x1a, 0x03, 0x08, 0x96, 0x01, 0x32,
                                             0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05};
    static const uint64_t packed[] = {3, 270, 86942};
    output o, inner;
    output_start(&o, OUTPUT_MEMORY);
    output_start(&inner, OUTPUT_MEMORY);
    protobuf_number(&o, 1, 150);
    protobuf_number(&o, 9, 0);
    protobuf_bytes(&o, 2, "testing", 7);
    protobuf_number(&inner, 1, 150);
    protobuf_message(&o, 3, &inner);
    protobuf_numbers(&o, 6, packed, 3);
    protobuf_numbers(&o, 7, packed, 0);
    ck_assert_uint_eq(inner.used, 0);
    ck_assert_uint_eq(o.used, sizeof expected);
    ck_assert_mem_eq(o.buffer, expected, sizeof expected);
    output_finish(&o);
    output_finish(&inner);
}
END_TEST

/* What is in it, the command line tests ask protobuf's own decoder. */
START_TEST(pprof_is_gzip) {
    profile p = profile_made();
    lens l = lens_on(&p, NULL);
    unsigned char plain[4096];
    output o;
    output_start(&o, OUTPUT_MEMORY);
    ck_assert(export_pprof(&o, SUBJECT(.lens = &l)));
    z_stream z = {.next_in = (Bytef *)o.buffer,
                  .avail_in = (uInt)o.used,
                  .next_out = plain,
                  .avail_out = sizeof plain};
    ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
    ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_eq(z.avail_in, 0);
    ck_assert_ptr_nonnull(memmem(plain, z.total_out, "inuse_space", 11));
    inflateEnd(&z);
    output_finish(&o);
    lens_free(&l);
    profile_free(&p);
}
END_TEST

static profile profile_of_deep_stack(size_t depth) {
    uint64_t frames[300];
    fixture f;
    memtrace_stream *s = record_start(&f);
    for (size_t i = 0; i < depth; i++)
        frames[i] = i % 2 ? LEAF : MAIN;
    allocate(s, 1, 9, 2, frames, depth);
    return record_end(&f, s);
}

/* Whether the export of a stack has a gap. */
static bool has_gap(size_t depth) {
    static unsigned char plain[1 << 16];
    profile p = profile_of_deep_stack(depth);
    output o;
    lens l = lens_on(&p, NULL);
    output_start(&o, OUTPUT_MEMORY);
    ck_assert(export_pprof(&o, SUBJECT(.lens = &l)));
    z_stream z = {.next_in = (Bytef *)o.buffer,
                  .avail_in = (uInt)o.used,
                  .next_out = plain,
                  .avail_out = sizeof plain};
    ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
    ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
    bool gap = memmem(plain, z.total_out, "(frames left out)", 17);
    ck_assert(gap == !!memmem(plain, z.total_out, "1 samples have more than 256 frames", 35));
    inflateEnd(&z);
    output_finish(&o);
    lens_free(&l);
    profile_free(&p);
    return gap;
}

START_TEST(pprof_leaves_out_the_middle_of_long_stacks) {
    ck_assert(!has_gap(256));
    ck_assert(has_gap(257));
    ck_assert(has_gap(300));
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("export");
    TCase *t = tcase_create("export");
    tcase_add_test(t, stacks_of_equal_places_are_one);
    tcase_add_test(t, collapsed_stacks_are_by_function);
    tcase_add_test(t, hidden_stacks_leave_their_costs);
    tcase_add_test(t, hidden_frames_are_gone_and_their_costs_stay);
    tcase_add_test(t, speedscope_shares_frames);
    tcase_add_test(t, csv_has_a_row_a_block);
    tcase_add_test(t, json_has_an_object_a_block);
    tcase_add_loop_test(t, how_much_it_will_be_is_said_first, 0, 4);
    tcase_add_loop_test(t, nothing_is_written_that_nobody_wants, 0, 4);
    tcase_add_test(t, an_export_ends_when_nobody_waits);
    tcase_add_test(t, a_page_ends_when_nobody_waits);
    tcase_add_test(t, lifetimes_have_classes);
    tcase_add_test(t, blocks_are_grouped);
    tcase_add_test(t, protobuf_is_as_documented);
    tcase_add_test(t, pprof_is_gzip);
    tcase_add_test(t, pprof_leaves_out_the_middle_of_long_stacks);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
