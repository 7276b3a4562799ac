/* upload.h: a trace that somebody drops on the page: its bytes on their way into a file of our own,
 * in a folder that nobody else can look into. What it is called on the page is its user's word;
 * what the file is called is not. */
#ifndef SERVE_UPLOAD_H
#define SERVE_UPLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UPLOAD_MOST ((uint64_t)2 << 30) /* bytes of a file */
enum { UPLOAD_NAME = 120 };             /* bytes of its name on the page */

typedef struct upload {
    int fd;     /* -1: none */
    char *path; /* of the file; NULL: none */
    char name[UPLOAD_NAME + 1];
    uint64_t expected, received;
    int error; /* errno of the first failure */
} upload;

/* Creates the file. `name`, which may be anything, or NULL, becomes one that can be shown. False,
 * with one line in `why`, when so much is not taken, or there is no room. */
bool upload_begin(upload *u, const char *name, uint64_t size, char *why, size_t why_size);

/* What of it came. More than was announced is an error that sticks. */
void upload_take(upload *u, const char *bytes, size_t size);

/* All came: the file is closed, and is its caller's: `upload_remove` with the path. NULL, with one
 * line in `why`. */
char *upload_end(upload *u, char *why, size_t why_size);

/* Gives up what was begun; nothing after upload_end. */
void upload_cancel(upload *u);

/* Removes a file and its folder, and frees the path; NULL is allowed. */
void upload_remove(char *path);

#endif
