/* handlers.c: combines two methods. It searches the stack for the frames that the kernel writes for
 * a handler, which it knows by their form. Then libdwfl unwinds from the handler to tell whether
 * the call stack really leads to the interrupted code. */
#include "attach/handlers.h"

#ifdef __x86_64__

#include <elfutils/libdwfl.h>
#include <string.h>
#include <sys/types.h>
#include <ucontext.h>
#include <unistd.h>

/* ---- signal frames on the stack -------------------------------------------------------------- */

/* The start of the kernel's struct rt_sigframe, as far as it is used here. */
typedef struct signal_frame {
    uint64_t returns_to;
    struct {
        uint64_t flags, link;
        stack_t stack;
        gregset_t registers;
    } context;
} signal_frame;

enum {
    MAX_STACK = 8 << 20, /* most bytes searched */
    CHUNK = 64 * 1024,
    MAX_FLAGS = 7,
    USER_CODE = 0x33, /* value of the code segment in the lowest 16 bits of REG_CSGSFS */
};

/* mov $__NR_rt_sigreturn, %rax; syscall */
static const uint8_t return_code[] = {0x48, 0xC7, 0xC0, 0x0F, 0x00, 0x00, 0x00, 0x0F, 0x05};

static bool is_signal_frame(int memory, const signal_frame *f) {
    uint8_t code[sizeof return_code];
    return f->context.link == 0 && f->context.flags <= MAX_FLAGS &&
           (f->context.registers[REG_CSGSFS] & 0xffff) == USER_CODE &&
           pread(memory, code, sizeof code, (off_t)f->returns_to) == (ssize_t)sizeof code &&
           memcmp(code, return_code, sizeof code) == 0;
}

/* Part of a stack to search. `elsewhere` is the stack pointer of the interrupted code if it is on
 * another stack. */
typedef struct search {
    int memory;
    uint64_t low, high, elsewhere;
    interrupted *found;
    size_t n, max;
} search;

static void look_at(search *s, const signal_frame *f) {
    uint64_t sp = (uint64_t)f->context.registers[REG_RSP];
    if (s->n == s->max || !is_signal_frame(s->memory, f))
        return;
    s->found[s->n++] = (interrupted){.pc = (uint64_t)f->context.registers[REG_RIP],
                                     .result = (uint64_t)f->context.registers[REG_RAX]};
    if (sp < s->low || sp >= s->high)
        s->elsewhere = sp;
}

static void search_stack(search *s) {
    static uint64_t words[CHUNK / sizeof(uint64_t)];
    enum { STEP = CHUNK - (int)sizeof(signal_frame) };
    for (uint64_t at = s->low; at < s->high; at += STEP) {
        uint64_t left = s->high - at;
        ssize_t n = pread(s->memory, words, left < CHUNK ? left : CHUNK, (off_t)at);
        for (size_t i = 0; n > 0 && i * sizeof *words + sizeof(signal_frame) <= (size_t)n &&
                           i < STEP / sizeof *words;
             i++) {
            signal_frame f;
            memcpy(&f, &words[i], sizeof f);
            look_at(s, &f);
        }
    }
}

size_t handlers_find(const process_ranges *ranges, int memory, uint64_t sp, interrupted *found,
                     size_t max) {
    enum { MAX_STACKS = 3 }; /* handlers may run on an alternate stack */
    search s = {.memory = memory, .elsewhere = sp, .found = found, .max = max};
    for (int i = 0; i < MAX_STACKS && s.elsewhere; i++) {
        s.low = s.elsewhere & ~UINT64_C(7);
        s.high = process_range_end(ranges, s.low);
        s.elsewhere = 0;
        if (s.high > s.low + MAX_STACK)
            s.high = s.low + MAX_STACK;
        search_stack(&s);
    }
    return s.n;
}

/* ---- the call stack -------------------------------------------------------------------------- */

typedef struct walk {
    uint64_t wanted;
    bool inner, found;
} walk;

static int visit_frame(Dwfl_Frame *frame, void *context) {
    walk *w = context;
    Dwarf_Addr pc;
    bool was_interrupted;
    if (!dwfl_frame_pc(frame, &pc, &was_interrupted))
        return DWARF_CB_ABORT;
    w->found |= w->inner && was_interrupted && pc == w->wanted;
    w->inner = true;
    return DWARF_CB_OK;
}

/* Skips debug information: unwinding does not need it, and it might have to be downloaded. */
static int find_no_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                             const char *file, const char *link, GElf_Word crc, char **found) {
    (void)module, (void)user, (void)name, (void)base, (void)file, (void)link, (void)crc,
        (void)found;
    return -1;
}

bool handlers_lead_to(pid_t pid, pid_t tid, uint64_t pc) {
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = find_no_debuginfo};
    walk w = {.wanted = pc};
    bool whole = false;
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (dwfl && dwfl_linux_proc_report(dwfl, pid) == 0 && dwfl_report_end(dwfl, NULL, NULL) == 0 &&
        dwfl_linux_proc_attach(dwfl, pid, true) == 0)
        whole = dwfl_getthread_frames(dwfl, tid, visit_frame, &w) == 0;
    if (dwfl)
        dwfl_end(dwfl);
    return w.found || !whole;
}

#endif
