/* reader_locations.c: reads location events: the locations of a code, and which names can be
 * trusted. */
#include <stdlib.h>

#include "trace/bytes.h"
#include "trace/reader.h"

/* What was found while reading a location event. */
typedef struct location_findings {
    bool nomem, empty, stale;
    unsigned n_recovered, n_ambiguous;
} location_findings;

/* Repairs the file code of a location if necessary. After a loss, wrong names give no hint any
 * more. */
static void reader_check_columns(memtrace_reader *r, const uint8_t *p, unsigned n_left,
                                 location_word *word, location_findings *f) {
    const names *n = &r->names;
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
        r->columns.suspicious = false; /* the rest of the packet is missing */
    else if (r->columns.packet != packet + 1)
        columns_examine(&r->columns, &r->names, packet, place);
}

/* Reads a location event and moves `*cursor` past it. Returns NULL, or what is wrong with the
 * event. */
static const char *reader_read_locations(memtrace_reader *r, const uint8_t **cursor,
                                         location_findings *f) {
    const uint8_t *p = *cursor;
    uint64_t code = bytes_u64(p);
    unsigned n = p[8];
    p += 9;
    if (p > r->end)
        return reader_overrun;
    reader_examine_columns(r, p, n);
    vec_clear(&r->scratch);
    f->nomem = !vec_reserve(&r->scratch, n);
    for (unsigned i = 0; i < n && !f->nomem; i++) {
        location_word word = location_word_load(p);
        p += FORMAT_LOCATION_SIZE;
        if (p > r->end)
            return reader_overrun;
        reader_check_columns(r, p, n - i - 1, &word, f);
        names_result result = names_locate(&r->names, &r->strings, word, &p, r->end,
                                           &r->scratch.items[r->scratch.count]);
        if (result == NAMES_OVERRUN)
            return reader_overrun;
        f->nomem = result == NAMES_NOMEM;
        f->empty |= result == NAMES_EMPTY;
        f->stale |= result == NAMES_STALE;
        r->scratch.count++;
    }
    *cursor = p;
    f->nomem = f->nomem || !frame_table_announce(&r->frames, code, r->scratch.items, n, f->stale);
    return NULL;
}

static memtrace_status reader_report_findings(memtrace_reader *r, const uint8_t *at,
                                              const location_findings *f) {
    unsigned long long code = bytes_u64(at + FORMAT_EVENT_HEADER);
    uint64_t offset = reader_offset(r, at);
    memtrace_status status = MEMTRACE_OK;
    if (f->empty)
        status = reader_defect(r, EMPTY_NAME, offset,
                               "the location of code %#llx refers to a name never given", code);
    if (f->stale && status == MEMTRACE_OK)
        status = reader_defect(r, STALE_NAME, offset,
                               "the names of code %#llx were given before packets were lost", code);
    if (f->n_recovered > 0 && status == MEMTRACE_OK)
        status = reader_defect(r, COLUMN_OVERFLOW, offset,
                               "the columns of code %#llx overflow; its file was recovered", code);
    if (f->n_ambiguous > 0 && status == MEMTRACE_OK)
        status = reader_defect(r, COLUMN_AMBIGUOUS, offset,
                               "the columns of code %#llx overflow; its file is a guess", code);
    return status;
}

/* Makes `r->names` the tables of the packet's domain. Returns false when out of memory. */
static bool reader_names_ready(memtrace_reader *r) {
    reader_domain *d = r->domain;
    if (r->named == d)
        return true;
    if (r->named && !names_pack(&r->names, &r->named->names))
        return false;
    if (d->names)
        names_unpack(&r->names, d->names);
    else
        names_init(&r->names);
    if (d->names && d->names_lost)
        names_lose(&r->names);
    d->names_lost = false;
    r->named = d;
    return true;
}

memtrace_status reader_location(memtrace_reader *r) {
    const uint8_t *at = r->next, *p = at + FORMAT_EVENT_HEADER;
    location_findings found = {0};
    if (!reader_names_ready(r))
        return reader_error_nomem(&r->error);
    const char *why = reader_read_locations(r, &p, &found);
    if (why)
        return reader_bad_event(r, at, why);
    if (found.nomem)
        return reader_error_nomem(&r->error);
    r->next = p;
    return reader_report_findings(r, at, &found);
}
