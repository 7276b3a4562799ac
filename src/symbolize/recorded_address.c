/* recorded_address.c: see recorded_address.h. */
#include "symbolize/recorded_address.h"

#include <stdlib.h>
#include <string.h>

/* The file is PATH[BUILD-ID]. */
static bool parse_module(recorded_address *address, const char *file) {
    size_t size = strlen(file);
    const char *open = memrchr(file, '[', size);
    if (!open || open == file || file[size - 1] != ']')
        return false;
    address->path = file;
    address->path_size = (size_t)(open - file);
    return build_id_parse(&address->id, open + 1, (size_t)(file + size - 1 - (open + 1)));
}

/* The function is NAME+0xOFFSET. */
static bool parse_offset(recorded_address *address, const char *function) {
    const char *plus = strrchr(function, '+');
    if (!plus || plus[1] != '0' || plus[2] != 'x' || !plus[3])
        return false;
    char *end;
    address->offset = strtoull(plus + 3, &end, 16);
    return *end == '\0' && address->offset > 0;
}

bool recorded_address_parse(recorded_address *address, const memtrace_location *location) {
    return location->line == 0 && parse_module(address, location->file) &&
           parse_offset(address, location->function);
}
