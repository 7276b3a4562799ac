/* run_rescue.c: examines the packets in the shared streams one by one. Only whole packets are
 * added, after the last whole packet of the trace; first the one of which a part is there. */
#include "cli/run/run_rescue.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path_rights.h"
#include "cli/run/symbolize_file.h"
#include "contract/rescue.h"
#include "contract/trace_name.h"
#include "trace/bytes.h"
#include "trace/end.h"
#include "trace/packet.h"
#include "trace/writer_rescue.h"

/* The maximum size of a file: the kernel kills a process that exceeds it. */
static uint64_t largest_file(void) {
    struct rlimit most;
    return getrlimit(RLIMIT_FSIZE, &most) == 0 ? most.rlim_cur : RLIM_INFINITY;
}

/* If the file size limit is too low for slots, the memory contains only the head. */
int run_rescue_open(void) {
    const uint64_t most = largest_file();
    const bool has_slots = most >= RESCUE_SIZE;
    struct rescue_head head = {.magic = RESCUE_MAGIC,
                               .pace.magic = PACE_MAGIC,
                               .stream_size = writer_stream_size(),
                               .next = has_slots ? RESCUE_UNIT : RESCUE_SIZE};
    if (most < sizeof head)
        return -1;
    int fd = memfd_create("allotrace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && ((has_slots && ftruncate(fd, (off_t)RESCUE_SIZE) != 0) ||
                    pwrite(fd, &head, sizeof head, 0) != (ssize_t)sizeof head)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

struct rescue_head *run_rescue_share(int fd) {
    void *head =
        fd < 0 ? MAP_FAILED
               : mmap(NULL, sizeof(struct rescue_head), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return head == MAP_FAILED ? NULL : head;
}

void run_rescue_name(int fd, pid_t keeper, char *name, size_t size) {
    snprintf(name, size, "/proc/%lld/fd/%d", (long long)keeper, fd);
}

/* ---- the trace as the program left it ------------------------------------------------------ */

enum { NO_EVENT = 1 << 7 }; /* greater than any kind of event */

/* Identifies a packet among those of its trace. */
typedef struct packet_mark {
    uint16_t domain;
    unsigned kind; /* of its first event, or NO_EVENT */
    uint64_t time, id;
} packet_mark;

/* Parses the start of a packet, `n` bytes. Returns false if it is not a packet. */
static bool parse_start(const uint8_t *start, size_t n, packet_header *h, packet_mark *mark) {
    if (packet_parse(start, n, FORMAT_MAX_VERSION, h) != PACKET_GOOD)
        return false;
    const bool empty = h->packet.size == FORMAT_EMPTY_PACKET;
    if (!empty && (h->packet.size < FORMAT_LEAST_PACKET || n < FORMAT_LEAST_PACKET))
        return false;
    *mark = (packet_mark){.domain = h->packet.domain,
                          .kind = empty ? NO_EVENT
                                        : bytes_u32(start + h->header_size) >> FORMAT_TIME_BITS,
                          .time = h->packet.time_begin,
                          .id = h->packet.id_begin};
    return true;
}

static bool is_same(const packet_mark *a, const packet_mark *b) {
    return a->domain == b->domain && a->kind == b->kind && a->time == b->time && a->id == b->id;
}

/* The whole packets at the beginning of a file. */
typedef struct whole_packets {
    off_t size;               /* of all of them; 0: the file is not a trace */
    uint64_t pid, start_time; /* of the first packet */
    uint64_t end;             /* the latest end of a packet, us since the epoch */
    uint64_t next_id;         /* greater than the ids of all blocks */
    bool there;               /* `wanted` is among them */
    unsigned version;
    off_t said_at; /* offset of the packet that states the end; 0: there is none */
    memtrace_end said;
} whole_packets;

static end_trace end_trace_of(const whole_packets *w) {
    return (end_trace){.version = w->version, .start = w->start_time, .pid = w->pid};
}

/* Records what the packet at offset w->size says, if it states the end of the trace. */
static void note_said(int fd, const packet_header *h, whole_packets *w) {
    uint8_t bytes[END_PACKET];
    const end_trace of = end_trace_of(w);
    if (h->packet.pid == FORMAT_PID_NONE && h->packet.size == END_PACKET &&
        pread(fd, bytes, sizeof bytes, w->size) == (ssize_t)sizeof bytes &&
        end_parse(bytes, sizeof bytes, &of, &w->said))
        w->said_at = w->size;
}

/* The keeper of a ring frees the front of a spool, which leaves a hole (cli/ring/keeper.h). Returns
 * the offset of the first packet after it. */
static off_t skip_hole(int fd, off_t at) {
    enum { LARGE = 4096 };
    uint8_t bytes[LARGE];
    ssize_t n = pread(fd, bytes, sizeof(uint32_t), at);
    if (n < (ssize_t)sizeof(uint32_t) || bytes_u32(bytes) != 0)
        return at;
    const off_t data = lseek(fd, at, SEEK_DATA);
    at = data > at ? data : at;
    while ((n = pread(fd, bytes, sizeof bytes, at)) > 0)
        for (ssize_t i = 0; i < n; i++, at++)
            if (bytes[i])
                return at;
    return at;
}

/* Scans the whole packets. `wanted` is looked for, since the program may have been killed right
 * after writing it; it may be NULL. */
static whole_packets find_packets(int fd, const packet_mark *wanted) {
    whole_packets w = {0};
    uint8_t start[FORMAT_LEAST_PACKET];
    packet_header h;
    packet_mark mark;
    struct stat st;
    ssize_t n;
    if (fstat(fd, &st) != 0)
        return w;
    while ((n = pread(fd, start, sizeof start, w.size = skip_hole(fd, w.size))) > 0 &&
           parse_start(start, (size_t)n, &h, &mark) && h.packet.size <= st.st_size - w.size) {
        if (w.size == 0) {
            w.pid = h.packet.pid;
            w.start_time = mark.time;
            w.version = h.version;
        }
        note_said(fd, &h, &w);
        if (packet_plausible(&h) && h.packet.time_end > w.end)
            w.end = h.packet.time_end;
        if (packet_plausible(&h) && h.packet.id_end > w.next_id)
            w.next_id = h.packet.id_end;
        w.there |= wanted && is_same(&mark, wanted);
        w.size += h.packet.size;
    }
    return w;
}

/* ---- adding -------------------------------------------------------------------------------- */

/* Writes a packet at `end`, the end of the whole packets. Returns 0 or an errno. */
static int append_packet(int fd, off_t end, const uint8_t *bytes, size_t size) {
    const int error = file_write_at(fd, bytes, size, (uint64_t)end);
    if (!error)
        end += (off_t)size;
    if (ftruncate(fd, end) != 0)
        return error; /* then readers skip the rest as damaged */
    return error;
}

/* States how the recording ended, if the trace has a place for that which the program has left
 * open. With `anew`, also replaces a statement that the trace is whole. */
static void say_end(int fd, const whole_packets *w, bool anew, const memtrace_end *end) {
    uint8_t bytes[END_PACKET];
    const end_trace of = end_trace_of(w);
    const bool open = w->said.how == MEMTRACE_END_OPEN,
               again = anew && w->said.how == MEMTRACE_END_WHOLE;
    if (!w->said_at || !(open || again))
        return;
    end_put(bytes, &of, end);
    if (file_write_at(fd, bytes, sizeof bytes, (uint64_t)w->said_at) != 0)
        return; /* then the end is not stated */
}

static uint64_t since_start(const whole_packets *w, uint64_t time) {
    return time > w->start_time ? time - w->start_time : 0;
}

/* Returns whether a part of the packet is in the file already, behind the whole packets. */
static bool is_begun(int fd, off_t end, const rescued_packet *packet) {
    uint8_t *bytes = malloc(packet->size);
    const ssize_t n = bytes ? pread(fd, bytes, packet->size, end) : 0;
    const bool is = n > 0 && memcmp(bytes, packet->bytes, (size_t)n) == 0;
    free(bytes);
    return is;
}

static void add_packet(int fd, const rescued_packet *packet, bool only_begun) {
    packet_header h;
    packet_mark mark;
    if (packet->size < FORMAT_LEAST_PACKET || !parse_start(packet->bytes, packet->size, &h, &mark))
        return;
    const whole_packets w = find_packets(fd, &mark);
    if (w.size == 0 || w.there || (only_begun && !is_begun(fd, w.size, packet)))
        return;
    const int error = append_packet(fd, w.size, packet->bytes, packet->size);
    const memtrace_end early = end_make(MEMTRACE_END_EARLY, since_start(&w, mark.time), error,
                                        "cannot write the end of the trace");
    if (error)
        say_end(fd, &w, false, &early);
}

typedef struct rescued {
    const char *pattern; /* NULL: the only trace is `trace` */
    int trace;
    void *stream; /* buffer for a copy */
    unsigned *patience;
    bool only_begun; /* only packets in the middle of whose writing the program was killed */
    uint64_t only;   /* a process; 0: all processes, with the traces of their earlier programs */
} rescued;

static bool is_meant(const rescued *r, const struct rescue_slot *slot) {
    return slot->magic == RESCUE_MAGIC && (!r->only || r->only == slot->pid);
}

/* Waits while the file is locked: the child of a fork holds its parent's lock for a moment. */
static bool is_recorded_to(int trace, unsigned *patience) {
    const struct timespec tick = {.tv_nsec = 5000000};
    while (file_is_locked(trace)) {
        if (*patience == 0)
            return true;
        --*patience;
        nanosleep(&tick, NULL);
    }
    return false;
}

bool run_rescue_is_recording(const char *path, unsigned *patience) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool is_recording = fd >= 0 && is_recorded_to(fd, patience);
    file_close(fd);
    return is_recording;
}

/* Returns whether an open trace was begun by a slot's process. */
static bool is_trace_of(int trace, const struct rescue_slot *slot) {
    uint8_t bytes[FORMAT_LEAST_PACKET];
    packet_header h;
    packet_mark mark;
    const ssize_t n = pread(trace, bytes, sizeof bytes, 0);
    return n > 0 && parse_start(bytes, (size_t)n, &h, &mark) && h.packet.pid == slot->pid &&
           mark.time == slot->start_time;
}

/* Returns the trace if it is the slot's and nobody records to it. Otherwise closes it, and returns
 * -1. */
static int keep_if_of(const rescued *r, int trace, const struct rescue_slot *slot) {
    if (trace < 0 || (is_trace_of(trace, slot) && !is_recorded_to(trace, r->patience)))
        return trace;
    close(trace);
    return -1;
}

/* Opens the trace of a slot's process, or returns -1. If the process has exec'ed another program
 * since, the trace of that program has the name, and this one was renamed (trace_name_earlier). */
static int open_trace_of(const rescued *r, const struct rescue_slot *slot) {
    char path[PATH_MAX], earlier[PATH_MAX];
    if (!r->pattern)
        return keep_if_of(r, fcntl(r->trace, F_DUPFD_CLOEXEC, 0), slot);
    if (!trace_name_for(r->pattern, slot->pid, path, sizeof path))
        return -1;
    int trace = keep_if_of(r, path_open_once(path, O_RDWR), slot);
    for (unsigned n = 1;
         trace < 0 && !r->only && n <= TRACE_NAME_EARLIER_MAX &&
         trace_name_earlier(path, n, earlier, sizeof earlier) && access(earlier, F_OK) == 0;
         n++)
        trace = keep_if_of(r, path_open_once(earlier, O_RDWR), slot);
    return trace;
}

static void rescue_stream(const rescued *r, const struct rescue_slot *slot) {
    rescued_packet packets[WRITER_RESCUED_PACKETS];
    if (!writer_rescue(r->stream, slot->address, slot->pid, packets) ||
        packets[0].size + packets[1].size == 0)
        return;
    const int trace = open_trace_of(r, slot);
    for (size_t i = 0; trace >= 0 && i < WRITER_RESCUED_PACKETS; i++)
        add_packet(trace, &packets[i], r->only_begun);
    file_close(trace);
}

/* Returns the offset of the next slot that takes memory. */
static uint64_t skip_released(int fd, uint64_t at, uint64_t size) {
    const off_t data = lseek(fd, (off_t)at, SEEK_DATA);
    return data < 0 ? UINT64_MAX : at + ((uint64_t)data - at) / size * size;
}

/* Calls `visit` for each slot that was ever used and is not released. */
static void for_each_slot(int fd, void (*visit)(void *, int, uint64_t, const struct rescue_slot *),
                          void *context) {
    struct rescue_head head;
    struct rescue_slot slot;
    if (fd < 0 || pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head)
        return;
    const uint64_t size = rescue_slot_size(head.stream_size);
    for (uint64_t at = RESCUE_UNIT; at < head.next; at += size) {
        at = skip_released(fd, at, size);
        if (at >= head.next || pread(fd, &slot, sizeof slot, (off_t)at) != (ssize_t)sizeof slot)
            break;
        visit(context, fd, at, &slot);
    }
}

static void visit_stream(void *context, int fd, uint64_t at, const struct rescue_slot *slot) {
    const rescued *r = context;
    size_t size = writer_stream_size();
    if (is_meant(r, slot) &&
        pread(fd, r->stream, size, (off_t)(at + RESCUE_STREAM_AT)) == (ssize_t)size)
        rescue_stream(r, slot);
}

/* Reads the statement at the front of a trace of how its recording ended. Returns false if it has
 * no place for that. */
static bool said_at_front(int fd, memtrace_end *said) {
    uint8_t bytes[FORMAT_LEAST_PACKET];
    packet_header h;
    packet_mark mark;
    whole_packets w = {0};
    ssize_t n;
    while ((n = pread(fd, bytes, sizeof bytes, w.size)) > 0 &&
           parse_start(bytes, (size_t)n, &h, &mark)) {
        if (w.size == 0)
            w = (whole_packets){.pid = h.packet.pid, .start_time = mark.time, .version = h.version};
        else
            note_said(fd, &h, &w);
        if (w.size > 0)
            break;
        w.size = h.packet.size;
    }
    *said = w.said;
    return w.said_at;
}

/* After all streams were added, nothing is missing in the trace of a process that is gone without
 * having closed its streams. Except for the process that `run` has waited for, the time of its end
 * is unknown. A process has a slot for each thread, and only the first one needs its trace read. */
static void visit_end(void *context, int fd, uint64_t at, const struct rescue_slot *slot) {
    const rescued *r = context;
    (void)fd, (void)at;
    const int trace = is_meant(r, slot) ? open_trace_of(r, slot) : -1;
    memtrace_end end;
    if (trace >= 0 && said_at_front(trace, &end) && end.how == MEMTRACE_END_OPEN) {
        const whole_packets w = find_packets(trace, NULL);
        end = end_make(MEMTRACE_END_WHOLE, since_start(&w, w.end), 0,
                       "the process was killed, then or later");
        say_end(trace, &w, false, &end);
    }
    file_close(trace);
}

static bool ends_within_packet(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 && find_packets(fd, NULL).size < st.st_size;
}

static void finish(int fd, rescued *r) {
    r->stream = malloc(writer_stream_size());
    if (r->stream) {
        r->only_begun = !r->pattern && ends_within_packet(r->trace);
        if (r->only_begun) /* first, since the keeper may have read the part that is there */
            for_each_slot(fd, visit_stream, r);
        r->only_begun = false;
        for_each_slot(fd, visit_stream, r);
        for_each_slot(fd, visit_end, r);
    }
    free(r->stream);
}

void run_rescue_finish(int fd, const char *pattern, uint64_t only, unsigned *patience) {
    rescued r = {.pattern = pattern, .patience = patience, .only = only};
    finish(fd, &r);
}

/* Returns whether events may be missing in a trace. If the trace gives a reason for its end, the
 * process exec'ed or aborted, and other threads may have recorded for a moment after that. */
static bool may_lack(int fd) {
    memtrace_end said;
    return !said_at_front(fd, &said) || said.how == MEMTRACE_END_OPEN || said.reason[0];
}

void run_rescue_finish_open(int fd, int trace) {
    unsigned patience = 20;
    if (may_lack(trace))
        finish(fd, &(rescued){.trace = trace, .patience = &patience});
}

void run_rescue_finish_one(int fd, const char *pattern, uint64_t pid) {
    unsigned none = 0;
    rescued r = {.pattern = pattern, .patience = &none, .only = pid};
    char path[PATH_MAX];
    const int trace = trace_name_for(pattern, pid, path, sizeof path)
                          ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                          : -1;
    if (trace >= 0 && may_lack(trace))
        finish(fd, &r);
    file_close(trace);
}

bool run_rescue_states_end(int trace) {
    memtrace_end said;
    return !said_at_front(trace, &said) || said.how != MEMTRACE_END_OPEN;
}

typedef struct released {
    uint64_t pid, start_time;
} released;

static void visit_released(void *context, int fd, uint64_t at, const struct rescue_slot *slot) {
    const released *r = context;
    if (slot->pid == r->pid && slot->start_time == r->start_time &&
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at,
                  (off_t)rescue_slot_size(writer_stream_size())) != 0)
        return; /* then its memory stays in use */
}

void run_rescue_release(int fd, uint64_t pid, uint64_t start_time) {
    for_each_slot(fd, visit_released, &(released){.pid = pid, .start_time = start_time});
}

/* Returns whether the process that began this trace had no stream, so that no event was
 * unwritten. */
static bool had_no_stream(int fd, const whole_packets *w) {
    struct rescue_head head;
    uint64_t n;
    return fd >= 0 && pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head &&
           head.next < RESCUE_SIZE && !run_rescue_count_remarks(fd, w->pid, w->start_time, &n);
}

void run_rescue_note_silent(int fd, const char *path) {
    const int trace = path_open_once(path, O_RDWR);
    const whole_packets w = trace < 0 ? (whole_packets){0} : find_packets(trace, NULL);
    const memtrace_end end = end_make(MEMTRACE_END_WHOLE, since_start(&w, w.end), 0,
                                      "the process ended without notice, then or later");
    if (w.size > 0 && w.said.how == MEMTRACE_END_OPEN && had_no_stream(fd, &w))
        say_end(trace, &w, false, &end);
    file_close(trace);
}

static memtrace_end lost_end(const whole_packets *w) {
    return end_make(MEMTRACE_END_EARLY, since_start(w, w->end), 0,
                    "a signal ended the process, and events not yet written are lost");
}

/* Appends an empty packet, so that the trace lasts until `end`. Returns 0 or an errno. */
static int extend(int fd, const whole_packets *w, uint64_t end) {
    uint8_t packet[FORMAT_EMPTY_PACKET];
    writer_put_empty_packet(packet, w->pid, end, w->next_id);
    return append_packet(fd, w->size, packet, sizeof packet);
}

void run_rescue_note_lost(const char *path, uint64_t pid, uint64_t end) {
    const int fd = symbolize_file_is_recording(path) ? -1 : path_open_once(path, O_RDWR);
    if (fd < 0)
        return;
    const whole_packets w = find_packets(fd, NULL);
    const memtrace_end lost = lost_end(&w);
    if (w.size > 0 && w.pid == pid && w.said.how == MEMTRACE_END_OPEN && w.end < end &&
        extend(fd, &w, end) == 0)
        say_end(fd, &w, false, &lost);
    close(fd);
}

void run_rescue_note_end(int rescue, const char *pattern, uint64_t pid, uint64_t begin,
                         uint64_t end) {
    char path[PATH_MAX];
    if (!trace_name_for(pattern, pid, path, sizeof path) || symbolize_file_is_recording(path))
        return;
    int fd = path_open_once(path, O_RDWR);
    if (fd < 0)
        return;
    const whole_packets w = find_packets(fd, NULL);
    if (w.size > 0 && w.pid == pid && w.start_time >= begin && w.end < end) {
        const memtrace_end killed = end_make(MEMTRACE_END_WHOLE, since_start(&w, end), 0,
                                             "a signal ended the process"),
                           lost = lost_end(&w);
        const int error = extend(fd, &w, end);
        if (w.said.how == MEMTRACE_END_OPEN && !had_no_stream(rescue, &w))
            say_end(fd, &w, false, &lost);
        else if (!error)
            say_end(fd, &w, true, &killed);
    }
    close(fd);
}

/* ---- what else is known -------------------------------------------------------------------- */

run_rescue_told run_rescue_hear(int fd) {
    struct rescue_head head;
    if (fd < 0 || pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head)
        return (run_rescue_told){0};
    return (run_rescue_told){
        .notes = head.notes, .n_silent = head.silent, .n_refused = head.refused};
}

/* A memfd can be sealed against writing only while nobody maps it writable. The child of a fork
 * keeps its parent's mapping until it records itself. */
bool run_rescue_is_in_use(int fd) {
    return fd >= 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) != 0 && errno == EBUSY;
}

typedef struct remarks {
    uint64_t pid, start_time, n;
    bool found;
} remarks;

static void visit_remarks(void *context, int fd, uint64_t at, const struct rescue_slot *slot) {
    remarks *r = context;
    (void)fd, (void)at;
    if (slot->pid != r->pid || slot->start_time != r->start_time)
        return;
    r->found = true;
    r->n += slot->n_remarks;
}

bool run_rescue_count_remarks(int fd, uint64_t pid, uint64_t start_time, uint64_t *n) {
    remarks r = {.pid = pid, .start_time = start_time};
    for_each_slot(fd, visit_remarks, &r);
    *n = r.n;
    return r.found;
}
