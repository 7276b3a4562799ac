/* assets.h: the page, as it was embedded when the program was built (embed.py). */
#ifndef SERVE_ASSETS_H
#define SERVE_ASSETS_H

#include <stddef.h>

typedef struct asset {
    const char *path; /* `/app.js`; `/` for index.html; NULL ends the list */
    const char *type;
    const char *tag; /* of what it holds, in quotes, for `If-None-Match` */
    const unsigned char *gzip;
    size_t gzip_size, size; /* compressed; and not */
} asset;

extern const asset assets[];

#endif
