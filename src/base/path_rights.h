/* path_rights.h: with whose rights root may access a file by its path. */
#ifndef BASE_PATH_RIGHTS_H
#define BASE_PATH_RIGHTS_H

#include "base/rights.h"

/* Whether another user can redirect the path, as the owner of a folder or link on it, or of the
 * file in a folder like /tmp. Any access must then use the rights of the first such user, which are
 * set in `*theirs`. Always false if we are not root, since we could not take on the rights of
 * others. */
bool path_is_others(const char *path, rights *theirs);

/* Opens a file once, if it cannot have been redirected: it must be a regular file and, if the path
 * is another user's, no link, with one name, and owned by that user or by us. Returns -1 with errno
 * on failure. */
int path_open_once(const char *path, int flags);

#endif
