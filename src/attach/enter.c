/* enter.c: implements enter.h. The thread makes system calls at its program's entry point, whose
 * first two bytes are meanwhile replaced by an instruction that enters the kernel. All signals are
 * blocked and wait, so every stop is one at a system call. */
#include "attach/enter.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/cpu.h"
#include "attach/image.h"
#include "attach/process.h"
#include "attach/stop.h"
#include "base/file.h"
#include "base/proc.h"
#include "contract/entered.h"

enum {
    MOST_ERRNO = 4095,
    MOST_HEADERS = 64,
    MOST_TLS = 1 << 24,    /* bytes */
    THREAD_ALIGNMENT = 64, /* largest alignment of the recorder's thread-local variables, bytes */
    CONTROL_BLOCK = 1024,  /* bytes after a thread pointer that the C library's header may use */
};

typedef struct entering {
    pid_t pid;
    int memory; /* /proc/PID/mem */
    cpu_registers registers;
    uint64_t blocked; /* mask of blocked signals */
    unsigned char code[CPU_ENTER_SIZE];
    uint64_t gate;      /* address of the system call instruction: the program's entry point */
    bool stands;        /* `registers` are those with which the program begins */
    bool was_sent_stop; /* SIGSTOP arrived meanwhile */

    /* From the auxiliary vector. */
    uint64_t auxv, headers_entry, count_entry; /* addresses on the stack */
    uint64_t headers, entry;
    uint64_t loader; /* base of the dynamic loader; must be 0 */
    Elf64_Phdr program[MOST_HEADERS + 1];
    size_t n_headers;
    uint64_t bias;

    image library;
    uint64_t base; /* load address of the library */
    uint64_t data, data_size;
    uint64_t tls_size;  /* bytes below the thread pointer that the program's linker has assigned */
    uint64_t tls_more;  /* bytes of the recorder's variables below those */
    uint64_t alignment; /* alignment of both */
    Elf64_Phdr *tls;    /* in `program`; NULL: the program has no PT_TLS */
} entering;

static uint64_t page_size(void) {
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ---- up to the exec -------------------------------------------------------------------------- */

bool enter_is_possible(void) {
    return CPU_ATTACHES;
}

int enter_follow(pid_t pid) {
    return ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXEC) == 0 ? 0 : errno;
}

bool enter_await_exec(pid_t pid, int *status) {
    for (;;) {
        if (TEMP_FAILURE_RETRY(waitpid(pid, status, __WALL)) < 0 || !WIFSTOPPED(*status))
            return false;
        if (stop_event(*status) == PTRACE_EVENT_EXEC)
            return true;
        const bool is_group_stop = stop_event(*status) == PTRACE_EVENT_STOP;
        if (is_group_stop && WSTOPSIG(*status) != SIGTRAP)
            ptrace(PTRACE_LISTEN, pid, 0, 0); /* stays stopped until it is continued */
        else
            ptrace(PTRACE_CONT, pid, 0, is_group_stop ? 0 : WSTOPSIG(*status));
    }
}

/* ---- the stopped thread ---------------------------------------------------------------------- */

/* Continues to the next stop at a system call. Returns false if the process has ended. */
static bool go_on(entering *e) {
    int status, deliver = 0;
    for (;;) {
        if (ptrace(PTRACE_SYSCALL, e->pid, 0, deliver) != 0 ||
            TEMP_FAILURE_RETRY(waitpid(e->pid, &status, __WALL)) < 0 || !WIFSTOPPED(status))
            return false;
        if (WSTOPSIG(status) == STOP_SYSCALL)
            return true;
        /* SIGSTOP can't be blocked. It is sent again when the program begins. Any other signal is
         * an error of ours, and entering fails. */
        if (stop_event(status) == 0 && WSTOPSIG(status) == SIGSTOP)
            e->was_sent_stop = true;
        else if (stop_event(status) == 0)
            return false;
    }
}

static bool read_memory(const entering *e, uint64_t at, void *bytes, size_t size) {
    return pread(e->memory, bytes, size, (off_t)at) == (ssize_t)size;
}

static bool write_memory(const entering *e, uint64_t at, const void *bytes, size_t size) {
    return pwrite(e->memory, bytes, size, (off_t)at) == (ssize_t)size;
}

/* Has the thread make a system call. Returns false if the process has ended. */
static bool call_kernel(entering *e, long number, const uint64_t arguments[6], int64_t *result) {
    cpu_registers at = e->registers;
    cpu_set_call(&at, e->gate, number, arguments);
    cpu_set(e->pid, &at);
    if (!go_on(e) || !go_on(e) || !cpu_get(e->pid, &at))
        return false;
    *result = cpu_result(&at);
    return true;
}

static int64_t kernel(entering *e, long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                      uint64_t f, uint64_t g) {
    int64_t result = -ESRCH;
    call_kernel(e, number, (uint64_t[]){a, b, c, d, f, g}, &result);
    return result;
}

static bool is_error(int64_t result) {
    return result < 0 && result >= -MOST_ERRNO;
}

/* Calls a function and lets its own system calls pass. The function returns to the gate. */
static bool call_function(entering *e, uint64_t function, uint64_t argument, uint64_t pointer) {
    cpu_registers at = e->registers;
    const uint64_t stack = cpu_stack_for(cpu_sp(&at) - CPU_RED_ZONE);
    const uint64_t arguments[6] = {argument};
    if (!write_memory(e, stack, &e->gate, sizeof e->gate))
        return false;
    cpu_call(&at, function, stack, arguments);
    cpu_set_thread_pointer(&at, pointer);
    cpu_set(e->pid, &at);
    for (bool enters = true;; enters = !enters) {
        if (!go_on(e) || !cpu_get(e->pid, &at))
            return false;
        if (!enters || cpu_pc(&at) != e->gate + CPU_ENTER_SIZE)
            continue;
        cpu_set_number(&at, -1); /* not in a system call */
        cpu_set(e->pid, &at);
        return go_on(e);
    }
}

/* Continues from the exec event to the exit of the exec system call, where registers can be set. If
 * this process dies, the program is killed: nobody would restore it. */
static bool stand(entering *e) {
    const uint64_t all = ~UINT64_C(0);
    const long options = PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
    e->memory = proc_open((uint64_t)e->pid, "mem", O_RDWR);
    return e->memory >= 0 && ptrace(PTRACE_SETOPTIONS, e->pid, 0, options) == 0 &&
           ptrace(PTRACE_GETSIGMASK, e->pid, (void *)sizeof e->blocked, &e->blocked) == 0 &&
           ptrace(PTRACE_SETSIGMASK, e->pid, (void *)sizeof all, &all) == 0 && go_on(e) &&
           (e->stands = cpu_get(e->pid, &e->registers));
}

/* Restores the program, which still stands. */
static void restore(entering *e) {
    if (e->gate)
        write_memory(e, e->gate, e->code, sizeof e->code);
    if (e->stands) {
        cpu_set_number(&e->registers, -1); /* not in a system call */
        cpu_set(e->pid, &e->registers);
    }
    ptrace(PTRACE_SETSIGMASK, e->pid, (void *)sizeof e->blocked, &e->blocked);
    if (e->was_sent_stop)
        kill(e->pid, SIGSTOP);
    file_close(e->memory);
    image_free(&e->library);
}

/* ---- what the kernel passes to the program --------------------------------------------------- */

/* Skips a list of addresses that ends with 0: the arguments or the environment. */
static bool skip_list(const entering *e, uint64_t *at) {
    uint64_t word = 1;
    for (; word; *at += sizeof word)
        if (!read_memory(e, *at, &word, sizeof word))
            return false;
    return true;
}

static bool read_told(entering *e) {
    Elf64_auxv_t told;
    uint64_t at = cpu_sp(&e->registers) + sizeof(uint64_t), size = 0;
    if (!skip_list(e, &at) || !skip_list(e, &at))
        return false;
    for (e->auxv = at;; at += sizeof told) {
        if (!read_memory(e, at, &told, sizeof told))
            return false;
        switch (told.a_type) {
        case AT_PHDR:
            e->headers_entry = at;
            e->headers = told.a_un.a_val;
            break;
        case AT_PHNUM:
            e->count_entry = at;
            e->n_headers = told.a_un.a_val;
            break;
        case AT_PHENT:
            size = told.a_un.a_val;
            break;
        case AT_ENTRY:
            e->entry = told.a_un.a_val;
            break;
        case AT_BASE:
            e->loader = told.a_un.a_val;
            break;
        case AT_NULL:
            return !e->loader && e->headers && e->entry && e->n_headers &&
                   e->n_headers <= MOST_HEADERS && size == sizeof *e->program;
        }
    }
}

/* Computes the load bias from the entry point and checks it against the address of the program
 * headers. They must be in the segment that begins at file offset 0. */
static bool find_bias(entering *e) {
    const Elf64_Phdr *first = NULL;
    Elf64_Ehdr head;
    for (size_t i = 0; i < e->n_headers; i++) {
        const Elf64_Phdr *h = &e->program[i];
        if (h->p_type == PT_LOAD && h->p_offset == 0)
            first = h;
        if (h->p_type == PT_TLS)
            e->tls = &e->program[i];
    }
    const int fd = proc_open((uint64_t)e->pid, "exe", O_RDONLY);
    const bool done = fd >= 0 && first && pread(fd, &head, sizeof head, 0) == sizeof head;
    file_close(fd);
    e->bias = e->entry - head.e_entry;
    return done && e->headers - head.e_phoff == e->bias + first->p_vaddr;
}

static bool read_program(entering *e) {
    return read_told(e) &&
           read_memory(e, e->headers, e->program, e->n_headers * sizeof *e->program) &&
           find_bias(e);
}

/* ---- thread-local storage -------------------------------------------------------------------- */

static uint64_t round_up(uint64_t n, uint64_t unit) {
    return (n + unit - 1) & -unit;
}

/* Lays out the thread-local variables. The program's linker has placed its variables below the
 * thread pointer, with their size rounded up to their alignment. The recorder's come below them, so
 * that both parts together meet either alignment. */
static bool plan_tls(entering *e) {
    const uint64_t theirs = e->tls && e->tls->p_align ? e->tls->p_align : 1;
    if ((theirs & (theirs - 1)) || theirs > page_size() ||
        e->library.tls.p_align > THREAD_ALIGNMENT ||
        (e->tls && (e->tls->p_vaddr % theirs || e->tls->p_memsz > MOST_TLS ||
                    e->tls->p_filesz > e->tls->p_memsz)))
        return false;
    e->alignment = theirs > THREAD_ALIGNMENT ? theirs : THREAD_ALIGNMENT;
    e->tls_size = e->tls ? round_up(e->tls->p_memsz, theirs) : 0;
    e->tls_more = round_up(e->tls_size + e->library.tls.p_memsz, e->alignment) - e->tls_size;
    return true;
}

/* A position-independent program relocates itself, including the initial values of its thread-local
 * variables, but only after this copy of them was made. So the copy is relocated here. Returns
 * false if the relocation is unsupported. */
static bool relocate_word(const entering *e, const Elf64_Rela *r, unsigned char *copy) {
    const uint64_t at = r->r_offset - e->tls->p_vaddr, size = e->tls->p_filesz;
    if (r->r_offset + sizeof(uint64_t) <= e->tls->p_vaddr || at >= size + sizeof(uint64_t))
        return true;
    if (ELF64_R_TYPE(r->r_info) != R_X86_64_RELATIVE || size < sizeof(uint64_t) ||
        at > size - sizeof(uint64_t))
        return r->r_offset >= e->tls->p_vaddr + size;
    const uint64_t value = e->bias + (uint64_t)r->r_addend;
    memcpy(copy + at, &value, sizeof value);
    return true;
}

static uint64_t dynamic_value(const entering *e, int64_t tag) {
    for (size_t i = 0; i < e->n_headers; i++) {
        Elf64_Dyn d = {.d_tag = DT_DEBUG};
        const Elf64_Phdr *h = &e->program[i];
        for (uint64_t at = 0; h->p_type == PT_DYNAMIC && d.d_tag && at + sizeof d <= h->p_memsz;
             at += sizeof d)
            if (read_memory(e, e->bias + h->p_vaddr + at, &d, sizeof d) && d.d_tag == tag)
                return d.d_un.d_val;
    }
    return 0;
}

/* Reads a table from the process. Returns NULL on failure. The caller frees it. */
static void *read_table(const entering *e, uint64_t at, uint64_t size) {
    enum { MOST_TABLE = 1 << 28 };
    void *table = size < MOST_TABLE ? malloc(size + 1) : NULL;
    if (table && read_memory(e, e->bias + at, table, size))
        return table;
    free(table);
    return NULL;
}

static bool relocate_rela(const entering *e, unsigned char *copy) {
    const uint64_t at = dynamic_value(e, DT_RELA), size = dynamic_value(e, DT_RELASZ);
    Elf64_Rela *all = at ? read_table(e, at, size) : NULL;
    bool done = all || !at;
    for (size_t i = 0; all && done && i < size / sizeof *all; i++)
        done = relocate_word(e, &all[i], copy);
    free(all);
    return done;
}

/* Relocates a word whose addend is in the word itself. */
static void relocate_in_place(const entering *e, uint64_t address, unsigned char *copy) {
    const uint64_t at = address - e->tls->p_vaddr, size = e->tls->p_filesz;
    uint64_t value;
    if (address < e->tls->p_vaddr || size < sizeof value || at > size - sizeof value)
        return;
    memcpy(&value, copy + at, sizeof value);
    value += e->bias;
    memcpy(copy + at, &value, sizeof value);
}

/* Handles DT_RELR. An entry is either an address or, if its lowest bit is set, a bitmap of which of
 * the next 63 words are relocated. */
static bool relocate_relr(const entering *e, unsigned char *copy) {
    const uint64_t table = dynamic_value(e, DT_RELR), size = dynamic_value(e, DT_RELRSZ);
    uint64_t *all = table ? read_table(e, table, size) : NULL, next = 0;
    for (size_t i = 0; all && i < size / sizeof *all; i++) {
        if (all[i] & 1) {
            for (unsigned bit = 1; bit < 64; bit++)
                if (all[i] >> bit & 1)
                    relocate_in_place(e, next + (bit - 1) * sizeof next, copy);
            next += 63 * sizeof next;
        } else {
            relocate_in_place(e, all[i], copy);
            next = all[i] + sizeof next;
        }
    }
    free(all);
    return all || !table;
}

static bool relocate_variables(const entering *e, unsigned char *copy) {
    return !e->tls || (relocate_rela(e, copy) && relocate_relr(e, copy));
}

/* ---- what is put into the process ------------------------------------------------------------ */

/* Layout of our data in the process: the request; the table of headers; the initial values of each
 * thread's variables; the variables of the thread that makes the call. */
static uint64_t table_at(const entering *e) {
    return e->data + page_size();
}
static uint64_t variables_at(const entering *e) {
    return round_up(table_at(e) + sizeof e->program, e->alignment);
}
static uint64_t pointer_at(const entering *e) {
    return round_up(variables_at(e) + e->tls_more + e->tls_size, e->alignment) + e->tls_more +
           e->tls_size;
}

static bool map_data(entering *e) {
    e->data = 0;
    e->data_size = round_up(pointer_at(e) + CONTROL_BLOCK + page_size(), page_size());
    const int64_t got = kernel(e, SYS_mmap, 0, e->data_size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0);
    e->data = is_error(got) ? 0 : (uint64_t)got;
    return e->data;
}

static uint64_t protection_of(const Elf64_Phdr *h) {
    return (h->p_flags & PF_R ? PROT_READ : 0u) | (h->p_flags & PF_W ? PROT_WRITE : 0u) |
           (h->p_flags & PF_X ? PROT_EXEC : 0u);
}

/* Maps a segment from its file, so that all processes share pages that are not written. Writable
 * segments are then overwritten with their relocated content. */
static bool map_segment(entering *e, int fd, const Elf64_Phdr *h) {
    const uint64_t start = h->p_vaddr & -page_size();
    const uint64_t size = h->p_vaddr + h->p_filesz - start, pages = round_up(size, page_size());
    const int64_t got = kernel(e, SYS_mmap, e->base + start, size, protection_of(h),
                               MAP_PRIVATE | MAP_FIXED, (uint64_t)fd, h->p_offset & -page_size());
    if (is_error(got))
        return false;
    return !(h->p_flags & PF_W) ||
           write_memory(e, e->base + start, image_bytes(&e->library, start, pages), pages);
}

static bool map_segments(entering *e, int fd) {
    for (size_t i = 0; i < e->library.n_headers; i++)
        if (e->library.headers[i].p_type == PT_LOAD && !map_segment(e, fd, &e->library.headers[i]))
            return false;
    return true;
}

static bool map_library(entering *e, const char *path) {
    const int64_t tls = -(int64_t)(e->tls_size + e->tls_more);
    const int64_t got = kernel(e, SYS_mmap, 0, e->library.size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0);
    e->base = is_error(got) ? 0 : (uint64_t)got;
    if (!e->base || !image_relocate(&e->library, e->base, tls) ||
        !write_memory(e, e->data, path, strlen(path) + 1))
        return false;
    const int64_t fd =
        kernel(e, SYS_openat, (uint64_t)AT_FDCWD, e->data, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    if (is_error(fd))
        return false;
    const bool done = map_segments(e, (int)fd);
    kernel(e, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
    return done;
}

/* Writes the initial values of the thread-local variables: the recorder's, then the program's. */
static bool write_variables(entering *e) {
    const uint64_t theirs = e->tls ? e->tls->p_filesz : 0, size = e->tls_more + theirs;
    const Elf64_Phdr *ours = &e->library.tls;
    unsigned char *all = calloc(1, size);
    const unsigned char *begin = image_bytes(&e->library, ours->p_vaddr, ours->p_filesz);
    bool done = all && begin;
    if (done) {
        memcpy(all, begin, ours->p_filesz);
        done = (!theirs || read_memory(e, e->bias + e->tls->p_vaddr, all + e->tls_more, theirs)) &&
               relocate_variables(e, all + e->tls_more) &&
               write_memory(e, variables_at(e), all, size) &&
               write_memory(e, pointer_at(e) - e->tls_size - e->tls_more, all, size);
    }
    free(all);
    const uint64_t pointer = pointer_at(e);
    return done && write_memory(e, pointer, &pointer, sizeof pointer);
}

/* Writes the table of program headers that the C library will read. */
static bool write_headers(entering *e) {
    for (size_t i = 0; i < e->n_headers; i++)
        if (e->program[i].p_type == PT_PHDR)
            e->program[i].p_vaddr = e->program[i].p_paddr = table_at(e) - e->bias;
    if (!e->tls) {
        e->tls = &e->program[e->n_headers++];
        *e->tls = (Elf64_Phdr){.p_type = PT_TLS, .p_flags = PF_R};
    }
    e->tls->p_vaddr = e->tls->p_paddr = variables_at(e) - e->bias;
    e->tls->p_filesz += e->tls_more;
    e->tls->p_memsz += e->tls_more;
    e->tls->p_align = e->alignment;
    return write_memory(e, table_at(e), e->program, e->n_headers * sizeof *e->program);
}

static bool tell_word(const entering *e, uint64_t entry, uint64_t word) {
    return write_memory(e, entry + offsetof(Elf64_auxv_t, a_un), &word, sizeof word);
}

static bool tell_headers(entering *e) {
    return write_headers(e) && tell_word(e, e->headers_entry, table_at(e)) &&
           tell_word(e, e->count_entry, e->n_headers);
}

static bool call_recorder(entering *e, remote_reason *outcome) {
    entered request = {.version = ENTERED_VERSION,
                       .stack = cpu_sp(&e->registers),
                       .bias = e->bias,
                       .headers = e->headers,
                       .n_headers = e->n_headers,
                       .own = e->base};
    if (!write_memory(e, e->data, &request, sizeof request) ||
        !call_function(e, e->base + e->library.entry, e->data, pointer_at(e)) ||
        !read_memory(e, e->data, &request, sizeof request))
        return false;
    request.text[sizeof request.text - 1] = '\0';
    remote_refuse(outcome, "%s", request.text);
    return request.is_recorded;
}

/* ---- entering the program -------------------------------------------------------------------- */

static bool put_gate(entering *e) {
    return read_memory(e, e->entry, e->code, sizeof e->code) &&
           write_memory(e, e->entry, cpu_enter, sizeof cpu_enter) && (e->gate = e->entry);
}

static bool enter(entering *e, const char *library, remote_reason *outcome) {
    remote_refuse(outcome, "the recorder cannot be put into it");
    if (!image_read(&e->library, library))
        return remote_refuse(outcome, "%.160s cannot be read", library);
    if (!stand(e) || !read_program(e))
        return false;
    if (!plan_tls(e))
        return remote_refuse(outcome, "its thread-local storage has an unusual layout");
    return put_gate(e) && map_data(e) && map_library(e, library) && write_variables(e) &&
           call_recorder(e, outcome) && tell_headers(e);
}

static void unmap(entering *e) {
    if (e->base)
        kernel(e, SYS_munmap, e->base, e->library.size, 0, 0, 0, 0);
    if (e->data)
        kernel(e, SYS_munmap, e->data, e->data_size, 0, 0, 0, 0);
}

bool enter_program(pid_t pid, const char *library, remote_reason *outcome) {
    entering *e = calloc(1, sizeof *e);
    if (!e) {
        remote_refuse(outcome, "not enough memory");
        return false;
    }
    e->pid = pid;
    e->memory = -1;
    elf_version(EV_CURRENT);
    const bool done = enter(e, library, outcome);
    if (!done)
        unmap(e);
    restore(e);
    free(e);
    return done;
}
