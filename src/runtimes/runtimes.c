/* runtimes.c: the table of runtimes (record/runtime.h), made from the list in
 * contract/runtimes.h. */
#include "record/runtime.h"

#define ROW(id, name, ...) [RUNTIME_##id] = &name##_runtime_row,
const struct runtime *const runtimes[N_RUNTIMES] = {RUNTIMES(ROW)};
