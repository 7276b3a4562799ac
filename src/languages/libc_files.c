/* libc_files.c: some folders have names that no other project uses. In other folders, only files
 * that allocate are listed. Any file there counts if the path begins with a dot, as paths of
 * distributions do before they are shortened. */
#include "languages/libc_files.h"

#include <stddef.h>
#include <string.h>

static const char *const folders[] = {
    "csu/", "dirent/", "iconv/",        "libio/",   "nptl/",
    "nss/", "resolv/", "stdio-common/", "sysdeps/", "wcsmbs/",
};
static const char *const folders_from_dot[] = {
    "elf/",  "malloc/", "stdlib/", "string/", "posix/",  "io/",
    "time/", "misc/",   "locale/", "math/",   "socket/",
};
static const char *const files[] = {
    "argp/argp-",
    "elf/dl-",
    "dlfcn/dl",
    "grp/getgr",
    "include/alloc_buffer.h",
    "include/scratch_buffer.h",
    "inet/getn",
    "intl/bindtextdom.c",
    "intl/dcigettext.c",
    "intl/l10nflist.c",
    "intl/loadmsgcat.c",
    "intl/localealias.c",
    "intl/textdomain.c",
    "io/fts",
    "io/ftw",
    "locale/duplocale.c",
    "locale/findlocale.c",
    "locale/loadarchive.c",
    "locale/loadlocale.c",
    "locale/newlocale.c",
    "locale/setlocale.c",
    "malloc/alloc_buffer",
    "malloc/arena.c",
    "malloc/dynarray",
    "malloc/hooks.c",
    "malloc/malloc.c",
    "malloc/obstack.c",
    "malloc/reallocarray.c",
    "malloc/scratch_buffer",
    "misc/allocate_once.c",
    "misc/getttyent.c",
    "misc/getusershell.c",
    "misc/hsearch_r.c",
    "misc/insremque.c",
    "misc/mntent_r.c",
    "misc/tsearch.c",
    "posix/exec",
    "posix/fnmatch",
    "posix/getopt.c",
    "posix/glob",
    "posix/reg",
    "posix/spawn",
    "posix/wordexp.c",
    "pwd/getpw",
    "shadow/getsp",
    "stdlib/canonicalize.c",
    "stdlib/cxa_",
    "stdlib/exit.c",
    "stdlib/fmtmsg.c",
    "stdlib/msort.c",
    "stdlib/on_exit.c",
    "stdlib/setenv.c",
    "string/argz-",
    "string/envz.c",
    "string/strdup.c",
    "string/strndup.c",
    "time/strftime",
    "time/tzfile.c",
    "time/tzset.c",
};

const char *libc_skip_dots(const char *path) {
    while (strncmp(path, "./", 2) == 0 || strncmp(path, "../", 3) == 0)
        path += path[1] == '/' ? 2 : 3;
    return path;
}

static bool begins_as_one(const char *path, const char *const *texts, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strncmp(path, texts[i], strlen(texts[i])) == 0)
            return true;
    return false;
}

#define BEGINS_AS_ONE(path, texts) begins_as_one(path, texts, sizeof(texts) / sizeof *(texts))

bool libc_has_file(const char *file) {
    const char *from = libc_skip_dots(file);
    return BEGINS_AS_ONE(from, folders) || BEGINS_AS_ONE(from, files) ||
           (from != file && BEGINS_AS_ONE(from, folders_from_dot));
}
