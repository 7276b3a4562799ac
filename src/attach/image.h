/* image.h: a library as a loader would put it into memory: segments at an address, relocated; and
 * what that takes of thread-local storage. For libraries that depend on no other. */
#ifndef ATTACH_IMAGE_H
#define ATTACH_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct image {
    unsigned char *file; /* as read */
    size_t file_size;
    unsigned char *memory; /* as it is to be */
    uint64_t size;         /* of memory: whole pages */
    const Elf64_Phdr *headers;
    size_t n_headers;
    uint64_t entry; /* from the start of memory */
    Elf64_Phdr tls; /* its segment for thread-local storage; size 0: none */
} image;

/* False: it cannot be read, or is no such library. */
bool image_read(image *i, const char *path);
void image_free(image *i);

/* Relocates what is to stand at `base`; its thread-local variables will begin at `tls` from the
 * thread pointer. False: it refers to something outside. */
bool image_relocate(image *i, uint64_t base, int64_t tls);

/* The part of the memory that is a segment's, `n` bytes behind its start; NULL: it is not inside.
 */
const unsigned char *image_bytes(const image *i, uint64_t at, uint64_t n);

#endif
