/* export_parquet.c: a profile as Parquet files, into a folder that holds those of many traces: a
 * table of its sampled blocks, and tables of stacks, frames, marks and the trace. docs/parquet.md
 * is the schema.
 *
 * Each table of a trace is a file: TABLE/day=DAY/service=SERVICE/TRACE.parquet. Each file is
 * replaced as a whole. That of `traces` is last, so the traces listed there are complete. Missing
 * folders are created.
 *
 * Many traces are exported, and query engines join them. So a frame has the same id in all traces,
 * a hash of its content, and sums by site need no names. Stacks are numbered within their trace,
 * because a hash for each would take more space than everything else. Only stacks that have blocks
 * get a hash as well. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/hash.h"
#include "base/path.h"
#include "export/exports.h"
#include "export/parquet.h"
#include "paths/path_tree.h"
#include "profile/spans.h"
#include "query/leaks.h"
#include "trace/replacement.h"

enum { MOST_SERVICE = 128, MOST_PATH = 4096 };

#define TEXT_OF_TRACE "%016llx" /* name of its files */

typedef struct exporting {
    const profile *profile;
    const lens *lens;
    export_subject *subject;
    path_tree *stacks;
    uint64_t *frame_ids, *paths; /* by place and by node of `stacks` */
    uint8_t *has_blocks;         /* by node: whether blocks that are kept have this stack */
    uint64_t id;                 /* id of the trace */
    char partition[MOST_SERVICE * 3 + 64];
    char *reason;
    size_t reason_size;
} exporting;

/* ---- labels ------------------------------------------------------------------------------ */

bool export_is_label(const char *text) {
    const char *equals = strchr(text, '=');
    return equals && equals > text;
}

static size_t key_size(const char *label) {
    return strcspn(label, "=");
}

static bool has_key(const char *label, const char *key) {
    return key_size(label) == strlen(key) && memcmp(label, key, strlen(key)) == 0;
}

/* Returns the value of the label with either key; NULL if there is none. */
static const char *label_of(const export_subject *s, const char *key, const char *other) {
    for (size_t i = s->n_labels; i-- > 0;)
        if (has_key(s->labels[i], key) || has_key(s->labels[i], other))
            return s->labels[i] + key_size(s->labels[i]) + 1;
    return NULL;
}

static bool is_repeated_later(const export_subject *s, size_t label) {
    for (size_t i = label + 1; i < s->n_labels; i++)
        if (key_size(s->labels[i]) == key_size(s->labels[label]) &&
            memcmp(s->labels[i], s->labels[label], key_size(s->labels[i])) == 0)
            return true;
    return false;
}

/* Writes the labels as a JSON object. */
static void put_labels(output *o, const export_subject *s) {
    const char *separator = "{";
    for (size_t i = 0; i < s->n_labels; i++) {
        if (is_repeated_later(s, i))
            continue;
        output_text(o, separator);
        output_json_part(o, s->labels[i], key_size(s->labels[i]));
        output_char(o, ':');
        output_json(o, s->labels[i] + key_size(s->labels[i]) + 1);
        separator = ",";
    }
    output_text(o, *separator == '{' ? "{}" : "}");
    output_char(o, '\0');
}

static const char *host_of(const exporting *e) {
    const char *label = label_of(e->subject, "host", "host.name");
    return label ? label : e->profile->info.host_name;
}

/* ---- ids --------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t a, uint64_t b) {
    return hash_u64(a * UINT64_C(0x9E3779B97F4A7C15) + b);
}

static uint64_t hash_text(uint64_t so_far, const char *text) {
    return mix(so_far, hash_bytes(text, strlen(text)));
}

static uint64_t frame_id(const profile_location *l) {
    return mix(hash_text(hash_text(0, l->function), l->file), l->line);
}

static size_t n_places(const path_tree *t) {
    return t->places->locations.count;
}

static void find_paths(const exporting *e) {
    const path_tree *t = e->stacks;
    for (uint32_t i = 0; i < n_places(t); i++)
        e->frame_ids[i] = frame_id(path_tree_location(t, i));
    for (size_t i = 0; i < t->n; i++)
        e->paths[i] =
            i == PATH_ROOT ? 0 : mix(e->paths[t->nodes[i].parent], e->frame_ids[t->nodes[i].place]);
}

static bool is_kept(const exporting *e, size_t row) {
    return !e->subject->kept || e->subject->kept[row];
}

static bool find_ids(exporting *e) {
    const path_tree *t = e->stacks;
    const block_table *b = &e->profile->table;
    e->frame_ids = malloc((n_places(t) + 1) * sizeof *e->frame_ids);
    e->paths = malloc((t->n + 1) * sizeof *e->paths);
    e->has_blocks = calloc(t->n + 1, 1);
    if (!e->frame_ids || !e->paths || !e->has_blocks)
        return false;
    find_paths(e);
    for (size_t i = 0; i < b->count; i++)
        e->has_blocks[path_tree_end(t, b->node[i])] |= is_kept(e, i);
    return true;
}

/* The same trace with the same labels gets the same files. */
static uint64_t trace_id(const exporting *e) {
    const memtrace_info *info = &e->profile->info;
    uint64_t id = hash_text(hash_text(0, info->executable_name), host_of(e));
    id = mix(mix(id, info->pid), info->start_time);
    id = hash_text(id, info->context);
    for (size_t i = 0; i < e->subject->n_labels; i++)
        if (!is_repeated_later(e->subject, i))
            id = hash_text(id, e->subject->labels[i]);
    return id;
}

/* ---- files ------------------------------------------------------------------------------- */

static bool fail(exporting *e, const char *what, const char *why) {
    snprintf(e->reason, e->reason_size, "%s: %s", what, why);
    return false;
}

static const char *service_of(const exporting *e) {
    const char *label = label_of(e->subject, "service", "service.name");
    const char *name = label ? label : path_base(e->profile->info.executable_name);
    return *name ? name : "unknown";
}

/* Escapes a value for a folder name, as Hive does. */
static void escape(const char *value, char *to) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    static const char digits[] = "0123456789ABCDEF";
    for (size_t n = 0; *value && n < MOST_SERVICE; value++, n++) {
        const unsigned char c = (unsigned char)*value;
        if (strchr(plain, *value)) {
            *to++ = *value;
            continue;
        }
        *to++ = '%';
        *to++ = digits[c >> 4];
        *to++ = digits[c & 15];
    }
    *to = '\0';
}

static void find_partition(exporting *e) {
    char service[MOST_SERVICE * 3 + 1];
    const time_t start = (time_t)(e->profile->info.start_time / 1000000);
    struct tm day = {0};
    gmtime_r(&start, &day);
    escape(service_of(e), service);
    snprintf(e->partition, sizeof e->partition, "day=%04d-%02d-%02d/service=%s", day.tm_year + 1900,
             day.tm_mon + 1, day.tm_mday, service);
}

/* Creates all folders on the path to a file. */
static bool make_folders(exporting *e, char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const bool ok = mkdir(path, 0777) == 0 || errno == EEXIST;
        if (!ok)
            return fail(e, path, strerror(errno));
        *slash = '/';
    }
    return true;
}

typedef struct table {
    const char *name;
    const parquet_column *columns;
    size_t n_columns;
    bool (*fill)(const exporting *e, parquet *p);
} table;

static bool fill(const exporting *e, const table *t, output *o) {
    parquet *p = parquet_begin(o, t->columns, t->n_columns);
    if (!p)
        return false;
    if (t->fill(e, p))
        return parquet_end(p);
    parquet_drop(p);
    return false;
}

static bool write_into(exporting *e, const table *t, const char *path, int fd) {
    output o;
    output_start(&o, fd);
    const bool ok = fill(e, t, &o);
    const int error = output_finish(&o);
    return (ok && !error) || fail(e, path, error ? strerror(error) : "not enough memory");
}

static bool say(exporting *e, const char *path, const memtrace_error *error) {
    return fail(e, path, error->os_error ? strerror(error->os_error) : error->reason);
}

static bool write_file(exporting *e, const table *t, const char *path) {
    memtrace_error error;
    replacement file;
    if (replacement_begin(&file, path, &error) != MEMTRACE_OK)
        return say(e, path, &error);
    if (!write_into(e, t, path, file.fd)) {
        replacement_abort(&file);
        return false;
    }
    return replacement_commit(&file, &error) == MEMTRACE_OK || say(e, path, &error);
}

static bool write_table(exporting *e, const table *t) {
    char path[MOST_PATH];
    const int size = snprintf(path, sizeof path, "%s/%s/%s/" TEXT_OF_TRACE ".parquet",
                              e->subject->path, t->name, e->partition, (unsigned long long)e->id);
    if (size < 0 || (size_t)size >= sizeof path)
        return fail(e, e->subject->path, strerror(ENAMETOOLONG));
    return make_folders(e, path) && write_file(e, t, path);
}

/* ---- samples ----------------------------------------------------------------------------- */

/* X(name, kind, whether it may be null), in column order */
#define SAMPLES(X)                                                                                 \
    X(trace, I64, false)                                                                           \
    X(born, TIME, false)                                                                           \
    X(lifetime, I64, true)                                                                         \
    X(promoted, I64, true)                                                                         \
    X(size, I64, false)                                                                            \
    X(samples, I64, false)                                                                         \
    X(bytes, DOUBLE, false)                                                                        \
    X(variance, DOUBLE, false)                                                                     \
    X(objects, DOUBLE, false)                                                                      \
    X(heap, TEXT, false)                                                                           \
    X(thread, I32, false)                                                                          \
    X(thread_name, TEXT, true)                                                                     \
    X(scope, TEXT, true)                                                                           \
    X(trace_id, TEXT, true)                                                                        \
    X(span_id, TEXT, true)                                                                         \
    X(type, TEXT, true)                                                                            \
    X(site, I64, true)                                                                             \
    X(caller, I64, true)                                                                           \
    X(stack, I32, false)

#define FRAMES(X)                                                                                  \
    X(frame, I64, false)                                                                           \
    X(function, TEXT, false)                                                                       \
    X(file, TEXT, true)                                                                            \
    X(line, I32, true)

#define STACKS(X)                                                                                  \
    X(trace, I64, false)                                                                           \
    X(stack, I32, false)                                                                           \
    X(parent, I32, true)                                                                           \
    X(frame, I64, true)                                                                            \
    X(depth, I32, false)                                                                           \
    X(path, I64, true)

#define MARKS(X)                                                                                   \
    X(trace, I64, false)                                                                           \
    X(time, TIME, false)                                                                           \
    X(name, TEXT, false)                                                                           \
    X(value, I64, true)

#define TRACES(X)                                                                                  \
    X(trace, I64, false)                                                                           \
    X(started, TIME, false)                                                                        \
    X(ended, TIME, false)                                                                          \
    X(host, TEXT, false)                                                                           \
    X(pid, I64, false)                                                                             \
    X(program, TEXT, false)                                                                        \
    X(version, TEXT, true)                                                                         \
    X(labels, TEXT, false)                                                                         \
    X(context, TEXT, false)                                                                        \
    X(runtime, TEXT, false)                                                                        \
    X(rate, DOUBLE, false)                                                                         \
    X(bytes_per_sample, DOUBLE, false)                                                             \
    X(word_size, I32, false)                                                                       \
    X(blocks, I64, false)                                                                          \
    X(samples, I64, false)                                                                         \
    X(bytes, DOUBLE, false)                                                                        \
    X(filter, TEXT, true)                                                                          \
    X(cleanup, TIME, true)                                                                         \
    X(ends_early, TIME, true)                                                                      \
    X(reason, TEXT, true)

#define COLUMN(name, kind, optional)         {#name, PARQUET_##kind, optional},
#define SAMPLES_NUMBER(name, kind, optional) SAMPLES_##name,
#define FRAMES_NUMBER(name, kind, optional)  FRAMES_##name,
#define STACKS_NUMBER(name, kind, optional)  STACKS_##name,
#define MARKS_NUMBER(name, kind, optional)   MARKS_##name,
#define TRACES_NUMBER(name, kind, optional)  TRACES_##name,
enum { SAMPLES(SAMPLES_NUMBER) N_SAMPLES };
enum { FRAMES(FRAMES_NUMBER) N_FRAMES };
enum { STACKS(STACKS_NUMBER) N_STACKS };
enum { MARKS(MARKS_NUMBER) N_MARKS };
enum { TRACES(TRACES_NUMBER) N_TRACES };
static const parquet_column sample_columns[] = {SAMPLES(COLUMN)};
static const parquet_column frame_columns[] = {FRAMES(COLUMN)};
static const parquet_column stack_columns[] = {STACKS(COLUMN)};
static const parquet_column mark_columns[] = {MARKS(COLUMN)};
static const parquet_column trace_columns[] = {TRACES(COLUMN)};

static void put_id(parquet *p, size_t column, uint64_t id) {
    parquet_int(p, column, (int64_t)id);
}

static void put_unless(parquet *p, size_t column, uint64_t value, uint64_t none) {
    if (value == none)
        parquet_null(p, column);
    else
        parquet_int(p, column, (int64_t)value);
}

static int64_t clock_of(const exporting *e, uint64_t time) {
    return (int64_t)(e->profile->info.start_time + time);
}

/* Writes a time relative to the block's birth. */
static void put_since(parquet *p, size_t column, uint64_t born, uint64_t time) {
    put_unless(p, column, time == BLOCKS_NEVER ? BLOCKS_NEVER : time - born, BLOCKS_NEVER);
}

static void put_times(const exporting *e, parquet *p, size_t row) {
    const block_table *b = &e->profile->table;
    const uint64_t born = blocks_born(b, row);
    parquet_int(p, SAMPLES_born, clock_of(e, born));
    put_since(p, SAMPLES_lifetime, born, blocks_died(b, row));
    put_since(p, SAMPLES_promoted, born, blocks_promoted(b, row));
}

/* Returns the variance of the estimate that so many samples give, in bytes². */
static double variance_of(const profile *p, uint64_t samples) {
    return cost_bytes(p, samples) * profile_bytes_per_sample(p) * (1 - p->info.sample_rate);
}

static void put_amounts(const exporting *e, parquet *p, size_t row) {
    const memtrace_info *info = &e->profile->info;
    const block_table *b = &e->profile->table;
    const uint64_t length = blocks_length(b, row), samples = blocks_samples(b, row);
    parquet_int(p, SAMPLES_size, (int64_t)(length * (info->word_size / 8)));
    parquet_int(p, SAMPLES_samples, (int64_t)samples);
    parquet_double(p, SAMPLES_bytes, cost_bytes(e->profile, samples));
    parquet_double(p, SAMPLES_variance, variance_of(e->profile, samples));
    parquet_double(p, SAMPLES_objects, 1 / estimate_inclusion(length + 1, info->sample_rate));
}

static void put_place(const exporting *e, parquet *p, size_t column, lens_cursor c) {
    if (c.location == LENS_NOWHERE)
        parquet_null(p, column);
    else
        put_id(p, column, e->frame_ids[e->stacks->places->of_location[c.location]]);
}

static void put_origin(const exporting *e, parquet *p, size_t row,
                       span_cursor spans[SPAN_N_KINDS]) {
    static const char *const heaps[] = {
        [MEMTRACE_MINOR] = "minor", [MEMTRACE_MAJOR] = "major", [MEMTRACE_EXTERNAL] = "external"};
    const block_table *b = &e->profile->table;
    const uint32_t node = b->node[row];
    uint32_t wrapper;
    const lens_cursor site =
        lens_site(e->lens, node, b->source[row] == MEMTRACE_EXTERNAL, &wrapper);
    parquet_text(p, SAMPLES_heap, heaps[b->source[row]]);
    parquet_int(p, SAMPLES_thread, b->domain[row]);
    parquet_text(p, SAMPLES_thread_name, spans_text(b, SPAN_THREAD, row, &spans[SPAN_THREAD]));
    parquet_text(p, SAMPLES_scope, spans_text(b, SPAN_SCOPE, row, &spans[SPAN_SCOPE]));
    parquet_text(p, SAMPLES_trace_id, spans_text(b, SPAN_TRACE_ID, row, &spans[SPAN_TRACE_ID]));
    parquet_text(p, SAMPLES_span_id, spans_text(b, SPAN_SPAN_ID, row, &spans[SPAN_SPAN_ID]));
    parquet_text(p, SAMPLES_type, profile_type(e->profile, node));
    put_place(e, p, SAMPLES_site, site);
    put_place(e, p, SAMPLES_caller, lens_outward(e->lens, site));
    parquet_int(p, SAMPLES_stack, path_tree_end(e->stacks, node));
}

static bool fill_samples(const exporting *e, parquet *p) {
    bool ok = true;
    span_cursor spans[SPAN_N_KINDS] = {{0}};
    for (size_t i = 0; ok && i < e->profile->table.count; i++) {
        if (!is_kept(e, i))
            continue;
        put_id(p, SAMPLES_trace, e->id);
        put_times(e, p, i);
        put_amounts(e, p, i);
        put_origin(e, p, i, spans);
        ok = parquet_row(p);
    }
    return ok;
}

/* ---- places ------------------------------------------------------------------------------ */

static bool fill_frames(const exporting *e, parquet *p) {
    bool ok = true;
    for (size_t i = 0; ok && i < n_places(e->stacks); i++) {
        const profile_location *l = path_tree_location(e->stacks, (uint32_t)i);
        put_id(p, FRAMES_frame, e->frame_ids[i]);
        parquet_text(p, FRAMES_function, l->function);
        parquet_text(p, FRAMES_file, *l->file ? l->file : NULL);
        put_unless(p, FRAMES_line, l->line, 0);
        ok = parquet_row(p);
    }
    return ok;
}

static void put_frame(const exporting *e, parquet *p, const path_node *n, bool is_root) {
    if (is_root) {
        parquet_null(p, STACKS_parent);
        parquet_null(p, STACKS_frame);
    } else {
        parquet_int(p, STACKS_parent, n->parent);
        put_id(p, STACKS_frame, e->frame_ids[n->place]);
    }
}

static bool put_node(const exporting *e, parquet *p, size_t node, uint32_t depth) {
    put_id(p, STACKS_trace, e->id);
    parquet_int(p, STACKS_stack, (int64_t)node);
    parquet_int(p, STACKS_depth, depth);
    put_frame(e, p, &e->stacks->nodes[node], node == PATH_ROOT);
    if (e->has_blocks[node])
        put_id(p, STACKS_path, e->paths[node]);
    else
        parquet_null(p, STACKS_path);
    return parquet_row(p);
}

static bool fill_stacks(const exporting *e, parquet *p) {
    const size_t n = e->stacks->n;
    uint32_t *depths = calloc(n + 1, sizeof *depths);
    bool ok = depths;
    for (size_t i = 0; ok && i < n; i++) {
        depths[i] = i == PATH_ROOT ? 0 : depths[e->stacks->nodes[i].parent] + 1;
        ok = put_node(e, p, i, depths[i]);
    }
    free(depths);
    return ok;
}

/* ---- the trace --------------------------------------------------------------------------- */

static bool fill_marks(const exporting *e, parquet *p) {
    bool ok = true;
    for (size_t i = 0; ok && i < e->profile->marks.count; i++) {
        const profile_mark *m = &e->profile->marks.items[i];
        put_id(p, MARKS_trace, e->id);
        parquet_int(p, MARKS_time, clock_of(e, m->time));
        parquet_text(p, MARKS_name, m->name ? m->name : "");
        if (m->is_gauge)
            parquet_int(p, MARKS_value, (int64_t)m->value);
        else
            parquet_null(p, MARKS_value);
        ok = parquet_row(p);
    }
    return ok;
}

static bool put_process(const exporting *e, parquet *p) {
    const memtrace_info *info = &e->profile->info;
    output labels;
    output_start(&labels, OUTPUT_MEMORY);
    put_labels(&labels, e->subject);
    const bool ok = !labels.error;
    put_id(p, TRACES_trace, e->id);
    parquet_int(p, TRACES_started, clock_of(e, 0));
    parquet_int(p, TRACES_ended, clock_of(e, e->profile->duration));
    parquet_text(p, TRACES_host, host_of(e));
    parquet_int(p, TRACES_pid, (int64_t)info->pid);
    parquet_text(p, TRACES_program, info->executable_name);
    parquet_text(p, TRACES_version, label_of(e->subject, "version", "service.version"));
    parquet_text(p, TRACES_labels, ok ? labels.buffer : "");
    parquet_text(p, TRACES_context, info->context);
    parquet_text(p, TRACES_runtime, info->runtime_params);
    output_finish(&labels);
    return ok;
}

static void put_sums(const exporting *e, parquet *p) {
    const memtrace_info *info = &e->profile->info;
    uint64_t blocks = 0, samples = 0;
    for (size_t i = 0; i < e->profile->table.count; i++)
        if (is_kept(e, i)) {
            blocks++;
            samples += blocks_samples(&e->profile->table, i);
        }
    parquet_double(p, TRACES_rate, info->sample_rate);
    parquet_double(p, TRACES_bytes_per_sample, profile_bytes_per_sample(e->profile));
    parquet_int(p, TRACES_word_size, info->word_size);
    parquet_int(p, TRACES_blocks, (int64_t)blocks);
    parquet_int(p, TRACES_samples, (int64_t)samples);
    parquet_double(p, TRACES_bytes, cost_bytes(e->profile, samples));
    parquet_text(p, TRACES_filter, e->subject->filter);
}

static bool put_end(const exporting *e, parquet *p) {
    const bool early = profile_ends_early(e->profile);
    leaks_window window;
    if (!leaks_find_window(e->profile, &window))
        return false;
    if (window.cleaned_up)
        parquet_int(p, TRACES_cleanup, clock_of(e, window.to));
    else
        parquet_null(p, TRACES_cleanup);
    if (early)
        parquet_int(p, TRACES_ends_early, clock_of(e, e->profile->end.time));
    else
        parquet_null(p, TRACES_ends_early);
    parquet_text(p, TRACES_reason, early ? e->profile->end.reason : NULL);
    return true;
}

static bool fill_traces(const exporting *e, parquet *p) {
    if (!put_process(e, p))
        return false;
    put_sums(e, p);
    return put_end(e, p) && parquet_row(p);
}

/* ---- all of it --------------------------------------------------------------------------- */

static const table tables[] = {
    {"samples", sample_columns, N_SAMPLES, fill_samples},
    {"frames", frame_columns, N_FRAMES, fill_frames},
    {"stacks", stack_columns, N_STACKS, fill_stacks},
    {"marks", mark_columns, N_MARKS, fill_marks},
    {"traces", trace_columns, N_TRACES, fill_traces},
};

static bool write_tables(exporting *e) {
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!write_table(e, &tables[i]))
            return false;
    return true;
}

bool export_parquet(output *o, export_subject *s) {
    (void)o;
    exporting e = {.profile = s->lens->profile,
                   .lens = s->lens,
                   .subject = s,
                   .reason = s->reason,
                   .reason_size = sizeof s->reason};
    e.stacks = path_tree_see(s->lens, PLACE_BY_LINE);
    const bool known = e.stacks && find_ids(&e);
    e.id = trace_id(&e);
    find_partition(&e);
    const bool ok = known ? write_tables(&e) : fail(&e, s->path, "not enough memory");
    free(e.frame_ids);
    free(e.paths);
    free(e.has_blocks);
    path_tree_free(e.stacks);
    return ok;
}
