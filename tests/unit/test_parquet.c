/* Tests of Parquet's encodings and files, by their bytes. Whether others read the files is for
 * tests/fleet. */
#include <string.h>

#include "export/exports.h"
#include "export/parquet.h"
#include "export/parquet_encode.h"
#include "export/thrift.h"
#include "unit.h"

static output memory(void) {
    output o;
    output_start(&o, OUTPUT_MEMORY);
    return o;
}

static void expect(output *o, const char *bytes, size_t size) {
    ck_assert_int_eq(o->error, 0);
    ck_assert_uint_eq(o->used, size);
    ck_assert_mem_eq(o->buffer, bytes, size);
    o->used = 0;
}

#define EXPECT(o, text) expect(o, text, sizeof(text) - 1)

/* ---- thrift ------------------------------------------------------------------------------ */

START_TEST(fields_are_numbered_from_the_one_before) {
    output o = memory();
    thrift t = thrift_struct(&o);
    thrift_i32(&t, 1, -1);
    thrift_i64(&t, 3, 300);
    thrift_bool(&t, 4, true);
    thrift_bool(&t, 5, false);
    thrift_text(&t, 30, "ab");
    thrift_end(&t);
    /* -1 is 1 by zigzag, 300 is 600; field 30 is too far from 5 for half a byte. */
    EXPECT(&o, "\x15\x01\x26\xD8\x04\x11\x12\x08\x3C\x02"
               "ab\x00");
    output_finish(&o);
}
END_TEST

START_TEST(lists_say_what_and_how_many) {
    output o = memory();
    thrift t = thrift_struct(&o);
    thrift_list(&t, 1, THRIFT_I32, 2);
    thrift_item_i32(&t, 8);
    thrift_item_i32(&t, 3);
    thrift_list(&t, 2, THRIFT_STRUCT, 15);
    EXPECT(&o, "\x19\x25\x10\x06\x19\xFC\x0F");
    thrift inner = thrift_inner(&t, 4);
    thrift_empty(&inner, 1);
    thrift_end(&inner);
    thrift_i32(&t, 5, 0);
    EXPECT(&o, "\x2C\x1C\x00\x00\x15\x00");
    output_finish(&o);
}
END_TEST

/* ---- encodings --------------------------------------------------------------------------- */

START_TEST(numbers_are_packed_as_the_specification_shows) {
    output o = memory();
    parquet_encode_runs(&o, (const uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7}, 8, 3);
    EXPECT(&o, "\x03\x88\xC6\xFA");
    output_finish(&o);
}
END_TEST

START_TEST(eight_equal_numbers_are_a_run) {
    output o = memory();
    uint32_t values[20];
    for (size_t i = 0; i < 20; i++)
        values[i] = i < 9 ? 300 : i < 17 ? i : 1;
    parquet_encode_runs(&o, values, 7, 9); /* too few: a group, filled up with 0 */
    ck_assert_uint_eq(o.used, 1 + 9);
    o.used = 0;
    parquet_encode_runs(&o, values, 9, 9);
    EXPECT(&o, "\x12\x2C\x01");
    /* A run, then groups up to the end, of which the last is filled up. */
    parquet_encode_runs(&o, values, 20, 9);
    ck_assert_uint_eq(o.used, 3 + 1 + 2 * 9);
    ck_assert_mem_eq(o.buffer, "\x12\x2C\x01\x05", 4);
    output_finish(&o);
}
END_TEST

START_TEST(a_run_ends_the_groups_before_it) {
    output o = memory();
    uint32_t values[24];
    for (size_t i = 0; i < 24; i++)
        values[i] = i < 8 ? i % 2 : 1;
    parquet_encode_runs(&o, values, 24, 1);
    EXPECT(&o, "\x03\xAA\x20\x01");
    output_finish(&o);
}
END_TEST

START_TEST(differences_are_as_the_specification_shows) {
    output o = memory();
    parquet_encode_deltas(&o, (const uint64_t[]){1, 2, 3, 4, 5}, 5);
    EXPECT(&o, "\x80\x01\x04\x05\x02\x02\x00\x00\x00\x00");
    /* From -2 on: 0, 0, 0, 3, 3, 3, 3 in 2 bits, in a part of 32. */
    parquet_encode_deltas(&o, (const uint64_t[]){7, 5, 3, 1, 2, 3, 4, 5}, 8);
    EXPECT(&o, "\x80\x01\x04\x08\x0E\x03\x02\x00\x00\x00\xC0\x3F\x00\x00\x00\x00\x00\x00");
    output_finish(&o);
}
END_TEST

START_TEST(differences_may_take_all_bits) {
    output o = memory();
    parquet_encode_deltas(&o, (const uint64_t[]){0, INT64_MAX, 0, 1}, 4);
    /* Steps: the largest, its opposite, 1; from the least on, the first takes 64 bits. */
    ck_assert_uint_eq(o.used, 5 + 10 + 4 + 32 * 8);
    ck_assert_mem_eq(o.buffer + 5 + 10, "\x40\x00\x00\x00", 4);
    ck_assert_mem_eq(o.buffer + 19, "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8);
    ck_assert_mem_eq(o.buffer + 27, "\x00\x00\x00\x00\x00\x00\x00\x00", 8);
    output_finish(&o);
}
END_TEST

START_TEST(texts_stand_behind_their_lengths) {
    output o = memory();
    const parquet_bytes texts[] = {{"ab", 2}, {"", 0}, {"c", 1}};
    parquet_encode_texts(&o, texts, 3);
    EXPECT(&o, "\x02\x00\x00\x00"
               "ab\x00\x00\x00\x00\x01\x00\x00\x00"
               "c");
    ck_assert(parquet_encode_lengths(&o, texts, 3));
    ck_assert_mem_eq(o.buffer, "\x80\x01\x04\x03\x04\x03\x02\x00\x00\x00", 10);
    ck_assert_mem_eq(o.buffer + o.used - 3, "abc", 3);
    output_finish(&o);
}
END_TEST

/* ---- files ------------------------------------------------------------------------------- */

START_TEST(a_file_ends_with_the_size_of_its_footer) {
    static const parquet_column columns[] = {{"n", PARQUET_I64, false}, {"t", PARQUET_TEXT, true}};
    output o = memory();
    parquet *p = parquet_begin(&o, columns, 2);
    ck_assert_ptr_nonnull(p);
    for (int i = 0; i < 100; i++) {
        parquet_int(p, 0, i);
        parquet_text(p, 1, i % 2 ? "odd" : NULL);
        ck_assert(parquet_row(p));
    }
    ck_assert(parquet_end(p));
    ck_assert_mem_eq(o.buffer, "PAR1\x15", 5);
    ck_assert_mem_eq(o.buffer + o.used - 4, "PAR1", 4);
    uint32_t size;
    memcpy(&size, o.buffer + o.used - 8, 4);
    ck_assert_uint_lt(size, o.used - 12);
    /* Version 1, and a schema of the root and two columns. */
    ck_assert_mem_eq(o.buffer + o.used - 8 - size, "\x15\x02\x19\x3C", 4);
    output_finish(&o);
}
END_TEST

static size_t size_of_column(parquet_kind kind, int64_t (*value)(int64_t)) {
    const parquet_column column = {"n", kind, false};
    output o = memory();
    parquet *p = parquet_begin(&o, &column, 1);
    ck_assert_ptr_nonnull(p);
    for (int64_t i = 0; i < 10000; i++) {
        parquet_int(p, 0, value(i));
        ck_assert(parquet_row(p));
    }
    ck_assert(parquet_end(p));
    const size_t size = o.used;
    output_finish(&o);
    return size;
}

static int64_t rising(int64_t i) {
    return i * 1000000 + i % 7;
}

static int64_t one_of_few(int64_t i) {
    return (int64_t)((uint64_t)(i * i % 5) * UINT64_C(0x9E3779B97F4A7C15));
}

START_TEST(what_rises_or_repeats_is_small) {
    ck_assert_uint_lt(size_of_column(PARQUET_TIME, rising), 10000);
    ck_assert_uint_lt(size_of_column(PARQUET_I64, one_of_few), 5000);
}
END_TEST

START_TEST(labels_have_a_key) {
    ck_assert(export_is_label("service=shop"));
    ck_assert(export_is_label("empty="));
    ck_assert(!export_is_label("=shop"));
    ck_assert(!export_is_label("shop"));
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("parquet");
    TCase *t = tcase_create("parquet");
    tcase_add_test(t, fields_are_numbered_from_the_one_before);
    tcase_add_test(t, lists_say_what_and_how_many);
    tcase_add_test(t, numbers_are_packed_as_the_specification_shows);
    tcase_add_test(t, eight_equal_numbers_are_a_run);
    tcase_add_test(t, a_run_ends_the_groups_before_it);
    tcase_add_test(t, differences_are_as_the_specification_shows);
    tcase_add_test(t, differences_may_take_all_bits);
    tcase_add_test(t, texts_stand_behind_their_lengths);
    tcase_add_test(t, a_file_ends_with_the_size_of_its_footer);
    tcase_add_test(t, what_rises_or_repeats_is_small);
    tcase_add_test(t, labels_have_a_key);
    suite_add_tcase(s, t);
    return s;
}

UNIT_MAIN(suite)
