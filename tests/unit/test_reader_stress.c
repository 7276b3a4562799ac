/* Every truncation and 100,000 random changes of the small traces end in a result or in a clear
 * error, within 256 MB. By default a sample of them is tried; with STRESS=all, all. */
#include <string.h>
#include <sys/resource.h>

#include "../fuzz/check_trace.h"
#include "base/hash.h"
#include "unit.h"

enum {
    N_FLIPS = 100000,
    N_PARTS = 8, /* one process each */
    SAMPLE = 64, /* one of so many is tried by default */
    MOST_MEMORY = 256 << 20,
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAVE_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAVE_SANITIZER 1
#endif
#endif

static const char *const traces[] = {"irmin-replay.ctf", "ocamlopt.ctf"};

typedef struct content {
    uint8_t *bytes;
    size_t size;
} content;

static content load(int i) {
    char path[4096];
    snprintf(path, sizeof path, "%s/traces/%s", getenv("TEST_DATA"), traces[i]);
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s", path);
    fseek(f, 0, SEEK_END);
    content c = {.size = (size_t)ftell(f)};
    rewind(f);
    c.bytes = malloc(c.size);
    ck_assert_uint_eq(fread(c.bytes, 1, c.size, f), c.size);
    fclose(f);
    return c;
}

/* Sanitizers reserve address space beyond any such limit. */
static void limit_memory(void) {
#ifndef HAVE_SANITIZER
    const struct rlimit limit = {.rlim_cur = MOST_MEMORY, .rlim_max = MOST_MEMORY};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
#endif
}

static size_t stride(void) {
    const char *all = getenv("STRESS");
    return all && strcmp(all, "all") == 0 ? N_PARTS : N_PARTS * SAMPLE;
}

START_TEST(every_truncation) {
    content c = load(_i / N_PARTS);
    limit_memory();
    for (size_t size = (size_t)_i % N_PARTS; size < c.size; size += stride())
        check_trace(c.bytes, size, NULL);
    free(c.bytes);
}
END_TEST

/* One to four bytes change, mostly by a bit: in headers more often than chance would have it. */
static void damage(uint8_t *bytes, size_t size, uint64_t random) {
    unsigned n = 1 + random % 4;
    for (unsigned i = 0; i < n; i++) {
        random = hash_u64(random + i);
        size_t at = random % size;
        if ((random >> 40) % 8 == 0)
            at = random % (size < 4096 ? size : 4096);
        bytes[at] ^=
            (random >> 50) % 4 ? (uint8_t)(1 << (random >> 60) % 8) : (uint8_t)(random >> 32);
    }
}

START_TEST(random_damage) {
    content c = load(_i / N_PARTS);
    uint8_t *copy = malloc(c.size);
    limit_memory();
    for (size_t n = (size_t)_i % N_PARTS; n < N_FLIPS / 2; n += stride()) {
        memcpy(copy, c.bytes, c.size);
        damage(copy, c.size, hash_u64(n * 2 + (size_t)_i / N_PARTS));
        check_trace(copy, c.size,
                    &(memtrace_reader_options){.skip_backtraces = n % 16 == 7 + (size_t)_i % 8});
    }
    free(copy);
    free(c.bytes);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("reader_stress");
    TCase *c = tcase_create("stress");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, every_truncation, 0, 2 * N_PARTS);
    tcase_add_loop_test(c, random_damage, 0, 2 * N_PARTS);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(suite)
