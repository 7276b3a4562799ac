/* memprof.c: the engine's constants. */
#include "allotrace/memprof.h"

_Alignas(64) const char memprof_no_bits[64] = {0};
const memprof_tracker memprof_null_tracker = {0};

const char *memprof_status_text(memprof_status status) {
    switch (status) {
    case MEMPROF_OK:
        return "success";
    case MEMPROF_ALREADY_ACTIVE:
        return "sampling is active already";
    case MEMPROF_NOT_ACTIVE:
        return "sampling is not active";
    case MEMPROF_BAD_RATE:
        return "the sampling rate must be above 0 and at most 1";
    case MEMPROF_IN_CALLBACK:
        return "not possible inside a callback";
    case MEMPROF_NOMEM:
        return "out of memory";
    }
    return "unknown status";
}
