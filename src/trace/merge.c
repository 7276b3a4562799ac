/* merge.c: see merge.h. */
#include "trace/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "trace/rewrite.h"

/* ---- heads ---- */

static bool lists(const char *list, const char *text) {
    const size_t n = strlen(text);
    for (const char *at = list; (at = strstr(at, text)); at++)
        if ((at == list || at[-1] == ' ') && (at[n] == '\0' || at[n] == ','))
            return true;
    return false;
}

/* Appends `text` with a separator unless it is there already or does not fit. */
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
    if (info->pid != m->info.pid)
        m->info.pid = 0; /* of no one process */
}

static uint64_t combine(uint64_t hash, const char *text) {
    return hash_u64(hash ^ hash_bytes(text, strlen(text)));
}

/* Pieces of a trace have its head; another program in a process has memory of its own. */
static uint64_t process_of(const memtrace_info *info) {
    return combine(combine(hash_u64(info->pid), info->host_name), info->executable_name);
}

memtrace_status merge_start(merge *m, memtrace_reader *const *readers, size_t n, uint64_t seed) {
    *m = (merge){.seed = seed, .info = *memtrace_reader_info(readers[0])};
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
            .process = process_of(info),
            .executable_hash = hash_bytes(info->executable_name, strlen(info->executable_name))};
    }
    snprintf(m->context, sizeof m->context, "%zu merged traces", n);
    m->info.version = 3;
    m->info.executable_name = m->executable;
    m->info.host_name = m->host;
    m->info.runtime_params = m->parameters;
    m->info.context = m->context;
    return MEMTRACE_OK;
}

memtrace_status merge_plan(merge *m, size_t i, memtrace_reader *reader) {
    merge_part *part = &m->parts[i];
    const excerpt_options options = {.to = EXCERPT_END,
                                     .keep = m->info.sample_rate / part->rate,
                                     .seed = m->seed + i,
                                     .delay = part->start - m->info.start_time,
                                     .first_id = m->next_id};
    const memtrace_status status = excerpt_plan(&part->blocks, reader, &options);
    if (status != MEMTRACE_OK)
        return status;
    m->next_id = part->blocks.next_id;
    part->end = excerpt_end(&part->blocks, memtrace_reader_duration(reader));
    /* One that has no events needs a domain to note its end in. */
    const uint32_t n_domains = part->blocks.n_domains ? part->blocks.n_domains : 1;
    if (m->next_domain + n_domains > UINT16_MAX) {
        m->hindrance = "they have more domains together than a trace can have";
        return MEMTRACE_USAGE;
    }
    part->first_domain = (uint16_t)m->next_domain;
    m->next_domain += n_domains;
    return MEMTRACE_OK;
}

/* ---- codes ---- */

/* What a frame means, as a number: equal for equal places. */
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

/* Whether `code` is free for this place, or stands for it already; it does from now on. Without
 * memory codes stay as they are. */
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

/* A process lasts as long as the last of its parts. */
static void find_ends(merge *m) {
    uint64_t whole = 0;
    for (size_t i = 0; i < m->n_parts; i++) {
        merge_part *part = &m->parts[i];
        for (size_t j = 0; j < m->n_parts; j++)
            if (m->parts[j].process == part->process && m->parts[j].end > part->end)
                part->end = m->parts[j].end;
        whole = part->end > whole ? part->end : whole;
    }
    for (size_t i = 0; i < m->n_parts; i++)
        m->parts[i].frees = m->parts[i].end < whole;
}

/* The system frees what a process has when it ends. */
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

memtrace_status merge_write(merge *m, memtrace_reader *const *readers, int fd, compression how,
                            memtrace_error *error) {
    rewrite_input *inputs = calloc(m->n_parts, sizeof *inputs);
    if (!inputs) {
        if (error)
            *error = (memtrace_error){.status = MEMTRACE_NOMEM, .reason = "no memory to merge"};
        return MEMTRACE_NOMEM;
    }
    find_ends(m);
    for (size_t i = 0; i < m->n_parts; i++)
        inputs[i] = (rewrite_input){.reader = readers[i],
                                    .options = {.select = choose_event,
                                                .recode = recode,
                                                .add = free_next,
                                                .end = choose_end,
                                                .first_domain = m->parts[i].first_domain,
                                                .user = &m->parts[i]}};
    const memtrace_status status = rewrite_traces(&m->info, inputs, m->n_parts, fd, how, error);
    free(inputs);
    return status;
}

void merge_free(merge *m) {
    for (size_t i = 0; i < m->n_parts; i++)
        excerpt_free(&m->parts[i].blocks);
    free(m->parts);
    map64_free(&m->codes);
    vec_free(&m->places);
    *m = (merge){0};
}
