/* path_rights.h: with whose rights root may touch a file by its path. */
#ifndef BASE_PATH_RIGHTS_H
#define BASE_PATH_RIGHTS_H

#include "base/rights.h"

/* Whether another user could have the path lead elsewhere, as the owner of a folder or of a link on
 * it, or of the file in a folder like /tmp: then what is done there must be done with the rights of
 * the first of these, `*theirs`. Never for whoever is not root, who can take on nobody's. */
bool path_is_others(const char *path, rights *theirs);

/* Opens what is at a path, once, and if it cannot be told to lead elsewhere: a regular file with
 * one name that is no link, and that of `theirs` if the path is another user's. -1: errno. */
int path_open_once(const char *path, int flags);

#endif
