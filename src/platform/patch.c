/* patch.c: implements patch.h. The page becomes writable while it stays executable, because other
 * threads may be running other code in it. patch_can finds out whether the kernel allows that by
 * writing the bytes that are already there. */
#include "platform/patch.h"

#include <string.h>
#include <sys/mman.h>

#include "platform/pages.h"
#include "platform/syscall.h"

/* The code must remain executable meanwhile. A kernel that refuses pages that are both writable and
 * executable might not let the page become executable again either. */
static bool code_protect(uintptr_t at, size_t bytes, int protection) {
    uintptr_t low = at & ~(pages_unit() - 1), size = at + bytes - low;
    return syscall4(SYS_mprotect, (long)low, (long)size, protection, 0) == 0;
}

bool patch_write(uintptr_t at, const uint8_t *code, size_t size) {
    if (!code_protect(at, size, PROT_READ | PROT_WRITE | PROT_EXEC))
        return false;
    memcpy((void *)at, code, size);
    __builtin___clear_cache((char *)at, (char *)at + size);
    code_protect(at, size, PROT_READ | PROT_EXEC);
    return true;
}

bool patch_can(uintptr_t function) {
    uint8_t same[CPU_JUMP_SIZE];
    memcpy(same, (const void *)function, sizeof same);
    return patch_write(function, same, sizeof same);
}

bool patch_put(patch *p, uintptr_t function, uintptr_t target) {
    uint8_t jump[CPU_JUMP_SIZE];
    memcpy(p->before, (const void *)function, sizeof p->before);
    cpu_jump(jump, target);
    p->at = patch_write(function, jump, sizeof jump) ? function : 0;
    return p->at;
}

bool patch_take_back(patch *p) {
    if (p->at && patch_write(p->at, p->before, sizeof p->before))
        p->at = 0;
    return !p->at;
}

uint8_t *patch_room(uintptr_t module_low, size_t size) {
    const uintptr_t unit = pages_unit(), step = 1 << 20, reach = (uintptr_t)1 << 30;
    const uintptr_t low = module_low & ~(unit - 1), least = 1 << 16;
    for (uintptr_t away = unit; away < reach && low > away + size + least; away += step) {
        const uintptr_t at = low - away - size;
        const long got =
            syscall6(SYS_mmap, (long)(at & ~(unit - 1)), (long)size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == (long)(at & ~(unit - 1)))
            return (uint8_t *)got;
        if (!syscall_failed(got))
            syscall4(SYS_munmap, got, (long)size, 0, 0);
    }
    return NULL;
}
