/* assets.h: the files of the page, embedded when the program was built (embed.py). */
#ifndef ANSWERS_ASSETS_H
#define ANSWERS_ASSETS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct asset {
    const char *path; /* `/app.js`; `/` for index.html; NULL ends the list */
    const char *type;
    const char *tag; /* hash of the content, in quotes, for `If-None-Match` */
    const unsigned char *gzip;
    size_t gzip_size, size; /* bytes, compressed and not compressed */
} asset;

extern const asset assets[];

/* Returns the file with a path; NULL if there is none. */
const asset *assets_find(const char *path);

/* Returns the content of a file, which the caller frees; NULL when there is no memory. */
unsigned char *assets_unpack(const asset *a);

#endif
