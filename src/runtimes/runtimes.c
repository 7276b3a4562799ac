/* runtimes.c: the table of record/runtime.h, of the list in contract/runtimes.h. */
#include "record/runtime.h"

#define ROW(id, name, ...) [RUNTIME_##id] = &name##_runtime_row,
const struct runtime *const runtimes[N_RUNTIMES] = {RUNTIMES(ROW)};
