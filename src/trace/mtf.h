/* mtf.h: the move-to-front tables by which names are coded, and the locations made of them.
 *
 * One `names` belongs to a domain: a table of file names, each of which owns a table of definition
 * names. Strings are interned by the caller's table and never freed here. */
#ifndef TRACE_MTF_H
#define TRACE_MTF_H

#include <stdbool.h>
#include <stdint.h>

#include "allotrace/memtrace.h"
#include "base/intern.h"
#include "trace/format.h"

/* One file name with its definition names, most recently used first; NULL: empty. */
typedef struct names_file {
    const char *name;
    const char *definitions[FORMAT_NAMES];
    uint8_t n_own;  /* of the definitions: announced since the name was; the rest is left over */
    bool is_stale;  /* the name was announced before packets were lost */
    uint32_t stale; /* the same of the definitions: bit i belongs to the one at i */
} names_file;

/* Legal after names_init. */
typedef struct names {
    names_file files[FORMAT_NAMES];
    uint8_t order[FORMAT_NAMES]; /* indices into files, most recently used first */
} names;

/* A location as its 48 bits say, before the names are looked up. */
typedef struct location_word {
    uint32_t line;
    uint16_t start_char, end_char;
    uint8_t file, definition; /* codes: FORMAT_NAMES means that a string follows */
} location_word;

/* The same for a domain that is not being read: no larger than what it was told. */
typedef struct names_packed {
    uint8_t order[FORMAT_NAMES];
    uint8_t n_files;    /* those that hold any name */
    uint64_t content[]; /* for each: see names_pack */
} names_packed;

/* What a name is called that the trace does not hold. Compared by address. */
extern const char names_unknown[];

void names_init(names *n);

/* Replaces `*packed`, which may be NULL; false when there is no memory. free releases it. */
bool names_pack(const names *n, names_packed **packed);
void names_unpack(names *n, const names_packed *packed);

/* Packets were lost: what stands where is not to be trusted, but for names announced from now on.
 */
void names_lose(names *n);

location_word location_word_load(const uint8_t *p);

typedef enum names_result {
    NAMES_GOOD,
    NAMES_STALE,   /* good, but after a loss the code may point at another name than it should */
    NAMES_EMPTY,   /* good, but a code points at an empty entry; shown as names_unknown */
    NAMES_OVERRUN, /* a string does not end before `end` */
    NAMES_NOMEM,
} names_result;

/* Finds the names of `word` and moves them to the front of their tables. `*p` is where new strings
 * stand, and is moved behind them. These are interned in `strings`; if that is NULL they are used
 * where they stand. */
names_result names_locate(names *n, intern_table *strings, location_word word, const uint8_t **p,
                          const uint8_t *end, memtrace_location *location);

#endif
