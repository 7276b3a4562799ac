/* Tests of src/platform/unwind: stacks of many kinds, frame by frame against the unwinder of
 * libgcc in the same process. */
#include <dlfcn.h>
#include <pthread.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "platform/pages.h"
#include "platform/unwind.h"
#include "platform/unwind_trail_walk.h"
#include "unit.h"
#include "unwind_frames.h"

enum { STACK_MAX = 4096 };

struct stack {
    uintptr_t pcs[STACK_MAX];
    size_t count;
    unsigned flags;
};

/* What the current thread unwinds with. */
static __thread unwind_cache *cache;
static __thread uintptr_t stack_low, stack_high;
static __thread unwind_trail *trail;
static __thread uintptr_t trail_pcs[STACK_MAX]; /* of the stack before, outermost first */

static void thread_init(void) {
    cache = pages_alloc(unwind_cache_size());
    trail = pages_alloc(unwind_trail_size(STACK_MAX));
    ck_assert_ptr_nonnull(cache);
    ck_assert_ptr_nonnull(trail);
    ck_assert(unwind_stack_bounds(&stack_low, &stack_high));
    unwind_trail_init(trail, cache, STACK_MAX);
    unwind_trail_set_stack(trail, stack_low, stack_high);
}

static _Unwind_Reason_Code oracle_frame(struct _Unwind_Context *context, void *arg) {
    struct stack *stack = arg;
    int interrupted = 0;
    uintptr_t pc = _Unwind_GetIPInfo(context, &interrupted);
    if (pc == 0)
        return _URC_END_OF_STACK;
    if (stack->count < STACK_MAX)
        stack->pcs[stack->count++] = pc + (uintptr_t)interrupted;
    return _URC_NO_REASON;
}

static struct stack ours, theirs, again;
static int comparisons;

static void show(const char *name, const struct stack *stack) {
    printf("# %s: %zu frames, flags %u\n", name, stack->count, stack->flags);
    for (size_t i = 0; i < stack->count && i < 64; i++)
        printf("#   %zu: %#zx\n", i, (size_t)stack->pcs[i]);
    fflush(stdout);
}

static void assert_same(const struct stack *a, const struct stack *b) {
    comparisons++;
    if (a->count == b->count && memcmp(a->pcs, b->pcs, a->count * sizeof *a->pcs) == 0)
        return;
    show("ours", a);
    show("expected", b);
    ck_abort_msg("stacks differ");
}

static size_t n_kept; /* frames that trails did not walk over, in all */

static __thread uintptr_t marked[1024]; /* what was marked, at places that follow from it */
/* Stacks that may be taken in line, those that were, and those of marked frames alone. */
static size_t n_plain, n_quick, n_marked;

/* Takes a stack as the recorder does. Frames that are new are told of, and whether all were marked:
 * then each has been so at some time. */
static struct unwind_taken take_fast(const struct unwind_site *site) {
    static __thread uint64_t keys[STACK_MAX];
    struct unwind_taken taken = {0};
    bool all;
    n_plain += trail->n_points > 0 && trail_is_plain(trail);
    if (trail_is_fast(trail, site->sp))
        taken = trail_take_fast(trail, site->return_address, site->sp, keys, &all);
    if (taken.n == 0)
        return unwind_trail_take(trail, site);
    for (size_t i = taken.kept; i < taken.n; i++) {
        uintptr_t pc = unwind_trail_pc(trail, i), *mark = &marked[pc % 1021];
        ck_assert_uint_eq(keys[i], pc);
        if (all)
            ck_assert_uint_eq(*mark, pc);
        if (*mark == 0) {
            *mark = pc;
            unwind_cache_mark(cache, pc);
        }
    }
    n_quick++;
    n_marked += all && taken.kept < taken.n;
    return taken;
}

/* Takes its caller's stack once more along the trail: `theirs`, and perhaps frames within it. What
 * is said to be kept must be what it was. */
static void compare_trail(const struct unwind_site *site) {
    const struct unwind_taken taken = take_fast(site);
    ck_assert_uint_eq(unwind_trail_flags(trail) & ~(unsigned)(UNWIND_TOOK_ALL | UNWIND_SIGNAL), 0);
    ck_assert_uint_ge(taken.n, theirs.count);
    ck_assert_uint_le(taken.n, theirs.count + 4);
    again.count = theirs.count;
    for (size_t i = 0; i < taken.n; i++) {
        uintptr_t pc = unwind_trail_pc(trail, i);
        if (i < taken.kept)
            ck_assert_uint_eq(pc, trail_pcs[i]);
        trail_pcs[i] = pc;
        if (i < theirs.count)
            again.pcs[theirs.count - 1 - i] = pc;
    }
    assert_same(&again, &theirs);
    n_kept += taken.kept;
}

static unsigned expected_flags;

/* Takes the stack of its caller: cold, warm, without knowing where the stack is, and by what has
 * changed in it. */
static NOINLINE int compare(void) {
    struct unwind_start start;
    struct unwind_site site;
    theirs.count = 0;
    _Unwind_Backtrace(oracle_frame, &theirs);
    memmove(theirs.pcs, theirs.pcs + 1, --theirs.count * sizeof *theirs.pcs);
    unwind_here(&start);
    ours.count =
        unwind_stack(cache, &start, stack_low, stack_high, ours.pcs, STACK_MAX, &ours.flags);
    assert_same(&ours, &theirs);
    ck_assert_uint_eq(ours.flags, expected_flags);
    again.count = unwind_stack(cache, &start, stack_low, stack_high, again.pcs, STACK_MAX, NULL);
    assert_same(&again, &theirs);
    again.count = unwind_stack(cache, &start, 0, 0, again.pcs, STACK_MAX, &again.flags);
    assert_same(&again, &theirs);
    ck_assert_uint_eq(again.flags, expected_flags);
    unwind_site_here(&site);
    compare_trail(&site);
    compare_trail(&site);
    return 0;
}

/* --- ordinary functions --- */

static NOINLINE int deep(int n) {
    int result = n == 0 ? compare() : deep(n - 1) + 1;
    NOT_THE_END();
    return result;
}

START_TEST(a_plain_chain) {
    thread_init();
    for (int n = 0; n < 200; n += 13)
        deep(n);
    ck_assert_uint_gt(ours.count, 190);
}
END_TEST

START_TEST(a_very_deep_chain) {
    thread_init();
    ck_assert_int_eq(deep(STACK_MAX - 100), STACK_MAX - 100);
}
END_TEST

static NOINLINE int left(int n, uint64_t *random);

/* Two functions that call each other and themselves from several places: stacks that differ further
 * out are alike further in. */
static NOINLINE int right(int n, uint64_t *random) {
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    int result = 0;
    for (unsigned i = 0; i < 1 + (*random >> 62) && n > 0; i++) {
        result += *random >> 40 & 1 ? right(n - 1, random) : left(n - 1, random);
        if (*random >> 41 & 1)
            result += compare();
    }
    NOT_THE_END();
    return result + (n == 0 ? compare() : 0);
}

static NOINLINE int left(int n, uint64_t *random) {
    volatile char room[200];
    room[n] = 1;
    int result = n == 0 ? compare() : right(n - 1, random);
    if (*random >> 42 & 1)
        result += right(n - 1 > 0 ? n - 1 : 0, random);
    NOT_THE_END();
    return result + room[n];
}

START_TEST(a_trail_through_changing_stacks) {
    thread_init();
    uint64_t random = 1;
    for (int i = 0; i < 60; i++)
        right(2 + i % 8, &random);
    ck_assert_int_gt(comparisons, 4000);
    ck_assert_uint_gt(n_kept, 4000 * 4);
    /* None are plain where functions have frame pointers, as under sanitizers. */
    if (KEY_BELOW_SP && n_plain > 0) {
        ck_assert_uint_gt(n_quick, 1000);
        ck_assert_uint_gt(n_marked, 100);
    }
}
END_TEST

/* Changes bp, and leaves that of its caller in memory. */
static NOINLINE int with_registers(void) {
    int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7;
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g));
    int result = compare();
    NOT_THE_END();
    __asm__ volatile("" ::"r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f), "r"(g));
    return result;
}

/* Finds its caller by bp. */
static NOINLINE int by_bp(size_t size, innermost_function *innermost) {
    volatile char *room = alloca(size);
    room[0] = 1;
    int result = innermost() + room[0];
    NOT_THE_END();
    return result;
}

/* Leaves alone what is in the memory that it takes. */
static NOINLINE int further_in(size_t size, innermost_function *innermost) {
    volatile char *room = alloca(4096);
    room[0] = 1;
    int result = by_bp(size, innermost) + room[0];
    NOT_THE_END();
    return result;
}

/* Stacks that differ in a bp alone: one has a frame more in place of unused memory. */
static NOINLINE void differ_in_bp(innermost_function *innermost) {
    for (volatile size_t i = 0; i < 1024; i++) {
        int (*volatile function)(size_t, innermost_function *) = i % 2 ? further_in : by_bp;
        ck_assert_int_ge(function(i % 2 ? i * 8 + 8 : 8192, innermost), 1);
    }
}

START_TEST(a_trail_where_bp_differs) {
    thread_init();
    differ_in_bp(compare);
    differ_in_bp(with_registers);
}
END_TEST

/* What lies beyond the stack, as far as it is known, may be gone the next time. */
static NOINLINE int compare_beyond(void) {
    struct unwind_site site;
    unwind_site_here(&site);
    unwind_trail_set_stack(trail, stack_low, site.sp + 64);
    for (int i = 0; i < 2; i++) {
        const struct unwind_taken taken = unwind_trail_take(trail, &site);
        ck_assert_uint_gt(taken.n, 50);
        ck_assert_uint_eq(taken.kept, 0);
        ck_assert_uint_eq(unwind_trail_flags(trail), 0);
    }
    return 0;
}

static NOINLINE int deep_beyond(int n) {
    int result = n == 0 ? compare_beyond() : deep_beyond(n - 1) + 1;
    NOT_THE_END();
    return result;
}

START_TEST(a_trail_beyond_the_stack) {
    thread_init();
    ck_assert_int_eq(deep_beyond(50), 50);
}
END_TEST

START_TEST(a_trail_that_is_too_long) {
    thread_init();
    struct unwind_site site;
    unwind_trail *few = pages_alloc(unwind_trail_size(3));
    unwind_site_here(&site);
    ck_assert_ptr_nonnull(few);
    unwind_trail_init(few, cache, 3);
    unwind_trail_set_stack(few, stack_low, stack_high);
    for (int i = 0; i < 2; i++) {
        const struct unwind_taken taken = unwind_trail_take(few, &site);
        ck_assert_uint_eq(taken.n, 3);
        ck_assert_uint_eq(taken.kept, 0);
        ck_assert_uint_eq(unwind_trail_flags(few), UNWIND_CUT | UNWIND_TOOK_ALL);
    }
}
END_TEST

START_TEST(frames_of_many_kinds) {
    thread_init();
    for (int i = 1; i < 100; i++)
        many_kinds_of_frames(i, compare);
    ck_assert_int_ge(comparisons, 99);
}
END_TEST

static NOINLINE int compare_callback(const void *a, const void *b) {
    compare();
    return *(const int *)a - *(const int *)b;
}

START_TEST(callbacks_through_libc) {
    thread_init();
    int numbers[] = {5, 3, 9, 1, 7, 2, 8}, key = 8, absent = 4;
    size_t n = sizeof numbers / sizeof *numbers;
    qsort(numbers, n, sizeof *numbers, compare_callback);
    ck_assert_ptr_nonnull(bsearch(&key, numbers, n, sizeof *numbers, compare_callback));
    ck_assert_ptr_null(lfind(&absent, numbers, &n, sizeof *numbers, compare_callback));
    ck_assert_int_gt(comparisons, 20);
}
END_TEST

static _Noreturn NOINLINE void leaves_by_exit(void) {
    compare();
    _exit(ours.count > 3 ? 0 : 9);
}

/* The return address of a noreturn call may lie behind the end of the function. */
START_TEST(a_noreturn_call_at_the_end) {
    thread_init();
    leaves_by_exit();
}
END_TEST

START_TEST(too_many_frames_are_cut) {
    thread_init();
    struct unwind_start start;
    uintptr_t few[3], all[100];
    unsigned flags;
    unwind_here(&start);
    size_t n = unwind_stack(cache, &start, stack_low, stack_high, all, 100, &flags);
    ck_assert_uint_eq(flags, 0);
    ck_assert_uint_gt(n, 3);
    ck_assert_uint_eq(unwind_stack(cache, &start, stack_low, stack_high, few, 3, &flags), 3);
    ck_assert_uint_eq(flags, UNWIND_CUT);
    ck_assert_mem_eq(few, all, sizeof few);
    ck_assert_uint_eq(unwind_stack(cache, &start, stack_low, stack_high, all, n, &flags), n);
    ck_assert_uint_eq(flags, 0);
    ck_assert_uint_eq(unwind_stack(cache, &start, stack_low, stack_high, all, 0, &flags), 0);
    ck_assert_uint_eq(flags, UNWIND_CUT);
}
END_TEST

/* --- other stacks --- */

static void *thread_main(void *arg) {
    (void)arg;
    thread_init();
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    ck_assert(stack_low < here && here < stack_high);
    many_kinds_of_frames(7, compare);
    return deep(50) == 50 ? NULL : arg;
}

START_TEST(threads) {
    for (int i = 0; i < 8; i++) {
        pthread_t thread;
        void *result;
        ck_assert_int_eq(pthread_create(&thread, NULL, thread_main, &i), 0);
        ck_assert_int_eq(pthread_join(thread, &result), 0);
        ck_assert_ptr_null(result);
    }
}
END_TEST

static int signals;

static void handler(int number) {
    (void)number;
    signals++;
    expected_flags = UNWIND_SIGNAL;
    deep(3);
    expected_flags = 0;
}

static void install(int number, int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    ck_assert_int_eq(sigaction(number, &action, NULL), 0);
}

static void use_alternate_stack(void) {
    stack_t alternate = {.ss_size = 1 << 18, .ss_sp = pages_alloc(1 << 18)};
    ck_assert_int_eq(sigaltstack(&alternate, NULL), 0);
}

static NOINLINE int raise_callback(const void *a, const void *b) {
    raise(SIGUSR1);
    return *(const int *)a - *(const int *)b;
}

START_TEST(signal_handlers) {
    thread_init();
    int numbers[] = {3, 2, 1};
    install(SIGUSR1, 0);
    qsort(numbers, 3, sizeof *numbers, raise_callback);
    ck_assert_int_ge(signals, 2);
    int before = signals;
    use_alternate_stack();
    install(SIGUSR1, SA_ONSTACK);
    qsort(numbers, 3, sizeof *numbers, raise_callback);
    ck_assert_int_ge(signals, before + 2);
}
END_TEST

/* A handler interrupted by a handler: two trampolines. */
static void outer_handler(int number) {
    (void)number;
    raise(SIGUSR1);
    NOT_THE_END();
}

START_TEST(nested_signal_handlers) {
    thread_init();
    use_alternate_stack();
    install(SIGUSR1, 0);
    struct sigaction action = {.sa_handler = outer_handler, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
    ck_assert_int_eq(signals, 1);
}
END_TEST

static volatile int *volatile bad_pointer;

static NOINLINE int faults(void) {
    int result = *bad_pointer;
    NOT_THE_END();
    return result;
}

static void fault_handler(int number) {
    (void)number;
    expected_flags = UNWIND_SIGNAL;
    deep(2);
    /* The faulting instruction is where the handler came from. */
    uintptr_t fault = ours.pcs[5] - 1;
    _exit(fault >= (uintptr_t)faults && fault < (uintptr_t)faults + 64 ? 0 : 7);
}

START_TEST(a_fault_in_the_first_instructions) {
    thread_init();
    use_alternate_stack();
    struct sigaction action = {.sa_handler = fault_handler, .sa_flags = SA_ONSTACK};
    sigaction(SIGSEGV, &action, NULL);
    void *page = pages_alloc(1);
    pages_free(page, 1);
    bad_pointer = page;
    faults();
}
END_TEST

static ucontext_t main_context, coroutine_context;

static void coroutine(void) {
    deep(10);
    swapcontext(&coroutine_context, &main_context);
    many_kinds_of_frames(7, compare);
}

START_TEST(coroutines) {
    thread_init();
    enum { SIZE = 1 << 18 };
    getcontext(&coroutine_context);
    coroutine_context.uc_stack = (stack_t){.ss_sp = pages_alloc(SIZE), .ss_size = SIZE};
    coroutine_context.uc_link = &main_context;
    makecontext(&coroutine_context, coroutine, 0);
    swapcontext(&main_context, &coroutine_context);
    ck_assert_int_eq(comparisons, 5);
    swapcontext(&main_context, &coroutine_context);
    ck_assert_int_eq(comparisons, 10);
}
END_TEST

/* --- libraries that come and go --- */

/* Both plugins have the same code but for the frame's size; the second is likely to be loaded to
 * the place of the first, and its rows must not be the first one's. */
static uintptr_t call_plugin(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    ck_assert_ptr_nonnull(library);
    int (*call)(int (*)(void)) = (int (*)(int (*)(void)))dlsym(library, "plugin_call");
    call(compare);
    uintptr_t place = ours.pcs[0];
    dlclose(library);
    return place;
}

START_TEST(libraries_replaced_by_others) {
    thread_init();
    int same_place = 0;
    for (int i = 0; i < 10; i++)
        same_place += call_plugin(UNWIND_PLUGIN_A) == call_plugin(UNWIND_PLUGIN_B);
    if (!getenv("ALLOTRACE_EMULATOR"))   /* which gives out each address once */
        ck_assert_int_gt(same_place, 0); /* or the test has tested nothing */
    ck_assert_int_eq(comparisons, 20 * 5);
}
END_TEST

/* --- bad data --- */

/* Walks from made-up registers; all that is asked for is that it ends, and keeps its limits. */
static unsigned walk_from(uintptr_t pc, uintptr_t sp, uintptr_t bp) {
    struct unwind_start start;
    static uintptr_t pcs[64];
    unsigned flags;
    unwind_here(&start);
    start.pc = pc;
    start.reg[UNWIND_SP] = sp;
    start.reg[UNWIND_BP] = bp;
    ck_assert_uint_le(unwind_stack(cache, &start, stack_low, stack_high, pcs, 64, &flags), 64);
    return flags;
}

START_TEST(absurd_registers_end_the_walk) {
    thread_init();
    uintptr_t code = (uintptr_t)with_alloca + 40, here = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t odd[] = {0,
                             1,
                             8,
                             4096,
                             here,
                             here + 1,
                             stack_high - 8,
                             stack_high,
                             UINTPTR_MAX,
                             UINTPTR_MAX - 7,
                             (uintptr_t)1 << 63};
    enum { N = sizeof odd / sizeof *odd };
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            for (size_t k = 0; k < N; k++) {
                walk_from(odd[i], odd[j], odd[k]);
                walk_from(code, odd[j], odd[k]);
            }
    ck_assert_uint_eq(walk_from(code, 0, 0), UNWIND_FAILED);
    ck_assert_uint_eq(walk_from(1, here, 0), UNWIND_FAILED);
}
END_TEST

/* A stack of random words, some of them code or stack addresses, with an unmapped page behind. */
START_TEST(damaged_stacks_end_the_walk) {
    thread_init();
    size_t size = 16 * pages_unit(), words = size / sizeof(uintptr_t);
    uintptr_t *memory = pages_alloc(size + pages_unit());
    pages_free((char *)memory + size, pages_unit());
    uint64_t random = 88172645463325252;
    for (int round = 0; round < 3000; round++) {
        for (size_t i = words - 600; i < words; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            uintptr_t code = (uintptr_t)&puts + random % 100000;
            uintptr_t stack = (uintptr_t)&memory[words - 600] + random % 4800 / 8 * 8;
            memory[i] = random % 3 == 0 ? random : random % 3 == 1 ? code : stack;
        }
        uintptr_t sp = (uintptr_t)&memory[words - 600 + random % 500];
        walk_from((uintptr_t)&printf + random % 10000, sp, sp + random % 64 * 8);
    }
}
END_TEST

#if defined __x86_64__

/* Hand-written code that says nothing about its frame: with a frame pointer, and without one. */
__asm__(".text\n"
        ".type tableless, @function\n"
        "tableless: pushq %rbp\n movq %rsp, %rbp\n subq $32, %rsp\n"
        "  call *%rdi\n leave\n ret\n"
        ".size tableless, . - tableless\n"
        ".type hopeless, @function\n"
        "hopeless: pushq %rbp\n xorl %ebp, %ebp\n"
        "  call *%rdi\n popq %rbp\n ret\n"
        ".size hopeless, . - hopeless\n");
int tableless(void (*)(void));
int hopeless(void (*)(void));

static NOINLINE void take_stack(void) {
    struct unwind_start start;
    unwind_here(&start);
    ours.count =
        unwind_stack(cache, &start, stack_low, stack_high, ours.pcs, STACK_MAX, &ours.flags);
}

START_TEST(code_without_tables) {
    thread_init();
    take_stack();
    size_t depth = ours.count;
    tableless(take_stack);
    ck_assert_uint_eq(ours.flags, UNWIND_GUESSED);
    ck_assert_uint_eq(ours.count, depth + 1);
    hopeless(take_stack);
    ck_assert_uint_eq(ours.flags, UNWIND_FAILED);
    ck_assert_uint_eq(ours.count, 1);
}
END_TEST

/* The same in memory that no module owns, as made by a compiler at run time. */
START_TEST(code_outside_of_modules) {
    thread_init();
    void *code = mmap(NULL, pages_unit(), PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(code, MAP_FAILED);
    memcpy(code, (const void *)tableless, 16);
    int (*generated)(void (*)(void)) = (int (*)(void (*)(void)))code;
    take_stack();
    size_t depth = ours.count;
    generated(take_stack);
    ck_assert_uint_eq(ours.flags, UNWIND_GUESSED);
    ck_assert_uint_eq(ours.count, depth + 1);
}
END_TEST

#endif

/* Pages of the process's memory that a row cache has. */
static size_t pages_of(const void *memory, size_t size) {
    unsigned char there[1024];
    size_t n = 0;
    ck_assert_uint_le(size / pages_unit(), sizeof there);
    ck_assert_int_eq(mincore((void *)memory, size, there), 0);
    for (size_t i = 0; i < size / pages_unit(); i++)
        n += there[i] & 1;
    return n;
}

/* Places all over a piece of the C library: first few, which fill no more than the first part of
 * the tables; then so many that rows make room for others, and all is used. What is found is what
 * an empty cache finds. */
START_TEST(rows_take_room_as_they_need_it) {
    enum { FEW = 500, MANY = 30000, STEP = 8, FIRST_PAGES = 5 };
    const uintptr_t code = (uintptr_t)dlsym(RTLD_DEFAULT, "qsort");
    struct row other, uncached;
    thread_init();
    for (uintptr_t i = 0; i < FEW; i++)
        unwind_cache_row(cache, code + STEP * i, &uncached);
    ck_assert_uint_le(pages_of(cache->rows, sizeof cache->rows), FIRST_PAGES);
    ck_assert_uint_eq(cache->more_rows, 0);
    for (uintptr_t i = 0; i < MANY; i++)
        unwind_cache_row(cache, code + STEP * i, &uncached);
    ck_assert_uint_eq(cache->more_rows + 1, ROW_SETS * ROW_WAYS);
    ck_assert_uint_eq(cache->more_fast + 1, FAST_STEPS);
    unwind_cache *fresh = pages_alloc(unwind_cache_size());
    for (uintptr_t i = 0; i < MANY; i += 7) {
        const struct row *row = unwind_cache_row(cache, code + STEP * i, &uncached);
        const struct row *expected = unwind_cache_row(fresh, code + STEP * i, &other);
        ck_assert_mem_eq(row, expected, sizeof *row);
        unwind_cache_flush(fresh);
    }
    pages_free(fresh, unwind_cache_size());
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("unwind");
    TCase *c = tcase_create("stacks");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, a_plain_chain);
    tcase_add_test(c, a_very_deep_chain);
    tcase_add_test(c, a_trail_through_changing_stacks);
    tcase_add_test(c, a_trail_where_bp_differs);
    tcase_add_test(c, a_trail_beyond_the_stack);
    tcase_add_test(c, a_trail_that_is_too_long);
    tcase_add_test(c, frames_of_many_kinds);
    tcase_add_test(c, callbacks_through_libc);
    tcase_add_exit_test(c, a_noreturn_call_at_the_end, 0);
    tcase_add_test(c, too_many_frames_are_cut);
    tcase_add_test(c, threads);
    tcase_add_test(c, signal_handlers);
    tcase_add_test(c, nested_signal_handlers);
    tcase_add_exit_test(c, a_fault_in_the_first_instructions, 0);
    tcase_add_test(c, coroutines);
    tcase_add_test(c, rows_take_room_as_they_need_it);
    tcase_add_test(c, libraries_replaced_by_others);
    tcase_add_test(c, absurd_registers_end_the_walk);
    tcase_add_test(c, damaged_stacks_end_the_walk);
#if defined __x86_64__
    tcase_add_test(c, code_without_tables);
    tcase_add_test(c, code_outside_of_modules);
#endif
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(suite)
