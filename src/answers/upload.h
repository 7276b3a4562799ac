/* upload.h: a trace that somebody drops on the page, written to a file of our own in a folder that
 * other users cannot read. The user chooses the name shown on the page, but not the name of the
 * file. */
#ifndef ANSWERS_UPLOAD_H
#define ANSWERS_UPLOAD_H

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

/* Creates the file. `name` may be anything, or NULL; it is made printable. Returns false, with one
 * line in `why`, if the file is too large or there is no room. */
bool upload_begin(upload *u, const char *name, uint64_t size, char *why, size_t why_size);

/* Appends bytes that have arrived. More than was announced is an error, which sticks. */
void upload_take(upload *u, const char *bytes, size_t size);

/* Ends an upload and closes its file. The caller owns the file and its path, and removes both with
 * upload_remove. Returns NULL, with one line in `why`, if a byte is missing or could not be
 * written. */
char *upload_end(upload *u, char *why, size_t why_size);

/* Cancels an upload; does nothing after upload_end. */
void upload_cancel(upload *u);

/* Removes a file and its folder, and frees the path; NULL is allowed. */
void upload_remove(char *path);

#endif
