/* mini_debug.c: the section is decompressed by liblzma into memory of limited size, and opened
 * there as an ELF file. */
#include "symbolize/mini_debug.h"

#include <lzma.h>
#include <stdbool.h>
#include <stdlib.h>

/* A browser has about 20 MB; a damaged file may claim more. */
enum { FIRST_SIZE = 1 << 16, MOST_BYTES = 1 << 28, MOST_MEMORY = 1 << 27 };

/* Doubles the room. Returns false when out of memory, or beyond the limit. */
static bool grow(uint8_t **bytes, size_t *size) {
    const size_t larger = *size ? *size * 2 : FIRST_SIZE;
    uint8_t *more = larger <= MOST_BYTES ? realloc(*bytes, larger) : NULL;
    if (!more)
        return false;
    *bytes = more;
    *size = larger;
    return true;
}

/* Returns NULL if the section cannot be decompressed. */
static uint8_t *inflate_whole(const void *section, size_t size, size_t *n) {
    lzma_stream stream = LZMA_STREAM_INIT;
    uint8_t *bytes = NULL;
    size_t room = 0;
    lzma_ret result = lzma_stream_decoder(&stream, MOST_MEMORY, 0);
    stream.next_in = section;
    stream.avail_in = size;
    while (result == LZMA_OK && (stream.avail_out > 0 || grow(&bytes, &room))) {
        stream.next_out = bytes + stream.total_out;
        stream.avail_out = room - stream.total_out;
        result = lzma_code(&stream, LZMA_FINISH);
    }
    *n = stream.total_out;
    lzma_end(&stream);
    if (result == LZMA_STREAM_END)
        return bytes;
    free(bytes);
    return NULL;
}

mini_debug mini_debug_open(const void *section, size_t size) {
    mini_debug mini = MINI_DEBUG_NONE;
    size_t n;
    mini.bytes = inflate_whole(section, size, &n);
    if (mini.bytes)
        mini.elf = elf_memory((char *)mini.bytes, n);
    if (!mini.elf || elf_kind(mini.elf) != ELF_K_ELF)
        mini_debug_close(&mini);
    return mini;
}

void mini_debug_close(mini_debug *mini) {
    if (mini->elf)
        elf_end(mini->elf);
    free(mini->bytes);
    *mini = MINI_DEBUG_NONE;
}
