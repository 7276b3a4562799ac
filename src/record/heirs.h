/* heirs.h: handles a language runtime that the program has loaded since it began, as a plugin. The
 * current recording is one of malloc and stays so. But a child of a fork begins a recording of its
 * own, which includes the runtime. This is how servers work: they load their plugins and then fork
 * the processes that do the work. */
#ifndef RECORD_HEIRS_H
#define RECORD_HEIRS_H

#include <stdbool.h>

#include "record/config.h"
#include "record/session.h"

/* Called when the program is about to fork. heirs_may_come returns whether there is reason to look.
 * heirs_look then plans what the child will record. It must not be called in a signal handler: it
 * calls the loader, which allocates where a runtime was loaded. If the runtime's heap cannot be
 * recorded, it returns the reason, once; otherwise NULL. */
bool heirs_may_come(const struct session_plan *plan);
const char *heirs_look(const config *config, struct session_plan *plan);

/* Called in the child, while it has one thread. */
void heirs_begin(const struct session_plan *plan);

/* Returns whether this process is recorded with a runtime that was running before the recording
 * began. */
bool heirs_have_begun(void);

#endif
