/* alone.c: implements alone.h. The functions have the names and the meaning that they have in the C
 * library, but they are not visible outside the recorder. The compiler must not turn their bodies
 * into calls of themselves (-fno-builtin, -fno-tree-loop-distribute-patterns). */
#include "platform/alone.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "platform/loader.h"
#include "platform/syscall.h"
#include "platform/tables.h"

/* ---- memory and texts ---------------------------------------------------------------------- */

struct two_words {
    uint64_t first, second;
};

/* Most copies are a few words long. */
static void copy_up(char *to, const char *from, size_t n) {
    enum { STRING = 256 }; /* bytes; from this size on, one instruction is faster */
    if (n >= STRING) {
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
        return;
    }
    for (; n >= sizeof(struct two_words); n -= sizeof(struct two_words)) {
        struct two_words words;
        __builtin_memcpy(&words, from, sizeof words);
        __builtin_memcpy(to, &words, sizeof words);
        to += sizeof words;
        from += sizeof words;
    }
    while (n--)
        *to++ = *from++;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n) {
    copy_up(to, from, n);
    return to;
}

void *memmove(void *to, const void *from, size_t n) {
    char *const t = to;
    const char *const f = from;
    if ((uintptr_t)t - (uintptr_t)f >= n)
        copy_up(t, f, n);
    else
        while (n--)
            t[n] = f[n];
    return to;
}

void *memset(void *to, int byte, size_t n) {
    void *at = to;
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(byte) : "memory");
    return to;
}

int memcmp(const void *a, const void *b, size_t n) {
    const unsigned char *x = a, *y = b;
    for (; n; n--, x++, y++)
        if (*x != *y)
            return *x - *y;
    return 0;
}

/* clang calls this instead of memcmp where the code only asks for equality. */
int bcmp(const void *a, const void *b, size_t n) {
    return memcmp(a, b, n);
}

size_t strnlen(const char *text, size_t most) {
    size_t n = 0;
    while (n < most && text[n])
        n++;
    return n;
}

size_t strlen(const char *text) {
    return strnlen(text, SIZE_MAX);
}

int strncmp(const char *a, const char *b, size_t n) {
    for (; n; n--, a++, b++)
        if (*a != *b || !*a)
            return (unsigned char)*a - (unsigned char)*b;
    return 0;
}

int strcmp(const char *a, const char *b) {
    return strncmp(a, b, SIZE_MAX);
}

char *strchr(const char *text, int wanted) {
    for (; *text != (char)wanted; text++)
        if (!*text)
            return NULL;
    return (char *)text;
}

char *strrchr(const char *text, int wanted) {
    const char *found = NULL;
    for (;; text++) {
        if (*text == (char)wanted)
            found = text;
        if (!*text)
            return (char *)found;
    }
}

size_t strcspn(const char *text, const char *ends) {
    size_t n = 0;
    while (text[n] && !strchr(ends, text[n]))
        n++;
    return n;
}

/* The recorder takes its memory from the kernel. */
void *realloc(void *block, size_t size) {
    (void)block;
    (void)size;
    return NULL;
}

void free(void *block) {
    (void)block;
}

char *strstr(const char *text, const char *part) {
    const size_t n = strlen(part);
    while (*text && strncmp(text, part, n) != 0)
        text++;
    return *text || n == 0 ? (char *)text : NULL;
}

/* Distributions compile with stack protection and checked copy sizes. If these checks find an error
 * in the recorder, they end the process, as a C library does. */
_Noreturn void __stack_chk_fail(void);
_Noreturn void __stack_chk_fail(void) {
    for (;;)
        syscall4(SYS_kill, syscall4(SYS_getpid, 0, 0, 0, 0), SIGABRT, 0, 0);
}

void *__memcpy_chk(void *to, const void *from, size_t size, size_t room);
void *__memcpy_chk(void *to, const void *from, size_t size, size_t room) {
    return size <= room ? memcpy(to, from, size) : (__stack_chk_fail(), to);
}

void *__memmove_chk(void *to, const void *from, size_t size, size_t room);
void *__memmove_chk(void *to, const void *from, size_t size, size_t room) {
    return size <= room ? memmove(to, from, size) : (__stack_chk_fail(), to);
}

void *__memset_chk(void *at, int byte, size_t size, size_t room);
void *__memset_chk(void *at, int byte, size_t size, size_t room) {
    return size <= room ? memset(at, byte, size) : (__stack_chk_fail(), at);
}

/* ---- what the kernel has told -------------------------------------------------------------- */

static struct {
    const ElfW(auxv_t) * told;
    struct link_map maps[2]; /* only the name and the bias are set */
    struct alone_module modules[2];
    uintptr_t low[2], high[2]; /* bounds of each module */
    uintptr_t table[2];        /* unwind table of each module; 0: there is none */
} alone;

char **__environ;
extern char **environ __attribute__((alias("__environ")));

unsigned long getauxval(unsigned long type) {
    const ElfW(auxv_t) *at = alone.told;
    while (at && at->a_type != AT_NULL && at->a_type != type)
        at++;
    return at && at->a_type == type ? at->a_un.a_val : 0;
}

static void measure_module(size_t i) {
    const struct alone_module *m = &alone.modules[i];
    alone.low[i] = UINTPTR_MAX;
    for (size_t j = 0; j < m->n_headers; j++) {
        const uintptr_t start = m->bias + m->headers[j].p_vaddr,
                        end = start + m->headers[j].p_memsz;
        if (m->headers[j].p_type != PT_LOAD)
            continue;
        alone.low[i] = start < alone.low[i] ? start : alone.low[i];
        alone.high[i] = end > alone.high[i] ? end : alone.high[i];
    }
}

static uintptr_t unwind_table(const struct alone_module *m) {
    for (size_t i = 0; i < m->n_headers; i++)
        if (m->headers[i].p_type == PT_GNU_EH_FRAME)
            return m->bias + m->headers[i].p_vaddr;
    return 0;
}

void alone_begin(const uintptr_t *stack, const struct alone_module modules[2]) {
    static char names[2][24] = {"", "liballotrace-static.so"};
    char **at = (char **)(stack + 1 + stack[0] + 1);
    __environ = at;
    while (*at)
        at++;
    alone.told = (const ElfW(auxv_t) *)(at + 1);
    for (size_t i = 0; i < 2; i++) {
        alone.modules[i] = modules[i];
        alone.maps[i] = (struct link_map){.l_addr = modules[i].bias, .l_name = names[i]};
        measure_module(i);
    }
    uintptr_t end;
    tables_make_missing();
    for (size_t i = 0; i < 2; i++) {
        alone.table[i] = unwind_table(&alone.modules[i]);
        if (!alone.table[i])
            alone.table[i] = tables_find(alone.low[i], &end);
    }
}

/* The recorder never enters a program that has more rights than its user, so no check is needed. */
char *secure_getenv(const char *name) {
    const size_t n = strlen(name);
    for (char **at = __environ; at && *at; at++)
        if (strncmp(*at, name, n) == 0 && (*at)[n] == '=')
            return *at + n + 1;
    return NULL;
}

int sched_yield(void) {
    return (int)syscall4(SYS_sched_yield, 0, 0, 0, 0);
}

int *__errno_location(void) {
    static __thread int number; /* separate from the program's errno */
    return &number;
}

/* ---- modules ------------------------------------------------------------------------------- */

int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *context) {
    int result = 0;
    for (size_t i = 0; i < 2 && !result; i++) {
        struct dl_phdr_info info = {.dlpi_addr = alone.modules[i].bias,
                                    .dlpi_name = alone.maps[i].l_name,
                                    .dlpi_phdr = alone.modules[i].headers,
                                    .dlpi_phnum = (ElfW(Half))alone.modules[i].n_headers};
        result = visit(&info, sizeof info, context);
    }
    return result;
}

bool alone_is_own(uintptr_t pc) {
    return pc >= alone.low[1] && pc < alone.high[1];
}

/* No module is loaded or unloaded after the start. */
int _dl_find_object(void *address, struct dl_find_object *found) {
    for (size_t i = 0; i < 2; i++)
        if ((uintptr_t)address >= alone.low[i] && (uintptr_t)address < alone.high[i]) {
            *found = (struct dl_find_object){.dlfo_map_start = (void *)alone.low[i],
                                             .dlfo_map_end = (void *)alone.high[i],
                                             .dlfo_link_map = &alone.maps[i],
                                             .dlfo_eh_frame = (void *)alone.table[i]};
            return 0;
        }
    return -1;
}

void *loader_symbol(void *handle, const char *name) {
    (void)handle;
    (void)name;
    return NULL;
}

void *loader_open(const char *path, int flags) {
    (void)path;
    (void)flags;
    return NULL;
}

bool loader_address(const void *address, Dl_info *info) {
    (void)address;
    (void)info;
    return false;
}

bool loader_entry(const void *address, Dl_info *info, void **entry) {
    (void)address;
    (void)info;
    (void)entry;
    return false;
}

/* ---- threads, forks, the end --------------------------------------------------------------- */

static struct {
    void (*thread_ends)(void *);
    void (*before_fork)(void), (*in_parent)(void), (*in_child)(void);
} handlers;

static __thread const void *thread_value; /* NULL: the thread did not ask to be told of its end */

bool loader_key_create(pthread_key_t *key, void (*at_exit)(void *)) {
    *key = 0;
    handlers.thread_ends = at_exit;
    return true;
}

void loader_key_set(pthread_key_t key, const void *value) {
    (void)key;
    thread_value = value;
}

void alone_thread_ends(void) {
    void *const value = (void *)thread_value;
    thread_value = NULL;
    if (value && handlers.thread_ends)
        handlers.thread_ends(value);
}

void loader_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void)) {
    handlers.before_fork = before;
    handlers.in_parent = in_parent;
    handlers.in_child = in_child;
}

void alone_before_fork(void) {
    if (handlers.before_fork)
        handlers.before_fork();
}

void alone_after_fork(bool is_child) {
    void (*const handler)(void) = is_child ? handlers.in_child : handlers.in_parent;
    if (handler)
        handler();
}

/* record/static.c intercepts the functions by which the process exits. */
int __cxa_atexit(void (*handler)(void *), void *argument, void *module);
int __cxa_atexit(void (*handler)(void *), void *argument, void *module) {
    (void)handler;
    (void)argument;
    (void)module;
    return 0;
}

void loader_at_quick_exit(void (*handler)(void)) {
    (void)handler;
}
