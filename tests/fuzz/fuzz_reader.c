/* fuzz_reader.c: libFuzzer's entry: any bytes, read in every way. */
#include "check_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    check_trace(bytes, size, NULL);
    check_trace(bytes, size, &(memtrace_reader_options){.skip_backtraces = true});
    check_trace(bytes, size, &(memtrace_reader_options){.strict = true});
    check_trace(bytes, size, &(memtrace_reader_options){.as_written = true});
    return 0;
}
