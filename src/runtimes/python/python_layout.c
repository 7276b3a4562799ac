/* python_layout.c: a table of the offsets in each known version. They are used only if they agree
 * with what the interpreter reports: the sizes and members of its types, and, from 3.13 on, the
 * offsets that it publishes for debuggers. */
#include "runtimes/python/python_layout.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "base/hot.h"
#include "platform/loader.h"
#include "platform/module.h"

/* From the headers of each version. From 3.12 on each call of the evaluator has a frame of its own
 * on the C stack, which its `owner` byte tells. 3.11 marks the last frame that a call of the
 * evaluator runs. */
static const struct python_layout layouts[] = {
    {.minor = 11,
     .has_cframe = true,
     .thread_frame = 56,
     .cframe_frame = 8,
     .cframe_outer = 16,
     .frame_code = 32,
     .frame_outer = 48,
     .frame_instruction = 56,
     .frame_kind = 68,
     .frame_last = 1,
     .code_size = 184,
     .text_ascii = 48,
     .text_other = 72,
     .text_size = 80,
     .flags_before = 16,
     .interp_modules = 888,
     .thread_dict = 128,
     .holder_loop = 16,
     .task_size = 176,
     .task_coroutine = 136,
     .task_name = 144,
     .coroutine_name = 40,
     .coroutine_frame = 80},
    {.minor = 12,
     .has_cframe = true,
     .thread_frame = 56,
     .cframe_frame = 0,
     .cframe_outer = 8,
     .frame_code = 0,
     .frame_outer = 8,
     .frame_instruction = 56,
     .frame_kind = 70,
     .frame_last = 3,
     .code_size = 192,
     .text_ascii = 40,
     .text_other = 56,
     .text_size = 64,
     .flags_before = 24,
     .interp_modules = 944,
     .thread_dict = 112,
     .task_size = 176,
     .task_coroutine = 136,
     .task_name = 144,
     .coroutine_name = 32,
     .coroutine_frame = 72},
    {.minor = 13,
     .thread_frame = 72,
     .frame_code = 0,
     .frame_outer = 8,
     .frame_instruction = 56,
     .frame_kind = 70,
     .frame_last = 3,
     .code_size = 200,
     .offsets_thread = 152,
     .text_ascii = 40,
     .text_other = 56,
     .text_size = 64,
     .flags_before = 24,
     .offsets_modules = 88,
     .interp_modules = 7656,
     .thread_size = 304,
     .thread_loop = 304,
     .task_size = 144,
     .task_coroutine = 120,
     .task_name = 128,
     .coroutine_name = 32,
     .coroutine_frame = 72},
    {.minor = 14,
     .thread_frame = 72,
     .frame_code = 0,
     .frame_outer = 8,
     .frame_instruction = 56,
     .frame_kind = 74,
     .frame_last = 3,
     .code_size = 208,
     .offsets_thread = 176,
     .text_ascii = 40,
     .text_other = 56,
     .text_size = 64,
     .flags_before = 24,
     .thread_size = 832,
     .thread_task = 872,
     .task_size = 168,
     .task_coroutine = 128,
     .task_name = 136,
     .coroutine_name = 32,
     .coroutine_frame = 72},
};

/* Defined in few programs. As a weak reference it is resolved with all other symbols. */
extern void PyMem_SetAllocator(int domain, struct python_allocator *allocator)
    __attribute__((weak));

static void *symbol(const char *name) {
    return loader_symbol(RTLD_DEFAULT, name);
}

/* ---- types --------------------------------------------------------------------------------- */

/* In PyTypeObject, in all versions, in bytes. */
enum { TYPE_BASIC_SIZE = 32, TYPE_MEMBERS = 240 };

/* PyMemberDef. */
struct member {
    const char *name;
    int type;
    intptr_t offset;
    int flags;
    const char *doc;
};

static intptr_t type_basic_size(const char *type) {
    intptr_t size;
    memcpy(&size, type + TYPE_BASIC_SIZE, sizeof size);
    return size;
}

static bool type_member(const char *type, const char *name, uint16_t *offset) {
    const struct member *member;
    memcpy(&member, type + TYPE_MEMBERS, sizeof member);
    for (; member && member->name; member++)
        if (strcmp(member->name, name) == 0 && member->offset > 0 && member->offset < 1024) {
            *offset = (uint16_t)member->offset;
            return true;
        }
    return false;
}

static bool types_fit(python_runtime *r) {
    r->code_type = symbol("PyCode_Type");
    r->text_type = symbol("PyUnicode_Type");
    r->type_type = symbol("PyType_Type");
    return r->code_type && r->text_type && r->type_type &&
           type_basic_size(r->code_type) == r->layout->code_size &&
           type_basic_size(r->text_type) == r->layout->text_size &&
           type_member(r->code_type, "co_filename", &r->code.file) &&
           type_member(r->code_type, "co_qualname", &r->code.name) &&
           type_member(r->code_type, "co_linetable", &r->code.lines) &&
           type_member(r->code_type, "co_firstlineno", &r->code.first_line);
}

/* ---- functions ----------------------------------------------------------------------------- */

/* dlsym returns data pointers; POSIX guarantees that they can be converted to functions. */
#define FIND(field, name)                                                                          \
    do {                                                                                           \
        void *found_ = symbol(name);                                                               \
        memcpy(&(field), &found_, sizeof found_);                                                  \
    } while (0)

static bool functions_find(python_runtime *r) {
    FIND(r->get_allocator, "PyMem_GetAllocator");
    FIND(r->set_allocator, "PyMem_SetAllocator");
    FIND(r->get_arena_allocator, "PyObject_GetArenaAllocator");
    FIND(r->set_arena_allocator, "PyObject_SetArenaAllocator");
    FIND(r->is_initialized, "Py_IsInitialized");
    FIND(r->is_finalizing, "Py_IsFinalizing");
    if (!r->is_finalizing)
        FIND(r->is_finalizing, "_Py_IsFinalizing");
    FIND(r->thread_own, "PyGILState_GetThisThreadState");
    FIND(r->thread_attached, "PyThreadState_GetUnchecked");
    if (!r->thread_attached)
        FIND(r->thread_attached, "_PyThreadState_UncheckedGet");
    return r->get_allocator && r->set_allocator && r->is_initialized && r->is_finalizing &&
           r->thread_own && r->thread_attached;
}

/* Sets the range of a function's code; empty if it is unknown. */
static void function_range(const char *name, uintptr_t *low, uintptr_t *high) {
    void *found = symbol(name);
    ElfW(Sym) *entry = NULL;
    Dl_info info;
    *low = *high = 0;
    if (!found || !loader_entry(found, &info, (void **)&entry) || !entry)
        return;
    *low = (uintptr_t)found;
    *high = *low + entry->st_size;
}

static bool code_find(python_runtime *r) {
    struct module module;
    function_range("_PyEval_EvalFrameDefault", &r->eval_low, &r->eval_high);
    function_range("Py_RunMain", &r->main_low, &r->main_high);
    if (!r->eval_low || !module_find(r->eval_low, &module))
        return false;
    r->low = module.text_low;
    r->high = module.text_high;
    return true;
}

/* ---- which interpreter is it? -------------------------------------------------------------- */

static const struct python_layout *layout_of(unsigned minor) {
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].minor == minor)
            return &layouts[i];
    return NULL;
}

/* From 3.13 on _PyRuntime begins with _Py_DebugOffsets, the layout of its structures. */
struct offsets_head {
    char cookie[8];
    uint64_t version, free_threaded;
};

/* The parts of it for threads and frames, as far as they are used. */
struct offsets_thread {
    uint64_t size, prev, next, interpreter, frame, others[4];
    uint64_t frame_size, frame_outer, frame_code, frame_instruction, frame_locals, frame_owner;
};

/* Returns whether this is a free-threaded build, whose objects have another layout, and whose
 * allocator is not Python's own. */
static bool is_free_threaded(void) {
    const char *const runtime = symbol("_PyRuntime");
    struct offsets_head head;
    if (!runtime)
        return false;
    memcpy(&head, runtime, sizeof head);
    return memcmp(head.cookie, "xdebugpy", sizeof head.cookie) == 0 && head.free_threaded;
}

static bool offsets_fit(const struct python_layout *l) {
    const char *const runtime = symbol("_PyRuntime");
    struct offsets_head head;
    struct offsets_thread o;
    if (!l->offsets_thread)
        return true;
    if (!runtime)
        return false;
    memcpy(&head, runtime, sizeof head);
    memcpy(&o, runtime + l->offsets_thread, sizeof o);
    return memcmp(head.cookie, "xdebugpy", sizeof head.cookie) == 0 && o.frame == l->thread_frame &&
           o.frame_outer == l->frame_outer && o.frame_code == l->frame_code &&
           o.frame_instruction == l->frame_instruction && o.frame_owner == l->frame_kind;
}

/* Coroutines and generators have their weak references two words before their qualified names. */
static bool weak_references_fit(const char *type, const struct python_layout *l) {
    enum { TYPE_WEAK_REFERENCES = 208, NAMES = 16 };
    intptr_t offset;
    memcpy(&offset, type + TYPE_WEAK_REFERENCES, sizeof offset);
    return offset + NAMES == l->coroutine_name;
}

static bool tasks_fit(python_runtime *r) {
    const char *const runtime = symbol("_PyRuntime");
    const struct python_layout *l = r->layout;
    uint64_t thread = 0, modules = 0;
    r->dict_type = symbol("PyDict_Type");
    r->module_type = symbol("PyModule_Type");
    r->coroutine_type = symbol("PyCoro_Type");
    r->generator_type = symbol("PyGen_Type");
    if (l->thread_size)
        memcpy(&thread, runtime + l->offsets_thread, sizeof thread);
    if (l->offsets_modules)
        memcpy(&modules, runtime + l->offsets_modules, sizeof modules);
    return r->dict_type && r->module_type && r->coroutine_type && r->generator_type &&
           thread == l->thread_size && (!l->offsets_modules || modules == l->interp_modules) &&
           weak_references_fit(r->coroutine_type, l) && weak_references_fit(r->generator_type, l);
}

/* Returns NULL if frames of this interpreter can be read, else the reason. */
static const char *runtime_why_not(python_runtime *r) {
    const unsigned long *version = symbol("Py_Version");
    if (!version)
        return "Python before 3.11: only malloc is recorded, without Python's frames";
    r->layout = *version >> 24 == 3 ? layout_of(*version >> 16 & 255) : NULL;
    if (!r->layout)
        return "this version of Python is not supported (3.11 to 3.14 are): only malloc is "
               "recorded, without Python's frames";
    if (symbol("_Py_NegativeRefcount") || symbol("_Py_PrintReferences"))
        return "a debug build of Python: only malloc is recorded, without Python's frames";
    if (is_free_threaded())
        return "a free-threaded build of Python: only malloc is recorded, without Python's frames";
    if (!functions_find(r) || !types_fit(r) || !offsets_fit(r->layout) || !code_find(r))
        return "its Python has an unknown layout: only malloc is recorded, without Python's frames";
    r->knows_tasks = tasks_fit(r);
    return NULL;
}

HOT_CODE enum runtime_kind python_layout_find(python_runtime *r, const char **why) {
    if (!PyMem_SetAllocator)
        return RUNTIME_ABSENT;
    *why = runtime_why_not(r);
    (void)symbol("malloc"); /* forgets missing symbols: see ocaml_runtime_find */
    return *why ? RUNTIME_UNFIT : RUNTIME_RECORDABLE;
}
