/* relabel.c: the reader decodes the old names from a trace in memory that consists of the head and
 * the packets of names; the writer encodes the new ones. */
#include "trace/relabel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/vec.h"
#include "trace/bytes.h"
#include "trace/compressor.h"
#include "trace/end.h"
#include "trace/failure.h"
#include "trace/packet.h"
#include "trace/replacement.h"
#include "trace/room.h"
#include "trace/writer_names.h"

/* A packet of events in the file. */
typedef struct piece {
    uint64_t offset, size; /* bytes */
    uint64_t time;         /* begin of the packet, us since the epoch */
    uint64_t index;        /* position among all packets, for a stable order */
} piece;

struct relabel {
    int fd;
    uint64_t size, n_allocations;
    bool has_gaps; /* ids have gaps between packets */
    uint64_t pid, start_time;
    unsigned last_domain;
    name_room room;
    memtrace_end end;
    bool says_end;
    VEC(piece) pieces;
    VEC(uint64_t) named; /* offsets of the packets of names */
    VEC(uint8_t) names;  /* the head and all packets of names */
    memtrace_reader *reader;

    /* While names are being written: */
    relabel_locate *locate;
    void *user;
    uint32_t current;     /* index of the next frame */
    VEC(uint8_t) renamed; /* the new head and the new names */
    compressor out;
    uint16_t version;
    int os_error;
};

static int compare_pieces(const void *a, const void *b) {
    const piece *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool are_in_order(const relabel *r) {
    for (size_t i = 1; i < r->pieces.count; i++)
        if (compare_pieces(&r->pieces.items[i - 1], &r->pieces.items[i]) > 0)
            return false;
    return true;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Whether a packet that starts with this kind of event consists of names. */
static bool is_of_names(unsigned first_kind) {
    return first_kind == FORMAT_LOCATION || first_kind == FORMAT_TRACE_INFO;
}

static memtrace_status add_names(relabel *r, uint64_t offset, size_t size) {
    if (!vec_reserve(&r->names, size) || (offset > 0 && !vec_push(&r->named, offset)))
        return MEMTRACE_NOMEM;
    if ((errno = file_read_at(r->fd, r->names.items + r->names.count, size, offset)) != 0)
        return MEMTRACE_IO;
    r->names.count += size;
    return MEMTRACE_OK;
}

static memtrace_status add_piece(relabel *r, uint64_t offset, const packet_header *h) {
    piece new = {.offset = offset,
                 .size = h->packet.size,
                 .time = h->packet.time_begin,
                 .index = r->pieces.count};
    r->has_gaps |= h->packet.id_begin != r->n_allocations && h->packet.size > FORMAT_EMPTY_PACKET;
    r->n_allocations += h->packet.id_end - h->packet.id_begin;
    return vec_push(&r->pieces, new) ? MEMTRACE_OK : MEMTRACE_NOMEM;
}

static bool is_usable(const relabel *r, uint64_t offset, const packet_header *h) {
    return packet_plausible(h) &&
           (h->packet.size >= FORMAT_LEAST_PACKET || h->packet.size == FORMAT_EMPTY_PACKET) &&
           h->packet.size <= r->size - offset &&
           (offset == 0 || h->packet.pid == r->pid || h->packet.pid == FORMAT_PID_NONE);
}

/* Stores facts from the head that later packets depend on. */
static void take_head(relabel *r, const packet_header *h) {
    r->pid = h->packet.pid;
    r->start_time = h->packet.time_begin;
    r->room.begin = r->room.end = h->packet.size;
}

/* Handles a packet that other readers skip: a statement of the end, which may stand before the
 * room, or a part of the room. */
static memtrace_status take_nobodys(relabel *r, uint64_t offset, uint64_t size) {
    memtrace_gap gap;
    const end_trace of = {.version = r->version, .start = r->start_time, .pid = r->pid};
    uint8_t bytes[END_PACKET];
    if (size == sizeof bytes && (errno = file_read_at(r->fd, bytes, size, offset)) != 0)
        return MEMTRACE_IO;
    if (size == sizeof bytes && end_parse(bytes, size, &of, &r->end)) {
        r->says_end = true;
        if (offset == r->room.begin && r->room.end == offset)
            r->room.begin = r->room.end = offset + size;
        return MEMTRACE_OK;
    }
    if (size == sizeof bytes && end_parse_gap(bytes, size, &of, &gap))
        return MEMTRACE_USAGE; /* the statement of a gap: the trace must be rewritten with it */
    room_meet(&r->room, offset, size);
    return MEMTRACE_OK;
}

/* Handles the packet at `offset`, and returns its size in `*size`. */
static memtrace_status take_packet(relabel *r, uint64_t offset, uint64_t *size) {
    uint8_t bytes[FORMAT_LEAST_PACKET];
    packet_header h;
    const uint64_t left = r->size - offset;
    const size_t n = left < sizeof bytes ? (size_t)left : sizeof bytes;
    if ((errno = file_read_at(r->fd, bytes, n, offset)) != 0)
        return MEMTRACE_IO;
    if (packet_parse(bytes, n, FORMAT_MAX_VERSION, &h) != PACKET_GOOD || !is_usable(r, offset, &h))
        return MEMTRACE_USAGE;
    *size = h.packet.size;
    if (offset == 0)
        take_head(r, &h);
    if (h.packet.pid != r->pid)
        return take_nobodys(r, offset, *size);
    if (h.packet.size == FORMAT_EMPTY_PACKET && offset > 0)
        return add_piece(r, offset, &h);
    unsigned kind = bytes_u32(bytes + h.header_size) >> FORMAT_TIME_BITS;
    if ((kind == FORMAT_TRACE_INFO) != (offset == 0))
        return MEMTRACE_USAGE;
    if (h.packet.domain > r->last_domain)
        r->last_domain = h.packet.domain;
    return is_of_names(kind) ? add_names(r, offset, *size) : add_piece(r, offset, &h);
}

static memtrace_status scan(relabel *r, memtrace_error *error) {
    memtrace_status status = MEMTRACE_OK;
    uint64_t size = 0;
    for (uint64_t offset = 0; offset < r->size && status == MEMTRACE_OK; offset += size)
        status = take_packet(r, offset, &size);
    if (status != MEMTRACE_OK)
        return failure(error, status, status == MEMTRACE_IO ? EIO : 0,
                       "not a trace with self-contained names");
    return memtrace_reader_open_memory(r->names.items, r->names.count, NULL, &r->reader, error);
}

memtrace_status relabel_open(relabel **r, const char *path, memtrace_error *error) {
    struct stat st;
    *r = calloc(1, sizeof **r);
    if (!*r)
        return failure(error, MEMTRACE_NOMEM, 0, "not enough memory for the names");
    (*r)->fd = open(path, O_RDONLY | O_CLOEXEC);
    memtrace_status status;
    if ((*r)->fd < 0 || fstat((*r)->fd, &st) != 0) {
        status = failure(error, MEMTRACE_IO, errno, "cannot be read");
    } else if (!S_ISREG(st.st_mode)) {
        status = failure(error, MEMTRACE_USAGE, 0, "not a regular file");
    } else {
        (*r)->size = (uint64_t)st.st_size;
        status = scan(*r, error);
    }
    if (status != MEMTRACE_OK) {
        relabel_close(*r);
        *r = NULL;
    }
    return status;
}

void relabel_close(relabel *r) {
    if (!r)
        return;
    memtrace_reader_close(r->reader);
    if (r->fd >= 0)
        close(r->fd);
    vec_free(&r->pieces);
    vec_free(&r->named);
    vec_free(&r->names);
    vec_free(&r->renamed);
    free(r);
}

memtrace_reader *relabel_names(relabel *r) {
    return r->reader;
}

uint64_t relabel_n_allocations(const relabel *r) {
    return r->n_allocations;
}

const memtrace_end *relabel_end(const relabel *r) {
    return &r->end;
}

bool relabel_lowers_version(const relabel *r) {
    return memtrace_reader_info(r->reader)->version == 3 && r->last_domain == 0 && !r->has_gaps &&
           are_in_order(r);
}

bool relabel_wastes_room(const relabel *r) {
    return r->size / WORTH_ROOM < room_size(&r->room);
}

/* ---- writing ------------------------------------------------------------------------------- */

static int sink(void *context, const void *packets, size_t size) {
    relabel *r = context;
    if (!vec_reserve(&r->renamed, size))
        return r->os_error = ENOMEM;
    memcpy(r->renamed.items + r->renamed.count, packets, size);
    r->renamed.count += size;
    return 0;
}

static size_t locate(void *context, uint64_t code, memtrace_location *locations, size_t max) {
    relabel *r = context;
    const memtrace_frame *frame = memtrace_reader_frame(r->reader, r->current++);
    return r->locate(r->user, code, frame, locations, max);
}

static memtrace_status encode_names(relabel *r, uint16_t domain) {
    const memtrace_writer_options hooks = {.sink = sink, .locate = locate, .context = r};
    memtrace_info info = *memtrace_reader_info(r->reader);
    info.version = r->version;
    VEC(uint64_t) codes = {0};
    memtrace_status status = MEMTRACE_OK;
    const uint32_t n = memtrace_reader_n_frames(r->reader);
    for (uint32_t i = 0; i < n && status == MEMTRACE_OK; i++)
        if (!vec_push(&codes, memtrace_reader_frame(r->reader, i)->code))
            status = MEMTRACE_NOMEM;
    r->renamed.count = r->current = 0;
    if (status == MEMTRACE_OK)
        status = writer_put_names(&info, &hooks, domain, codes.items, n);
    vec_free(&codes);
    return status;
}

/* Appends the statement of the end after the names, in a copy. */
static memtrace_status encode_end(relabel *r) {
    uint8_t bytes[END_PACKET];
    const end_trace of = {.version = r->version, .start = r->start_time, .pid = r->pid};
    end_put(bytes, &of, &r->end);
    return sink(r, bytes, sizeof bytes) ? MEMTRACE_NOMEM : MEMTRACE_OK;
}

/* Writes a packet of version 3 as version 2. Only the header differs. */
static int write_lowered(relabel *r, const piece *p, uint64_t *id) {
    uint8_t bytes[FORMAT_EMPTY_PACKET];
    packet_header h;
    const int error = file_read_at(r->fd, bytes, sizeof bytes, p->offset);
    if (error || packet_parse(bytes, sizeof bytes, FORMAT_MAX_VERSION, &h) != PACKET_GOOD)
        return error ? error : EIO;
    const uint64_t n = h.packet.id_end - h.packet.id_begin;
    h.packet.id_begin = *id; /* an empty packet may have another id */
    h.packet.id_end = *id += n;
    h.version = r->version;
    h.packet.size -= h.header_size - format_header_size(h.version);
    const size_t size = (size_t)(put_packet_header(bytes, &h) - bytes);
    const int failed = compressor_write(&r->out, bytes, size);
    return failed ? failed
                  : compressor_copy(&r->out, r->fd, p->offset + h.header_size,
                                    p->size - h.header_size);
}

/* Writes the events in time order. Packets adjacent in the file are copied at once. */
static memtrace_status write_events(relabel *r) {
    piece *p = r->pieces.items;
    const bool lower = r->version < memtrace_reader_info(r->reader)->version;
    uint64_t id = 0;
    if (r->pieces.count)
        qsort(p, r->pieces.count, sizeof *p, compare_pieces);
    for (size_t i = 0; i < r->pieces.count && lower && !r->os_error; i++)
        r->os_error = write_lowered(r, &p[i], &id);
    if (lower)
        return r->os_error ? MEMTRACE_IO : MEMTRACE_OK;
    for (size_t i = 0, next; i < r->pieces.count && !r->os_error; i = next) {
        uint64_t size = p[i].size;
        for (next = i + 1; next < r->pieces.count && p[next].offset == p[i].offset + size; next++)
            size += p[next].size;
        r->os_error = compressor_copy(&r->out, r->fd, p[i].offset, size);
    }
    return r->os_error ? MEMTRACE_IO : MEMTRACE_OK;
}

static memtrace_status write_copy(relabel *r, const char *path, memtrace_error *error) {
    replacement new;
    r->version = relabel_lowers_version(r) ? 2 : memtrace_reader_info(r->reader)->version;
    memtrace_status status = encode_names(r, 0);
    if (status == MEMTRACE_OK && r->says_end)
        status = encode_end(r);
    if (status != MEMTRACE_OK)
        return failure(error, status, r->os_error, "not enough memory for the names");
    status = replacement_begin(&new, path, error);
    if (status != MEMTRACE_OK)
        return status;
    r->os_error = compressor_open(&r->out, new.fd, compression_of(path));
    if (!r->os_error) {
        r->os_error = compressor_write(&r->out, r->renamed.items, r->renamed.count);
        if (!r->os_error)
            status = write_events(r);
        r->os_error = compressor_close(&r->out, r->os_error);
    }
    if (r->os_error && status == MEMTRACE_OK)
        status = MEMTRACE_IO;
    if (status == MEMTRACE_OK)
        return replacement_commit(&new, error);
    replacement_abort(&new);
    return failure(error, status, r->os_error, "cannot be written");
}

/* ---- in place ------------------------------------------------------------------------------ */

static bool is_same_file(int a, int b) {
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Returns false if a copy must be made instead; the trace is unchanged then. */
static bool write_in_place(relabel *r, const char *path) {
    r->version = memtrace_reader_info(r->reader)->version;
    if (room_size(&r->room) == 0 || relabel_wastes_room(r) || r->last_domain == UINT16_MAX ||
        compression_of(path) != COMPRESSION_NONE || !are_in_order(r) ||
        encode_names(r, (uint16_t)(r->last_domain + 1)) != MEMTRACE_OK)
        return false;
    const size_t head = bytes_u32(r->renamed.items + FORMAT_AT_SIZE) / 8; /* remains as it is */
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool done = fd >= 0 && is_same_file(fd, r->fd) &&
                      room_fill(&r->room, fd, r->renamed.items + head, r->renamed.count - head,
                                r->named.items, r->named.count);
    return (fd < 0 || close(fd) == 0) && done;
}

memtrace_status relabel_write(relabel *r, relabel_locate *by, void *user, const char *path,
                              memtrace_error *error) {
    r->locate = by;
    r->user = user;
    return write_in_place(r, path) ? MEMTRACE_OK : write_copy(r, path, error);
}
