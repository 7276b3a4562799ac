/* python_types.c: see python_types.h.
 *
 * An object begins with its reference count and its type. Before these, some types have the two
 * words of the collector, and before them two more words. Nothing tells whether a block is an
 * object at all. It is taken for one if at one of these three places it has a pointer to a type
 * whose objects do begin there and are as large as the block. These words are cleared when the
 * block is allocated, so they show what the program has written since, not an earlier use of the
 * block. To find out whether a word points to a type, the memory that it points to is read, if the
 * kernel says that it is mapped. The result is cached until that type dies. */
#include "runtimes/python/python_types.h"

#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"
#include "runtimes/peek.h"
#include "runtimes/python/python_names.h"

enum { WORD = sizeof(uintptr_t), SEEN_BITS = 9, PAIRED_BITS = 10, MAX_NAME = 256 };

/* Offset of an object's type, and offsets in a type, in all versions, in bytes. */
enum {
    OBJECT_TYPE = 8,
    TYPE_NAME = 24,
    TYPE_BASIC_SIZE = 32,
    TYPE_ITEM_SIZE = 40,
    TYPE_DEALLOC = 48,
    TYPE_FLAGS = 168,
    TYPE_PART = 176 /* bytes of a type that are read */
};

/* Py_TPFLAGS_. */
#define FLAGS_BEFORE     ((uintptr_t)3 << 3) /* two words before the object: dict, weak references */
#define FLAG_HEAP_TYPE   ((uintptr_t)1 << 9)
#define FLAG_READY       ((uintptr_t)1 << 12)
#define FLAG_COLLECTED   ((uintptr_t)1 << 14)
#define FLAG_TEXT        ((uintptr_t)1 << 28)
#define FLAG_TYPE        ((uintptr_t)1 << 31)
#define FLAG_INLINE_DICT ((uintptr_t)1 << 2) /* from 3.13 on: more data after the object */

/* A cache entry for a word that may point to a type. */
struct seen {
    uintptr_t word;
    uint32_t epoch;
    uint32_t name;  /* entry of its name (python_names.h); 0: not a type */
    uint32_t head;  /* bytes before its objects */
    bool is_fixed;  /* all its objects have the same size */
    uintptr_t size; /* that size, or the least one; with the bytes before */
};

struct paired {
    uint64_t code, pair;
    uint32_t name;
};

struct python_types {
    struct seen seen[1 << SEEN_BITS];
    struct paired paired[1 << PAIRED_BITS];
};

/* Counts deaths of types that somebody may have cached. */
static _Atomic uint32_t types_epoch = 1;
static _Atomic uint64_t types_known[256]; /* one bit per hash of an address */

size_t python_types_size(void) {
    return sizeof(python_types);
}

static const size_t heads[] = {2 * WORD, 0, 4 * WORD};
enum { N_HEADS = sizeof heads / sizeof *heads };

void python_types_clear_type_words(void *block, size_t bytes) {
    for (size_t i = 0; i < N_HEADS; i++)
        if (heads[i] + 2 * WORD <= bytes)
            memset((char *)block + heads[i] + OBJECT_TYPE, 0, WORD);
}

/* ---- deaths of types --- */

static size_t known_bit(uintptr_t type) {
    return hash_u64(type) % (sizeof types_known * 8);
}

void python_types_type_dies(uintptr_t type) {
    const size_t bit = known_bit(type);
    if (atomic_load(&types_known[bit / 64]) >> bit % 64 & 1)
        atomic_fetch_add(&types_epoch, 1);
}

/* ---- what a word points to ---- */

static uintptr_t word_of(const char *at) {
    uintptr_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Returns whether the type of a type makes types: it is `type`, or an instance of it, or an
 * instance of that. Other words can look like a type: the collector's words before objects lead
 * from one object to the next. But they never lead to `type`. The deaths of types that are not
 * static (`is_mortal`) must be noticed: such a type's metatype must end it by our function, or by
 * that of classes, which calls ours. */
static bool is_metatype(const python_runtime *r, uintptr_t metatype, bool is_mortal) {
    enum { DEPTH_MAX = 4 };
    char part[TYPE_PART];
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        if (metatype == (uintptr_t)r->type_type)
            return true;
        if (!peek_bytes(metatype, part, sizeof part) || !(word_of(part + TYPE_FLAGS) & FLAG_TYPE))
            return false;
        if (depth == 0 && is_mortal && !(word_of(part + TYPE_FLAGS) & FLAG_HEAP_TYPE) &&
            word_of(part + TYPE_DEALLOC) != word_of(r->type_type + TYPE_DEALLOC))
            return false;
        metatype = word_of(part + OBJECT_TYPE);
    }
    return false;
}

static bool is_name(const char *name) {
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 127 || (unsigned char)*c >= 0xf8) /* never in UTF-8 */
            return false;
    return *name;
}

static void learn_size(struct seen *seen, const python_runtime *r, const char *type,
                       uintptr_t flags) {
    const bool has_before = flags & FLAGS_BEFORE & r->layout->flags_before;
    const uintptr_t basic =
        flags & FLAG_TEXT ? r->layout->text_ascii : word_of(type + TYPE_BASIC_SIZE);
    seen->head = (flags & FLAG_COLLECTED ? 2 * WORD : 0) + (has_before ? 2 * WORD : 0);
    seen->size = seen->head + basic;
    seen->is_fixed = !word_of(type + TYPE_ITEM_SIZE) && !(flags & FLAG_TEXT) &&
                     !(r->layout->minor >= 13 && flags & FLAG_INLINE_DICT);
}

static void learn(struct seen *seen, const python_runtime *r) {
    char type[TYPE_PART], name[MAX_NAME];
    if (!peek_bytes(seen->word, type, sizeof type))
        return;
    const uintptr_t flags = word_of(type + TYPE_FLAGS), metatype = word_of(type + OBJECT_TYPE);
    if (!(flags & FLAG_READY) && (!metatype || metatype == (uintptr_t)r->type_type))
        seen->word = 0; /* do not cache it: it may become a type while the interpreter starts */
    if (!(flags & FLAG_READY) || !is_metatype(r, metatype, flags & FLAG_HEAP_TYPE) ||
        !peek_string(word_of(type + TYPE_NAME), name, sizeof name) || !is_name(name))
        return;
    const size_t bit = known_bit(seen->word);
    atomic_fetch_or(&types_known[bit / 64], UINT64_C(1) << bit % 64);
    learn_size(seen, r, type, flags);
    seen->name = python_names_type(name);
}

static bool is_address(uintptr_t word) {
    return word % WORD == 0 && word >= 1 << 16 && word >> 47 == 0;
}

/* ---- objects ---- */

static bool is_object(const struct seen *seen, size_t head, const struct runtime_object *o) {
    const char *const at = (const char *)o->block + head;
    uint32_t references;
    memcpy(&references, at, sizeof references);
    return seen->name && seen->head == head && (references || o->is_dying) &&
           o->bytes + WORD > seen->size &&
           (!seen->is_fixed || o->bytes < seen->size + 2 * (uintptr_t)WORD);
}

/* Returns the cache entry for the type word of an object with `head` bytes before it. NULL:
 * unknown, or tried before. */
static const struct seen *see(python_types *t, const python_runtime *r,
                              const struct runtime_object *o, size_t head, uint32_t epoch,
                              bool learns) {
    if (head + 2 * WORD > o->bytes)
        return NULL;
    const uintptr_t word = word_of((const char *)o->block + head + OBJECT_TYPE);
    struct seen *seen = &t->seen[hash_u64(word) >> (64 - SEEN_BITS)];
    const bool is_known = seen->word == word && seen->epoch == epoch;
    if (!is_address(word) || is_known == learns)
        return NULL;
    if (learns) {
        *seen = (struct seen){.word = word, .epoch = epoch};
        learn(seen, r);
    }
    return seen;
}

/* Returns the entry of the name of the object's type; 0: not an object. Cached words are tried
 * first, before unknown ones are examined. */
static uint32_t type_of(python_types *t, const python_runtime *r, const struct runtime_object *o) {
    const uint32_t epoch = atomic_load_explicit(&types_epoch, memory_order_relaxed);
    for (int learns = 0; learns < 2; learns++)
        for (size_t i = 0; i < N_HEADS; i++) {
            const struct seen *seen = see(t, r, o, heads[i], epoch, learns);
            if (seen && is_object(seen, heads[i], o))
                return seen->name;
        }
    return 0;
}

bool python_types_name(python_types *t, const python_runtime *r, uint64_t *code,
                       const struct runtime_object *object) {
    const uint64_t frame = code_is_of_runtime(*code)
                               ? code_of_spliced(code_spliced_slot(code_runtime_slot(*code)), 0)
                               : code_without_type(*code);
    const uint32_t name = frame < CODE_FIRST_ADDRESS ? 0 : type_of(t, r, object);
    if (!name)
        return false;
    struct paired *p = &t->paired[hash_u64(frame + name) >> (64 - PAIRED_BITS)];
    if (p->code != frame || p->name != name) {
        const uint64_t pair = python_names_pair(frame, name);
        *p = (struct paired){frame, pair, name};
    }
    if (p->pair)
        *code = p->pair;
    return p->pair;
}
