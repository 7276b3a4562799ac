/* ocaml_runtime.c: looks symbols up by dlsym. A weak reference is checked first, so that programs
 * without OCaml pay nothing. Locations are read from the frame descriptors of the compiler. */
#include "runtimes/ocaml/ocaml_runtime.h"

#include <string.h>

#include "base/hot.h"
#include "platform/loader.h"
#include "platform/patch.h"
#include "record/text.h"
#include "runtimes/ocaml/ocaml_conflict.h"

/* ---- which runtime is it? ---------------------------------------------------------------- */

static void *symbol(const char *name) {
    return loader_symbol(RTLD_DEFAULT, name);
}

uintptr_t ocaml_runtime_symbol(const char *module, const char *part) {
    static const char *const separators[] = {"__", ".", "$"};
    for (size_t i = 0; i < sizeof separators / sizeof *separators; i++) {
        char name[64];
        text t = text_in(name, sizeof name);
        text_add(&t, module);
        text_add(&t, separators[i]);
        text_add(&t, part);
        void *found = symbol(name);
        if (found)
            return (uintptr_t)found;
    }
    return 0;
}

/* X(field, symbol): the functions needed for recording. */
#define RUNTIME_FUNCTIONS(X)                                                                       \
    X(memprof_start, "caml_memprof_start")                                                         \
    X(memprof_stop, "caml_memprof_stop")                                                           \
    X(root_add, "caml_register_generational_global_root")                                          \
    X(root_remove, "caml_remove_generational_global_root")                                         \
    X(c_call, "caml_c_call")                                                                       \
    X(debuginfo_extract, "caml_debuginfo_extract")                                                 \
    X(debuginfo_next, "caml_debuginfo_next")                                                       \
    X(debuginfo_location, "caml_debuginfo_location")

/* dlsym returns data pointers; POSIX guarantees that they can be converted to functions. */
static bool runtime_find_functions(ocaml_runtime *r) {
    void *found;
#define FIND_FUNCTION(field, name)                                                                 \
    found = symbol(name);                                                                          \
    if (!found)                                                                                    \
        return false;                                                                              \
    memcpy(&r->field, &found, sizeof found);
    RUNTIME_FUNCTIONS(FIND_FUNCTION)
#undef FIND_FUNCTION
    return true;
}

/* Returns NULL if the heap of this native program can be recorded, else the reason. The symbols are
 * those that came with today's Memprof: 4.10 had a different one, and in 5.0 to 5.2 starting it
 * always fails. */
static const char *runtime_why_not(ocaml_runtime *r) {
    r->is_5 = symbol("caml_domain_spawn");
    if (r->is_5 && !symbol("caml_memprof_sample_block"))
        return "OCaml 5.0 to 5.2 cannot sample its heap (5.3 can): only malloc is recorded";
    if (!r->is_5 && !symbol("caml_memprof_minor_update"))
        return "OCaml before 4.11 cannot sample its heap: only malloc is recorded";
    if (!runtime_find_functions(r))
        return "its OCaml runtime lacks symbols: only malloc is recorded";
    r->may_clash = symbol("camlDynlink") || ocaml_conflict_find(r);
    if (r->may_clash && !patch_can((uintptr_t)r->memprof_start))
        return "it may use Gc.Memprof itself, and the system does not allow the recorder to make "
               "room for that: only malloc is recorded";
    r->glue_low = ocaml_runtime_symbol("caml_startup", "code_begin");
    r->glue_high = ocaml_runtime_symbol("caml_startup", "code_end");
    return NULL;
}

/* Defined in few programs. As a weak reference it is resolved with all other symbols. A failing
 * dlsym would compose a message, in memory from malloc, in each program that starts. */
extern char *caml_executable_name(void) __attribute__((weak));

HOT_CODE static enum runtime_kind runtime_find(ocaml_runtime *r, const char **why) {
    if (!caml_executable_name)
        return RUNTIME_ABSENT;
    if (!symbol("caml_program")) {
        *why =
            "OCaml bytecode: only malloc is recorded; to record the heap, compile it with ocamlopt";
        return RUNTIME_UNFIT;
    }
    if (symbol("camlMemtrace")) {
        *why = "it is linked with Memtrace, which writes the trace itself";
        return RUNTIME_TRACED;
    }
    *why = runtime_why_not(r);
    return *why ? RUNTIME_UNFIT : RUNTIME_RECORDABLE;
}

HOT_CODE enum runtime_kind ocaml_runtime_find(ocaml_runtime *r, const char **why) {
    enum runtime_kind kind = runtime_find(r, why);
    /* The program must not see that symbols were missing. The next successful look-up clears the
     * error. dlerror would clear it, too, but also translate it, with a lock that the allocating
     * thread may hold. */
    if (kind != RUNTIME_ABSENT)
        (void)symbol("malloc");
    return kind;
}

/* ---- places ------------------------------------------------------------------------------ */

/* struct caml_loc_info. Both versions begin with the same fields. */
struct place {
    int valid, is_raise;
    const char *file, *function;
    int line, start_char; /* columns count from the start of that line */
    union {
        struct {
            int end_char, is_inlined;
        } v4;
        struct {
            int end_line, end_char_there; /* counts from the start of end_line */
            int end_char, is_inlined;
        } v5;
    };
};

static uint16_t column(int c) {
    return c < 0 ? 0 : c > UINT16_MAX ? UINT16_MAX : (uint16_t)c;
}

static memtrace_location place_location(const ocaml_runtime *r, const struct place *p) {
    return (memtrace_location){
        .file = p->file ? p->file : "",
        .function = p->function ? p->function : "",
        .line = p->line < 0 ? 0 : (uint32_t)p->line,
        .start_char = column(p->start_char),
        .end_char = column(r->is_5 ? p->v5.end_char : p->v4.end_char),
    };
}

static void reverse(memtrace_location *locations, size_t n) {
    for (size_t i = 0; i < n / 2; i++) {
        memtrace_location l = locations[i];
        locations[i] = locations[n - 1 - i];
        locations[n - 1 - i] = l;
    }
}

/* Locates an entry without debug information. An entry with bit 1 set is for an allocation in a
 * frame, and always has a location. Any other entry describes a frame, and begins with its return
 * address. */
static memtrace_location locate_frame(code_table *codes, uintptr_t slot) {
    uintptr_t address;
    if (slot & 2)
        return (memtrace_location){.file = "", .function = "?"};
    memcpy(&address, (const void *)slot, sizeof address);
    return code_locate_address(codes, address);
}

size_t ocaml_runtime_locate(const ocaml_runtime *r, code_table *codes, uintptr_t slot,
                            memtrace_location *locations, size_t max) {
    size_t n = 0;
    void *debuginfo = r->debuginfo_extract(slot);
    for (; debuginfo && n < max; debuginfo = r->debuginfo_next(debuginfo)) {
        struct place place = {0};
        r->debuginfo_location(debuginfo, &place);
        if (place.valid)
            locations[n++] = place_location(r, &place);
    }
    if (n == 0 && max > 0)
        locations[n++] = locate_frame(codes, slot);
    reverse(locations, n); /* the runtime gives the innermost first */
    return n;
}
