/* image.h: prepares a library as a loader would place it in memory: segments at their addresses,
 * relocated, and the size of its thread-local storage. For libraries that depend on no other
 * library. */
#ifndef ATTACH_IMAGE_H
#define ATTACH_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct image {
    unsigned char *file; /* the file's content */
    size_t file_size;
    unsigned char *memory; /* the content to be placed in the process */
    uint64_t size;         /* size of `memory`, bytes: whole pages */
    const Elf64_Phdr *headers;
    size_t n_headers;
    uint64_t entry; /* offset from the start of `memory` */
    Elf64_Phdr tls; /* PT_TLS segment; size 0: none */
} image;

/* Returns false if the file cannot be read or is no such library. */
bool image_read(image *i, const char *path);
void image_free(image *i);

/* Relocates the image for the address `base`. Its thread-local variables will begin at offset `tls`
 * from the thread pointer. Returns false if the library refers to a symbol outside it. */
bool image_relocate(image *i, uint64_t base, int64_t tls);

/* Returns the `n` bytes at offset `at` of the memory image; NULL: they are not all inside it. */
const unsigned char *image_bytes(const image *i, uint64_t at, uint64_t n);

#endif
