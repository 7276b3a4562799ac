/* pages.c: mmap, munmap, mremap and madvise by direct system calls, which do not set errno and
 * which bypass interposed functions. */
#include "platform/pages.h"

#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "platform/syscall.h"

size_t pages_unit(void) {
    return getauxval(AT_PAGESZ);
}

static void *pages_result(long result) {
    return syscall_failed(result) ? NULL : (void *)result;
}

void *pages_alloc(size_t size) {
    return pages_result(syscall6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

void pages_free(void *memory, size_t size) {
    if (memory)
        syscall4(SYS_munmap, (long)memory, (long)size, 0, 0);
}

void pages_clear(void *memory, size_t size) {
    if (syscall_failed(syscall4(SYS_madvise, (long)memory, (long)size, MADV_DONTNEED, 0)))
        memset(memory, 0, size); /* MADV_DONTNEED fails for locked memory */
}

void *pages_realloc(void *memory, size_t old_size, size_t new_size) {
    if (!memory)
        return pages_alloc(new_size);
    return pages_result(
        syscall4(SYS_mremap, (long)memory, (long)old_size, (long)new_size, MREMAP_MAYMOVE));
}
