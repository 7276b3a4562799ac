/* Tests of src/platform except unwinding: pages, clocks, maps, modules. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/entries.h"
#include "platform/maps.h"
#include "platform/module.h"
#include "platform/pages.h"
#include "platform/patch.h"
#include "platform/stack.h"
#include "platform/unwind.h"
#include "unit.h"

/* --- pages --- */

static bool all_zero(const unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

START_TEST(pages_are_zero_and_keep_their_content) {
    size_t size = 3 * pages_unit() + 1;
    unsigned char *p = pages_alloc(size);
    ck_assert_ptr_nonnull(p);
    ck_assert(all_zero(p, size));
    memset(p, 7, size);
    pages_clear(p, pages_unit());
    ck_assert(all_zero(p, pages_unit()));
    memset(p, 7, pages_unit());
    size_t grown = 1000 * pages_unit();
    p = pages_realloc(p, size, grown);
    ck_assert_ptr_nonnull(p);
    for (size_t i = 0; i < size; i++)
        ck_assert_uint_eq(p[i], 7);
    ck_assert(all_zero(p + 4 * pages_unit(), grown - 4 * pages_unit()));
    p = pages_realloc(p, grown, pages_unit());
    ck_assert_uint_eq(p[pages_unit() - 1], 7);
    ck_assert(!maps_readable((uintptr_t)p + pages_unit()));
    pages_free(p, pages_unit());
    ck_assert(!maps_readable((uintptr_t)p));
}
END_TEST

START_TEST(pages_refuse_absurd_sizes_and_keep_errno) {
    errno = 1234;
    ck_assert_ptr_null(pages_alloc(0));
    ck_assert_ptr_null(pages_alloc(SIZE_MAX / 2));
    char *p = pages_realloc(NULL, 0, 1);
    ck_assert_ptr_nonnull(p);
    p[0] = 5;
    ck_assert_ptr_null(pages_realloc(p, 1, SIZE_MAX / 2));
    ck_assert_int_eq(p[0], 5);
    pages_free(p, 1);
    pages_free(NULL, 1);
    ck_assert_int_eq(errno, 1234);
}
END_TEST

/* --- clocks --- */

START_TEST(the_monotonic_clock_is_anchored_to_the_wall_clock) {
    uint64_t seconds = (uint64_t)time(NULL), before = clock_monotonic_us();
    struct clock_anchor anchor = clock_anchor_now();
    uint64_t after = clock_monotonic_us();
    ck_assert_uint_le(before, anchor.monotonic_us);
    ck_assert_uint_le(anchor.monotonic_us, after);
    ck_assert_uint_le(seconds - 1, anchor.wall_us / 1000000);
}
END_TEST

/* --- maps --- */

START_TEST(maps_find_stack_file_and_nothing) {
    struct mapping mapping;
    char path[PATH_MAX], self[PATH_MAX] = {0}, small[4];
    uintptr_t here = (uintptr_t)&mapping;
    ck_assert(maps_find(here, &mapping, path, sizeof path));
    ck_assert_str_eq(path, "[stack]");
    ck_assert(mapping.low <= here && here < mapping.high && mapping.below <= mapping.low);
    ck_assert(maps_find((uintptr_t)all_zero, &mapping, path, sizeof path));
    ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof self - 1), 0);
    ck_assert_str_eq(path, self);
    ck_assert(maps_find((uintptr_t)all_zero, &mapping, small, sizeof small));
    ck_assert_int_eq(strncmp(small, self, 3), 0);
    ck_assert_uint_eq(strlen(small), 3);
    ck_assert(!maps_find(1, &mapping, path, sizeof path));
}
END_TEST

/* Asked of the kernel, if it knows the question, and then read from the list. */
START_TEST(maps_low_is_where_a_mapping_begins) {
    for (int i = 0; i < 2; i++, maps_forbid_query()) {
        struct mapping mapping;
        const uintptr_t here = (uintptr_t)&mapping, there = (uintptr_t)all_zero;
        ck_assert(maps_find(here, &mapping, NULL, 0));
        ck_assert_uint_eq(maps_low(here), mapping.low);
        ck_assert(maps_find(there, &mapping, NULL, 0));
        ck_assert_uint_eq(maps_low(there), mapping.low);
        ck_assert_uint_eq(maps_low(mapping.low), mapping.low);
        ck_assert_uint_eq(maps_low(1), 0);
    }
}
END_TEST

START_TEST(maps_readable_tells_without_touching) {
    char *p = pages_alloc(3 * pages_unit());
    mprotect(p + pages_unit(), pages_unit(), PROT_NONE);
    errno = 1234;
    ck_assert(maps_readable((uintptr_t)p));
    ck_assert(!maps_readable((uintptr_t)p + pages_unit()));
    ck_assert(maps_readable((uintptr_t)p + 2 * pages_unit()));
    ck_assert(!maps_readable(0));
    ck_assert(!maps_readable(UINTPTR_MAX - 7));
    ck_assert_int_eq(errno, 1234);
}
END_TEST

START_TEST(a_view_admits_only_what_is_mapped) {
    uintptr_t unit = pages_unit(), p = (uintptr_t)pages_alloc(4 * unit), word;
    pages_free((void *)(p + 3 * unit), unit);
    struct stack_view view;
    stack_view_init(&view, p + unit, p, p + 2 * unit); /* the stack is pages 0 and 1 */
    ck_assert(stack_read(&view, p + unit, &word));
    ck_assert_uint_eq(view.low, p + unit);
    ck_assert(stack_read(&view, p + 2 * unit - sizeof word, &word));
    ck_assert(!stack_view_admits(&view, p + 2 * unit - 1)); /* across the end, not aligned */
    ck_assert(stack_read(&view, p + 2 * unit, &word));      /* the page is asked for… */
    ck_assert_uint_eq(view.low, p + 2 * unit);
    ck_assert(!stack_read(&view, p + 3 * unit, &word)); /* …and so is this one, in vain */
    stack_view_init(&view, p - 8, p, p + 2 * unit);
    ck_assert_uint_eq(view.span, 0);
}
END_TEST

static void *thread_bounds(void *arg) {
    uintptr_t *bounds = arg;
    bounds[2] = (uintptr_t)__builtin_frame_address(0);
    unwind_stack_bounds(&bounds[0], &bounds[1]);
    return NULL;
}

START_TEST(a_thread_knows_its_stack) {
    enum { SIZE = 1 << 20 };
    char *stack = pages_alloc(3 * SIZE);
    pthread_attr_t attributes;
    pthread_t thread;
    uintptr_t bounds[3], low, high, here = (uintptr_t)&bounds;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack + SIZE, SIZE);
    pthread_create(&thread, &attributes, thread_bounds, bounds);
    pthread_join(thread, NULL);
    ck_assert(bounds[0] <= bounds[2] && bounds[2] < bounds[1]);
    ck_assert_uint_le(bounds[1], (uintptr_t)stack + 2 * SIZE);
    ck_assert(unwind_stack_bounds(&low, &high));
    ck_assert(low < here && here < high);
    ck_assert_uint_gt(here - low, 1 << 20); /* room to grow */
}
END_TEST

static uintptr_t bounds_in_handler[2];

static void handler(int number) {
    (void)number;
    unwind_stack_bounds(&bounds_in_handler[0], &bounds_in_handler[1]);
}

START_TEST(an_alternate_stack_is_not_the_thread_s) {
    enum { SIZE = 1 << 16 };
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    stack_t alternate = {.ss_size = SIZE, .ss_sp = pages_alloc(SIZE)};
    uintptr_t low, high;
    ck_assert_int_eq(sigaltstack(&alternate, NULL), 0);
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    raise(SIGUSR1);
    ck_assert(unwind_stack_bounds(&low, &high));
    ck_assert_uint_eq(bounds_in_handler[0], low);
    ck_assert_uint_eq(bounds_in_handler[1], high);
}
END_TEST

static void *thread_forks(void *arg) {
    uintptr_t low, high, here = (uintptr_t)&low;
    pid_t child = fork();
    if (child == 0)
        _exit(unwind_stack_bounds(&low, &high) && low < here && here < high ? 0 : 1);
    waitpid(child, arg, 0);
    return NULL;
}

START_TEST(a_child_of_a_thread_knows_its_stack) {
    pthread_t thread;
    int status = -1;
    pthread_create(&thread, NULL, thread_forks, &status);
    pthread_join(thread, NULL);
    ck_assert_int_eq(status, 0);
}
END_TEST

/* --- modules --- */

static const struct module *find(const void *address) {
    static struct module module;
    return module_find((uintptr_t)address, &module) ? &module : NULL;
}

START_TEST(modules_are_found_by_their_code) {
    Dl_info info;
    const struct module *module = find((void *)getauxval);
    ck_assert_ptr_nonnull(module);
    ck_assert_int_ne(dladdr((void *)getauxval, &info), 0);
    ck_assert_str_eq(module->name, info.dli_fname);
    ck_assert_uint_eq(module->bias, (uintptr_t)info.dli_fbase);
    ck_assert(module->text_low <= (uintptr_t)getauxval && (uintptr_t)getauxval < module->text_high);
    ck_assert(module->low <= module->text_low && module->text_high <= module->high);
    ck_assert_uint_gt(module->eh_frame_hdr, module->low);
    ck_assert_uint_gt(module->build_id_size, 7);

    module = find((void *)all_zero);
    ck_assert_ptr_nonnull(module);
    ck_assert_str_eq(module->name, "");

    module =
        find((void *)getauxval(AT_SYSINFO_EHDR)); /* data and code of the vDSO in one segment */
    if (getauxval(AT_SYSINFO_EHDR))
        ck_assert_ptr_nonnull(module);

    static char data[] = "not code";   /* what is constant may be next to code */
    ck_assert_ptr_null(find(&module)); /* the stack */
    ck_assert_ptr_null(find(data));
    ck_assert_ptr_null(find(NULL));
    ck_assert_ptr_null(find((void *)UINTPTR_MAX));
}
END_TEST

START_TEST(paths_are_those_of_the_files) {
    char path[PATH_MAX], self[PATH_MAX] = {0};
    ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof self - 1), 0);
    ck_assert_uint_eq(module_path(find((void *)all_zero), path, sizeof path), strlen(self));
    ck_assert_str_eq(path, self);
    module_path(find((void *)getauxval), path, sizeof path);
    ck_assert_int_eq(path[0], '/');
    if (!getenv("ALLOTRACE_EMULATOR")) /* which loads other files than those that it names */
        ck_assert_int_eq(access(path, R_OK), 0);
    ck_assert_uint_eq(module_path(find((void *)getauxval), path, 3), 2);
    ck_assert_uint_eq(strlen(path), 2);
}
END_TEST

/* --- what modules export and import --- */

START_TEST(what_a_module_exports_is_found_by_its_name) {
    /* None that a sanitizer stands in front of. */
    static const char *const names[] = {"l64a", "lfind", "drand48", "getenv", "hcreate"};
    struct entries entries;
    const struct module *libc = find((void *)getauxval);
    ck_assert(entries_read(libc, &entries));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(entries_export(&entries, names[i]) ==
                          (uintptr_t)dlsym(RTLD_DEFAULT, names[i]),
                      "%s", names[i]);
    ck_assert_uint_eq(entries_export(&entries, "no_function_of_this_name"), 0);
    ck_assert_uint_eq(entries_export(&entries, ""), 0);
    ck_assert_uint_eq(entries_export(&entries, "environ"), 0); /* is no function */
}
END_TEST

static char *(*volatile pointer_to_another)(long) = l64a;

struct sought {
    const char *name;
    void **slot;
};

static void seek(const char *name, void **slot, void *context) {
    struct sought *sought = context;
    if (strcmp(name, sought->name) == 0)
        sought->slot = slot;
}

START_TEST(variables_that_hold_functions_are_found) {
    struct entries entries;
    struct sought sought = {.name = "l64a"};
    ck_assert(entries_read(find((void *)all_zero), &entries));
    entries_each_pointer(&entries, seek, &sought);
    ck_assert_ptr_eq(sought.slot, (void *)&pointer_to_another);
    ck_assert_uint_eq(entries_export(&entries, "l64a"), 0); /* it only asks for it */
}
END_TEST

struct seen {
    size_t count, matching;
};

static void see(const struct module *module, void *context) {
    struct seen *seen = context;
    const struct module *same = find((void *)module->text_low);
    seen->count++;
    seen->matching += same && same->low == module->low && same->high == module->high &&
                      same->eh_frame_hdr == module->eh_frame_hdr &&
                      same->build_id == module->build_id && same->headers == module->headers;
}

START_TEST(both_ways_to_modules_agree) {
    struct seen seen = {0};
    module_each(see, &seen);
    ck_assert_uint_gt(seen.count, 2);
    ck_assert_uint_eq(seen.matching, seen.count);
}
END_TEST

START_TEST(modules_come_and_go) {
    void *library = dlopen(UNWIND_PLUGIN_A, RTLD_NOW);
    ck_assert_ptr_nonnull(library);
    void *function = dlsym(library, "plugin_call");
    char path[PATH_MAX];
    module_path(find(function), path, sizeof path);
    ck_assert_str_eq(path, UNWIND_PLUGIN_A);
    dlclose(library);
    ck_assert_ptr_null(find(function));
}
END_TEST

/* --- patches --- */

typedef int function(int a, int b, int c);

static __attribute__((noinline)) int first(int a, int b, int c) {
    return a * 100 + b * 10 + c;
}

static __attribute__((noinline)) int second(int a, int b, int c) {
    return -(a * 100 + b * 10 + c);
}

static bool is_writable(uintptr_t at) {
    int pair[2];
    ck_assert_int_eq(pipe(pair), 0);
    ck_assert_int_eq(write(pair[1], "x", 1), 1);
    bool written = read(pair[0], (void *)at, 1) == 1; /* EFAULT if it cannot be */
    close(pair[0]);
    close(pair[1]);
    return written;
}

static void judge_patch(uintptr_t code) {
    function *call = (function *)code;
    uint8_t before[CPU_JUMP_SIZE];
    patch p = {.at = 0};
    memcpy(before, (const void *)code, sizeof before);
    errno = 7;
    ck_assert(patch_can(code));
    ck_assert_int_eq(call(1, 2, 3), 123);
    ck_assert(patch_put(&p, code, (uintptr_t)second));
    ck_assert_int_eq(call(1, 2, 3), -123);
    ck_assert(patch_take_back(&p));
    ck_assert(patch_take_back(&p));
    ck_assert_int_eq(call(1, 2, 3), 123);
    ck_assert_mem_eq((const void *)code, before, sizeof before);
    ck_assert_int_eq(errno, 7);
    ck_assert(!is_writable(code) && !is_writable(code + CPU_JUMP_SIZE - 1));
}

START_TEST(a_function_is_turned_aside_and_given_back) {
    size_t unit = pages_unit();
    uint8_t *pages =
        mmap(NULL, 2 * unit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 2; i++) { /* across pages, and within one */
        uint8_t *code = i == 0 ? pages + unit - 8 : pages;
        ck_assert_int_eq(mprotect(pages, 2 * unit, PROT_READ | PROT_WRITE), 0);
        cpu_jump(code, (uintptr_t)first);
        __builtin___clear_cache((char *)code, (char *)code + CPU_JUMP_SIZE);
        ck_assert_int_eq(mprotect(pages, 2 * unit, PROT_READ | PROT_EXEC), 0);
        judge_patch((uintptr_t)code);
    }
    munmap(pages, 2 * unit);
}
END_TEST

/* A file that was opened for reading is nobody's to change. */
START_TEST(code_that_cannot_be_changed_stays) {
    uint8_t before[CPU_JUMP_SIZE];
    patch p = {.at = 0};
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    uint8_t *code = mmap(NULL, pages_unit(), PROT_READ, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(code, MAP_FAILED);
    memcpy(before, code, sizeof before);
    ck_assert(!patch_can((uintptr_t)code));
    ck_assert(!patch_put(&p, (uintptr_t)code, (uintptr_t)second));
    ck_assert(patch_take_back(&p));
    ck_assert_mem_eq(code, before, sizeof before);
    munmap(code, pages_unit());
    close(fd);
}
END_TEST

START_TEST(a_module_may_go_while_somebody_asks_for_it) {
    void *library = dlopen(UNWIND_PLUGIN_A, RTLD_NOW);
    ck_assert_ptr_nonnull(library);
    struct module_identity identity = module_identify(find(dlsym(library, "plugin_call")));
    ck_assert(module_persists(&identity));
    module_unloading(true);
    ck_assert(module_persists(&identity));
    identity.build_id_start++;
    ck_assert(!module_persists(&identity));
    identity.build_id_start += (UINT64_C(1) << 32) - 1;
    ck_assert(!module_persists(&identity));
    identity.build_id_start -= UINT64_C(1) << 32;
    /* Of what is being unloaded, the loader still knows. */
    ck_assert_int_eq(mprotect((void *)identity.low, pages_unit(), PROT_NONE), 0);
    ck_assert(!module_persists(&identity));
    /* Code may be in it as well. */
    ck_assert_int_eq(mprotect((void *)identity.low, pages_unit(), PROT_READ | PROT_EXEC), 0);
    module_unloading(false);
    ck_assert(module_persists(&identity));
    dlclose(library);
    ck_assert(!module_persists(&identity));
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("platform");
    TCase *c = tcase_create("pages, clocks, maps");
    tcase_add_test(c, pages_are_zero_and_keep_their_content);
    tcase_add_test(c, pages_refuse_absurd_sizes_and_keep_errno);
    tcase_add_test(c, the_monotonic_clock_is_anchored_to_the_wall_clock);
    tcase_add_test(c, maps_find_stack_file_and_nothing);
    tcase_add_test(c, maps_low_is_where_a_mapping_begins);
    tcase_add_test(c, maps_readable_tells_without_touching);
    tcase_add_test(c, a_view_admits_only_what_is_mapped);
    tcase_add_test(c, a_thread_knows_its_stack);
    tcase_add_test(c, an_alternate_stack_is_not_the_thread_s);
    tcase_add_test(c, a_child_of_a_thread_knows_its_stack);
    suite_add_tcase(s, c);
    c = tcase_create("modules");
    tcase_add_test(c, modules_are_found_by_their_code);
    tcase_add_test(c, paths_are_those_of_the_files);
    tcase_add_test(c, both_ways_to_modules_agree);
    tcase_add_test(c, what_a_module_exports_is_found_by_its_name);
    tcase_add_test(c, variables_that_hold_functions_are_found);
    tcase_add_test(c, modules_come_and_go);
    tcase_add_test(c, a_module_may_go_while_somebody_asks_for_it);
    suite_add_tcase(s, c);
    c = tcase_create("patches");
    tcase_add_test(c, a_function_is_turned_aside_and_given_back);
    tcase_add_test(c, code_that_cannot_be_changed_stays);
    suite_add_tcase(s, c);
    return s;
}

UNIT_MAIN(suite)
