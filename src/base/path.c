/* path.c: a line number is the digits after the last colon, unless they exceed 32 bits. */
#include "base/path.h"

bool path_ends(const char *path, const char *end, size_t size) {
    const size_t all = strlen(path);
    return all >= size && memcmp(path + all - size, end, size) == 0 &&
           (all == size || path[all - size - 1] == '/' || end[0] == '/');
}

size_t path_line(const char *text, size_t size, uint32_t *line) {
    uint64_t number = 0, unit = 1;
    size_t at = size;
    for (; at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9' && unit <= UINT32_MAX; unit *= 10)
        number += unit * (uint64_t)(text[--at] - '0');
    if (at < 2 || at == size || text[at] == '0' || number > UINT32_MAX || text[at - 1] != ':' ||
        text[at - 2] == ':')
        return 0;
    *line = (uint32_t)number;
    return at - 1;
}
