/* jvm_names.c: methods, types and pairs in tables that only grow. To add, a thread must hold the
 * lock of names.h, which keeps the texts. Nobody calls the JVM with the lock held, since a thread
 * that the JVM stops must not hold it. Entries never change.
 *
 * The JVM makes classes while the program runs: for lambdas, method handles and proxies. Their
 * names end in numbers that differ from run to run, so traces could not be compared. These numbers
 * are removed. */
#include "runtimes/jvm/jvm_names.h"

#include <string.h>

#include "base/hash.h"
#include "platform/pages.h"
#include "record/code.h"
#include "record/text.h"
#include "runtimes/names.h"

enum {
    MAX_METHODS = 1 << 20,
    MAX_PAIRS = 1 << 20,
    MAX_TEXT = 2048, /* bytes of a function's or file's name */
    CHUNK = 1 << 18
};

enum { ENTRY_FULL = 0, ENTRY_LEFT_OUT = -1 };

static const uintptr_t slot_of_pairs = (uintptr_t)1 << (CODE_TYPE_AT - 1);

/* ---- memory ------------------------------------------------------------------------------------
 */

struct jvm_known {
    const void *id;
    int32_t entry; /* its entry in names.h */
    uint32_t n_lines;
    struct jvm_line lines[];
};

struct pair {
    uintptr_t frame;
    uint32_t type; /* the entry of its name */
};

static struct {
    const jvm_known **methods; /* 2 * MAX_METHODS, hashed by id */
    uint32_t n_methods;
    struct pair *pairs; /* MAX_PAIRS, the first unused */
    uint32_t *pairs_by_hash;
    uint32_t n_pairs;
    uint32_t nowhere; /* the entry of allocations without Java frames */
    char *next, *end; /* the rest of a chunk */
} tables;

static bool tables_make(void) {
    tables.pairs = pages_alloc(MAX_PAIRS * sizeof *tables.pairs);
    tables.pairs_by_hash = pages_alloc(2 * MAX_PAIRS * sizeof *tables.pairs_by_hash);
    const jvm_known **methods = pages_alloc(2 * MAX_METHODS * sizeof *methods);
    if (!tables.pairs || !tables.pairs_by_hash || !methods)
        return false;
    tables.nowhere = names_entry_of("", "[no Java code]");
    tables.n_pairs = tables.n_methods = 1;
    tables.methods = methods;
    return true;
}

/* Returns true with the lock held, or false without it. */
static bool tables_lock(void) {
    if (!names_lock())
        return false;
    if (tables.methods || tables_make())
        return true;
    names_unlock();
    return false;
}

static void *chunk_take(size_t size) {
    size = (size + 7) & ~(size_t)7;
    if (size > CHUNK / 4)
        return pages_alloc(size);
    if (!tables.next || (size_t)(tables.end - tables.next) < size) {
        tables.next = pages_alloc(CHUNK);
        tables.end = tables.next ? tables.next + CHUNK : NULL;
    }
    char *taken = tables.next;
    if (taken)
        tables.next += size;
    return taken;
}

/* ---- names of Java ------------------------------------------------------------------------ */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Returns where the address at the end of a hidden class's name begins: after a dot, a plus or a
 * slash, depending on the version. */
static size_t address_at(const char *name, size_t n) {
    size_t i = 0;
    while (i < n && !(strchr(".+/", name[i]) && strncmp(name + i + 1, "0x", 2) == 0))
        i++;
    return i;
}

/* Returns the length of a class's name without the parts that differ from run to run: that address,
 * and the number of a lambda. */
static size_t class_length(const char *name, size_t n) {
    static const char lambda[] = "$$Lambda$";
    const size_t length = sizeof lambda - 1, end = address_at(name, n);
    size_t i = end;
    while (i > 0 && is_digit(name[i - 1]))
        i--;
    const bool is_lambda = end < n && i > length && memcmp(name + i - length, lambda, length) == 0;
    return is_lambda ? i - 1 : end;
}

/* Adds com/example/Main as com.example.Main. */
static void text_add_class(text *t, const char *name, size_t n) {
    char *from = t->next;
    text_add_bytes(t, name, class_length(name, n));
    for (; from < t->next; from++)
        *from = *from == '/' ? '.' : *from;
}

static const char *primitive(char c) {
    static const char codes[] = "ZBCSIJFD";
    static const char *const words[] = {"boolean", "byte", "char",  "short",
                                        "int",     "long", "float", "double"};
    const char *at = c ? strchr(codes, c) : NULL;
    return at ? words[at - codes] : "?";
}

/* Adds [Lcom/example/Main; as com.example.Main[]. */
static void text_add_signature(text *t, const char *signature) {
    const char *element = signature;
    while (*element == '[')
        element++;
    const size_t n = strlen(element), dimensions = (size_t)(element - signature);
    if (*element == 'L' && n > 2)
        text_add_class(t, element + 1, n - 2);
    else
        text_add(t, primitive(*element));
    for (size_t i = 0; i < dimensions; i++)
        text_add(t, "[]");
}

static bool begins(const char *s, const char *with) {
    return strncmp(s, with, strlen(with)) == 0;
}

/* Returns whether Java's own stack traces leave out the methods of a class: those that implement
 * lambdas and method handles. */
static bool is_machinery(const char *class) {
    const size_t n = strlen(class);
    const char *lambda = strstr(class, "$$Lambda");
    const bool is_made = n > 2 && class_length(class, n - 1) < n - 1;
    return (is_made && (lambda || begins(class, "Ljava/lang/invoke/"))) ||
           (begins(class, "Ljava/lang/invoke/") && n > 8 && strcmp(class + n - 8, "$Holder;") == 0);
}

/* Adds the file with the folder of its package, as many files have the same name. */
static void text_add_file(text *t, const struct jvm_method *m) {
    const char *slash = strrchr(m->class, '/');
    if (!m->file)
        return;
    if (slash && *m->class == 'L' && !strchr(m->file, '/'))
        text_add_bytes(t, m->class + 1, (size_t)(slash + 1 - (m->class + 1)));
    text_add(t, m->file);
}

/* ---- methods ------------------------------------------------------------------------------- */

/* Returns the place of a method in the table, or where it would be. */
static const jvm_known **method_place(const void *id) {
    uint64_t hash = hash_u64((uintptr_t)id);
    const jvm_known **place;
    do
        place = &tables.methods[hash++ % (2 * MAX_METHODS)];
    while (*place && (*place)->id != id);
    return place;
}

const jvm_known *jvm_names_method(const void *id) {
    if (!tables_lock())
        return NULL;
    const jvm_known *m = *method_place(id);
    names_unlock();
    return m;
}

static int32_t method_entry_locked(const struct jvm_method *m) {
    char function[MAX_TEXT], file[MAX_TEXT];
    text f = text_in(function, sizeof function), p = text_in(file, sizeof file);
    if (is_machinery(m->class))
        return ENTRY_LEFT_OUT;
    text_add_signature(&f, m->class);
    text_add(&f, ".");
    text_add(&f, m->name ? m->name : "?");
    text_add_file(&p, m);
    return (int32_t)names_entry_of(file, function);
}

static const jvm_known *method_add_locked(const struct jvm_method *m) {
    const size_t size = sizeof(jvm_known) + m->n_lines * sizeof *m->lines;
    jvm_known *known = tables.n_methods < MAX_METHODS ? chunk_take(size) : NULL;
    if (!known)
        return NULL;
    *known =
        (jvm_known){.id = m->id, .entry = method_entry_locked(m), .n_lines = (uint32_t)m->n_lines};
    if (m->n_lines)
        memcpy(known->lines, m->lines, m->n_lines * sizeof *m->lines);
    *method_place(m->id) = known;
    tables.n_methods++;
    return known;
}

const jvm_known *jvm_names_tell(const struct jvm_method *method) {
    if (!tables_lock())
        return NULL;
    const jvm_known *known = *method_place(method->id);
    if (!known)
        known = method_add_locked(method);
    names_unlock();
    return known;
}

/* ---- slots --------------------------------------------------------------------------------- */

/* Returns the line of a bytecode index. Lines need not be in the order of the code. */
static uint16_t line_of(const jvm_known *m, int64_t at) {
    const struct jvm_line *best = NULL;
    for (uint32_t i = 0; i < m->n_lines; i++)
        if (m->lines[i].start <= at && (!best || m->lines[i].start >= best->start))
            best = &m->lines[i];
    return best ? best->line : 0;
}

static uintptr_t slot_of_entry(uint32_t entry, uint16_t line) {
    return (uintptr_t)entry << JVM_LINE_BITS | line;
}

uintptr_t jvm_names_frame(const jvm_known *method, int64_t at) {
    return method->entry == ENTRY_LEFT_OUT
               ? 0
               : slot_of_entry((uint32_t)method->entry, line_of(method, at));
}

uintptr_t jvm_names_full(void) {
    return slot_of_entry(ENTRY_FULL, 1); /* 0 means no slot */
}

uintptr_t jvm_names_nowhere(void) {
    return tables.nowhere ? slot_of_entry(tables.nowhere, 0) : jvm_names_full();
}

uint32_t jvm_names_type(const char *signature) {
    char name[MAX_TEXT];
    text t = text_in(name, sizeof name);
    text_add_signature(&t, signature);
    if (!tables_lock())
        return 0;
    const uint32_t entry = names_entry_of(MEMTRACE_TYPE_FILE, name);
    names_unlock();
    return entry;
}

static uint32_t pair_add_locked(uint32_t *place, uintptr_t frame, uint32_t type) {
    if (tables.n_pairs == MAX_PAIRS)
        return 0;
    tables.pairs[tables.n_pairs] = (struct pair){.frame = frame, .type = type};
    return *place = tables.n_pairs++;
}

static uint32_t pair_find_locked(uintptr_t frame, uint32_t type) {
    for (uint64_t hash = hash_u64(frame ^ (uint64_t)type << 40);; hash++) {
        uint32_t *place = &tables.pairs_by_hash[hash % (2 * MAX_PAIRS)];
        const struct pair *pair = &tables.pairs[*place];
        if (!*place)
            return pair_add_locked(place, frame, type);
        if (pair->frame == frame && pair->type == type)
            return *place;
    }
}

uintptr_t jvm_names_pair(uintptr_t frame, uint32_t type) {
    if (!type || !tables_lock())
        return frame;
    const uint32_t pair = pair_find_locked(frame, type);
    names_unlock();
    return pair ? slot_of_pairs | pair : frame;
}

/* ---- in the trace -------------------------------------------------------------------------- */

static memtrace_location locate_frame(uintptr_t slot) {
    const uint32_t entry = (uint32_t)(slot >> JVM_LINE_BITS);
    const uint32_t line = slot & ((1u << JVM_LINE_BITS) - 1);
    return (memtrace_location){.file = names_file(entry),
                               .function = names_function(entry),
                               .line = entry == ENTRY_FULL ? 0 : line};
}

size_t jvm_names_locate(uintptr_t slot, memtrace_location *locations, size_t max) {
    if (max < 2)
        return 0;
    if (!(slot & slot_of_pairs)) {
        locations[0] = locate_frame(slot);
        return 1;
    }
    const struct pair *pair = &tables.pairs[slot & (slot_of_pairs - 1)];
    locations[0] =
        (memtrace_location){.file = MEMTRACE_TYPE_FILE, .function = names_function(pair->type)};
    locations[1] = locate_frame(pair->frame);
    return 2;
}
