/* merge_gauges.c: readings are sorted by name and time, then replaced in one pass by the sum of
 * each process's latest value. */
#include "trace/merge_gauges.h"

#include <stdlib.h>
#include <string.h>

/* ---- readings ---- */

static void add_step(merge_gauges *g, gauge_step step) {
    step.order = g->steps.count;
    if (!vec_push(&g->steps, step))
        g->failed = true;
}

/* Finds the index of a name, or adds it. There are only a few names. Returns false when out of
 * memory. */
static bool find_name(merge_gauges *g, const char *name, size_t *index) {
    name = intern(&g->strings, name, strlen(name));
    for (*index = 0; *index < g->names.count; ++*index)
        if (g->names.items[*index] == name)
            return true;
    return name && vec_push(&g->names, name);
}

void merge_gauges_read(merge_gauges *g, size_t process, uint64_t time, const char *name,
                       uint64_t value) {
    gauge_step step = {.time = time, .process = process, .value = value};
    if (find_name(g, name, &step.name))
        add_step(g, step);
    else
        g->failed = true;
}

void merge_gauges_end(merge_gauges *g, size_t process, uint64_t time) {
    for (size_t i = 0; i < g->names.count; i++)
        add_step(g, (gauge_step){.time = time, .name = i, .process = process, .end = true});
}

/* ---- sums ---- */

static int by_time(const void *a, const void *b) {
    const gauge_step *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int by_name(const void *a, const void *b) {
    const gauge_step *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return by_time(a, b);
}

/* Replaces the steps by the sums, one per name and time, in time order. */
static bool sum_up(merge_gauges *g, size_t n_processes) {
    gauge_step *s = g->steps.items;
    const size_t n = g->steps.count;
    uint64_t *now = calloc(n_processes, sizeof *now), sum = 0;
    size_t n_sums = 0;
    bool changed = false;
    if (!now)
        return false;
    qsort(s, n, sizeof *s, by_name);
    for (size_t i = 0; i < n; i++) {
        gauge_step step = s[i];
        if (i > 0 && step.name != s[i - 1].name) {
            memset(now, 0, n_processes * sizeof *now);
            sum = 0;
        }
        changed |= !step.end || now[step.process] > 0;
        sum += step.value - now[step.process];
        now[step.process] = step.value;
        if (i + 1 < n && s[i + 1].name == step.name && s[i + 1].time == step.time)
            continue;
        step.value = sum < INT64_MAX ? sum : INT64_MAX;
        if (changed)
            s[n_sums++] = step;
        changed = false;
    }
    free(now);
    g->steps.count = n_sums;
    qsort(s, n_sums, sizeof *s, by_time);
    return true;
}

/* ---- the trace ---- */

static int sink(void *context, const void *packets, size_t size) {
    merge_gauges *g = context;
    if (!vec_reserve(&g->bytes, size))
        return 1;
    memcpy(g->bytes.items + g->bytes.count, packets, size);
    g->bytes.count += size;
    return 0;
}

/* The code of a gauge is 1 + the index of its name. */
static size_t locate(void *context, uint64_t code, memtrace_location *l, size_t max) {
    const merge_gauges *g = context;
    if (max == 0)
        return 0;
    *l = (memtrace_location){.file = MEMTRACE_GAUGE_FILE, .function = g->names.items[code - 1]};
    return 1;
}

static memtrace_status write_sums(merge_gauges *g, const memtrace_info *info) {
    const memtrace_writer_options hooks = {.sink = sink, .locate = locate, .context = g};
    memtrace_writer *writer;
    memtrace_stream *stream;
    memtrace_status status = memtrace_writer_open(info, &hooks, &writer, NULL);
    if (status != MEMTRACE_OK)
        return status;
    status = memtrace_stream_open(writer, 0, &stream);
    if (status == MEMTRACE_OK) {
        for (size_t i = 0; i < g->steps.count && status == MEMTRACE_OK; i++) {
            const gauge_step *s = &g->steps.items[i];
            status = memtrace_stream_remark(stream, s->time, s->name + 1, s->value);
        }
        const memtrace_status closed = memtrace_stream_close(stream);
        status = status == MEMTRACE_OK ? closed : status;
    }
    if (status == MEMTRACE_OK)
        status = memtrace_writer_end(writer, &(memtrace_end){.how = MEMTRACE_END_WHOLE});
    const memtrace_status closed = memtrace_writer_close(writer);
    return status == MEMTRACE_OK ? closed : status;
}

memtrace_status merge_gauges_sum(merge_gauges *g, const memtrace_info *info, size_t n_processes,
                                 memtrace_reader **reader) {
    *reader = NULL;
    if (g->failed)
        return MEMTRACE_NOMEM;
    if (g->steps.count == 0)
        return MEMTRACE_OK;
    if (!sum_up(g, n_processes) || write_sums(g, info) != MEMTRACE_OK)
        return MEMTRACE_NOMEM;
    return memtrace_reader_open_memory(g->bytes.items, g->bytes.count, NULL, reader, NULL);
}

void merge_gauges_free(merge_gauges *g) {
    vec_free(&g->steps);
    vec_free(&g->names);
    vec_free(&g->bytes);
    intern_free(&g->strings);
    *g = (merge_gauges){0};
}
