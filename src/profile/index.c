/* index.c: the file and its head: which trace it belongs to, its sections and their checksums.
 * index_tree.c and index_blocks.c read and write the sections. */
#include "profile/index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "profile/index_parts.h"
#include "trace/replacement.h"

_Static_assert(INDEX_HEAD_WORDS % INDEX_LANES == 0, "the checksum takes whole groups of lanes");

/* ---- the trace --------------------------------------------------------------------------- */

enum { SAMPLES = 16, SAMPLE_SIZE = 16384 /* bytes */ };

/* Hashes samples that are evenly spread, from the first to the last byte. */
static bool sample_trace(int fd, uint64_t size, uint64_t *sample) {
    unsigned char bytes[SAMPLE_SIZE];
    const uint64_t last = size > SAMPLE_SIZE ? size - SAMPLE_SIZE : 0;
    *sample = size;
    for (unsigned i = 0; i < SAMPLES; i++) {
        const uint64_t at = last / (SAMPLES - 1) * i;
        const ssize_t n = pread(fd, bytes, sizeof bytes, (off_t)(i + 1 < SAMPLES ? at : last));
        if (n < 0)
            return false;
        *sample = hash_u64(*sample) ^ hash_bytes(bytes, (size_t)n);
    }
    return true;
}

bool index_stamp_take(const char *trace, index_stamp *stamp) {
    struct stat about;
    if (stat(trace, &about) != 0 || !S_ISREG(about.st_mode)) /* a pipe must not be opened */
        return false;
    const int fd = open(trace, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool ok = fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    if (ok) {
        *stamp = (index_stamp){.size = (uint64_t)about.st_size,
                               .seconds = (uint64_t)about.st_mtim.tv_sec,
                               .nanoseconds = (uint64_t)about.st_mtim.tv_nsec,
                               .mode = about.st_mode & 0666};
        ok = sample_trace(fd, stamp->size, &stamp->sample);
    }
    if (fd >= 0)
        close(fd);
    return ok;
}

bool index_stamp_equal(const index_stamp *a, const index_stamp *b) {
    return a->size == b->size && a->seconds == b->seconds && a->nanoseconds == b->nanoseconds &&
           a->sample == b->sample;
}

static uint64_t hash_maker(const char *maker) {
    return hash_bytes(maker, strlen(maker));
}

/* ---- reading ----------------------------------------------------------------------------- */

static index_status read_head(int fd, index_head *h) {
    uint64_t words[INDEX_HEAD_WORDS];
    struct stat about;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) ||
        file_read_at(fd, words, sizeof words, 0) != 0)
        return INDEX_DAMAGED;
    memcpy(h, words, sizeof *h);
    words[INDEX_HEAD_WORDS - 1] = 0;
    if (h->magic != INDEX_MAGIC)
        return INDEX_DAMAGED;
    if (h->format != INDEX_FORMAT)
        return INDEX_STALE;
    uint64_t end = sizeof *h;
    bool ok = index_checksum(words, INDEX_HEAD_WORDS) == h->sum;
    for (int i = 0; ok && i < INDEX_N_SECTIONS; i++) {
        const index_section *s = &h->sections[i];
        ok = s->offset == end && s->size <= (uint64_t)about.st_size - end;
        end += s->size;
    }
    return ok && end == (uint64_t)about.st_size ? INDEX_OK : INDEX_DAMAGED;
}

static index_status check_head(const index_head *h, const index_stamp *stamp, const char *maker,
                               const index_parts *needs) {
    const index_stamp of = {.size = h->trace_size,
                            .seconds = h->trace_seconds,
                            .nanoseconds = h->trace_nanoseconds,
                            .sample = h->trace_sample};
    if (!index_stamp_equal(&of, stamp) || h->maker != hash_maker(maker))
        return INDEX_STALE;
    const bool whole = (h->sections[INDEX_BLOCKS].size > 0 || !needs->blocks) &&
                       (h->sections[INDEX_ORDER].size > 0 || !needs->order) &&
                       (h->in_order || !needs->in_order);
    return whole ? INDEX_OK : INDEX_LACKS;
}

/* Whether `place` is that of an allocation in the table that was read, or BLOCKS_NOWHERE in an
 * empty table. */
static bool is_place(uint64_t place, const block_table *b) {
    return place < b->count || (place == BLOCKS_NOWHERE && b->count == 0);
}

static index_status read_sections(index_stream *s, const index_head *h, const index_parts *needs,
                                  profile *p, index_remarks *remarks) {
    index_enter(s, &h->sections[INDEX_TREE]);
    index_status status = index_get_tree(s, p, remarks);
    if (status == INDEX_OK && !index_leave(s))
        status = INDEX_DAMAGED;
    if (status == INDEX_OK && needs->blocks) {
        const bool all = needs->columns == 0 || needs->order;
        status = index_get_blocks(s->fd, &h->sections[INDEX_BLOCKS],
                                  all ? BLOCKS_ALL_COLUMNS : needs->columns, p);
        if (h->peak_time > p->duration || !is_place(h->peak_place, &p->table) ||
            h->peak_samples > cct_sum(p->samples))
            status = INDEX_DAMAGED;
        blocks_remember_peak(&p->table, &(blocks_most){.at = {.time = h->peak_time,
                                                              .place = (uint32_t)h->peak_place},
                                                       .samples = h->peak_samples});
    }
    if (status == INDEX_OK && needs->order) {
        index_enter(s, &h->sections[INDEX_ORDER]);
        status = index_get_order(s, p);
        if (status == INDEX_OK && !index_leave(s))
            status = INDEX_DAMAGED;
    }
    return status;
}

static index_status read_file(int fd, const index_stamp *stamp, const char *maker,
                              const index_parts *needs, profile *p, index_remarks *remarks) {
    index_head h;
    index_stream s;
    index_status status = read_head(fd, &h);
    if (status == INDEX_OK)
        status = check_head(&h, stamp, maker, needs);
    if (status != INDEX_OK)
        return status;
    status = index_stream_open(&s, fd) ? read_sections(&s, &h, needs, p, remarks) : INDEX_NOMEM;
    index_stream_close(&s);
    return status;
}

index_status index_load(const char *path, const index_stamp *stamp, const char *maker,
                        const index_parts *needs, profile *p, index_remarks *remarks) {
    *p = (profile){0};
    *remarks = (index_remarks){0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return INDEX_ABSENT;
    const index_status status = read_file(fd, stamp, maker, needs, p, remarks);
    close(fd);
    if (status != INDEX_OK)
        profile_free(p);
    return status;
}

/* ---- writing ----------------------------------------------------------------------------- */

static int write_index_head(int fd, index_head *h) {
    uint64_t words[INDEX_HEAD_WORDS];
    h->sum = 0;
    memcpy(words, h, sizeof words);
    words[INDEX_HEAD_WORDS - 1] = index_checksum(words, INDEX_HEAD_WORDS);
    return file_write_at(fd, words, sizeof words, 0);
}

static bool write_section(index_stream *s, int which, const profile *p,
                          const index_remarks *remarks) {
    switch (which) {
    case INDEX_TREE:
        return index_put_tree(s, p, remarks);
    case INDEX_ORDER:
        index_put_order(s, p);
        return true;
    default:
        which -= INDEX_BLOCKS;
        index_put_column_of(s, &p->table, (size_t)which / BLOCKS_N_COLUMNS,
                            (blocks_column)(which % BLOCKS_N_COLUMNS));
        return true;
    }
}

static bool put_peak(index_head *h, const block_table *b) {
    blocks_most most;
    if (!blocks_peak(b, &most))
        return false;
    h->peak_time = most.at.time;
    h->peak_place = most.at.place;
    h->peak_samples = most.samples;
    return true;
}

static int write_sections(index_stream *s, index_head *h, const index_parts *parts,
                          const profile *p, const index_remarks *remarks) {
    uint64_t end = sizeof *h;
    if (parts->blocks && !put_peak(h, &p->table))
        return ENOMEM;
    for (int i = 0; i < INDEX_N_SECTIONS; i++) {
        h->sections[i] = (index_section){.offset = end};
        if (i != INDEX_TREE && !(i == INDEX_ORDER ? parts->order : parts->blocks))
            continue;
        index_begin(s, end);
        if (!write_section(s, i, p, remarks))
            return ENOMEM;
        h->sections[i] = index_end(s);
        end += h->sections[i].size;
    }
    return s->error;
}

static int write_file(int fd, const index_stamp *stamp, const char *maker, const index_parts *parts,
                      const profile *p, const index_remarks *remarks) {
    index_stream s;
    index_head h = {.magic = INDEX_MAGIC,
                    .format = INDEX_FORMAT,
                    .maker = hash_maker(maker),
                    .trace_size = stamp->size,
                    .trace_seconds = stamp->seconds,
                    .trace_nanoseconds = stamp->nanoseconds,
                    .trace_sample = stamp->sample,
                    .in_order = parts->in_order};
    int error = index_stream_open(&s, fd) ? write_sections(&s, &h, parts, p, remarks) : ENOMEM;
    index_stream_close(&s);
    return error ? error : write_index_head(fd, &h);
}

/* The rename replaces a symbolic link and does not follow it, because the user did not choose the
 * name. */
int index_save(const char *path, const index_stamp *stamp, const char *maker,
               const index_parts *parts, const profile *p, const index_remarks *remarks) {
    char *name;
    const int fd = replacement_open_beside(path, stamp->mode, &name);
    int error = fd < 0 ? errno : write_file(fd, stamp, maker, parts, p, remarks);
    if (fd >= 0 && close(fd) != 0 && !error)
        error = errno;
    if (fd >= 0 && !error && rename(name, path) != 0)
        error = errno;
    if (fd >= 0 && error)
        unlink(name);
    replacement_close_beside(name);
    return error;
}
