/* assets.c: finds files of the page, and unpacks them for those who cannot. */
#include "answers/assets.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

const asset *assets_find(const char *path) {
    for (const asset *a = assets; a->path; a++)
        if (strcmp(a->path, path) == 0)
            return a;
    return NULL;
}

unsigned char *assets_unpack(const asset *a) {
    unsigned char *plain = malloc(a->size + 1);
    z_stream z = {.next_in = (Bytef *)a->gzip,
                  .avail_in = (uInt)a->gzip_size,
                  .next_out = plain,
                  .avail_out = (uInt)a->size + 1};
    bool ok = plain && inflateInit2(&z, 16 + MAX_WBITS) == Z_OK;
    if (ok) {
        ok = inflate(&z, Z_FINISH) == Z_STREAM_END;
        inflateEnd(&z);
    }
    if (ok)
        return plain;
    free(plain);
    return NULL;
}
