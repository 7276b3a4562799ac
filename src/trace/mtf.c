/* mtf.c: a new name inherits what is left of the forgotten name's definitions, as the writers of
 * version 1 do it. Tables that are not in use are packed: only non-empty entries are stored. */
#include "trace/mtf.h"

#include <stdlib.h>
#include <string.h>

const char names_unknown[] = "?";

void names_init(names *n) {
    *n = (names){0};
    for (uint8_t i = 0; i < FORMAT_NAMES; i++)
        n->order[i] = i;
}

/* Packs a file into three words followed by its definitions. An empty file, whose flags mean
 * nothing, takes no words. */
static uint64_t *names_file_pack(uint64_t *content, unsigned index, const names_file *f) {
    uint64_t *next = content + 3, there = 0;
    for (unsigned i = 0; i < FORMAT_NAMES; i++)
        if (f->definitions[i]) {
            there |= UINT64_C(1) << i;
            *next++ = (uintptr_t)f->definitions[i];
        }
    content[0] =
        index | (uint64_t)f->n_own << 8 | (uint64_t)f->is_stale << 16 | (uint64_t)f->stale << 32;
    content[1] = there;
    content[2] = (uintptr_t)f->name;
    return f->name || there ? next : content;
}

static const uint64_t *names_file_unpack(const uint64_t *content, names *n) {
    names_file *f = &n->files[content[0] & 255];
    f->n_own = content[0] >> 8 & 255;
    f->is_stale = content[0] >> 16 & 1;
    f->stale = (uint32_t)(content[0] >> 32);
    f->name = (const char *)(uintptr_t)content[2];
    const uint64_t *next = content + 3;
    for (unsigned i = 0; i < FORMAT_NAMES; i++)
        if (content[1] >> i & 1)
            f->definitions[i] = (const char *)(uintptr_t)*next++;
    return next;
}

bool names_pack(const names *n, names_packed **packed) {
    uint64_t content[FORMAT_NAMES * (FORMAT_NAMES + 3)], *next = content;
    uint8_t n_files = 0;
    for (unsigned i = 0; i < FORMAT_NAMES; i++) {
        uint64_t *end = names_file_pack(next, i, &n->files[i]);
        n_files += end > next;
        next = end;
    }
    size_t size = (size_t)(next - content) * sizeof *content;
    names_packed *p = realloc(*packed, sizeof *p + size);
    if (!p)
        return false;
    memcpy(p->order, n->order, sizeof p->order);
    memcpy(p->content, content, size);
    p->n_files = n_files;
    *packed = p;
    return true;
}

void names_unpack(names *n, const names_packed *packed) {
    const uint64_t *content = packed->content;
    *n = (names){0};
    memcpy(n->order, packed->order, sizeof n->order);
    for (unsigned i = 0; i < packed->n_files; i++)
        content = names_file_unpack(content, n);
}

void names_lose(names *n) {
    for (unsigned i = 0; i < FORMAT_NAMES; i++) {
        n->files[i].is_stale = true;
        n->files[i].stale = UINT32_MAX;
    }
}

static uint64_t take_bits(uint64_t *word, unsigned n) {
    uint64_t field = *word & ((UINT64_C(1) << n) - 1);
    *word >>= n;
    return field;
}

location_word location_word_load(const uint8_t *p) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < FORMAT_LOCATION_SIZE; i++)
        bits |= (uint64_t)p[i] << 8 * i;
    location_word w;
    w.line = (uint32_t)take_bits(&bits, FORMAT_LINE_BITS);
    w.start_char = (uint16_t)take_bits(&bits, FORMAT_START_CHAR_BITS);
    w.end_char = (uint16_t)take_bits(&bits, FORMAT_END_CHAR_BITS);
    w.file = (uint8_t)take_bits(&bits, FORMAT_NAME_BITS);
    w.definition = (uint8_t)take_bits(&bits, FORMAT_NAME_BITS);
    return w;
}

/* Moves the file at `code` to the front; for a new name, the file that falls off the end. The new
 * name inherits what is left of the old one's definitions: writers of version 1 do that, and those
 * of later versions never refer to such definitions. */
static names_file *names_file_to_front(names *n, uint8_t code) {
    uint8_t at = code < FORMAT_NAMES ? code : FORMAT_NAMES - 1;
    uint8_t file = n->order[at];
    memmove(n->order + 1, n->order, at);
    n->order[0] = file;
    return &n->files[file];
}

static const char **names_definition_to_front(names_file *f, uint8_t code) {
    uint8_t at = code < FORMAT_NAMES ? code : FORMAT_NAMES - 1;
    const char *definition = f->definitions[at];
    memmove(f->definitions + 1, f->definitions, at * sizeof *f->definitions);
    f->definitions[0] = definition;
    uint32_t before = (UINT32_C(1) << at) - 1, moved = f->stale & before;
    f->stale = (f->stale & ~(before << 1 | 1)) | moved << 1 | (f->stale >> at & 1);
    return f->definitions;
}

/* Reads the string at `*p` if `code` announces one. */
static names_result name_read(const char **entry, uint8_t code, intern_table *strings,
                              const uint8_t **p, const uint8_t *end) {
    if (code < FORMAT_NAMES)
        return *entry ? NAMES_GOOD : NAMES_EMPTY;
    const uint8_t *nul = *p < end ? memchr(*p, 0, (size_t)(end - *p)) : NULL;
    if (!nul)
        return NAMES_OVERRUN;
    *entry = strings ? intern(strings, (const char *)*p, (size_t)(nul - *p)) : (const char *)*p;
    *p = nul + 1;
    return *entry ? NAMES_GOOD : NAMES_NOMEM;
}

names_result names_locate(names *n, intern_table *strings, location_word word, const uint8_t **p,
                          const uint8_t *end, memtrace_location *location) {
    names_file *file = names_file_to_front(n, word.file);
    names_result file_result = name_read(&file->name, word.file, strings, p, end);
    if (file_result > NAMES_EMPTY)
        return file_result;
    if (word.file == FORMAT_NAMES) {
        file->n_own = 0;
        file->is_stale = false;
    }
    if (word.definition == FORMAT_NAMES && file->n_own < FORMAT_NAMES)
        file->n_own++;
    const char **definition = names_definition_to_front(file, word.definition);
    names_result result = name_read(definition, word.definition, strings, p, end);
    if (result > NAMES_EMPTY)
        return result;
    if (word.definition == FORMAT_NAMES)
        file->stale &= ~UINT32_C(1);
    if (result == NAMES_GOOD && (file->is_stale || file->stale & 1))
        result = NAMES_STALE;
    *location = (memtrace_location){
        .file = file->name ? file->name : names_unknown,
        .function = *definition ? *definition : names_unknown,
        .line = word.line,
        .start_char = word.start_char,
        .end_char = word.end_char,
    };
    return result > file_result ? result : file_result;
}
