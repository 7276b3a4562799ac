/* reader.c: the event reader of memtrace.h: walks the packets, keeps the state of each domain, and
 * steps over damage.
 *
 * Bytes come from input.c, as whole packets that are decoded in place. Headers are decoded in
 * packet.c, events in reader_events.c and reader_locations.c. This file decides which packet comes
 * next: whether it belongs to the trace, and where to continue after damage. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/reader.h"

/* ---- errors ------------------------------------------------------------------------------ */

memtrace_status reader_error_nomem(memtrace_error *error) {
    *error = (memtrace_error){.status = MEMTRACE_NOMEM, .reason = "out of memory"};
    return MEMTRACE_NOMEM;
}

memtrace_status reader_error_format(memtrace_error *error, uint64_t offset, const char *format,
                                    ...) {
    *error = (memtrace_error){.status = MEMTRACE_FORMAT, .offset = offset};
    va_list args;
    va_start(args, format);
    vsnprintf(error->reason, sizeof error->reason, format, args);
    va_end(args);
    return MEMTRACE_FORMAT;
}

memtrace_status reader_error_system(memtrace_error *error, const char *what, int os_error) {
    *error = (memtrace_error){.status = MEMTRACE_IO, .os_error = os_error};
    snprintf(error->reason, sizeof error->reason, "%s: %s", what, strerror(os_error));
    return MEMTRACE_IO;
}

/* ---- domains ----------------------------------------------------------------------------- */

static reader_domain *reader_domain_new(memtrace_reader *r) {
    reader_domain *d = calloc(1, sizeof *d);
    if (!d || !vec_push(&r->domains, d)) {
        free(d);
        return NULL;
    }
    d->last_time = r->info.start_time;
    return d;
}

static reader_domain *reader_domain_of(memtrace_reader *r, uint16_t number) {
    uint32_t *index = map64_put(&r->domain_index, number);
    if (!index)
        return NULL;
    if (*index != MAP64_NONE)
        return r->domains.items[*index];
    *index = (uint32_t)r->domains.count;
    return reader_domain_new(r);
}

static void reader_domain_free(reader_domain *d) {
    backtrace_free(&d->backtrace);
    free(d->names);
    free(d);
}

void reader_domain_lose(memtrace_reader *r) {
    backtrace_lose(&r->domain->backtrace);
    r->domain->span.parts = 0;
    if (r->named == r->domain)
        names_lose(&r->names);
    else
        r->domain->names_lost = true;
}

/* ---- from packet to packet --------------------------------------------------------------- */

/* A few compressed megabytes can expand to terabytes without an event. */
enum { MOST_NOTHING = 1 << 28 /* bytes */ };

static bool reader_is_barren(const memtrace_reader *r) {
    return input_is_compressed(&r->in) && r->in.offset - r->fruitful > MOST_NOTHING;
}

/* Reports progress during a search, which can take long. */
static void reader_show_search(memtrace_reader *r) {
    const uint64_t megabytes = r->in.offset >> 20;
    if (megabytes != r->shown && r->on_packet)
        r->on_packet(r->on_packet_context, r);
    r->shown = megabytes;
}

/* Finds the next plausible header within `limit` bytes of `in.next`, and consumes everything before
 * it. Returns false if there is none. */
static bool reader_find_header(memtrace_reader *r, uint64_t limit) {
    uint64_t stop = r->in.offset + limit < limit ? UINT64_MAX : r->in.offset + limit;
    while (r->in.offset < stop && !reader_is_barren(r)) {
        reader_show_search(r);
        size_t n = input_peek(&r->in, format_header_size(FORMAT_MAX_VERSION));
        packet_header h;
        if (n == 0)
            return false;
        if (packet_parse(r->in.next, n, r->info.version, &h) == PACKET_GOOD && packet_plausible(&h))
            return true;
        const uint8_t *magic = memchr(r->in.next + 1, FORMAT_MAGIC & 255, n - 1);
        input_skip(&r->in, magic ? (size_t)(magic - r->in.next) : n);
    }
    return false;
}

/* Skips bytes that are not a packet, to the next packet or to the end. */
static memtrace_status reader_resync(memtrace_reader *r, packet_verdict verdict) {
    static const char *const met[] = {[PACKET_BAD_MAGIC] = "no magic number",
                                      [PACKET_BAD_VERSION] = "another format version",
                                      [PACKET_BAD_SIZE] = "an impossible packet size"};
    uint64_t from = r->in.offset;
    input_skip(&r->in, 1);
    bool found = reader_find_header(r, UINT64_MAX);
    r->losses++;
    const memtrace_status status = reader_lose(r, r->in.offset - from, 0);
    if (status != MEMTRACE_OK)
        return status;
    return reader_defect(r, NOT_A_PACKET, from, "%s where a packet should begin; %llu bytes %s",
                         met[verdict], (unsigned long long)(r->in.offset - from),
                         found || reader_is_barren(r) ? "skipped"
                                                      : "to the end of the trace ignored");
}

/* Handles the end of the bytes at `offset`, inside a packet or the compressed stream. */
static memtrace_status reader_cut_short(memtrace_reader *r, uint64_t offset, const char *within) {
    const input *in = &r->in;
    r->ended = true;
    r->next = r->end = NULL;
    switch (in->status) {
    case MEMTRACE_IO:
        return reader_error_system(&r->error, in->reason, in->os_error);
    case MEMTRACE_NOMEM:
        return reader_error_nomem(&r->error);
    case MEMTRACE_FORMAT:
        return reader_defect(r, CUT_SHORT, offset, "%s", in->reason);
    default:
        return within ? reader_defect(r, CUT_SHORT, offset, "the trace ends within %s", within)
                      : MEMTRACE_OK;
    }
}

/* Accepts event times between the packet's begin and end, if these make sense. */
static void reader_set_times(memtrace_reader *r) {
    const memtrace_packet *p = &r->header.packet;
    uint64_t begin = p->time_begin, end = p->time_end;
    bool sound = begin <= end && end - begin < 1u << FORMAT_TIME_BITS;
    r->time_limit = sound ? end : begin + FORMAT_MAX_PACKET_TIME;
    if (begin - end > FORMAT_MAX_PACKET_TIME && end - begin > FORMAT_MAX_PACKET_TIME)
        r->time_limit = 0; /* one of them is damaged, so trust neither */
}

static memtrace_status reader_verify_cache(memtrace_reader *r) {
    const packet_header *h = &r->header;
    backtrace *b = &r->domain->backtrace;
    if (h->verify_bucket == FORMAT_VERIFY_NOTHING || r->options.skip_backtraces ||
        backtrace_verify(b, &r->frames, h->verify_bucket, h->verify_prediction, h->verify_code))
        return MEMTRACE_OK;
    reader_domain_lose(r);
    const memtrace_status status = reader_miss(r, h->packet.time_begin);
    if (status != MEMTRACE_OK)
        return status;
    return reader_defect(r, CACHE_MISMATCH, h->packet.offset,
                         "bucket %u of domain %u is not what the packet says", h->verify_bucket,
                         h->packet.domain);
}

memtrace_status reader_enter_packet(memtrace_reader *r) {
    size_t n = input_peek(&r->in, r->header.packet.size);
    r->cut = n < r->header.packet.size;
    if (n > r->header.header_size)
        r->fruitful = r->in.offset;
    r->next = r->in.next + r->header.header_size;
    r->end = r->in.next + (r->cut ? n : r->header.packet.size);
    r->next_id = r->header.packet.id_begin;
    reader_set_times(r);
    reader_close_gap(r);
    r->latest_domain = r->header.packet.domain;
    r->domain = reader_domain_of(r, r->header.packet.domain);
    if (!r->domain)
        return reader_error_nomem(&r->error);
    if (r->domain->losses != r->losses) /* the loss may have been of any domain */
        reader_domain_lose(r);
    r->domain->losses = r->losses;
    if (r->on_packet)
        r->on_packet(r->on_packet_context, r);
    return reader_verify_cache(r);
}

/* Whether the packet states how the recording ended; if so, takes over the statement. */
static bool reader_is_at_end_said(memtrace_reader *r) {
    const end_trace of = reader_end_trace(r);
    const size_t n = input_peek(&r->in, END_PACKET); /* may move the window */
    const bool is =
        r->header.packet.size == END_PACKET && end_parse(r->in.next, n, &of, &r->said_end);
    if (is)
        r->said_at = r->header.packet.offset;
    return is;
}

static memtrace_status reader_skip_foreign(memtrace_reader *r) {
    const memtrace_packet *p = &r->header.packet;
    bool says_gap = false;
    const bool says_end = reader_is_at_end_said(r);
    memtrace_status status = says_end ? MEMTRACE_OK : reader_take_gap(r, &says_gap);
    if (p->pid != FORMAT_PID_NONE && !says_end && !says_gap)
        status = reader_defect(r, FOREIGN_PID, p->offset,
                               "%u bytes of process %llu in the trace of %llu", p->size,
                               (unsigned long long)p->pid, (unsigned long long)r->info.pid);
    size_t n = input_peek(&r->in, p->size);
    input_skip(&r->in, n < p->size ? n : p->size);
    return status;
}

static bool reader_owns_packet(const memtrace_reader *r) {
    uint64_t pid = r->header.packet.pid;
    return pid == r->info.pid || pid == r->header_pid;
}

/* Leaves the packet being read, whose end was reached or given up. */
static void reader_leave_packet(memtrace_reader *r) {
    if (r->next)
        input_skip(&r->in, (size_t)(r->end - r->in.next));
    r->next = r->end = NULL;
}

/* A writer uses the end time of a packet to say for how long nothing happened. It is only trusted
 * if the whole packet made sense, so that a wrong end exceeds the last event by at most the length
 * of a packet. */
static void reader_note_end(memtrace_reader *r) {
    const memtrace_packet *p = &r->header.packet;
    if (r->next && packet_plausible(&r->header) && p->time_end > r->packets_end)
        r->packets_end = p->time_end;
}

/* Two traces are concatenated: ids and codes of the second would collide with those of the
 * first. */
static memtrace_status reader_end_at_head(memtrace_reader *r) {
    r->ended = true;
    return reader_defect(r, ANOTHER_TRACE, r->header.packet.offset, "the head of another trace");
}

static memtrace_status reader_end_barren(memtrace_reader *r) {
    r->ended = true;
    const memtrace_status status = reader_lose(r, r->in.offset - r->fruitful, 0);
    if (status != MEMTRACE_OK)
        return status;
    return reader_defect(r, NOT_A_PACKET, r->in.offset,
                         "%d MB without an event; what follows is ignored", MOST_NOTHING >> 20);
}

memtrace_status reader_next_packet(memtrace_reader *r) {
    reader_note_end(r);
    reader_leave_packet(r);
    for (;;) {
        if (reader_is_barren(r))
            return reader_end_barren(r);
        size_t n = input_peek(&r->in, format_header_size(r->info.version));
        packet_header *h = &r->header;
        packet_verdict verdict =
            n == 0 ? PACKET_SHORT : packet_parse(r->in.next, n, r->info.version, h);
        memtrace_status status;
        if (verdict == PACKET_SHORT)
            return reader_cut_short(r, r->in.offset, n > 0 ? "a packet header" : NULL);
        h->packet.offset = r->in.offset;
        if (verdict != PACKET_GOOD)
            status = reader_resync(r, verdict);
        else if (!reader_owns_packet(r))
            status = reader_skip_foreign(r);
        else if (reader_is_at_head(r))
            return reader_end_at_head(r);
        else
            return reader_enter_packet(r);
        if (status != MEMTRACE_OK)
            return status;
    }
}

const char reader_overrun[] = "an event goes beyond the end of its packet";

__attribute__((cold)) memtrace_status reader_bad_event(memtrace_reader *r, const uint8_t *at,
                                                       const char *why) {
    uint64_t offset = reader_offset(r, at), left = (uint64_t)(r->end - at);
    if (r->cut && why == reader_overrun)
        return reader_cut_short(r, offset, "a packet");
    r->end = at; /* so that the search starts here */
    reader_leave_packet(r);
    r->losses++;
    reader_find_header(r, left);
    const memtrace_status status = reader_lose(r, r->in.offset - offset, left);
    if (status != MEMTRACE_OK)
        return status;
    return reader_defect(r, BAD_EVENT, offset, "%s; %llu bytes skipped", why,
                         (unsigned long long)(r->in.offset - offset));
}

/* ---- opening and closing ----------------------------------------------------------------- */

static memtrace_status reader_open(int fd, const void *bytes, size_t size,
                                   const memtrace_reader_options *options, memtrace_reader **reader,
                                   memtrace_error *error) {
    memtrace_error unseen;
    error = error ? error : &unseen;
    *error = (memtrace_error){0};
    memtrace_reader *r = *reader = calloc(1, sizeof *r);
    if (!r) {
        if (fd >= 0)
            close(fd);
        return reader_error_nomem(error);
    }
    r->options = options ? *options : (memtrace_reader_options){0};
    r->defects.strict = r->options.strict;
    memtrace_status status = input_open(&r->in, fd, bytes, size, error);
    if (status == MEMTRACE_OK) {
        status = reader_read_head(r);
        *error = r->error;
    }
    if (status != MEMTRACE_OK) {
        memtrace_reader_close(r);
        *reader = NULL;
    }
    return status;
}

memtrace_status memtrace_reader_open_fd(int fd, const memtrace_reader_options *options,
                                        memtrace_reader **reader, memtrace_error *error) {
    if (fd >= 0)
        return reader_open(fd, NULL, 0, options, reader, error);
    memtrace_error unseen;
    *reader = NULL;
    return reader_error_system(error ? error : &unseen, "cannot read", EBADF);
}

memtrace_status memtrace_reader_open_memory(const void *bytes, size_t size,
                                            const memtrace_reader_options *options,
                                            memtrace_reader **reader, memtrace_error *error) {
    return reader_open(-1, bytes, size, options, reader, error);
}

memtrace_status memtrace_reader_open(const char *path, const memtrace_reader_options *options,
                                     memtrace_reader **reader, memtrace_error *error) {
    memtrace_error unseen;
    int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                    : open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        return reader_open(fd, NULL, 0, options, reader, error);
    *reader = NULL;
    return reader_error_system(error ? error : &unseen, "cannot open", errno);
}

void memtrace_reader_close(memtrace_reader *r) {
    if (!r)
        return;
    input_close(&r->in);
    for (size_t i = 0; i < r->domains.count; i++)
        reader_domain_free(r->domains.items[i]);
    vec_free(&r->domains);
    map64_free(&r->domain_index);
    frame_table_free(&r->frames);
    intern_free(&r->strings);
    vec_free(&r->scratch);
    vec_free(&r->gaps);
    free(r);
}

/* ---- accessors --------------------------------------------------------------------------- */

const memtrace_info *memtrace_reader_info(const memtrace_reader *r) {
    return &r->info;
}

const memtrace_error *memtrace_reader_error(const memtrace_reader *r) {
    return &r->error;
}

const memtrace_frame *memtrace_reader_frame(const memtrace_reader *r, uint32_t index) {
    return &r->frames.frames.items[index];
}

uint32_t memtrace_reader_n_frames(const memtrace_reader *r) {
    return (uint32_t)r->frames.frames.count;
}

const memtrace_warning *memtrace_reader_warnings(const memtrace_reader *r, size_t *n) {
    *n = r->defects.n;
    return r->defects.warnings;
}

uint64_t memtrace_reader_duration(const memtrace_reader *r) {
    uint64_t end = r->packets_end;
    for (size_t i = 0; i < r->domains.count; i++)
        if (r->domains.items[i]->last_time > end)
            end = r->domains.items[i]->last_time;
    return end > r->info.start_time ? end - r->info.start_time : 0;
}

void memtrace_reader_on_defect(memtrace_reader *r, memtrace_defect_fn *fn, void *context) {
    r->defects.observer = fn;
    r->defects.observer_context = context;
}

void memtrace_reader_on_packet(memtrace_reader *r, memtrace_packet_fn *fn, void *context) {
    r->on_packet = fn;
    r->on_packet_context = context;
}

void memtrace_reader_progress(const memtrace_reader *r, uint64_t *done, uint64_t *total) {
    *done = input_consumed(&r->in);
    *total = r->in.total;
}

void memtrace_reader_on_end(memtrace_reader *r, memtrace_more_fn *more, void *context) {
    r->in.more = more;
    r->in.more_context = context;
}

const memtrace_packet *memtrace_reader_packet(const memtrace_reader *r) {
    return &r->header.packet;
}
