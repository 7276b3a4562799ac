/* recorded_address.h: the form in which a recorder writes a frame of which it knows the address
 * alone: file `PATH[BUILD-ID]` (the id may be empty), function `NAME+0xOFFSET`. */
#ifndef SYMBOLIZE_RECORDED_ADDRESS_H
#define SYMBOLIZE_RECORDED_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allotrace/memtrace.h"
#include "symbolize/elf_file.h"

typedef struct recorded_address {
    const char *path; /* not NUL-terminated */
    size_t path_size;
    build_id id;
    uint64_t offset; /* a return address, as in the ELF file: the call is before it */
} recorded_address;

/* False if the location is something else. */
bool recorded_address_parse(recorded_address *address, const memtrace_location *location);

#endif
