/* Tests of rewriting traces and of replacing files, which also show that the writer, the C reader
 * and the independent decoder agree. */
#include <fcntl.h>
#include <ftw.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "trace/format.h"
#include "trace/replacement.h"
#include "trace/rewrite.h"
#include "trace_text.h"

/* ---- folders and files ---- */

static char folder[] = "/tmp/allotrace-rewrite-XXXXXX";

/* By the process that starts the tests, so that a test that fails, or is killed, leaves nothing
 * behind for long. */
static void make_folder(void) {
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at) {
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static void remove_folder(void) {
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* Of a test that passed. */
static void empty_folder(void) {
    const char *const names[] = {"in", "out", "again", "link"};
    char path[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    ck_assert_msg(rmdir(folder) == 0, "something was left behind in %s", folder);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
}

/* What a test that failed left behind does not concern the next one. */
static void renew_folder(void) {
    remove_folder();
    ck_assert_int_eq(mkdir(folder, 0700), 0);
}

static const char *in_folder(const char *name) {
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static const char *real_trace(int i) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/traces/%s.ctf", test_data(),
             i == 0 ? "irmin-replay" : "ocamlopt");
    return path;
}

static void rewrite_as(memtrace_reader *reader, const rewrite_options *options, const char *path) {
    memtrace_error error;
    const memtrace_status status = rewrite_to_file(reader, options, path, &error);
    ck_assert_msg(status == MEMTRACE_OK, "%s", error.reason);
    memtrace_reader_close(reader);
}

/* Frees both texts. */
static void assert_equal_and_free(char *got, char *want) {
    assert_same_text(got, want);
    free(got);
    free(want);
}

/* Other than that the end is missing, which nobody can mend. */
/* Others than that it says itself what it lacks. */
static bool has_warnings(memtrace_reader *reader) {
    memtrace_event event;
    while (memtrace_reader_next(reader, &event) == MEMTRACE_OK)
        ;
    size_t n;
    const memtrace_warning *w = memtrace_reader_warnings(reader, &n);
    bool any = false;
    for (size_t i = 0; i < n; i++)
        any |= w[i].defect != MEMTRACE_DEFECT_ENDS_EARLY && w[i].defect != MEMTRACE_DEFECT_GAP;
    memtrace_reader_close(reader);
    return any;
}

/* ---- what stays the same ---- */

START_TEST(real_traces_survive) {
    for (uint16_t version = 0; version <= 3; version++) {
        if (version == 1)
            continue;
        rewrite_as(open_path(real_trace(_i)), &(rewrite_options){.version = version},
                   in_folder("out"));
        const char *out = in_folder("out");
        assert_equal_and_free(text_of(open_path(out)), text_of(open_path(real_trace(_i))));
        assert_equal_and_free(decode_file(out, "--changed"),
                              decode_file(real_trace(_i), "--changed"));
        ck_assert(!has_warnings(open_path(out)));
    }
}
END_TEST

START_TEST(rewriting_twice_changes_nothing) {
    rewrite_as(open_path(real_trace(_i)), NULL, in_folder("out"));
    rewrite_as(open_path(in_folder("out")), NULL, in_folder("again"));
    assert_equal_and_free(decode_file(in_folder("again"), "--packets"),
                          decode_file(in_folder("out"), "--packets"));
}
END_TEST

/* The traces are those of another writer, memtrace 0.2.3. */
START_TEST(a_trace_does_not_grow) {
    struct stat before, after;
    rewrite_as(open_path(real_trace(_i)), NULL, in_folder("out"));
    ck_assert_int_eq(stat(real_trace(_i), &before), 0);
    ck_assert_int_eq(stat(in_folder("out"), &after), 0);
    ck_assert_int_le(after.st_size, before.st_size);
}
END_TEST

START_TEST(the_head_survives) {
    memtrace_reader *reader = open_path(real_trace(_i));
    rewrite_as(open_path(real_trace(_i)), NULL, in_folder("out"));
    memtrace_reader *copy = open_path(in_folder("out"));
    const memtrace_info *a = memtrace_reader_info(reader), *b = memtrace_reader_info(copy);
    ck_assert_uint_eq(a->version, b->version);
    ck_assert_uint_eq(a->word_size, b->word_size);
    ck_assert_double_eq(a->sample_rate, b->sample_rate);
    ck_assert_uint_eq(a->start_time, b->start_time);
    ck_assert_uint_eq(a->pid, b->pid);
    ck_assert_str_eq(a->executable_name, b->executable_name);
    ck_assert_str_eq(a->host_name, b->host_name);
    ck_assert_str_eq(a->runtime_params, b->runtime_params);
    ck_assert_str_eq(a->context, b->context);
    memtrace_reader_close(reader);
    memtrace_reader_close(copy);
}
END_TEST

/* Writer, both decoders, and the writer again behind the C reader, on everything that a random
 * walk meets. */
START_TEST(random_traces_survive) {
    static const uint64_t n_sites[] = {3, 50, 2000, 100000};
    fixture f = {.hooks.locate = _i % 2 ? fixture_locate : NULL};
    source_of_events s;
    ck_assert_int_eq(fixture_open(&f, _i % 3 ? 3 : 2), MEMTRACE_OK);
    open_events(&s, &f, 0);
    random_walk(&s, 100 + (uint64_t)_i, 8000, n_sites[_i % 4]);
    ck_assert_int_eq(memtrace_stream_close(s.stream), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(f.writer), MEMTRACE_OK);
    fclose(s.expected.out);
    vec_free(&s.expected.previous);

    char *read = text_of(open_bytes(f.bytes.items, f.bytes.count));
    assert_same_text(read, s.expected.text);
    free(read);
    rewrite_as(open_bytes(f.bytes.items, f.bytes.count), NULL, in_folder("out"));
    assert_equal_and_free(decode_file(in_folder("out"), "--changed"), s.expected.text);
    fixture_free(&f);
}
END_TEST

/* ---- order ---- */

/* Two domains, each of which writes all of its events at once, the later ones first. */
static void write_out_of_order(fixture *f, source_of_events lanes[2]) {
    ck_assert_int_eq(fixture_open(f, 3), MEMTRACE_OK);
    for (uint16_t i = 0; i < 2; i++) {
        open_events(&lanes[i], f, i);
        uint64_t frames[2];
        for (uint64_t j = 0; j < 5000; j++) {
            frames[0] = i * 1000 + j % 100;
            frames[1] = j * 7;
            alloc_at(&lanes[i], (1 - i) * 1500000 + j * 1000, frames, 2);
        }
        ck_assert_int_eq(memtrace_stream_close(lanes[i].stream), MEMTRACE_OK);
        fclose(lanes[i].expected.out);
        vec_free(&lanes[i].expected.previous);
    }
    ck_assert_int_eq(memtrace_writer_close(f->writer), MEMTRACE_OK);
}

/* Whether the packets of a file follow each other by their begin times. */
static bool is_ordered(const char *path) {
    char *packets = decode_file(path, "--packets");
    uint64_t last = 0;
    bool ordered = true;
    for (const char *at = packets; (at = strstr(at, " time=")); at++) {
        const uint64_t time = strtoull(at + 6, NULL, 10);
        ordered = ordered && time >= last;
        last = time;
    }
    free(packets);
    return ordered;
}

/* The events of one domain, by its allocations' `dom=`. */
static char *of_domain(const char *text, unsigned domain) {
    char mark[16], *out_text;
    size_t size;
    snprintf(mark, sizeof mark, " dom=%u ", domain);
    FILE *out = open_memstream(&out_text, &size);
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        const char *found = strstr(line, mark);
        if (found && found < strchr(line, '\n'))
            fprintf(out, "%.*s\n", (int)strcspn(line, "\n"), line);
    }
    fclose(out);
    return out_text;
}

START_TEST(packets_are_put_in_order) {
    fixture f = {.hooks.locate = fixture_locate};
    source_of_events lanes[2];
    write_out_of_order(&f, lanes);
    write_file(in_folder("in"), f.bytes.items, f.bytes.count);
    ck_assert(!is_ordered(in_folder("in")));
    rewrite_as(open_path(in_folder("in")), NULL, in_folder("out"));
    ck_assert(is_ordered(in_folder("out")));
    char *got = decode_file(in_folder("out"), "--changed");
    for (unsigned i = 0; i < 2; i++)
        assert_equal_and_free(of_domain(got, i), lanes[i].expected.text);
    free(got);
    fixture_free(&f);
}
END_TEST

START_TEST(several_domains_do_not_fit_version_2) {
    fixture f = {0};
    source_of_events lanes[2];
    write_out_of_order(&f, lanes);
    memtrace_reader *reader = open_bytes(f.bytes.items, f.bytes.count);
    memtrace_error error;
    ck_assert_int_eq(
        rewrite_to_file(reader, &(rewrite_options){.version = 2}, in_folder("out"), &error),
        MEMTRACE_USAGE);
    ck_assert_ptr_nonnull(strstr(error.reason, "domains"));
    ck_assert_int_ne(access(in_folder("out"), F_OK), 0);
    memtrace_reader_close(reader);
    for (unsigned i = 0; i < 2; i++)
        free(lanes[i].expected.text);
    fixture_free(&f);
}
END_TEST

/* ---- what OCaml's reader wants ---- */

/* Says where a code is from the second time on that it is asked. */
static size_t locate_late(void *context, uint64_t code, memtrace_location *l, size_t max) {
    const bool first = ((const fixture *)context)->n_located == 0;
    const size_t n = fixture_locate(context, code, l, max);
    return first ? 0 : n;
}

/* As where packets were lost, or domains learn of it one after the other. */
START_TEST(what_any_domain_says_of_a_code_counts_for_all) {
    fixture f = {.hooks.locate = locate_late};
    source_of_events lanes[2];
    const uint64_t code = 9;
    ck_assert_int_eq(fixture_open(&f, 3), MEMTRACE_OK);
    for (uint16_t i = 0; i < 2; i++) {
        uint64_t id;
        open_events(&lanes[i], &f, i);
        ck_assert_int_eq(
            memtrace_stream_alloc(lanes[i].stream, 10, MEMTRACE_MAJOR, 1, 1, &code, 1, 0, &id),
            MEMTRACE_OK);
        ck_assert_int_eq(memtrace_stream_close(lanes[i].stream), MEMTRACE_OK);
        fclose(lanes[i].expected.out);
        free(lanes[i].expected.text);
    }
    ck_assert_int_eq(memtrace_writer_close(f.writer), MEMTRACE_OK);
    rewrite_as(open_bytes(f.bytes.items, f.bytes.count), NULL, in_folder("out"));
    char *got = decode_file(in_folder("out"), "--changed");
    ck_assert_str_eq(got, "0000000010 0000000000 alloc_major 1 len=1 dom=0 depth=1    0:"
                          " main@src/deep/c.c:9:9-9\n"
                          "0000000010 0000010000 alloc_major 1 len=1 dom=1 depth=1    0:"
                          " main@src/deep/c.c:9:9-9\n");
    free(got);
    fixture_free(&f);
}
END_TEST

static void put_alloc_of(memtrace_stream *s, uint64_t time, uint64_t id) {
    ck_assert_int_eq(memtrace_stream_alloc_as(s, time, id, MEMTRACE_MINOR, 1, 1, NULL, 0, 0),
                     MEMTRACE_OK);
}

/* Version 2 has no gaps between its ids: what is behind one has another id, and what was lost in it
 * has none. In version 3, ids stay. */
START_TEST(version_2_has_ids_without_gaps) {
    fixture f = {0};
    memtrace_stream *s;
    ck_assert_int_eq(fixture_open(&f, 3), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_stream_open(f.writer, 0, &s), MEMTRACE_OK);
    put_alloc_of(s, 1, 0);
    put_alloc_of(s, 2, 50);
    ck_assert_int_eq(memtrace_stream_promote(s, 3, 50), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_stream_collect(s, 4, 1), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_stream_collect(s, 5, 0), MEMTRACE_OK);
    put_alloc_of(s, 6, 7);
    ck_assert_int_eq(memtrace_stream_collect(s, 7, 7), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_stream_close(s), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(f.writer), MEMTRACE_OK);
    rewrite_as(open_bytes(f.bytes.items, f.bytes.count), &(rewrite_options){.version = 2},
               in_folder("out"));
    char *got = decode_file(in_folder("out"), "--plain");
    ck_assert_str_eq(got, "0000000001 0000000000 a 1\n0000000002 0000000001 a 1\n"
                          "0000000003 0000000001 P\n0000000005 0000000000 C\n"
                          "0000000006 0000000002 a 1\n0000000007 0000000002 C\n");
    free(got);
    rewrite_as(open_bytes(f.bytes.items, f.bytes.count), NULL, in_folder("out"));
    got = decode_file(in_folder("out"), "--plain");
    ck_assert_ptr_nonnull(strstr(got, "0000000004 0000000001 C\n"));
    ck_assert_ptr_nonnull(strstr(got, "0000000007 0000000007 C\n"));
    free(got);
    fixture_free(&f);
}
END_TEST

/* ---- old and damaged traces ---- */

static uint32_t get_u32(const uint8_t *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint8_t *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size);
    ck_assert_uint_eq(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

/* Version 1 is version 2 without the context at the end of the head. */
static void make_version_1(uint8_t *bytes, size_t *size) {
    const size_t head = get_u32(bytes + FORMAT_AT_SIZE) / 8;
    ck_assert_uint_eq(bytes[head - 1], 0);
    memmove(bytes + head - 1, bytes + head, *size - head);
    *size -= 1;
    const uint32_t bits = (uint32_t)(head - 1) * 8;
    for (unsigned i = 0; i < 4; i++)
        bytes[FORMAT_AT_SIZE + i] = (uint8_t)(bits >> (8 * i));
    for (size_t at = 0; at < *size; at += get_u32(bytes + at + FORMAT_AT_SIZE) / 8)
        bytes[at + FORMAT_AT_VERSION] = 1;
}

START_TEST(version_1_becomes_version_2) {
    rewrite_as(open_path(real_trace(_i)), &(rewrite_options){.version = 2, .context = ""},
               in_folder("in"));
    size_t size;
    uint8_t *bytes = read_file(in_folder("in"), &size);
    make_version_1(bytes, &size);
    memtrace_reader *reader = open_bytes(bytes, size);
    ck_assert_uint_eq(memtrace_reader_info(reader)->version, 1);
    rewrite_as(reader, NULL, in_folder("out"));
    reader = open_path(in_folder("out"));
    ck_assert_uint_eq(memtrace_reader_info(reader)->version, 2);
    assert_equal_and_free(text_of(reader), decode_file(real_trace(_i), "--changed"));
    free(bytes);
}
END_TEST

/* Spoils a trace behind its first two packets: bytes changed, cut out, put in, cut off. */
static void damage(uint8_t *bytes, size_t *size, uint64_t seed) {
    const size_t safe = 8000, rest = *size - safe;
    const size_t at = safe + next_random(&seed) % rest;
    size_t length = next_random(&seed) % 5000;
    if (length > *size - at)
        length = *size - at;
    switch (next_random(&seed) % 3) {
    case 0:
        *size = at;
        break;
    case 1:
        memmove(bytes + at, bytes + at + length, *size - at - length);
        *size -= length;
        break;
    default:
        for (size_t i = 0; i < 1 + length / 100; i++)
            bytes[safe + next_random(&seed) % rest] = (uint8_t)next_random(&seed);
    }
}

static bool end_is_early(memtrace_end end) {
    return end.how == MEMTRACE_END_EARLY;
}

static void assert_lacks_the_same(memtrace_reader *damaged, memtrace_reader *clean) {
    size_t n, m;
    memtrace_event event;
    while (memtrace_reader_next(damaged, &event) == MEMTRACE_OK ||
           memtrace_reader_next(clean, &event) == MEMTRACE_OK)
        ;
    const memtrace_gap *gaps = memtrace_reader_gaps(damaged, &n),
                       *said = memtrace_reader_gaps(clean, &m);
    ck_assert_uint_eq(n, m);
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_eq(gaps[i].from, said[i].from);
        ck_assert_uint_eq(gaps[i].to, said[i].to);
        ck_assert_uint_eq(gaps[i].bytes, said[i].bytes);
        ck_assert_uint_eq(gaps[i].of, said[i].of);
    }
    ck_assert_int_eq(end_is_early(memtrace_reader_end(damaged)),
                     end_is_early(memtrace_reader_end(clean)));
    memtrace_reader_close(damaged);
    memtrace_reader_close(clean);
}

START_TEST(a_damaged_trace_becomes_a_clean_one) {
    size_t size;
    uint8_t *bytes = read_file(real_trace(_i % 2), &size);
    damage(bytes, &size, (uint64_t)_i);
    rewrite_as(open_bytes(bytes, size), NULL, in_folder("out"));
    ck_assert(!has_warnings(open_path(in_folder("out"))));
    assert_lacks_the_same(open_bytes(bytes, size), open_path(in_folder("out")));
    /* decode.py accepts nothing that is not perfect. */
    assert_equal_and_free(decode_file(in_folder("out"), "--changed"),
                          text_of(open_path(in_folder("out"))));
    free(bytes);
}
END_TEST

/* ---- edits ---- */

enum { RETYPED = 1000000 };

static size_t strip_and_retype(void *user, const memtrace_event *event, uint64_t *codes, size_t n,
                               size_t *same) {
    (void)user, (void)event;
    ck_assert_uint_eq(*same, n);
    if (n < 2 || codes[n - 1] % 5 == 0)
        return n;
    const bool retype = codes[n - 1] % 5 > 1;
    *same = n - 1 - retype;
    if (retype)
        codes[n - 2] += RETYPED;
    return n - 1;
}

static size_t locate_retyped(void *user, uint64_t code, const memtrace_frame *frame,
                             memtrace_location *l, size_t max) {
    (void)user;
    if (code < RETYPED) {
        ck_assert_ptr_nonnull(frame);
        return rewrite_frame_locations(frame, l, max);
    }
    ck_assert_ptr_null(frame);
    l[0] = (memtrace_location){.file = MEMTRACE_TYPE_FILE, .function = "operator new"};
    l[1] = (memtrace_location){
        .file = "new.cc", .function = "site", .line = (uint32_t)(code - RETYPED)};
    return 2;
}

/* The same for the expectation. */
static size_t locate_edited(void *context, uint64_t code, memtrace_location *l, size_t max) {
    return code < RETYPED ? fixture_locate(context, code, l, max)
                          : locate_retyped(NULL, code, NULL, l, max);
}

START_TEST(edits_change_the_end_of_backtraces) {
    fixture f = {.hooks.locate = locate_edited};
    ck_assert_int_eq(fixture_open(&f, 3), MEMTRACE_OK);
    memtrace_stream *s;
    expectation e;
    expectation_open(&e);
    ck_assert_int_eq(memtrace_stream_open(f.writer, 0, &s), MEMTRACE_OK);
    uint64_t frames[200], seed = 3, id;
    for (size_t i = 0; i < 200; i++)
        frames[i] = i;
    for (uint64_t i = 0; i < 3000; i++) {
        const size_t n = next_random(&seed) % (i % 2 ? 5 : 200);
        if (n > 0)
            frames[n - 1 - next_random(&seed) % n] = next_random(&seed) % 500;
        ck_assert_int_eq(memtrace_stream_alloc(s, i, MEMTRACE_MAJOR, 5, 1, frames, n, 0, &id),
                         MEMTRACE_OK);
        uint64_t edited[200];
        size_t same = n;
        memcpy(edited, frames, sizeof edited);
        const size_t left = strip_and_retype(NULL, NULL, edited, n, &same);
        expect_alloc(&e, &f, i, id, MEMTRACE_MAJOR, 5, 1, 0, edited, left);
    }
    ck_assert_int_eq(memtrace_stream_close(s), MEMTRACE_OK);
    ck_assert_int_eq(memtrace_writer_close(f.writer), MEMTRACE_OK);
    const rewrite_options options = {.edit = strip_and_retype, .locate = locate_retyped};
    rewrite_as(open_bytes(f.bytes.items, f.bytes.count), &options, in_folder("out"));
    fclose(e.out);
    vec_free(&e.previous);
    assert_equal_and_free(text_of(open_path(in_folder("out"))), e.text);
    fixture_free(&f);
}
END_TEST

START_TEST(rate_and_context_can_be_chosen) {
    rewrite_as(open_path(real_trace(0)), &(rewrite_options){.sample_rate = 0.25, .context = "new"},
               in_folder("out"));
    memtrace_reader *reader = open_path(in_folder("out"));
    ck_assert_double_eq(memtrace_reader_info(reader)->sample_rate, 0.25);
    ck_assert_str_eq(memtrace_reader_info(reader)->context, "new");
    memtrace_reader_close(reader);
}
END_TEST

/* ---- replacing files ---- */

START_TEST(a_file_is_replaced_by_itself_with_its_mode) {
    size_t size, copy_size;
    uint8_t *bytes = read_file(real_trace(0), &size);
    write_file(in_folder("in"), bytes, size);
    ck_assert_int_eq(chmod(in_folder("in"), 0640), 0);
    ck_assert_int_eq(symlink(in_folder("in"), in_folder("link")), 0);
    rewrite_as(open_path(in_folder("link")), NULL, in_folder("link"));
    struct stat now;
    ck_assert_int_eq(lstat(in_folder("link"), &now), 0);
    ck_assert(S_ISLNK(now.st_mode));
    ck_assert_int_eq(stat(in_folder("in"), &now), 0);
    ck_assert_uint_eq(now.st_mode & 07777, 0640);
    uint8_t *copy = read_file(in_folder("in"), &copy_size);
    ck_assert(copy_size != size || memcmp(bytes, copy, size) != 0); /* it is another file */
    assert_equal_and_free(text_of(open_path(in_folder("in"))), text_of(open_path(real_trace(0))));
    free(copy);
    free(bytes);
}
END_TEST

START_TEST(a_new_file_gets_the_usual_mode) {
    umask(027);
    rewrite_as(open_path(real_trace(1)), NULL, in_folder("out"));
    struct stat now;
    ck_assert_int_eq(stat(in_folder("out"), &now), 0);
    ck_assert_uint_eq(now.st_mode & 07777, 0640);
}
END_TEST

START_TEST(a_failure_leaves_the_old_file_alone) {
    write_file(in_folder("out"), "precious", 8);
    memtrace_reader *reader = open_path(real_trace(0));
    memtrace_error error;
    ck_assert_int_eq(
        rewrite_to_file(reader, &(rewrite_options){.sample_rate = 2}, in_folder("out"), &error),
        MEMTRACE_USAGE);
    memtrace_reader_close(reader);
    size_t size;
    uint8_t *bytes = read_file(in_folder("out"), &size);
    ck_assert_uint_eq(size, 8);
    ck_assert_mem_eq(bytes, "precious", 8);
    free(bytes);
}
END_TEST

START_TEST(a_full_disk_is_an_error_with_its_errno) {
    memtrace_reader *reader = open_path(real_trace(0));
    memtrace_error error;
    ck_assert_int_eq(rewrite_to_file(reader, NULL, "/dev/full", &error), MEMTRACE_IO);
    ck_assert_int_eq(error.os_error, ENOSPC);
    memtrace_reader_close(reader);
}
END_TEST

START_TEST(a_missing_folder_is_an_error_with_its_errno) {
    memtrace_reader *reader = open_path(real_trace(0));
    memtrace_error error;
    ck_assert_int_eq(rewrite_to_file(reader, NULL, in_folder("none/out"), &error), MEMTRACE_IO);
    ck_assert_int_eq(error.os_error, ENOENT);
    memtrace_reader_close(reader);
}
END_TEST

START_TEST(without_a_temporary_file_there_is_an_error_with_its_errno) {
    memtrace_reader *reader = open_path(real_trace(0));
    memtrace_error error;
    const int next = open("/dev/null", O_RDONLY);
    struct rlimit files;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = (rlim_t)next + 1;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
    close(next);
    ck_assert_int_eq(rewrite_to_file(reader, NULL, in_folder("out"), &error), MEMTRACE_IO);
    ck_assert_int_eq(error.os_error, EMFILE);
    memtrace_reader_close(reader);
}
END_TEST

/* What a signal's handler would do before it ends the process. */
START_TEST(a_signal_removes_what_is_half_written_and_nothing_else) {
    replacement first, second;
    char *beside, *name;
    replacement_interrupted();
    ck_assert_int_eq(replacement_begin(&first, in_folder("out"), NULL), MEMTRACE_OK);
    ck_assert_int_eq(replacement_commit(&first, NULL), MEMTRACE_OK);
    replacement_interrupted();
    ck_assert_int_eq(access(in_folder("out"), F_OK), 0);

    ck_assert_int_eq(replacement_begin(&second, in_folder("out"), NULL), MEMTRACE_OK);
    name = strdup(second.temporary);
    ck_assert_int_eq(access(name, F_OK), 0);
    replacement_interrupted();
    ck_assert_int_eq(access(name, F_OK), -1);
    ck_assert_int_eq(access(in_folder("out"), F_OK), 0);
    replacement_abort(&second);
    free(name);

    const int fd = replacement_open_beside(in_folder("again"), 0600, &beside);
    ck_assert_int_ge(fd, 0);
    replacement_interrupted();
    ck_assert_int_eq(access(beside, F_OK), -1);
    replacement_close_beside(beside);
    close(fd);
}
END_TEST

START_TEST(what_is_private_is_so_all_the_time) {
    replacement r;
    struct stat now;
    const char *path = in_folder("private");
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    ck_assert_int_ge(fd, 0);
    close(fd);
    if (geteuid() == 0)
        ck_assert_int_eq(chown(path, 4711, 4712), 0);
    const mode_t before = umask(0);
    ck_assert_int_eq(replacement_begin(&r, path, NULL), MEMTRACE_OK);
    umask(before);
    ck_assert_int_eq(fstat(r.fd, &now), 0);
    ck_assert_uint_eq(now.st_mode & 07777, 0600);
    ck_assert_int_eq(replacement_commit(&r, NULL), MEMTRACE_OK);
    ck_assert_int_eq(stat(in_folder("private"), &now), 0);
    ck_assert_uint_eq(now.st_mode & 07777, 0600);
    if (geteuid() == 0)
        ck_assert(now.st_uid == 4711 && now.st_gid == 4712);
    unlink(in_folder("private"));
}
END_TEST

static Suite *rewrite_suite(void) {
    Suite *s = suite_create("rewrite");
    TCase *t = tcase_create("rewrite");
    tcase_set_timeout(t, 120);
    tcase_add_unchecked_fixture(t, make_folder, remove_folder);
    tcase_add_checked_fixture(t, renew_folder, empty_folder);
    tcase_add_loop_test(t, real_traces_survive, 0, 2);
    tcase_add_loop_test(t, rewriting_twice_changes_nothing, 0, 2);
    tcase_add_loop_test(t, a_trace_does_not_grow, 0, 2);
    tcase_add_loop_test(t, the_head_survives, 0, 2);
    tcase_add_loop_test(t, random_traces_survive, 0, 8);
    tcase_add_test(t, packets_are_put_in_order);
    tcase_add_test(t, several_domains_do_not_fit_version_2);
    tcase_add_loop_test(t, version_1_becomes_version_2, 0, 2);
    tcase_add_test(t, what_any_domain_says_of_a_code_counts_for_all);
    tcase_add_test(t, version_2_has_ids_without_gaps);
    tcase_add_loop_test(t, a_damaged_trace_becomes_a_clean_one, 0, 16);
    tcase_add_test(t, edits_change_the_end_of_backtraces);
    tcase_add_test(t, rate_and_context_can_be_chosen);
    tcase_add_test(t, a_file_is_replaced_by_itself_with_its_mode);
    tcase_add_test(t, a_signal_removes_what_is_half_written_and_nothing_else);
    tcase_add_test(t, a_new_file_gets_the_usual_mode);
    tcase_add_test(t, a_failure_leaves_the_old_file_alone);
    tcase_add_test(t, a_full_disk_is_an_error_with_its_errno);
    tcase_add_test(t, a_missing_folder_is_an_error_with_its_errno);
    tcase_add_test(t, without_a_temporary_file_there_is_an_error_with_its_errno);
    tcase_add_test(t, what_is_private_is_so_all_the_time);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(rewrite_suite)
