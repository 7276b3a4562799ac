/* Tests of src/symbolize/mini_debug.h: what is inflated, and what takes too much memory. */
#include <lzma.h>
#include <stdbool.h>
#include <string.h>

#include "symbolize/mini_debug.h"
#include "unit.h"

enum { BLOCK = 1 << 20, SMALL_DICTIONARY = 1 << 16 };

static uint8_t xz[1 << 20];
static lzma_options_lzma options;
static lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};

/* The next of an ELF file that is zeros behind its beginning. */
static lzma_block put_block(size_t *at, bool is_first, uint32_t dictionary) {
    static const uint8_t elf[BLOCK] = "\177ELF\2\1\1", zeros[BLOCK];
    const size_t begin = *at;
    lzma_block block = {.check = LZMA_CHECK_NONE, .filters = filters};
    options.dict_size = SMALL_DICTIONARY;
    ck_assert_int_eq(
        lzma_block_buffer_encode(&block, NULL, is_first ? elf : zeros, BLOCK, xz, at, sizeof xz),
        LZMA_OK);
    options.dict_size = dictionary; /* as if more had been used */
    ck_assert_int_eq(lzma_block_header_encode(&block, xz + begin), LZMA_OK);
    return block;
}

/* All blocks but the first are the same. */
static size_t compress(unsigned n_blocks, uint32_t dictionary) {
    lzma_stream_flags flags = {.check = LZMA_CHECK_NONE};
    lzma_index *index = lzma_index_init(NULL);
    size_t at = LZMA_STREAM_HEADER_SIZE, before = at;
    lzma_block block;
    lzma_lzma_preset(&options, 0);
    ck_assert_int_eq(lzma_stream_header_encode(&flags, xz), LZMA_OK);
    for (unsigned i = 0; i < n_blocks; i++) {
        if (i < 2) {
            before = at;
            block = put_block(&at, i == 0, dictionary);
        } else {
            memcpy(xz + at, xz + before, at - before);
            const size_t size = at - before;
            before = at;
            at += size;
        }
        ck_assert_int_eq(lzma_index_append(index, NULL, lzma_block_unpadded_size(&block), BLOCK),
                         LZMA_OK);
    }
    flags.backward_size = lzma_index_size(index);
    ck_assert_int_eq(lzma_index_buffer_encode(index, xz, &at, sizeof xz), LZMA_OK);
    ck_assert_int_eq(lzma_stream_footer_encode(&flags, xz + at), LZMA_OK);
    lzma_index_end(index, NULL);
    return at + LZMA_STREAM_HEADER_SIZE;
}

static bool is_inflated(size_t size) {
    elf_version(EV_CURRENT);
    mini_debug mini = mini_debug_open(xz, size);
    const bool is_there = mini.elf;
    mini_debug_close(&mini);
    return is_there;
}

START_TEST(what_is_compressed_is_inflated) {
    ck_assert(is_inflated(compress(1, SMALL_DICTIONARY)));
    const size_t size = compress(3, SMALL_DICTIONARY);
    ck_assert(is_inflated(size));
    ck_assert(!is_inflated(size - 1));
    ck_assert(!is_inflated(0));
    xz[0]++;
    ck_assert(!is_inflated(size));
}
END_TEST

START_TEST(a_few_bytes_do_not_take_all_memory) {
    ck_assert(!is_inflated(compress(257, SMALL_DICTIONARY)));
    ck_assert(!is_inflated(compress(1, 1 << 28)));
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("mini_debug");
    TCase *t = tcase_create("mini_debug");
    tcase_add_test(t, what_is_compressed_is_inflated);
    tcase_add_test(t, a_few_bytes_do_not_take_all_memory);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
