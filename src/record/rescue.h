/* rescue.h: where streams are kept so that they outlive a killed process: see contract/rescue.h. */
#ifndef RECORD_RESCUE_H
#define RECORD_RESCUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/rescue.h"

struct rescue_mapping;

/* Legal when zeroed. Guarded by whoever opens streams. */
typedef struct rescue {
    const char *path; /* of the file in /proc; "": there is none */
    uint64_t pid, start_time;
    struct rescue_head *head;        /* mapped, NULL if there is no file */
    struct rescue_mapping *mappings; /* in use */
    struct rescue_slot *first;       /* the one that counts remarks; NULL: none does */
    _Atomic bool orphaned;           /* we are the child of a fork: nothing is to be shared */
} rescue;

/* Maps the head of the file, by which `allotrace run` knows that somebody records. */
void rescue_begin(rescue *r);

/* Takes over a mapping of the head, if there is one: of who has changed user since, and may not
 * open the file any more. */
void rescue_take_head(rescue *r, rescue *from);

/* Counts a program that waits for its first sample, or does so no longer. */
void rescue_count_silent(rescue *r, bool waits);

/* Memory for a stream, zeroed. NULL: take other memory. */
void *rescue_alloc(rescue *r, size_t size);

/* Whether a stream's memory came from here; then gives it back. */
bool rescue_free(rescue *r, void *stream);

/* Counts what stands in the trace as an allocation and is none. Any thread, any time. */
void rescue_count_remark(rescue *r);

/* Counts a process that is not allowed to open its trace. */
void rescue_count_refused(rescue *r);

/* Lets `allotrace run` know. `path` as above, or NULL. False: another process has done so. */
bool rescue_tell(const char *path, uint64_t note);

/* Around a fork, where the calling thread was interrupted while it changed a stream: keeps what
 * that is for the child. A stream that did not come from here is ignored. */
void rescue_before_fork(rescue *r, void *stream);
void rescue_after_fork(rescue *r, void *stream); /* in the parent: drops what was kept */

/* In the child: the stream becomes its own, as it was kept, at the same place; and nothing shared
 * is changed from now on. */
void rescue_orphan(rescue *r, void *stream);

/* Unmaps all, and changes nothing in it: in the child of a fork, it is the parent's. */
void rescue_leave(rescue *r);

#endif
