/* ring_run.c: the set of recorded processes is a bitmap of process ids, which takes at most half a
 * megabyte, however long the run lasts. */
#include "cli/ring/ring_run.h"

#include <sys/mman.h>

enum { BITS = 64 };

ring_run *ring_run_new(void) {
    void *shared =
        mmap(NULL, sizeof(ring_run), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? NULL : shared;
}

static uint64_t bit_of(uint64_t pid) {
    return UINT64_C(1) << pid % BITS;
}

void ring_run_add(ring_run *run, uint64_t pid) {
    if (pid < RING_RUN_PIDS)
        atomic_fetch_or(&run->pids[pid / BITS], bit_of(pid));
}

void ring_run_failed(ring_run *run, int error) {
    if (error)
        atomic_store(&run->error, error);
    atomic_fetch_add(&run->n_failed, 1);
}

bool ring_run_has(const ring_run *run, uint64_t pid) {
    return pid < RING_RUN_PIDS && atomic_load(&run->pids[pid / BITS]) & bit_of(pid);
}
