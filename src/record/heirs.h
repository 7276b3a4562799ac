/* heirs.h: a language runtime that the program has loaded since it began, as a plugin. The
 * recording that goes on is one of malloc and stays that; but children of a fork begin recordings
 * of their own, with it: servers load their plugins, and fork the processes that do the work. */
#ifndef RECORD_HEIRS_H
#define RECORD_HEIRS_H

#include <stdbool.h>

#include "record/config.h"
#include "record/session.h"

/* The program is about to fork. Is there reason to look? Then plans what the child is to record:
 * not in a signal handler, for this calls the loader, which allocates where a runtime has come.
 * Where its heap cannot be recorded, gives why, once; else NULL. */
bool heirs_may_come(const struct session_plan *plan);
const char *heirs_look(const config *config, struct session_plan *plan);

/* In the child, while it has one thread. */
void heirs_begin(const struct session_plan *plan);

/* It is recorded with a runtime that was at work before. */
bool heirs_have_begun(void);

#endif
