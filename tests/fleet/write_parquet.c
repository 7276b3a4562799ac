/* write_parquet.c: `write_parquet FILE ROWS`: rows whose values follow from their numbers, in every
 * kind of column and encoding, for readers.py to read back. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "export/parquet.h"

enum { WIDE, RISES, SMALL, ENDS, AT, REAL, FEW, NAMES, BAD, NONE, SAME, N_COLUMNS };

static const parquet_column columns[N_COLUMNS] = {
    [WIDE] = {"wide", PARQUET_I64, false},   [RISES] = {"rises", PARQUET_I64, true},
    [SMALL] = {"small", PARQUET_I32, false}, [ENDS] = {"ends", PARQUET_I64, false},
    [AT] = {"at", PARQUET_TIME, false},      [REAL] = {"real", PARQUET_DOUBLE, false},
    [FEW] = {"few", PARQUET_TEXT, false},    [NAMES] = {"names", PARQUET_TEXT, true},
    [BAD] = {"bad", PARQUET_TEXT, false},    [NONE] = {"none", PARQUET_TEXT, true},
    [SAME] = {"same", PARQUET_I64, false},
};

static void put_numbers(parquet *p, int64_t i) {
    parquet_int(p, WIDE, (int64_t)hash_u64((uint64_t)i));
    if (i % 3 == 0)
        parquet_null(p, RISES);
    else
        parquet_int(p, RISES, i * 1000 + i % 7);
    parquet_int(p, SMALL, i % 11 - 5);
    parquet_int(p, ENDS, i % 2 ? INT64_MAX : INT64_MIN);
    parquet_int(p, AT, INT64_C(1700000000000000) + i * 997);
    parquet_double(p, REAL, (double)i / 8 - 1000);
    parquet_int(p, SAME, 42);
}

/* One in a thousand is long. */
static void put_name(parquet *p, int64_t i) {
    char name[256];
    const int size = snprintf(name, sizeof name, "f%lld", (long long)i);
    if (i % 1000 == 2) {
        memset(name + size, 'x', 100);
        name[size + 100] = '\0';
    }
    parquet_text(p, NAMES, i % 5 == 0 ? NULL : i % 5 == 1 ? "" : name);
}

static void put_texts(parquet *p, int64_t i) {
    static const char *const few[] = {"minor", "major", "external"};
    parquet_text(p, FEW, few[i % 3]);
    put_name(p, i);
    parquet_text(p, BAD, i % 2 ? "\xFF" : "\xC3\xA9");
    parquet_null(p, NONE);
}

static bool write_rows(output *o, int64_t n) {
    parquet *p = parquet_begin(o, columns, N_COLUMNS);
    bool ok = p;
    for (int64_t i = 0; ok && i < n; i++) {
        put_numbers(p, i);
        put_texts(p, i);
        ok = parquet_row(p);
    }
    return ok && parquet_end(p);
}

int main(int argc, char **argv) {
    output o;
    const int fd = argc == 3 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (fd < 0)
        return EXIT_FAILURE;
    output_start(&o, fd);
    const bool ok = write_rows(&o, strtoll(argv[2], NULL, 10));
    return output_finish(&o) == 0 && ok && close(fd) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
