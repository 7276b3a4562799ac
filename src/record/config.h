/* config.h: what the environment asks of the recorder, checked and copied, so that the program may
 * change its environment later. The list of settings is contract/settings.h. */
#ifndef RECORD_CONFIG_H
#define RECORD_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/settings.h"

#define CONFIG_MAX_DEPTH   SETTING_MAX_DEPTH
#define CONFIG_MAX_CONTEXT 1024

/* What is recorded of a program with a language runtime; bits. */
enum config_heaps { CONFIG_HEAP = 1, CONFIG_MALLOC = 2, CONFIG_BOTH = 3 };

typedef struct config {
    double rate;                         /* 0 < rate <= 1 */
    uint32_t depth;                      /* 1 … CONFIG_MAX_DEPTH */
    uint32_t runtime_depths[N_RUNTIMES]; /* the same for stacks of a runtime */
    enum config_heaps heaps[N_RUNTIMES];
    uint64_t space;   /* bytes that the trace may take on the disk; 0: any number */
    bool room;        /* for names: traces of everything get it */
    bool mmap;        /* what the program maps itself is recorded as well */
    bool per_process; /* `file` holds %p: children of a fork write files of their own */
    uint64_t process; /* the only one to be recorded unless per_process; 0: any */
    bool seeded;
    uint64_t seed; /* meaningful if seeded */
    const char *context;
    char rescue[64]; /* path of a file: see rescue.h */
    /* Last, since few pages of them are ever touched. */
    char file[PATH_MAX]; /* absolute; % sequences not expanded yet */
    char context_text[CONFIG_MAX_CONTEXT];
} config;

enum config_status { CONFIG_OFF, CONFIG_ON, CONFIG_BAD };

/* Reads the settings; `get` is secure_getenv. After CONFIG_BAD, *bad_setting (an enum setting) is
 * the one that makes no sense. */
enum config_status config_read(config *c, char *get(const char *name), int *bad_setting);

/* Writes the file name for process `pid`; false if it does not fit. */
bool config_file_for(const config *c, uint64_t pid, char *path, size_t size);

/* Is process `pid` one that is to be recorded? */
bool config_chooses(const config *c, uint64_t pid);

/* A decimal number with optional fraction and exponent, independent of the locale; all of `s`. */
bool config_parse_number(const char *s, double *number);

bool config_parse_whole(const char *s, uint64_t *number);

#endif
