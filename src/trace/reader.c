/* reader.c: the event reader of memtrace.h: walks packets and events, keeps each domain's state,
 * and steps over damage.
 *
 * Bytes come from input.c, in whole packets that are decoded in place. What bytes mean: headers in
 * packet.c, names in mtf.c, backtraces in backtrace.c. This file owns the order of things: which
 * packet is ours, what an event's time and id are, where to go on after damage. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allotrace/memtrace.h"
#include "base/intern.h"
#include "base/map64.h"
#include "base/vec.h"
#include "trace/backtrace.h"
#include "trace/bytes.h"
#include "trace/columns.h"
#include "trace/defects.h"
#include "trace/frames.h"
#include "trace/input.h"
#include "trace/mtf.h"
#include "trace/packet.h"

#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* What must be remembered of a domain between its packets. */
typedef struct reader_domain {
    uint64_t last_time; /* us since the epoch, of its latest event: never goes back */
    backtrace backtrace;
    names names;
} reader_domain;

struct memtrace_reader {
    input in;
    memtrace_reader_options options;
    memtrace_info info;  /* its strings are interned */
    uint64_t header_pid; /* of the first packet: should be info.pid */
    memtrace_error error;
    defect_log defects;

    VEC(reader_domain *) domains;
    map64 domain_index; /* domain number -> index in domains */
    frame_table frames;
    intern_table strings;
    VEC(memtrace_location) scratch; /* the locations of one code */
    columns columns;
    unsigned losses; /* packets or parts of them that could not be read */

    /* The packet being read; `next` is NULL before the first and after the last. */
    packet_header header;
    reader_domain *domain;
    const uint8_t *next, *end; /* what is left of it in the window */
    bool ended;                /* no packet follows */
    bool cut;                  /* the trace ends before the packet does */
    uint64_t time_limit;       /* us since the epoch: no event of it is later */
    uint64_t next_id;          /* of its next allocation */
};

/* ---- errors ------------------------------------------------------------------------------ */

static memtrace_status error_nomem(memtrace_error *error) {
    *error = (memtrace_error){.status = MEMTRACE_NOMEM, .reason = "out of memory"};
    return MEMTRACE_NOMEM;
}

static __attribute__((format(printf, 3, 4))) memtrace_status
error_format(memtrace_error *error, uint64_t offset, const char *format, ...) {
    *error = (memtrace_error){.status = MEMTRACE_FORMAT, .offset = offset};
    va_list args;
    va_start(args, format);
    vsnprintf(error->reason, sizeof error->reason, format, args);
    va_end(args);
    return MEMTRACE_FORMAT;
}

static memtrace_status error_system(memtrace_error *error, const char *what, int os_error) {
    *error = (memtrace_error){.status = MEMTRACE_IO, .os_error = os_error};
    snprintf(error->reason, sizeof error->reason, "%s: %s", what, strerror(os_error));
    return MEMTRACE_IO;
}

#define reader_defect(r, kind, offset, ...)                                                        \
    defect_met(&(r)->defects, &(r)->error, MEMTRACE_DEFECT_##kind, (offset), __VA_ARGS__)

/* The offset in the trace of a byte of the packet being read. */
static uint64_t reader_offset(const memtrace_reader *r, const uint8_t *p) {
    return r->header.packet.offset + (uint64_t)(p - r->in.next);
}

/* ---- domains ----------------------------------------------------------------------------- */

static reader_domain *reader_domain_new(memtrace_reader *r) {
    reader_domain *d = calloc(1, sizeof *d);
    if (!d || !vec_push(&r->domains, d)) {
        free(d);
        return NULL;
    }
    names_init(&d->names);
    d->last_time = r->info.start_time;
    if (r->losses > 0)
        backtrace_lose(&d->backtrace);
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

/* Something was lost, of whichever domain. */
static void reader_lose(memtrace_reader *r) {
    r->losses++;
    for (size_t i = 0; i < r->domains.count; i++)
        backtrace_lose(&r->domains.items[i]->backtrace);
}

/* ---- from packet to packet --------------------------------------------------------------- */

/* Finds the next plausible header at or after `in.next`, within `limit` bytes. Consumes all before
 * it; returns false if there is none. */
static bool reader_find_header(memtrace_reader *r, uint64_t limit) {
    uint64_t stop = r->in.offset + limit < limit ? UINT64_MAX : r->in.offset + limit;
    while (r->in.offset < stop) {
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

/* At bytes that are no packet: goes to the next one, or to the end. */
static memtrace_status reader_resync(memtrace_reader *r, packet_verdict verdict) {
    static const char *const met[] = {[PACKET_BAD_MAGIC] = "no magic number",
                                      [PACKET_BAD_VERSION] = "another format version",
                                      [PACKET_BAD_SIZE] = "an impossible packet size"};
    uint64_t from = r->in.offset;
    input_skip(&r->in, 1);
    bool found = reader_find_header(r, UINT64_MAX);
    reader_lose(r);
    return reader_defect(r, NOT_A_PACKET, from, "%s where a packet should begin; %llu bytes %s",
                         met[verdict], (unsigned long long)(r->in.offset - from),
                         found ? "skipped" : "to the end of the trace ignored");
}

/* The bytes end at `offset`, inside of something or inside of the compressed stream. */
static memtrace_status reader_cut_short(memtrace_reader *r, uint64_t offset, const char *within) {
    const input *in = &r->in;
    r->ended = true;
    switch (in->status) {
    case MEMTRACE_IO:
        return error_system(&r->error, in->reason, in->os_error);
    case MEMTRACE_NOMEM:
        return error_nomem(&r->error);
    case MEMTRACE_FORMAT:
        return reader_defect(r, CUT_SHORT, offset, "%s", in->reason);
    default:
        return within ? reader_defect(r, CUT_SHORT, offset, "the trace ends within %s", within)
                      : MEMTRACE_OK;
    }
}

/* Times of events are believed between the packet's begin and its end, if these make sense. */
static void reader_set_times(memtrace_reader *r) {
    const memtrace_packet *p = &r->header.packet;
    uint64_t begin = p->time_begin, end = p->time_end;
    bool sound = begin <= end && end - begin < 1u << FORMAT_TIME_BITS;
    r->time_limit = sound ? end : begin + FORMAT_MAX_PACKET_TIME;
    if (begin - end > FORMAT_MAX_PACKET_TIME && end - begin > FORMAT_MAX_PACKET_TIME)
        r->time_limit = 0; /* one of them is damaged: believe neither */
}

static memtrace_status reader_verify_cache(memtrace_reader *r) {
    const packet_header *h = &r->header;
    backtrace *b = &r->domain->backtrace;
    if (h->verify_bucket == FORMAT_VERIFY_NOTHING || r->options.skip_backtraces ||
        backtrace_verify(b, &r->frames, h->verify_bucket, h->verify_prediction, h->verify_code))
        return MEMTRACE_OK;
    backtrace_lose(b);
    return reader_defect(r, CACHE_MISMATCH, h->packet.offset,
                         "bucket %u of domain %u is not what the packet says", h->verify_bucket,
                         h->packet.domain);
}

/* Starts to read the packet at `in.next`, whose header has been decoded. */
static memtrace_status reader_enter_packet(memtrace_reader *r) {
    size_t n = input_peek(&r->in, r->header.packet.size);
    r->cut = n < r->header.packet.size;
    r->next = r->in.next + r->header.header_size;
    r->end = r->in.next + (r->cut ? n : r->header.packet.size);
    r->next_id = r->header.packet.id_begin;
    reader_set_times(r);
    r->domain = reader_domain_of(r, r->header.packet.domain);
    return r->domain ? reader_verify_cache(r) : error_nomem(&r->error);
}

static memtrace_status reader_skip_foreign(memtrace_reader *r) {
    const memtrace_packet *p = &r->header.packet;
    memtrace_status status =
        reader_defect(r, FOREIGN_PID, p->offset, "%u bytes of process %llu in the trace of %llu",
                      p->size, (unsigned long long)p->pid, (unsigned long long)r->info.pid);
    size_t n = input_peek(&r->in, p->size);
    input_skip(&r->in, n < p->size ? n : p->size);
    return status;
}

static bool reader_owns_packet(const memtrace_reader *r) {
    uint64_t pid = r->header.packet.pid;
    return pid == r->info.pid || pid == r->header_pid;
}

/* Leaves the packet being read, whose end in the window has been reached or given up. */
static void reader_leave_packet(memtrace_reader *r) {
    if (r->next)
        input_skip(&r->in, (size_t)(r->end - r->in.next));
    r->next = r->end = NULL;
}

/* Goes to the next packet of ours. */
static memtrace_status reader_next_packet(memtrace_reader *r) {
    reader_leave_packet(r);
    for (;;) {
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
        else
            return reader_enter_packet(r);
        if (status != MEMTRACE_OK)
            return status;
    }
}

static const char overrun[] = "an event goes beyond the end of its packet";

/* The event at `at` cannot be decoded. Where the trace ends within the packet that was to be
 * expected; otherwise the packet is left, for the next header if one stands within it: it was cut
 * short, and another one written behind it. */
static __attribute__((cold)) memtrace_status reader_bad_event(memtrace_reader *r, const uint8_t *at,
                                                              const char *why) {
    uint64_t offset = reader_offset(r, at), left = (uint64_t)(r->end - at);
    if (r->cut && why == overrun)
        return reader_cut_short(r, offset, "a packet");
    r->end = at; /* goes on from here */
    reader_leave_packet(r);
    reader_lose(r);
    reader_find_header(r, left);
    return reader_defect(r, BAD_EVENT, offset, "%s; %llu bytes skipped", why,
                         (unsigned long long)(r->in.offset - offset));
}

/* ---- events ------------------------------------------------------------------------------ */

/* The full time, in us since the epoch, of an event of this packet; `*backwards` if that is out of
 * order, and was clamped. */
static uint64_t reader_time(memtrace_reader *r, uint32_t event_header, bool *backwards) {
    const uint32_t low_mask = (1u << FORMAT_TIME_BITS) - 1;
    uint64_t begin = r->header.packet.time_begin;
    uint64_t time = begin + ((event_header - (uint32_t)begin) & low_mask);
    uint64_t last = r->domain->last_time;
    *backwards = time < last || time > r->time_limit;
    return r->domain->last_time = *backwards ? last : time;
}

/* What reading a location event brought to light. */
typedef struct location_findings {
    bool nomem, empty;
    unsigned n_recovered, n_ambiguous;
} location_findings;

/* Repairs the file code of a location, if it takes that. After a loss there is nothing to tell from
 * names that are not as they should be. */
static void reader_check_columns(memtrace_reader *r, const uint8_t *p, unsigned n_left,
                                 location_word *word, location_findings *f) {
    const names *n = &r->domain->names;
    columns_place place = {.p = p, .end = r->end, .n_left = n_left, .version = r->info.version};
    if (!r->columns.suspicious || r->losses > 0)
        return;
    columns_verdict verdict = columns_choose(&r->columns, n, place, word);
    f->n_recovered += verdict == COLUMNS_RECOVERED;
    f->n_ambiguous += verdict == COLUMNS_AMBIGUOUS;
}

static void reader_examine_columns(memtrace_reader *r, const uint8_t *p, unsigned n) {
    columns_place place = {.p = p, .end = r->end, .n_left = n, .version = r->info.version};
    uint64_t packet = r->header.packet.offset;
    if (r->cut)
        r->columns.suspicious = false; /* what follows cannot tell */
    else if (r->columns.packet != packet + 1)
        columns_examine(&r->columns, &r->domain->names, packet, place);
}

/* Reads a location event and moves `*cursor` behind it. NULL, or what is wrong with it. */
static const char *reader_read_locations(memtrace_reader *r, const uint8_t **cursor,
                                         location_findings *f) {
    const uint8_t *p = *cursor;
    uint64_t code = load_u64(p);
    unsigned n = p[8];
    p += 9;
    if (p > r->end)
        return overrun;
    reader_examine_columns(r, p, n);
    vec_clear(&r->scratch);
    f->nomem = !vec_reserve(&r->scratch, n);
    for (unsigned i = 0; i < n && !f->nomem; i++) {
        location_word word = location_word_load(p);
        p += FORMAT_LOCATION_SIZE;
        if (p > r->end)
            return overrun;
        reader_check_columns(r, p, n - i - 1, &word, f);
        names_result result = names_locate(&r->domain->names, &r->strings, word, &p, r->end,
                                           &r->scratch.items[r->scratch.count]);
        if (result == NAMES_OVERRUN)
            return overrun;
        f->nomem = result == NAMES_NOMEM;
        f->empty |= result == NAMES_EMPTY;
        r->scratch.count++;
    }
    *cursor = p;
    f->nomem = f->nomem || !frame_table_announce(&r->frames, code, r->scratch.items, n);
    return NULL;
}

static memtrace_status reader_report_findings(memtrace_reader *r, const uint8_t *at,
                                              const location_findings *f) {
    unsigned long long code = load_u64(at + FORMAT_EVENT_HEADER);
    uint64_t offset = reader_offset(r, at);
    memtrace_status status = MEMTRACE_OK;
    if (f->empty)
        status = reader_defect(r, EMPTY_NAME, offset,
                               "the location of code %#llx refers to a name never given", code);
    if (f->n_recovered > 0 && status == MEMTRACE_OK)
        status = reader_defect(r, COLUMN_OVERFLOW, offset,
                               "the columns of code %#llx overflow; its file was recovered", code);
    if (f->n_ambiguous > 0 && status == MEMTRACE_OK)
        status = reader_defect(r, COLUMN_AMBIGUOUS, offset,
                               "the columns of code %#llx overflow; its file is a guess", code);
    return status;
}

static memtrace_status reader_location(memtrace_reader *r, const uint8_t *at) {
    const uint8_t *p = at + FORMAT_EVENT_HEADER;
    location_findings found = {0};
    const char *why = reader_read_locations(r, &p, &found);
    if (why)
        return reader_bad_event(r, at, why);
    if (found.nomem)
        return error_nomem(&r->error);
    r->next = p;
    return reader_report_findings(r, at, &found);
}

/* What reading another event brought to light. */
typedef struct event_findings {
    bool nomem;
    bool unset; /* its backtrace uses a bucket that was never filled */
} event_findings;

/* Reads the backtrace of an allocation: `n` codewords at `*p`. NULL, or what is wrong with it. */
static const char *reader_backtrace(memtrace_reader *r, const uint8_t **p, uint32_t n,
                                    uint64_t prefix, memtrace_event *event, event_findings *found) {
    backtrace *b = &r->domain->backtrace;
    if (r->options.skip_backtraces) {
        *p = backtrace_skip(*p, r->end, n);
        return *p ? NULL : overrun;
    }
    backtrace_result result = backtrace_decode(b, &r->frames, p, r->end, n, prefix);
    found->nomem = result == BACKTRACE_NOMEM;
    found->unset = result == BACKTRACE_UNSET;
    if (result == BACKTRACE_OVERRUN)
        return overrun;
    if (result == BACKTRACE_TOO_DEEP)
        return "a backtrace of impossible depth";
    event->frames = b->frames;
    event->n_frames = b->n_frames;
    event->suspect = backtrace_is_suspect(b);
    return NULL;
}

/* Reads the payload of an allocation at `p`. Sets r->next behind it. NULL, or what is wrong. */
static const char *reader_alloc(memtrace_reader *r, const uint8_t *p, unsigned kind,
                                memtrace_event *event, event_findings *found) {
    uint64_t prefix;
    uint32_t n;
    if (kind > FORMAT_SHORT_ALLOC) {
        event->length = kind - FORMAT_SHORT_ALLOC;
        event->samples = 1;
        event->source = MEMTRACE_MINOR;
        p = load_vint(p, &prefix);
        n = *p++;
    } else {
        p = load_vint(p, &event->length);
        p = load_vint(p, &event->samples);
        if (*p > MEMTRACE_EXTERNAL)
            return "an allocation of unknown source";
        event->source = (memtrace_source)*p++;
        p = load_vint(p, &prefix);
        n = load_u16(p);
        p += 2;
        if (event->length > INT64_MAX || event->samples > event->length + 1)
            return "an allocation with more samples than words";
    }
    if (p > r->end)
        return overrun;
    const char *why = reader_backtrace(r, &p, n, prefix, event, found);
    if (!why)
        r->next = p;
    return why;
}

static const char *reader_fate(memtrace_reader *r, const uint8_t *p, memtrace_event *event) {
    uint64_t delta;
    p = load_vint(p, &delta);
    if (p > r->end)
        return overrun;
    event->id = r->next_id - 1 - delta;
    r->next = p;
    return NULL;
}

/* Decodes the event at r->next that a caller wants to see. NULL, or what is wrong with it. */
static const char *reader_read_event(memtrace_reader *r, unsigned kind, memtrace_event *event,
                                     event_findings *found) {
    const uint8_t *p = r->next + FORMAT_EVENT_HEADER;
    if (kind == FORMAT_PROMOTE || kind == FORMAT_COLLECT) {
        event->kind = kind == FORMAT_PROMOTE ? MEMTRACE_PROMOTE : MEMTRACE_COLLECT;
        return reader_fate(r, p, event);
    }
    if (kind != FORMAT_ALLOC &&
        (kind <= FORMAT_SHORT_ALLOC || kind > FORMAT_SHORT_ALLOC + FORMAT_SHORT_ALLOC_MAX))
        return "an event of unknown kind";
    event->kind = MEMTRACE_ALLOC;
    event->id = r->next_id;
    const char *why = reader_alloc(r, p, kind, event, found);
    r->next_id += !why;
    return why;
}

/* An event that was read, but is not as it should be. A bucket that was never filled stands for
 * code 0; unless the trace knows that code, what filled the bucket was lost. */
static __attribute__((cold)) memtrace_status reader_odd_event(memtrace_reader *r, const uint8_t *at,
                                                              memtrace_event *event, bool backwards,
                                                              bool unset) {
    uint64_t offset = reader_offset(r, at);
    backtrace *b = &r->domain->backtrace;
    if (backwards) {
        memtrace_status status =
            reader_defect(r, TIME_BACKWARDS, offset, "an event earlier than the one before it");
        if (status != MEMTRACE_OK)
            return status;
    }
    if (!unset || b->loss > 0 || frame_table_knows(&r->frames, 0))
        return MEMTRACE_OK;
    backtrace_lose(b);
    event->suspect = true;
    return reader_defect(r, CACHE_MISMATCH, offset, "a backtrace uses a bucket never filled");
}

/* Reads on within the packet. MEMTRACE_OK with `*done` false: nothing to show yet. */
static memtrace_status reader_step(memtrace_reader *r, memtrace_event *event, bool *done) {
    const uint8_t *at = r->next;
    if (r->end - at < FORMAT_EVENT_HEADER)
        return reader_bad_event(r, at, overrun);
    uint32_t header = load_u32(at);
    unsigned kind = header >> FORMAT_TIME_BITS;
    if (kind == FORMAT_LOCATION)
        return reader_location(r, at);
    event_findings found = {0};
    *event = (memtrace_event){.domain = r->header.packet.domain};
    const char *why = reader_read_event(r, kind, event, &found);
    if (why)
        return reader_bad_event(r, at, why);
    if (found.nomem)
        return error_nomem(&r->error);
    bool backwards;
    event->time = reader_time(r, header, &backwards) - r->info.start_time;
    if (unlikely(backwards || found.unset)) {
        memtrace_status status = reader_odd_event(r, at, event, backwards, found.unset);
        if (status != MEMTRACE_OK)
            return status;
    }
    if (event->kind == MEMTRACE_ALLOC)
        event->common_prefix = backtrace_take(&r->domain->backtrace);
    *done = true;
    return MEMTRACE_OK;
}

memtrace_status memtrace_reader_next(memtrace_reader *r, memtrace_event *event) {
    if (r->error.status != MEMTRACE_OK)
        return r->error.status;
    for (bool done = false; !done;) {
        if (r->ended)
            return MEMTRACE_END;
        memtrace_status status = r->next == r->end && !(r->cut && r->next)
                                     ? reader_next_packet(r)
                                     : reader_step(r, event, &done);
        if (status != MEMTRACE_OK)
            return status;
    }
    return MEMTRACE_OK;
}

/* ---- the head ---------------------------------------------------------------------------- */

static memtrace_status head_bad_header(memtrace_error *error, const input *in,
                                       packet_verdict verdict) {
    const uint8_t *p = in->next;
    switch (verdict) {
    case PACKET_SHORT:
        return error_format(error, in->available, "the trace ends after %zu bytes, within its head",
                            in->available);
    case PACKET_BAD_VERSION:
        return error_format(error, FORMAT_AT_VERSION,
                            "not a memtrace trace of version 1 to 3: it says version %u",
                            load_u16(p + FORMAT_AT_VERSION));
    case PACKET_BAD_SIZE:
        return error_format(error, FORMAT_AT_SIZE,
                            "not a memtrace trace: its first packet has %u bits, more or fewer than"
                            " a packet can have",
                            load_u32(p + FORMAT_AT_SIZE));
    default:
        return error_format(error, 0,
                            "not a memtrace trace: it begins with %02x %02x %02x %02x instead of"
                            " c1 1f fc c1",
                            p[0], p[1], p[2], p[3]);
    }
}

/* Reads a string of the head; NULL if it does not end within the packet. */
static const char *head_string(memtrace_reader *r, const uint8_t **p, bool *nomem) {
    const uint8_t *nul = *p < r->end ? memchr(*p, 0, (size_t)(r->end - *p)) : NULL;
    if (!nul)
        return NULL;
    const char *s = intern(&r->strings, (const char *)*p, (size_t)(nul - *p));
    *nomem |= !s;
    *p = nul + 1;
    return s;
}

static double load_f64(const uint8_t *p) {
    uint64_t bits = load_u64(p);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Reads the payload of the trace info event at `p`. NULL, or what is wrong with it. */
static const char *head_read_info(memtrace_reader *r, const uint8_t *p, bool *nomem) {
    memtrace_info *info = &r->info;
    info->sample_rate = load_f64(p);
    info->word_size = p[8];
    p += 9;
    info->executable_name = head_string(r, &p, nomem);
    info->host_name = head_string(r, &p, nomem);
    info->runtime_params = head_string(r, &p, nomem);
    info->pid = load_u64(p);
    p += 8;
    info->context = info->version >= 2 ? head_string(r, &p, nomem) : "";
    if (*nomem)
        return NULL;
    if (p > r->end || !info->executable_name || !info->host_name || !info->runtime_params ||
        !info->context)
        return r->cut ? "the trace ends within its head"
                      : "trace info that goes beyond its packet; the head is damaged";
    if (!(info->sample_rate > 0 && info->sample_rate <= 1))
        return "a sampling rate that is not above 0 and at most 1; the head is damaged";
    if (info->word_size != 32 && info->word_size != 64)
        return "a word size that is neither 32 nor 64 bits; the head is damaged";
    r->next = p;
    return NULL;
}

static memtrace_status reader_read_head(memtrace_reader *r) {
    packet_header *h = &r->header;
    size_t n = input_peek(&r->in, format_header_size(FORMAT_MAX_VERSION));
    if (r->in.status != MEMTRACE_OK && n < format_header_size(FORMAT_MIN_VERSION))
        return r->in.status == MEMTRACE_FORMAT
                   ? error_format(&r->error, n, "%s", r->in.reason)
                   : error_system(&r->error, r->in.reason, r->in.os_error);
    if (n == 0)
        return error_format(&r->error, 0, "empty file");
    packet_verdict verdict = packet_parse(r->in.next, n, 0, h);
    if (verdict != PACKET_GOOD)
        return head_bad_header(&r->error, &r->in, verdict);
    r->info.version = h->version;
    r->info.pid = r->header_pid = h->packet.pid;
    memtrace_status status = reader_enter_packet(r);
    if (status != MEMTRACE_OK)
        return status;
    uint64_t offset = reader_offset(r, r->next);
    uint32_t event = load_u32(r->next);
    if (r->cut && r->end - r->next < FORMAT_EVENT_HEADER)
        return error_format(&r->error, offset, "the trace ends within its head");
    if (r->end - r->next < FORMAT_EVENT_HEADER || event >> FORMAT_TIME_BITS != FORMAT_TRACE_INFO)
        return error_format(&r->error, offset,
                            "not a memtrace trace: its first packet holds no trace info");
    bool nomem = false, backwards;
    const char *why = head_read_info(r, r->next + FORMAT_EVENT_HEADER, &nomem);
    if (nomem)
        return error_nomem(&r->error);
    if (why)
        return error_format(&r->error, offset, "%s", why);
    r->info.start_time = reader_time(r, event, &backwards);
    return MEMTRACE_OK;
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
        return error_nomem(error);
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
    return reader_open(fd, NULL, 0, options, reader, error);
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
    return error_system(error ? error : &unseen, "cannot open", errno);
}

void memtrace_reader_close(memtrace_reader *r) {
    if (!r)
        return;
    input_close(&r->in);
    for (size_t i = 0; i < r->domains.count; i++) {
        backtrace_free(&r->domains.items[i]->backtrace);
        free(r->domains.items[i]);
    }
    vec_free(&r->domains);
    map64_free(&r->domain_index);
    frame_table_free(&r->frames);
    intern_free(&r->strings);
    vec_free(&r->scratch);
    free(r);
}

/* ---- questions --------------------------------------------------------------------------- */

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

void memtrace_reader_on_defect(memtrace_reader *r, memtrace_defect_fn *fn, void *context) {
    r->defects.observer = fn;
    r->defects.observer_context = context;
}

void memtrace_reader_progress(const memtrace_reader *r, uint64_t *done, uint64_t *total) {
    *done = input_consumed(&r->in);
    *total = r->in.total;
}

const memtrace_packet *memtrace_reader_packet(const memtrace_reader *r) {
    return &r->header.packet;
}
