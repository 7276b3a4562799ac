/* Tests of src/symbolize/debug_part.h: a part answers as the whole does, and any file is met. */
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolize/debug_part.h"
#include "symbolize/dwarf_info.h"
#include "unit.h"

enum { MAX_CHAIN = 16, CODE = 1 << 16, N_UNITS = 3 };

static elf_file file;
static dwarf_info *whole;
static uint64_t of_unit[N_UNITS][CODE]; /* addresses in its functions, ascending */
static size_t n_of_unit[N_UNITS];

/* The number in unit_N_x; -1: it is none of these functions. */
static int unit_of(dwarf_info *info, uint64_t address) {
    dwarf_frame frames[MAX_CHAIN];
    int unit;
    size_t n = dwarf_info_find(info, address, frames, MAX_CHAIN);
    return n && frames[0].name && sscanf(frames[0].name, "unit_%d_", &unit) == 1 ? unit : -1;
}

static void setup(void) {
    const char *path = getenv("DEBUG_UNITS_ZLIB");
    ck_assert_ptr_nonnull(path);
    ck_assert_int_eq(elf_file_open(&file, 0, path), 0);
    ck_assert_ptr_nonnull(whole = dwarf_info_open(file.elf));
    memset(n_of_unit, 0, sizeof n_of_unit);
    for (uint64_t address = 0; address < CODE; address++) {
        int unit = unit_of(whole, address);
        if (unit >= 0)
            of_unit[unit][n_of_unit[unit]++] = address;
    }
    for (int i = 0; i < N_UNITS; i++)
        ck_assert_uint_gt(n_of_unit[i], 100);
    dwarf_info_close(whole); /* it has replaced what was compressed by what it was */
    elf_file_close(&file);
    ck_assert_int_eq(elf_file_open(&file, 0, path), 0);
}

static void teardown(void) {
    elf_file_close(&file);
}

static void compare_with_whole(dwarf_info *info, uint64_t address) {
    dwarf_frame got[MAX_CHAIN], expected[MAX_CHAIN];
    size_t n = dwarf_info_find(whole, address, expected, MAX_CHAIN);
    ck_assert_uint_eq(dwarf_info_find(info, address, got, MAX_CHAIN), n);
    for (size_t i = 0; i < n; i++) {
        ck_assert_str_eq(got[i].name, expected[i].name);
        ck_assert_str_eq(got[i].file, expected[i].file);
        ck_assert_str_eq(got[i].folder, expected[i].folder);
        ck_assert_uint_eq(got[i].line, expected[i].line);
        ck_assert_uint_eq(got[i].column, expected[i].column);
        ck_assert_uint_eq(got[i].entry, expected[i].entry);
    }
}

START_TEST(a_part_says_what_the_whole_says) {
    debug_part part;
    const uint64_t *addresses = of_unit[_i];
    ck_assert(debug_part_make(&part, &file, addresses, n_of_unit[_i]));
    dwarf_info *info = dwarf_info_open(part.elf);
    ck_assert_ptr_nonnull(info);
    whole = dwarf_info_open(file.elf);
    for (size_t i = 0; i < n_of_unit[_i]; i++)
        compare_with_whole(info, addresses[i]);
    for (int unit = 0; unit < N_UNITS; unit++) /* those behind it are left out */
        ck_assert_int_eq(unit_of(info, of_unit[unit][0]), unit <= _i ? unit : -1);
    dwarf_info_close(whole);
    dwarf_info_close(info);
    debug_part_free(&part);
}
END_TEST

START_TEST(an_address_in_no_unit_takes_the_whole) {
    debug_part part;
    const uint64_t addresses[] = {of_unit[0][0], UINT64_C(1) << 40};
    ck_assert(debug_part_make(&part, &file, addresses, 1));
    debug_part_free(&part);
    ck_assert(!debug_part_make(&part, &file, addresses, 2));
    ck_assert(!debug_part_make(&part, &file, addresses, 0));
    ck_assert_ptr_null(part.elf);
}
END_TEST

/* libdw may know nothing of zstd. */
START_TEST(a_part_has_all_that_zstd_compressed) {
    elf_file zstd;
    debug_part part;
    const uint64_t anywhere = UINT64_C(1) << 40;
    ck_assert_int_eq(elf_file_open(&zstd, 0, getenv("DEBUG_UNITS_ZSTD")), 0);
    ck_assert(debug_part_make(&part, &zstd, &anywhere, 1));
    dwarf_info *info = dwarf_info_open(part.elf);
    ck_assert_ptr_nonnull(info);
    whole = dwarf_info_open(file.elf);
    for (int unit = 0; unit < N_UNITS; unit++)
        for (size_t i = 0; i < n_of_unit[unit]; i++)
            compare_with_whole(info, of_unit[unit][i]);
    dwarf_info_close(whole);
    dwarf_info_close(info);
    debug_part_free(&part);
    elf_file_close(&zstd);
}
END_TEST

/* A copy of the file, some bytes of which are other ones. */
static void open_damaged(elf_file *damaged, const char *bytes, size_t size, unsigned *seed) {
    char *copy = malloc(size);
    memcpy(copy, bytes, size);
    for (int i = 0; i < 4; i++) {
        *seed = *seed * 1103515245 + 12345;
        copy[(*seed >> 4) % size] ^= (char)(1 << (*seed >> 28) % 8);
    }
    int fd = memfd_create("damaged", MFD_CLOEXEC);
    ck_assert_int_eq(write(fd, copy, size), (ssize_t)size);
    free(copy);
    if (elf_file_open_fd(damaged, fd) != 0)
        *damaged = ELF_FILE_CLOSED;
}

static void survive_damage(Elf *elf, unsigned seed) {
    size_t size;
    const char *bytes = elf_rawfile(elf, &size);
    for (int turn = 0; turn < 200; turn++) {
        elf_file damaged;
        debug_part part = DEBUG_PART_NONE;
        open_damaged(&damaged, bytes, size, &seed);
        if (damaged.elf)
            debug_part_make(&part, &damaged, of_unit[1], n_of_unit[1]);
        debug_part_free(&part);
        elf_file_close(&damaged);
    }
}

START_TEST(damage_is_survived) {
    survive_damage(file.elf, (unsigned)_i);
}
END_TEST

START_TEST(damage_of_zstd_is_survived) {
    elf_file zstd;
    ck_assert_int_eq(elf_file_open(&zstd, 0, getenv("DEBUG_UNITS_ZSTD")), 0);
    survive_damage(zstd.elf, (unsigned)_i);
    elf_file_close(&zstd);
}
END_TEST

/* Where in the file the header of a compressed section stands; 0: it is not one that is read. */
static size_t packed_header_at(Elf *elf, Elf_Scn *section) {
    static const char *const read[] = {".debug_abbrev", ".debug_line", ".debug_str", ".debug_info"};
    size_t names;
    GElf_Shdr header;
    ck_assert_int_eq(elf_getshdrstrndx(elf, &names), 0);
    ck_assert_ptr_nonnull(gelf_getshdr(section, &header));
    for (size_t i = 0; header.sh_flags & SHF_COMPRESSED && i < sizeof read / sizeof *read; i++)
        if (strcmp(elf_strptr(elf, names, header.sh_name), read[i]) == 0)
            return header.sh_offset;
    return 0;
}

/* A section that says that it is longer than its bytes can be: by so much that the sum of all, for
 * which memory is taken, begins again at 0, and others would be inflated beyond it. */
static void claim_much(Elf *elf) {
    size_t size, at;
    const char *bytes = elf_rawfile(elf, &size);
    unsigned n_claims = 0;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));)
        for (uint64_t below = 0; (at = packed_header_at(elf, section)) && below < 64; below++) {
            const uint64_t claim = 0 - 4096 * below - 1;
            elf_file claiming;
            debug_part part;
            char *copy = malloc(size);
            memcpy(copy, bytes, size);
            memcpy(copy + at + offsetof(Elf64_Chdr, ch_size), &claim, sizeof claim);
            int fd = memfd_create("claiming", MFD_CLOEXEC);
            ck_assert_int_eq(write(fd, copy, size), (ssize_t)size);
            free(copy);
            ck_assert_int_eq(elf_file_open_fd(&claiming, fd), 0);
            ck_assert(!debug_part_make(&part, &claiming, of_unit[1], n_of_unit[1]));
            elf_file_close(&claiming);
            n_claims++;
        }
    ck_assert_uint_gt(n_claims, 0);
}

START_TEST(no_size_is_believed) {
    claim_much(file.elf);
}
END_TEST

START_TEST(no_size_of_zstd_is_believed) {
    elf_file zstd;
    ck_assert_int_eq(elf_file_open(&zstd, 0, getenv("DEBUG_UNITS_ZSTD")), 0);
    claim_much(zstd.elf);
    elf_file_close(&zstd);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("debug_part");
    TCase *t = tcase_create("debug_part");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, a_part_says_what_the_whole_says, 0, N_UNITS);
    tcase_add_test(t, an_address_in_no_unit_takes_the_whole);
    tcase_add_loop_test(t, damage_is_survived, 0, 5);
    tcase_add_test(t, no_size_is_believed);
    if (getenv("DEBUG_UNITS_ZSTD")) { /* older linkers do not know it */
        tcase_add_test(t, a_part_has_all_that_zstd_compressed);
        tcase_add_loop_test(t, damage_of_zstd_is_survived, 0, 5);
        tcase_add_test(t, no_size_of_zstd_is_believed);
    }
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
