/* mtf.h: the move-to-front tables by which names are coded, and the locations built from them.
 *
 * Each domain has one `names`: a table of file names, each of which owns a table of definition
 * names. Strings are interned in the caller's table and never freed here. */
#ifndef TRACE_MTF_H
#define TRACE_MTF_H

#include <stdbool.h>
#include <stdint.h>

#include "allotrace/memtrace.h"
#include "base/intern.h"
#include "trace/format.h"

/* A file name with its definition names, most recently used first. NULL marks an empty entry. */
typedef struct names_file {
    const char *name;
    const char *definitions[FORMAT_NAMES];
    /* Definitions announced since the file name was; the others are left over from the name before
     * it. */
    uint8_t n_own;
    bool is_stale;  /* the name was announced before packets were lost */
    uint32_t stale; /* like is_stale, for the definitions: bit i belongs to definitions[i] */
} names_file;

/* Valid after names_init. */
typedef struct names {
    names_file files[FORMAT_NAMES];
    uint8_t order[FORMAT_NAMES]; /* indices into files, most recently used first */
} names;

/* The fields of a location's 48 bits, before the names are looked up. */
typedef struct location_word {
    uint32_t line;
    uint16_t start_char, end_char;
    uint8_t file, definition; /* codes; FORMAT_NAMES means that a string follows */
} location_word;

/* The tables of a domain that is not being read, in a compact form without empty entries. */
typedef struct names_packed {
    uint8_t order[FORMAT_NAMES];
    uint8_t n_files;    /* files that hold a name */
    uint64_t content[]; /* the files one after the other; see names_file_pack */
} names_packed;

/* Stands for a name that the trace does not contain. Compared by address. */
extern const char names_unknown[];

void names_init(names *n);

/* Stores a compact copy of `n` in `*packed`, which may be NULL before and is released with free.
 * Returns false when out of memory. */
bool names_pack(const names *n, names_packed **packed);
void names_unpack(names *n, const names_packed *packed);

/* To be called when packets were lost: only names announced from now on can be trusted. */
void names_lose(names *n);

location_word location_word_load(const uint8_t *p);

typedef enum names_result {
    NAMES_GOOD,
    NAMES_STALE,   /* good, but after a loss the code may point at a wrong name */
    NAMES_EMPTY,   /* good, but a code points at an empty entry, shown as names_unknown */
    NAMES_OVERRUN, /* a string does not end before `end` */
    NAMES_NOMEM,
} names_result;

/* Finds the names of `word` and moves them to the front of their tables. New strings start at `*p`,
 * which is moved past them. They are interned in `strings`, or used in place if `strings` is
 * NULL. */
names_result names_locate(names *n, intern_table *strings, location_word word, const uint8_t **p,
                          const uint8_t *end, memtrace_location *location);

#endif
