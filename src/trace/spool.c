/* spool.c: packets are sorted by time, and stably where times are equal. Packets that are adjacent
 * in the file are written at once, from a mapping of the file. */
#include "trace/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"

int spool_open(spool *s) {
    *s = (spool){.fd = file_temporary(0)};
    return s->fd < 0 ? errno : 0;
}

int spool_add(spool *s, uint64_t begin, const void *packet, size_t size) {
    const spooled entry = {.begin = begin, .offset = s->size, .size = (uint32_t)size};
    if (!vec_push(&s->packets, entry))
        return ENOMEM;
    s->size += size;
    return file_write_all(s->fd, packet, size);
}

static int by_begin(const void *a, const void *b) {
    const spooled *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Returns how many packets from index `i` on are adjacent. `*size` receives their total size. */
static size_t run_from(const spool *s, size_t i, size_t *size) {
    const size_t first = i;
    const spooled *packets = s->packets.items;
    *size = 0;
    do
        *size += packets[i++].size;
    while (i < s->packets.count && packets[i].offset == packets[first].offset + *size);
    return i - first;
}

static int write_sorted(const spool *s, const char *bytes, compressor *to) {
    for (size_t i = 0, size; i < s->packets.count;) {
        const char *from = bytes + s->packets.items[i].offset;
        i += run_from(s, i, &size);
        const int error = compressor_write(to, from, size);
        if (error)
            return error;
    }
    return 0;
}

int spool_write(spool *s, compressor *to) {
    if (s->packets.count == 0)
        return 0;
    char *bytes = mmap(NULL, s->size, PROT_READ, MAP_PRIVATE, s->fd, 0);
    if (bytes == MAP_FAILED)
        return errno;
    qsort(s->packets.items, s->packets.count, sizeof *s->packets.items, by_begin);
    const int error = write_sorted(s, bytes, to);
    munmap(bytes, s->size);
    return error;
}

void spool_close(spool *s) {
    close(s->fd);
    vec_free(&s->packets);
}
