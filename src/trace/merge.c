/* merge.c: first combines the heads, then reads each part for its codes and its end, and finally
 * rewrites the events in one pass (rewrite.h), inserting the ends of processes. */
#include "trace/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "trace/failure.h"
#include "trace/imported.h"
#include "trace/rewrite.h"

/* ---- heads ---- */

static bool lists(const char *list, const char *text) {
    const size_t n = strlen(text);
    for (const char *at = list; (at = strstr(at, text)); at++)
        if ((at == list || at[-1] == ' ') && (at[n] == '\0' || at[n] == ','))
            return true;
    return false;
}

/* Appends `text` and a separator, unless the list has it already or has no room for it. */
static void gather(char *list, size_t size, const char *text) {
    const size_t used = strlen(list), n = strlen(text);
    if (n == 0 || lists(list, text) || used + n + 3 > size)
        return;
    snprintf(list + used, size - used, "%s%s", used ? ", " : "", text);
}

static void gather_head(merge *m, const memtrace_info *info) {
    gather(m->executable, sizeof m->executable, info->executable_name);
    gather(m->host, sizeof m->host, info->host_name);
    gather(m->parameters, sizeof m->parameters, info->runtime_params);
    if (info->sample_rate < m->info.sample_rate)
        m->info.sample_rate = info->sample_rate;
    if (info->start_time < m->info.start_time)
        m->info.start_time = info->start_time;
    if (info->version > m->info.version)
        m->info.version = info->version;
    if (m->has_times && !imported_has_times(info->context)) {
        m->has_times = false;
        snprintf(m->context, sizeof m->context, "%s", info->context);
    }
    if (info->pid != m->info.pid)
        m->info.pid = 0; /* the result is of no single process */
}

static uint64_t combine(uint64_t hash, const char *text) {
    return hash_u64(hash ^ hash_bytes(text, strlen(text)));
}

/* Identifies the process of a trace: pieces of a trace have the same pid, host and executable. A
 * process that executes another program counts as a new one, because its memory is new. */
static uint64_t process_of(const memtrace_info *info) {
    return combine(combine(hash_u64(info->pid), info->host_name), info->executable_name);
}

/* Returns the first part before `i` of the same process, or `i`. */
static size_t find_process(const merge *m, size_t i, uint64_t hash) {
    for (size_t j = 0; j < i; j++)
        if (m->parts[j].process_hash == hash)
            return j;
    return i;
}

memtrace_status merge_start(merge *m, memtrace_reader *const *readers, size_t n, uint64_t seed) {
    *m = (merge){.seed = seed, .has_times = true, .info = *memtrace_reader_info(readers[0])};
    m->parts = calloc(n, sizeof *m->parts);
    if (!m->parts)
        return MEMTRACE_NOMEM;
    m->n_parts = n;
    for (size_t i = 0; i < n; i++) {
        const memtrace_info *info = memtrace_reader_info(readers[i]);
        if (info->word_size != m->info.word_size) {
            m->hindrance = "their word sizes differ";
            return MEMTRACE_USAGE;
        }
        gather_head(m, info);
        m->parts[i] = (merge_part){
            .whole = m,
            .rate = info->sample_rate,
            .start = info->start_time,
            .process_hash = process_of(info),
            .process = find_process(m, i, process_of(info)),
            .executable_hash = hash_bytes(info->executable_name, strlen(info->executable_name))};
    }
    if (m->has_times)
        snprintf(m->context, sizeof m->context, "%zu merged traces", n);
    m->info.executable_name = m->executable;
    m->info.host_name = m->host;
    m->info.runtime_params = m->parameters;
    m->info.context = m->context;
    return MEMTRACE_OK;
}

static void take_gauge(void *user, const memtrace_event *event) {
    const merge_part *part = user;
    merge *m = part->whole;
    merge_gauges_read(&m->gauges, part->process, event->time + part->start - m->info.start_time,
                      event->name, event->length);
}

memtrace_status merge_plan(merge *m, size_t i, memtrace_reader *reader) {
    merge_part *part = &m->parts[i];
    const excerpt_options options = {.to = EXCERPT_END,
                                     .keep = m->info.sample_rate / part->rate,
                                     .seed = m->seed + i,
                                     .delay = part->start - m->info.start_time,
                                     .first_id = m->next_id,
                                     .take_gauge = take_gauge,
                                     .user = part};
    const memtrace_status status = excerpt_plan(&part->blocks, reader, &options);
    if (status != MEMTRACE_OK)
        return status;
    m->next_id = part->blocks.next_id;
    part->end = excerpt_end(&part->blocks, memtrace_reader_duration(reader));
    /* A part without events still needs a domain for its end. */
    const uint32_t n_domains = part->blocks.n_domains ? part->blocks.n_domains : 1;
    if (m->next_domain + n_domains >= UINT16_MAX) { /* the gauges need one more */
        m->hindrance = "together they have more domains than a trace can have";
        return MEMTRACE_USAGE;
    }
    part->first_domain = (uint16_t)m->next_domain;
    m->next_domain += n_domains;
    return MEMTRACE_OK;
}

/* ---- codes ---- */

/* Returns a hash of the place that a frame stands for: equal for equal places. */
static uint64_t place_of(const merge_part *part, const memtrace_frame *frame) {
    if (frame->n_locations == 0)
        return combine(part->executable_hash, frame->type ? frame->type : "");
    uint64_t hash = combine(1, frame->type ? frame->type : "");
    for (uint32_t i = 0; i < frame->n_locations; i++) {
        const memtrace_location *l = &frame->locations[i];
        hash = combine(combine(hash, l->file), l->function);
        hash = hash_u64(hash ^ ((uint64_t)l->line << 32 | l->start_char << 16 | l->end_char));
    }
    return hash;
}

/* Whether `code` was free or already stands for this place; it does from now on. When out of
 * memory, codes stay as they are. */
static bool claim(merge *m, uint64_t code, uint64_t place) {
    if (!vec_reserve(&m->places, 1))
        return true;
    uint32_t *index = map64_put(&m->codes, code);
    if (!index)
        return true;
    if (*index != MAP64_NONE)
        return m->places.items[*index] == place;
    *index = (uint32_t)m->places.count;
    m->places.items[m->places.count++] = place;
    return true;
}

static uint64_t recode(void *user, const memtrace_frame *frame) {
    merge_part *part = user;
    const uint64_t place = place_of(part, frame);
    uint64_t code = frame->code;
    for (uint64_t i = 0; !claim(part->whole, code, place); i++)
        code = hash_u64(place + i) & (UINT64_MAX >> 2); /* OCaml's readers keep 63 bits, signed */
    return code;
}

/* ---- the result ---- */

static bool choose_event(void *user, memtrace_event *event) {
    merge_part *part = user;
    return excerpt_select(&part->blocks, event);
}

static uint64_t choose_end(void *user, uint64_t duration) {
    merge_part *part = user;
    return excerpt_end(&part->blocks, duration);
}

/* ---- ends of processes ---- */

/* A process ends with the last of its parts. */
static void find_ends(merge *m) {
    uint64_t whole = 0;
    for (size_t i = 0; i < m->n_parts; i++) {
        merge_part *process = &m->parts[m->parts[i].process];
        if (m->parts[i].end > process->end)
            process->end = m->parts[i].end;
        whole = process->end > whole ? process->end : whole;
    }
    for (size_t i = 0; i < m->n_parts; i++) {
        merge_part *part = &m->parts[i];
        part->end = m->parts[part->process].end;
        part->frees =
            m->has_times && part->end < whole && !(m->still_recorded && m->still_recorded[i]);
        /* So that its values at the very end remain visible. */
        if (part->frees && part->process == i)
            merge_gauges_end(&m->gauges, i, part->end + 1);
    }
}

/* Produces the deaths of a process's live blocks: the system frees them when the process ends. */
static bool free_next(void *user, memtrace_event *event) {
    merge_part *part = user;
    const excerpt *e = &part->blocks;
    while (part->frees && part->n_freed < e->blocks.count) {
        const excerpt_block *b = &e->blocks.items[part->n_freed++];
        if (!b->kept || b->remark || !b->written || b->death != UINT64_MAX)
            continue;
        *event = (memtrace_event){
            .kind = MEMTRACE_COLLECT, .domain = b->domain, .time = part->end, .id = b->id};
        return true;
    }
    return false;
}

static bool move_gauge(void *user, memtrace_event *event) {
    const merge_part *part = user;
    event->id += part->whole->next_id;
    return true;
}

static memtrace_status write_parts(merge *m, memtrace_reader *const *readers, memtrace_reader *sums,
                                   rewrite_input *inputs, int fd, compression how,
                                   memtrace_error *error) {
    merge_part gauges = {.whole = m};
    const uint32_t n_domains = m->next_domain + (sums ? 1 : 0);
    if (m->info.version < 3)
        m->info.version = n_domains > 1 ? 3 : 2;
    for (size_t i = 0; i < m->n_parts; i++)
        inputs[i] = (rewrite_input){.reader = readers[i],
                                    .options = {.select = choose_event,
                                                .recode = recode,
                                                .add = free_next,
                                                .end = choose_end,
                                                .first_domain = m->parts[i].first_domain,
                                                .user = &m->parts[i]}};
    inputs[m->n_parts] = (rewrite_input){.reader = sums,
                                         .options = {.select = move_gauge,
                                                     .recode = recode,
                                                     .first_domain = (uint16_t)m->next_domain,
                                                     .user = &gauges}};
    return rewrite_traces(&m->info, inputs, m->n_parts + (sums ? 1 : 0), fd, how, error);
}

memtrace_status merge_write(merge *m, memtrace_reader *const *readers, int fd, compression how,
                            memtrace_error *error) {
    rewrite_input *inputs = calloc(m->n_parts + 1, sizeof *inputs);
    memtrace_reader *sums = NULL;
    find_ends(m);
    memtrace_status status =
        inputs ? merge_gauges_sum(&m->gauges, &m->info, m->n_parts, &sums) : MEMTRACE_NOMEM;
    if (status == MEMTRACE_OK)
        status = write_parts(m, readers, sums, inputs, fd, how, error);
    else
        status = failure(error, status, 0, "not enough memory to merge");
    memtrace_reader_close(sums);
    free(inputs);
    return status;
}

void merge_free(merge *m) {
    for (size_t i = 0; i < m->n_parts; i++)
        excerpt_free(&m->parts[i].blocks);
    free(m->parts);
    merge_gauges_free(&m->gauges);
    map64_free(&m->codes);
    vec_free(&m->places);
    *m = (merge){0};
}
