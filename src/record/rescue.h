/* rescue.h: keeps streams in memory that outlives a killed process: see contract/rescue.h. */
#ifndef RECORD_RESCUE_H
#define RECORD_RESCUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/rescue.h"

struct rescue_mapping;

/* Valid when zeroed. The caller that opens streams must serialize the calls. */
typedef struct rescue {
    const char *path; /* path of the file in /proc; "": none */
    uint64_t pid, start_time;
    struct rescue_head *head;        /* mapping of the file's head; NULL: there is no file */
    struct rescue_mapping *mappings; /* slots in use */
    struct rescue_slot *first;       /* the slot that counts remarks; NULL: none */
    _Atomic bool orphaned;           /* this is the child of a fork, and nothing may be shared */
} rescue;

/* Maps the head of the file, by which `allotrace run` knows that a process records. */
void rescue_begin(rescue *r);

/* Takes over another mapping of the head, if there is one. This is for a process that has changed
 * its user since and may no longer open the file. */
void rescue_take_head(rescue *r, rescue *from);

/* Counts a program that waits for its first sample, or with `waits` false, one that no longer
 * does. */
void rescue_count_silent(rescue *r, bool waits);

/* Returns zeroed memory for a stream. NULL: use other memory. */
void *rescue_alloc(rescue *r, size_t size);

/* Frees the memory of a stream. Returns false if it did not come from here. */
bool rescue_free(rescue *r, void *stream);

/* Counts an allocation in the trace that is really a remark. Any thread may call, at any time. */
void rescue_count_remark(rescue *r);

/* Counts a process that may not open its trace. */
void rescue_count_refused(rescue *r);

/* Gives `allotrace run` a note. `path` is as above, or NULL. Returns false if another process has
 * done so already. */
bool rescue_tell(const char *path, uint64_t note);

/* Called before a fork in a thread that may have been interrupted while it changed a stream. Copies
 * the stream for the child. A stream that did not come from here is ignored. */
void rescue_before_fork(rescue *r, void *stream);
void rescue_after_fork(rescue *r, void *stream); /* called in the parent: frees the copy */

/* Called in the child: makes the stream private, with the copied content, at the same address. From
 * now on nothing shared is changed. */
void rescue_orphan(rescue *r, void *stream);

/* Unmaps everything without changing it: in the child of a fork, it belongs to the parent. */
void rescue_leave(rescue *r);

#endif
