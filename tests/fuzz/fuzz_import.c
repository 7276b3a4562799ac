/* fuzz_import.c: libFuzzer's entry: any bytes, read as a profile of another tool by the reader that
 * the first byte chooses. What is read becomes a trace that has no defects. */
#include <stdio.h>
#include <unistd.h>

#include "import/import.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_trace(FILE *file) {
    memtrace_reader *reader;
    memtrace_event event;
    REQUIRE(memtrace_reader_open_fd(dup(fileno(file)), &(memtrace_reader_options){.strict = true},
                                    &reader, NULL) == MEMTRACE_OK);
    memtrace_status status;
    while ((status = memtrace_reader_next(reader, &event)) == MEMTRACE_OK)
        ;
    REQUIRE(status == MEMTRACE_END);
    memtrace_reader_close(reader);
}

/* Few bytes can mean many blocks, of which not all need be written here. */
static bool is_small(const import *from) {
    uint64_t blocks = from->events.count;
    for (size_t i = 0; i < from->records.count; i++) {
        const import_record *r = &from->records.items[i];
        REQUIRE(from->has_events || (r->live <= r->blocks && r->live_bytes <= r->bytes));
        REQUIRE(r->first + r->n <= from->frames.count);
        if (r->blocks > 1000 || r->bytes > 1000000 || (blocks += r->blocks) > 10000)
            return false;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static bool (*const readers[])(import *, const uint8_t *, size_t, import_error *) = {
        import_pprof, import_jemalloc, import_v8, import_heaptrack, import_memray};
import from = {0 };
    import_error error = {0};
    double rate;
    memtrace_error wrong;
    if (size == 0)
        return 0;
    const bool good = readers[bytes[0] % 5](&from, bytes + 1, size - 1, &error);
    REQUIRE(good || from.no_memory || (*error.reason && error.offset < size));
    for (size_t i = 0; good && i < from.frames.count; i++)
        REQUIRE(from.frames.items[i] < from.places.count);
    FILE *file = good && is_small(&from) ? tmpfile() : NULL;
    if (file) {
        REQUIRE(import_write(&from, fileno(file), COMPRESSION_NONE, &rate, &wrong) == MEMTRACE_OK);
        rewind(file);
        check_trace(file);
        fclose(file);
    }
    import_free(&from);
    return 0;
}
