/* python_tasks.c: finds the thread's running task, the task's name, and the scopes that the program
 * has entered in tasks. */
#include "runtimes/python/python_tasks.h"

#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"
#include "record/scope.h"
#include "runtimes/peek.h"
#include "runtimes/python/python_names.h"

/* A cached look-up in a dict: where the entry is, or that there is none. Valid when zeroed. */
struct place {
    uintptr_t keys;       /* the dict's keys at that time */
    size_t n;             /* their number of entries */
    uintptr_t entry, key; /* 0: there is no such entry */
    uint64_t version;     /* of the dict at that time: unique, and changes with the dict */
};

/* The name that was met last, if it is ASCII. */
struct named {
    uintptr_t text;
    size_t length;
    char name[SCOPE_NAME_SIZE + 8];
    uint16_t number;
};

struct python_tasks {
    struct place loop, module, current;
    struct named task, coroutine;
    uintptr_t type;        /* a type that is known to be that of tasks in C */
    uint16_t scope;        /* of the task at the last event with the lock; 0: no task */
    uintptr_t frame, code; /* of that task's coroutine */
};

size_t python_tasks_size(void) {
    return (sizeof(python_tasks) + 7) / 8 * 8;
}

static uintptr_t word_at(uintptr_t address) {
    return *(const uintptr_t *)address;
}

enum { OBJECT_TYPE = 8, TYPE_NAME = 24, TYPE_BASIC_SIZE = 32, TYPE_BASE = 256 };

/* In PyUnicodeObject, in bytes. */
enum { TEXT_LENGTH = 16, TEXT_STATE = 32, TEXT_IS_ASCII = 1 << 6 };

static bool is_of(uintptr_t object, const char *type) {
    return object && word_at(object + OBJECT_TYPE) == (uintptr_t)type;
}

/* ---- dicts ---------------------------------------------------------------------------------- */

/* Offsets in PyDictObject and PyDictKeysObject, in bytes, the same from 3.11 to 3.13. */
enum { DICT_VERSION = 24, DICT_KEYS = 32, DICT_VALUES = 40 };
enum { KEYS_KIND = 8, KEYS_ENTRIES = 24, KEYS_INDICES = 32 };

/* The entries of a dict. They contain no hash if all keys are strings. */
struct entries {
    uintptr_t keys, first;
    size_t n, size, key;
};

static bool entries_of(const python_runtime *r, uintptr_t dict, struct entries *e) {
    enum { GENERAL = 0, TEXTS = 1, HASH = 8, PAIR = 16 };
    if (!is_of(dict, r->dict_type) || word_at(dict + DICT_VALUES))
        return false;
    e->keys = word_at(dict + DICT_KEYS);
    const uint8_t *const head = (const uint8_t *)(e->keys + KEYS_KIND);
    const unsigned log2_bytes = head[1], kind = head[2];
    if ((kind != GENERAL && kind != TEXTS) || log2_bytes > 40)
        return false;
    e->n = word_at(e->keys + KEYS_ENTRIES);
    e->first = e->keys + KEYS_INDICES + ((uintptr_t)1 << log2_bytes);
    e->key = kind == TEXTS ? 0 : HASH;
    e->size = PAIR + e->key;
    return true;
}

static uintptr_t entry_key(const struct entries *e, size_t i) {
    return word_at(e->first + i * e->size + e->key);
}

static uintptr_t entry_value(const struct entries *e, size_t i) {
    return word_at(e->first + i * e->size + e->key + 8);
}

static bool is_text(const python_runtime *r, uintptr_t key, const char *name, size_t length) {
    char text[64];
    return is_of(key, r->text_type) && word_at(key + TEXT_LENGTH) == length &&
           python_names_text(r, key, text, sizeof text) && strcmp(text, name) == 0;
}

static uintptr_t dict_search(const python_runtime *r, uintptr_t dict, const char *name,
                             struct place *p) {
    struct entries e;
    if (!entries_of(r, dict, &e))
        return 0;
    const size_t length = strlen(name);
    *p = (struct place){.keys = e.keys, .n = e.n, .version = word_at(dict + DICT_VERSION)};
    for (size_t i = 0; i < e.n; i++)
        if (is_text(r, entry_key(&e, i), name, length)) {
            p->entry = e.first + i * e.size + e.key;
            p->key = entry_key(&e, i);
            return entry_value(&e, i);
        }
    return 0;
}

/* Returns the value of a name; 0: there is none. The entry is usually where it was. A cached "none"
 * holds only for the same dict in the same version: dicts of later threads and interpreters may
 * have its address. */
static inline uintptr_t dict_value(const python_runtime *r, uintptr_t dict, const char *name,
                                   struct place *p) {
    if (!is_of(dict, r->dict_type))
        return 0;
    const uintptr_t keys = word_at(dict + DICT_KEYS);
    const size_t n = word_at(keys + KEYS_ENTRIES);
    if (p->keys == keys && p->entry && p->n <= n && word_at(p->entry) == p->key)
        return word_at(p->entry + 8);
    if (p->keys == keys && !p->entry && p->version == word_at(dict + DICT_VERSION))
        return 0;
    return dict_search(r, dict, name, p);
}

/* Returns the value of an object, which is a key by its address. The search begins at the end, with
 * the latest entries: a task is entered anew for each of its steps. */
static uintptr_t dict_value_of_object(const python_runtime *r, uintptr_t dict, uintptr_t object) {
    struct entries e;
    if (!entries_of(r, dict, &e))
        return 0;
    for (size_t i = e.n; i > 0; i--)
        if (entry_key(&e, i - 1) == object)
            return entry_value(&e, i - 1);
    return 0;
}

/* ---- the running task ----------------------------------------------------------------------- */

/* What the checks have shown. */
enum { DICT_FITS = 1, MODULES_FIT = 2, UNFIT = 4 };
static _Atomic unsigned found_out;

static bool fits(const python_runtime *r, unsigned what, uintptr_t dict) {
    const unsigned found = atomic_load_explicit(&found_out, memory_order_relaxed);
    uintptr_t type;
    if (__builtin_expect(found & what, 1))
        return !(found & UNFIT);
    const bool fits =
        peek_bytes(dict + OBJECT_TYPE, &type, sizeof type) && type == (uintptr_t)r->dict_type;
    atomic_fetch_or(&found_out, fits ? what : what | UNFIT);
    return fits && !(found & UNFIT);
}

static uintptr_t running_loop(python_tasks *t, const python_runtime *r, uintptr_t thread) {
    const struct python_layout *l = r->layout;
    if (l->thread_loop)
        return word_at(thread + l->thread_loop);
    const uintptr_t dict = word_at(thread + l->thread_dict);
    if (!dict || !fits(r, DICT_FITS, dict))
        return 0;
    const uintptr_t holder = dict_value(r, dict, "__asyncio_running_event_loop__", &t->loop);
    return holder && l->holder_loop ? word_at(holder + l->holder_loop) : holder;
}

static uintptr_t task_of_loop(python_tasks *t, const python_runtime *r, uintptr_t thread,
                              uintptr_t loop) {
    enum { THREAD_INTERPRETER = 16, MODULE_DICT = 16 };
    const uintptr_t interpreter = word_at(thread + THREAD_INTERPRETER);
    const uintptr_t modules = word_at(interpreter + r->layout->interp_modules);
    if (!modules || !fits(r, MODULES_FIT, modules))
        return 0;
    const uintptr_t module = dict_value(r, modules, "_asyncio", &t->module);
    if (!is_of(module, r->module_type))
        return 0;
    const uintptr_t tasks =
        dict_value(r, word_at(module + MODULE_DICT), "_current_tasks", &t->current);
    return dict_value_of_object(r, tasks, loop);
}

/* Returns whether an object is a task whose fields are known: its type is the one in C, or derived
 * from it. */
static bool is_task(python_tasks *t, const python_runtime *r, uintptr_t object) {
    enum { MOST_BASES = 64 };
    uintptr_t type = word_at(object + OBJECT_TYPE);
    if (__builtin_expect(type == t->type, 1))
        return true;
    for (int i = 0; type && i < MOST_BASES; i++, type = word_at(type + TYPE_BASE)) {
        if (strcmp((const char *)word_at(type + TYPE_NAME), "_asyncio.Task") != 0)
            continue;
        const bool fits = word_at(type + TYPE_BASIC_SIZE) == r->layout->task_size;
        if (!fits)
            atomic_fetch_or(&found_out, UNFIT);
        else if (i == 0)
            t->type = type;
        return fits;
    }
    return false;
}

/* Returns the running task; 0: none. The lock must be held. */
static uintptr_t running_task(python_tasks *t, const python_runtime *r, uintptr_t thread) {
    uintptr_t task = 0, loop;
    if (atomic_load_explicit(&found_out, memory_order_relaxed) & UNFIT)
        return 0;
    if (r->layout->thread_task)
        task = word_at(thread + r->layout->thread_task);
    else if ((loop = running_loop(t, r, thread)))
        task = task_of_loop(t, r, thread, loop);
    return task && is_task(t, r, task) ? task : 0;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* Returns whether a task has a default name of asyncio. There are too many of these, and they say
 * nothing. 3.13 calls some tasks `None`. */
static bool is_number(const char *name) {
    static const char task[] = "Task-";
    if (!*name || strcmp(name, "None") == 0)
        return true;
    if (strncmp(name, task, sizeof task - 1) != 0)
        return false;
    const char *const number = name + sizeof task - 1, *end = number;
    while (*end >= '0' && *end <= '9')
        end++;
    return end > number && !*end;
}

static uint16_t number_of_name(const char *name, bool is_of_task) {
    if (is_of_task)
        return is_number(name) ? SCOPE_NONE : scope_number_found(name, SCOPE_NAMES_OF_TASKS);
    return scope_number_found(name, SCOPE_NAMES_OF_KINDS);
}

static bool is_ascii(uintptr_t text) {
    return *(const uint32_t *)(text + TEXT_STATE) & TEXT_IS_ASCII;
}

/* Returns whether the text still has the cached content. */
static bool is_as_named(const python_runtime *r, const struct named *named, uintptr_t text) {
    if (named->text != text || word_at(text + TEXT_LENGTH) != named->length || !is_ascii(text))
        return false;
    const char *const data = (const char *)text + r->layout->text_ascii;
    for (size_t i = 0; i < named->length; i++)
        if (data[i] != named->name[i])
            return false;
    return true;
}

/* Returns the number of a name; SCOPE_NONE if there is none, or if it says nothing. */
static uint16_t number_of(struct named *named, const python_runtime *r, uintptr_t text,
                          bool is_of_task) {
    char name[sizeof named->name];
    if (!is_of(text, r->text_type))
        return SCOPE_NONE;
    if (__builtin_expect(is_as_named(r, named, text), 1))
        return named->number;
    const size_t size = python_names_text(r, text, name, sizeof name);
    const uint16_t number = size ? number_of_name(name, is_of_task) : SCOPE_NONE;
    if (size && size - 1 == word_at(text + TEXT_LENGTH) && is_ascii(text)) {
        *named = (struct named){.text = text, .length = size - 1, .number = number};
        memcpy(named->name, name, size);
    }
    return number;
}

/* Returns the number for the type's name, for an awaitable that is not one of Python's own
 * coroutines. */
static uint16_t number_of_type(uintptr_t type) {
    char name[SCOPE_NAME_SIZE];
    const char *const whole = (const char *)word_at(type + TYPE_NAME);
    const char *const dot = strrchr(whole, '.'), *const own = dot ? dot + 1 : whole;
    const size_t length = strnlen(own, sizeof name - 1);
    memcpy(name, own, length);
    name[length] = '\0';
    return number_of_name(name, false);
}

static uint16_t number_of_task(python_tasks *t, const python_runtime *r, uintptr_t task,
                               uintptr_t coroutine) {
    const struct python_layout *l = r->layout;
    const uint16_t number = number_of(&t->task, r, word_at(task + l->task_name), true);
    if ((number != SCOPE_NONE && number != SCOPE_NAMES) || !coroutine)
        return number;
    if (is_of(coroutine, r->coroutine_type) || is_of(coroutine, r->generator_type))
        return number_of(&t->coroutine, r, word_at(coroutine + l->coroutine_name), false);
    return number_of_type(word_at(coroutine + OBJECT_TYPE));
}

/* ---- scopes that were entered in tasks ------------------------------------------------------ */

enum { INSIDE_BITS = 12, INSIDE = 1 << INSIDE_BITS, WINDOW = 8 };

/* A task that is in a scope. The entry is within a window of places from the task's hash on. Only
 * the thread that runs the task uses the entry. */
static struct inside {
    _Atomic uint64_t task; /* identity_of the task; 0: free */
    _Atomic uint16_t scope;
} inside[INSIDE + WINDOW];
static _Atomic uint32_t n_inside;

/* Returns a task's identity. Nothing tells when a task ends. If a task ends without leaving its
 * scope, a later task at the same address, with its coroutine at the same address, inherits it. */
static uint64_t identity_of(uintptr_t task, uintptr_t coroutine) {
    return hash_u64(task) ^ hash_u64(coroutine + 1);
}

static struct inside *window_of(uint64_t identity) {
    return &inside[identity >> (64 - INSIDE_BITS)];
}

static struct inside *inside_find(uint64_t identity) {
    struct inside *const window = window_of(identity);
    for (size_t i = 0; i < WINDOW; i++)
        if (atomic_load_explicit(&window[i].task, memory_order_relaxed) == identity)
            return &window[i];
    return NULL;
}

/* If there is no room, the scope is dropped. */
static void inside_put(uint64_t identity, uint16_t scope) {
    struct inside *const window = window_of(identity);
    for (size_t i = 0; i < WINDOW; i++) {
        uint64_t nobody = 0;
        if (!atomic_compare_exchange_strong(&window[i].task, &nobody, identity))
            continue;
        atomic_store_explicit(&window[i].scope, scope, memory_order_relaxed);
        atomic_fetch_add_explicit(&n_inside, 1, memory_order_relaxed);
        return;
    }
}

static void inside_change(struct inside *place, uint16_t scope) {
    atomic_store_explicit(&place->scope, scope, memory_order_relaxed);
    if (scope != SCOPE_NONE)
        return;
    atomic_fetch_sub_explicit(&n_inside, 1, memory_order_relaxed);
    atomic_store_explicit(&place->task, 0, memory_order_release);
}

/* Returns the scope that a task has entered, or SCOPE_NONE. */
static uint16_t inside_of(uint64_t identity) {
    const struct inside *const place = inside_find(identity);
    return place ? atomic_load_explicit(&place->scope, memory_order_relaxed) : SCOPE_NONE;
}

bool python_tasks_enter(python_tasks *t, const python_runtime *r, struct python_thread thread,
                        uint16_t scope, uint16_t *before) {
    python_tasks nothing = {0};
    const uintptr_t task = r->knows_tasks && thread.has_lock
                               ? running_task(t ? t : &nothing, r, (uintptr_t)thread.state)
                               : 0;
    if (!task)
        return false;
    const uint64_t identity = identity_of(task, word_at(task + r->layout->task_coroutine));
    struct inside *const place = inside_find(identity);
    *before = place ? atomic_load_explicit(&place->scope, memory_order_relaxed) : SCOPE_NONE;
    if (place)
        inside_change(place, scope);
    else if (scope != SCOPE_NONE)
        inside_put(identity, scope);
    return true;
}

/* ---- at an event ---------------------------------------------------------------------------- */

static uint16_t scope_with_lock(python_tasks *t, const python_runtime *r, uintptr_t thread) {
    const struct python_layout *l = r->layout;
    const uintptr_t task = running_task(t, r, thread);
    t->scope = SCOPE_NONE;
    if (!task)
        return SCOPE_NONE;
    const uintptr_t coroutine = word_at(task + l->task_coroutine);
    const uint16_t entered = atomic_load_explicit(&n_inside, memory_order_relaxed)
                                 ? inside_of(identity_of(task, coroutine))
                                 : SCOPE_NONE;
    t->scope = entered ? entered : number_of_task(t, r, task, coroutine);
    t->frame = coroutine + l->coroutine_frame;
    t->code = is_of(coroutine, r->coroutine_type) ? word_at(t->frame + l->frame_code) : 0;
    return t->scope;
}

/* Returns whether the thread runs a frame. Needs no lock: only the thread itself changes its
 * frames. */
static bool runs_frame(const python_runtime *r, uintptr_t thread, uintptr_t wanted,
                       uintptr_t code) {
    enum { MOST = 256 };
    const struct python_layout *l = r->layout;
    uintptr_t frame = word_at(thread + l->thread_frame);
    if (l->has_cframe)
        frame = frame ? word_at(frame + l->cframe_frame) : 0;
    for (int i = 0; frame && i < MOST; i++, frame = word_at(frame + l->frame_outer))
        if (frame == wanted)
            return word_at(frame + l->frame_code) == code;
    return false;
}

uint16_t python_tasks_scope(python_tasks *t, const python_runtime *r, struct python_thread thread,
                            uint16_t of_thread) {
    uint16_t scope = SCOPE_NONE;
    if (!r->knows_tasks)
        return of_thread;
    if (thread.has_lock)
        scope = scope_with_lock(t, r, (uintptr_t)thread.state);
    else if (t->scope && t->code && runs_frame(r, (uintptr_t)thread.state, t->frame, t->code))
        scope = t->scope;
    return scope ? scope : of_thread;
}

const char *python_tasks_lack(const python_runtime *r) {
    return !r->knows_tasks || atomic_load(&found_out) & UNFIT
               ? "asyncio's tasks have an unknown layout: they are not told apart"
               : NULL;
}
