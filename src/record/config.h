/* config.h: the recorder's settings from the environment, checked and copied, so that the program
 * may change its environment later. contract/settings.h has the list of settings. */
#ifndef RECORD_CONFIG_H
#define RECORD_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/settings.h"

#define CONFIG_MAX_DEPTH   SETTING_MAX_DEPTH
#define CONFIG_MAX_CONTEXT 1024

/* Bits: which heaps of a program with a language runtime are recorded. */
enum config_heaps { CONFIG_HEAP = 1, CONFIG_MALLOC = 2, CONFIG_BOTH = 3 };

typedef struct config {
    double rate;                         /* 0 < rate <= 1 */
    uint32_t depth;                      /* 1 … CONFIG_MAX_DEPTH */
    uint32_t runtime_depths[N_RUNTIMES]; /* instead of `depth`, for stacks of a runtime */
    enum config_heaps heaps[N_RUNTIMES];
    uint64_t space;   /* most bytes that the trace may take on disk; 0: no limit */
    bool room;        /* traces at rate 1 begin with room for names */
    bool mmap;        /* memory that the program maps directly is recorded, too */
    bool per_process; /* `file` contains %p: children of a fork write files of their own */
    uint64_t process; /* id of the only process to be recorded unless per_process; 0: any */
    bool seeded;
    uint64_t seed; /* valid if seeded */
    const char *context;
    char rescue[64]; /* path of the file in rescue.h */
    /* These are last because few of their pages are ever touched. */
    char file[PATH_MAX]; /* absolute path; % sequences are not expanded yet */
    char context_text[CONFIG_MAX_CONTEXT];
} config;

enum config_status { CONFIG_OFF, CONFIG_ON, CONFIG_BAD };

/* Reads the settings with `get`, which is secure_getenv or a replacement. After CONFIG_BAD,
 * *bad_setting (an enum setting) is the one whose value is invalid. */
enum config_status config_read(config *c, char *get(const char *name), int *bad_setting);

/* Writes the file name for process `pid`. Returns false if it does not fit. */
bool config_file_for(const config *c, uint64_t pid, char *path, size_t size);

/* Returns whether process `pid` is to be recorded. */
bool config_chooses(const config *c, uint64_t pid);

/* Parse a number, independently of the locale; nothing may follow it in `s`. The first function
 * accepts a decimal number with optional fraction and exponent, the second a whole number. */
bool config_parse_number(const char *s, double *number);

bool config_parse_whole(const char *s, uint64_t *number);

#endif
