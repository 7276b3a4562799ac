/* import.c: functions shared by the readers of foreign profiles, which fill the tables of an
 * import. */
#include "import/import.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "import/import_module.h"

bool import_fail(import_error *error, size_t offset, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(error->reason, sizeof error->reason, format, args);
    va_end(args);
    error->offset = offset;
    return false;
}

const char *import_text(import *to, const void *text, size_t size) {
    const char *nul = size ? memchr(text, '\0', size) : NULL;
    const char *kept =
        intern(&to->strings, size ? text : "", nul ? (size_t)(nul - (const char *)text) : size);
    to->no_memory |= !kept;
    return kept ? kept : "";
}

uint32_t import_add_place(import *to) {
    const import_place place = {.first = (uint32_t)to->locations.count};
    if (to->locations.count >= UINT32_MAX || to->places.count >= UINT32_MAX ||
        !vec_push(&to->places, place))
        to->no_memory = true;
    return to->places.count ? (uint32_t)(to->places.count - 1) : 0;
}

static void add_location(import *to, const memtrace_location *location) {
    import_place *place = to->places.count ? &to->places.items[to->places.count - 1] : NULL;
    if (!place || place->n == MEMTRACE_MAX_LOCATIONS)
        return;
    if (vec_push(&to->locations, *location))
        place->n++;
    else
        to->no_memory = true;
}

void import_add_location(import *to, const char *function, const char *file, uint64_t line) {
    add_location(to, &(memtrace_location){.function = *function ? function : "?",
                                          .file = file,
                                          .line = line < MEMTRACE_MAX_LINE ? (uint32_t)line
                                                                           : MEMTRACE_MAX_LINE});
}

void import_add_linked(import *to, const char *module, const char *build_id, uint64_t address) {
    char name[300], file[4300];
    if (!*module) {
        snprintf(name, sizeof name, "0x%" PRIx64, address);
        import_add_location(to, import_text(to, name, strlen(name)), "", 0);
        return;
    }
    snprintf(name, sizeof name, "%.255s+0x%" PRIx64, path_base(module), address);
    snprintf(file, sizeof file, "%.4000s[%.200s]", module, build_id);
    to->has_addresses = true;
    import_add_location(to, import_text(to, name, strlen(name)),
                        import_text(to, file, strlen(file)), 0);
}

void import_add_address(import *to, const char *module, const char *build_id, uint64_t address,
                        uint64_t start, uint64_t offset) {
    import_module found = {.address = address - 1};
    if (*module)
        import_module_look(&found, module, address - 1 - start + offset);
    import_add_linked(to, module, *build_id ? build_id : found.build_id, found.address + 1);
}

static void reverse(uint32_t *items, size_t n) {
    for (size_t i = 0; i < n / 2; i++) {
        const uint32_t item = items[i];
        items[i] = items[n - 1 - i];
        items[n - 1 - i] = item;
    }
}

void import_add_record(import *to, import_record record) {
    record.n = to->frames.count - record.first;
    if (record.n > 0)
        reverse(to->frames.items + record.first, record.n);
    if (record.blocks < record.live)
        record.blocks = record.live;
    if (record.bytes < record.live_bytes)
        record.bytes = record.live_bytes;
    if (!vec_push(&to->records, record))
        to->no_memory = true;
}

void import_free(import *from) {
    intern_free(&from->strings);
    vec_free(&from->locations);
    vec_free(&from->places);
    vec_free(&from->frames);
    vec_free(&from->records);
    vec_free(&from->events);
    vec_free(&from->remarks);
}
