/* tracer_stubs.c: the functions that tracer.ml calls while a program runs. Events of Memprof become
 * events of the trace (session.h), and entries of a call stack become places in the source.
 *
 * All but the first run in the middle of OCaml code, in any domain or thread. They neither allocate
 * in OCaml's heap, nor raise, nor release the runtime's lock, so they are [@@noalloc].
 *
 * The code of a frame is its raw backtrace entry as an integer, which is half an address. */
#define CAML_INTERNALS
#define CAML_NAME_SPACE
#include <caml/backtrace_prim.h>
#include <caml/domain_state.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/version.h>

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "ocaml_errors.h"
#include "session.h"

#if OCAML_VERSION < 41100
#error "this takes the Gc.Memprof that came with OCaml 4.11"
#endif

static unsigned domain_index(void) {
#if OCAML_VERSION >= 50000
    return (unsigned)Caml_state->id;
#else
    return 0;
#endif
}

/* ---- places ------------------------------------------------------------------------------ */

enum { CODE_CUT = 1 }; /* above a stack whose outer frames were left out */

/* In native code: an entry with this bit set describes an allocation in a frame; any other begins
 * with the frame's return address. */
enum { SLOT_IS_ALLOCATION = 2 };

static bool is_native;

/* Code that the linker generated and that has no source: it applies closures and starts modules.
 * Empty in bytecode. */
static struct { uintptr_t low, high; } glue;

static uintptr_t glue_symbol(const char *part) {
    static const char *const separators[] = {"__", ".", "$"};
    void *found = NULL;
    for (size_t i = 0; i < sizeof separators / sizeof *separators && !found; i++) {
        char name[64];
        snprintf(name, sizeof name, "caml_startup%s%s", separators[i], part);
        found = dlsym(RTLD_DEFAULT, name);
    }
    return (uintptr_t)found;
}

static void places_begin(bool native) {
    is_native = native;
    glue.low = native ? glue_symbol("code_begin") : 0;
    glue.high = native ? glue_symbol("code_end") : 0;
}

static uintptr_t slot_of(uint64_t code) {
    return (uintptr_t)code << 1;
}

static uintptr_t slot_address(uintptr_t slot) {
    uintptr_t address;
    memcpy(&address, (const void *)slot, sizeof address);
    return address;
}

static bool is_glue(uint64_t code) {
    uintptr_t slot = slot_of(code);
    return glue.high && !(slot & SLOT_IS_ALLOCATION) &&
           slot_address(slot) - glue.low < glue.high - glue.low;
}

static uint16_t column(int c) {
    return c < 0 ? 0 : c > UINT16_MAX ? UINT16_MAX : (uint16_t)c;
}

static memtrace_location place_of(const struct caml_loc_info *info) {
#if OCAML_VERSION >= 50200
    int line = info->loc_start_lnum, start = info->loc_start_chr, end = info->loc_end_offset;
#else
    int line = info->loc_lnum, start = info->loc_startchr, end = info->loc_endchr;
#endif
    return (memtrace_location){.file = info->loc_filename ? info->loc_filename : "",
                               .function = info->loc_defname ? info->loc_defname : "",
                               .line = line < 0 ? 0 : (uint32_t)line,
                               .start_char = column(start),
                               .end_char = column(end)};
}

/* The module that contains an address. */
struct module {
    uintptr_t address;
    uintptr_t bias; /* address in memory minus address in the file */
    char path[PATH_MAX];
    char build_id[2 * 64 + 1]; /* in hexadecimal; empty: none */
};

static void copy_build_id(struct module *m, const char *notes, size_t size) {
    while (size >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)notes;
        const char *name = notes + sizeof *note, *id = name + ((note->n_namesz + 3u) & ~3u),
                   *end = id + ((note->n_descsz + 3u) & ~3u);
        if ((size_t)(end - notes) > size)
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof ELF_NOTE_GNU &&
            memcmp(name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0 &&
            2 * note->n_descsz < sizeof m->build_id)
            for (size_t i = 0; i < note->n_descsz; i++)
                snprintf(m->build_id + 2 * i, 3, "%02x", (unsigned char)id[i]);
        size -= (size_t)(end - notes);
        notes = end;
    }
}

static bool holds(const struct dl_phdr_info *info, uintptr_t address) {
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && address - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
            return true;
    }
    return false;
}

/* Called for each module. The loader has no name for the program itself. */
static int module_visit(struct dl_phdr_info *info, size_t size, void *context) {
    struct module *m = context;
    (void)size;
    if (!holds(info, m->address))
        return 0;
    m->bias = info->dlpi_addr;
    snprintf(m->path, sizeof m->path, "%s", info->dlpi_name);
    if (!*m->path && readlink("/proc/self/exe", m->path, sizeof m->path - 1) < 0)
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_NOTE)
            copy_build_id(m, (const char *)(info->dlpi_addr + p->p_vaddr), p->p_memsz);
    }
    return 1;
}

/* Locates a frame without debug information, in the form that `allotrace symbolize` resolves: the
 * function NAME+0xOFFSET in the file PATH[BUILD-ID]. Called once for each frame; the strings are
 * never freed. */
static size_t locate_address(uintptr_t address, memtrace_location *location) {
    struct module m = {.address = address - 1}; /* the call precedes the return address */
    char *file, *function;
    if (!dl_iterate_phdr(module_visit, &m))
        return 0;
    const char *slash = strrchr(m.path, '/');
    if (asprintf(&file, "%s[%s]", m.path, m.build_id) < 0)
        return 0;
    if (asprintf(&function, "%s+0x%lx", slash ? slash + 1 : m.path,
                 (unsigned long)(address - m.bias)) < 0) {
        free(file);
        return 0;
    }
    *location = (memtrace_location){.file = file, .function = function};
    return 1;
}

static void reverse(memtrace_location *locations, size_t n) {
    for (size_t i = 0; i < n / 2; i++) {
        memtrace_location l = locations[i];
        locations[i] = locations[n - 1 - i];
        locations[n - 1 - i] = l;
    }
}

/* The hook of the trace writer that locates frames. */
static size_t locate(void *context, uint64_t code, memtrace_location *locations, size_t max) {
    (void)context;
    size_t n = 0;
    if (code == CODE_CUT) {
        *locations =
            (memtrace_location){.file = "", .function = "[deeper than the recorder looks]"};
        return 1;
    }
    uintptr_t slot = slot_of(code);
    debuginfo inlined = caml_debuginfo_extract((backtrace_slot)slot);
    for (; inlined && n < max; inlined = caml_debuginfo_next(inlined)) {
        struct caml_loc_info info = {0};
        caml_debuginfo_location(inlined, &info);
        if (info.loc_valid)
            locations[n++] = place_of(&info);
    }
    if (n == 0 && is_native && !(slot & SLOT_IS_ALLOCATION))
        n = locate_address(slot_address(slot), locations);
    reverse(locations, n); /* the runtime lists the innermost first */
    return n;
}

/* ---- beginning and end ------------------------------------------------------------------- */

/* The fields of `plan` in tracer.ml. */
enum {
    PLAN_FD,
    PLAN_RATE,
    PLAN_DEPTH,
    PLAN_NATIVE,
    PLAN_EXECUTABLE,
    PLAN_HOST,
    PLAN_PARAMETERS,
    PLAN_CONTEXT
};

/* Begins a session and returns its number. */
value caml_memtrace_begin(value plan);
value caml_memtrace_begin(value plan) {
    int error = 0;
    session_plan p = {
        .fd = Int_val(Field(plan, PLAN_FD)),
        .depth = (size_t)Long_val(Field(plan, PLAN_DEPTH)),
        .info = {.version = OCAML_VERSION < 50000 ? 2 : 3, /* memtrace 0.2.3 reads version 2 */
                 .sample_rate = Double_val(Field(plan, PLAN_RATE)),
                 .executable_name = String_val(Field(plan, PLAN_EXECUTABLE)),
                 .host_name = String_val(Field(plan, PLAN_HOST)),
                 .runtime_params = String_val(Field(plan, PLAN_PARAMETERS)),
                 .context = String_val(Field(plan, PLAN_CONTEXT))},
        .locate = locate,
    };
    places_begin(Bool_val(Field(plan, PLAN_NATIVE)));
    uint64_t number = session_begin(&p, &error);
    if (number == 0)
        raise_errno(error, error == EAGAIN ? "lock" : "open");
    return Val_long(number);
}

value caml_memtrace_end(value number);
value caml_memtrace_end(value number) {
    return Val_bool(session_end((uint64_t)Long_val(number)));
}

/* Returns the number of the current session; 0: none. */
value caml_memtrace_current(value unit);
value caml_memtrace_current(value unit) {
    (void)unit;
    return Val_long(session_number());
}

value caml_memtrace_depth(value unit);
value caml_memtrace_depth(value unit) {
    (void)unit;
    return Val_long(session_depth());
}

/* Writes why the session ended by itself into `buffer`. Returns the length; 0 if it did not. */
value caml_memtrace_failure(value buffer);
value caml_memtrace_failure(value buffer) {
    int failure = session_failure();
    if (!failure)
        return Val_long(0);
    const char *text = strerror(failure);
    size_t length = strlen(text), room = caml_string_length(buffer);
    if (length > room)
        length = room;
    memcpy(Bytes_val(buffer), text, length);
    return Val_long(length);
}

/* Whether the program has more rights than its user, who controls the environment. */
value caml_memtrace_is_privileged(value unit);
value caml_memtrace_is_privileged(value unit) {
    (void)unit;
    return Val_bool(getauxval(AT_SECURE) != 0);
}

/* ---- randomness -------------------------------------------------------------------------- */

static uint64_t seed;             /* of the session; 0 before the first */
static _Atomic uint64_t n_seeded; /* samplers (below) that were started with it */

static uint64_t mix(uint64_t z) { /* splitmix64 */
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static uint64_t random_seed(void) {
    uint64_t random;
    struct timespec now;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) == sizeof random)
        return random;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)getpid() << 40;
}

value caml_memprof_start(value rate, value depth, value tracker);
value caml_memprof_stop(value unit);

/* Makes runs differ. Memprof's generator starts in the same state in each process, so equal runs
 * would have the same samples. Each start of Memprof discards a batch of 64 numbers, which takes
 * 0.2 us. This is in C, since in OCaml, signals and threads could intervene. `given` is an
 * option. */
value caml_memtrace_seed(value rate, value tracker, value given);
value caml_memtrace_seed(value rate, value tracker, value given) {
    CAMLparam2(rate, tracker);
    enum { MOST = 1024 };
    seed = Is_block(given) ? (uint64_t)Long_val(Field(given, 0)) : random_seed();
    atomic_store(&n_seeded, 0);
    for (uint64_t n = Double_val(rate) < 1 ? mix(seed) % MOST : 0; n > 0; n--) {
        caml_memprof_start(rate, Val_long(0), tracker);
        caml_memprof_stop(Val_unit);
    }
    CAMLreturn(Val_unit);
}

/* ---- events ------------------------------------------------------------------------------ */

/* Writes a stack, which begins with the innermost frame, into `codes`, outermost first. Leaves the
 * `skip` innermost frames out. */
static size_t encode_stack(value stack, size_t skip, size_t depth, uint64_t *codes) {
    size_t n = Wosize_val(stack), first = skip < n ? skip : n, out = 0;
    if (n - first > depth) {
        n = first + depth;
        codes[out++] = CODE_CUT;
    }
    while (n-- > first) {
        uint64_t code = (uint64_t)Long_val(Field(stack, n));
        if (!is_glue(code))
            codes[out++] = code;
    }
    return out;
}

/* Records a block. Returns its id, or -1 if it is not tracked. */
static value sampled(value number, const session_block *block, value stack, size_t skip) {
    unsigned domain = domain_index();
    uint64_t id, *codes = session_stack((uint64_t)Long_val(number), domain);
    if (!codes)
        return Val_long(-1);
    size_t n = encode_stack(stack, skip, session_depth(), codes);
    return Val_long(session_alloc(domain, block, n, &id) ? (intnat)id : -1);
}

/* Whether this thread is in the library's own code, whose allocations are not recorded. */
static __thread bool quiet;

static bool begins_with(const char *text, const char *start) {
    return text && strncmp(text, start, strlen(start)) == 0;
}

/* Returns the innermost function of a frame; NULL if it is unknown. */
static const char *function_of(uint64_t code) {
    struct caml_loc_info info = {0};
    debuginfo found = caml_debuginfo_extract((backtrace_slot)slot_of(code));
    if (found)
        caml_debuginfo_location(found, &info);
    return found && info.loc_valid ? info.loc_defname : NULL;
}

static bool is_of_ocaml(const char *function) {
    return begins_with(function, "Stdlib") || begins_with(function, "Camlinternal") ||
           begins_with(function, "Unix.");
}

/* Whether the library itself made an allocation. The collector may run finalisers and signal
 * handlers wherever the library allocates, and their stacks are on top of the library's. The
 * library's own stacks end in the library, or in a function of OCaml that it called. */
static bool is_of_the_library(value stack) {
    for (size_t i = 0; i < Wosize_val(stack); i++) {
        const char *function = function_of((uint64_t)Long_val(Field(stack, i)));
        bool is_primitive = !function && !is_native; /* in bytecode, wraps a primitive */
        if (!is_primitive && !is_of_ocaml(function))
            return begins_with(function, "Memtrace.") || begins_with(function, "Memtrace__");
    }
    return true; /* without debug information, it cannot be told */
}

value caml_memtrace_set_quiet(value on);
value caml_memtrace_set_quiet(value on) {
    quiet = Bool_val(on);
    return Val_unit;
}

value caml_memtrace_is_quiet(value unit);
value caml_memtrace_is_quiet(value unit) {
    (void)unit;
    return Val_bool(quiet);
}

/* The fields of Gc.Memprof.allocation. */
enum { SAMPLE_N, SAMPLE_SIZE, SAMPLE_SOURCE, SAMPLE_STACK };
enum { SOURCE_NORMAL, SOURCE_MARSHAL, SOURCE_CUSTOM };

value caml_memtrace_alloc(value number, value sample, value heap);
value caml_memtrace_alloc(value number, value sample, value heap) {
    bool is_custom = Field(sample, SAMPLE_SOURCE) == Val_int(SOURCE_CUSTOM);
    session_block block = {.samples = (uint64_t)Long_val(Field(sample, SAMPLE_N)),
                           .length = (uint64_t)Long_val(Field(sample, SAMPLE_SIZE)),
                           .source =
                               is_custom ? MEMTRACE_EXTERNAL : (memtrace_source)Int_val(heap)};
    value stack = Field(sample, SAMPLE_STACK);
    return quiet && is_of_the_library(stack) ? Val_long(-1) : sampled(number, &block, stack, 0);
}

value caml_memtrace_is_nobodys(value sample);
value caml_memtrace_is_nobodys(value sample) {
    return Val_bool(quiet && is_of_the_library(Field(sample, SAMPLE_STACK)));
}

value caml_memtrace_promote(value number, value id);
value caml_memtrace_promote(value number, value id) {
    session_promote((uint64_t)Long_val(number), domain_index(), (uint64_t)Long_val(id));
    return Val_unit;
}

value caml_memtrace_collect(value number, value id);
value caml_memtrace_collect(value number, value id) {
    session_collect((uint64_t)Long_val(number), domain_index(), (uint64_t)Long_val(id));
    return Val_unit;
}

/* ---- memory outside of the heap ---------------------------------------------------------- */

/* Samples words as Memprof does. Each thread has a sampler of its own, which is correct since the
 * distance to the next sample does not depend on earlier ones. */
static __thread struct {
    uint64_t session; /* the session that the other fields belong to */
    uint64_t random;
    int64_t left; /* bytes until the next sample */
} sampler;

static uint64_t random_next(void) {
    return mix(sampler.random += UINT64_C(0x9E3779B97F4A7C15));
}

/* Returns the bytes to the next sampled word, from a geometric distribution. */
static int64_t sampler_distance(double rate) {
    if (rate >= 1)
        return sizeof(value);
    double uniform = ((double)(random_next() >> 11) + 0.5) * 0x1p-53;
    double words = 1 + floor(log(uniform) / log1p(-rate));
    return words < 0x1p58 ? (int64_t)words * (int64_t)sizeof(value) : INT64_MAX / 2;
}

static void sampler_begin(uint64_t number) {
    sampler.session = number;
    sampler.random = mix(mix(seed) + atomic_fetch_add(&n_seeded, 1));
    sampler.left = sampler_distance(session_rate());
}

/* Returns the number of samples in an allocation of `bytes`. */
value caml_memtrace_draw(value bytes);
value caml_memtrace_draw(value bytes) {
    uint64_t number = session_number();
    intnat samples = 0;
    if (number == 0)
        return Val_long(0);
    if (sampler.session != number)
        sampler_begin(number);
    for (sampler.left -= Long_val(bytes); sampler.left <= 0; samples++)
        sampler.left += sampler_distance(session_rate());
    return Val_long(samples);
}

/* The stack begins in the OCaml function that calls this, which is left out. */
value caml_memtrace_external(value number, value bytes, value samples, value stack);
value caml_memtrace_external(value number, value bytes, value samples, value stack) {
    const uint64_t word = sizeof(value);
    session_block block = {.samples = (uint64_t)Long_val(samples),
                           .length = ((uint64_t)Long_val(bytes) + word - 1) / word,
                           .source = MEMTRACE_EXTERNAL};
    return sampled(number, &block, stack, 1);
}
