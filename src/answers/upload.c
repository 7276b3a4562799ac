/* upload.c: each file is in a folder of its own, made by mkdtemp with access for its owner only. */
#include "answers/upload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/utf8.h"

#define ROOM_LEFT ((uint64_t)64 << 20) /* bytes of the file system that stay free */

/* Takes the last component of what may be a path, without characters that could confuse a terminal
 * or the page. */
static void take_name(upload *u, const char *name) {
    const char *slash = name ? strrchr(name, '/') : NULL;
    const char *from = slash ? slash + 1 : name;
    size_t n = 0;
    for (; from && *from && n < UPLOAD_NAME; from++)
        if ((unsigned char)*from >= ' ' && *from != 0x7f && *from != '\\')
            u->name[n++] = *from;
    n = from && *from ? utf8_whole(u->name, n - 1) : n;
    u->name[n] = '\0';
    if (n == 0)
        snprintf(u->name, sizeof u->name, "dropped.ctf");
}

static bool has_room(uint64_t size) {
    struct statvfs s;
    return statvfs(file_temporary_folder(), &s) != 0 ||
           (uint64_t)s.f_bavail * s.f_frsize >= size + ROOM_LEFT;
}

static bool create(upload *u) {
    static const char file[] = "/trace.ctf";
    char *path;
    if (asprintf(&path, "%s/allotrace-view-XXXXXX%s", file_temporary_folder(), file) < 0)
        return false;
    char *end = path + strlen(path) - (sizeof file - 1);
    *end = '\0';
    if (!mkdtemp(path)) {
        free(path);
        return false;
    }
    *end = '/';
    u->path = path;
    u->fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
    return u->fd >= 0;
}

bool upload_begin(upload *u, const char *name, uint64_t size, char *why, size_t why_size) {
    *u = (upload){.fd = -1, .expected = size};
    take_name(u, name);
    if (size == 0 || size > UPLOAD_MOST) {
        snprintf(why, why_size, "%s",
                 size == 0 ? "the file is empty"
                           : "the file has more than 2 GB: open it with `allotrace view`");
        return false;
    }
    if (!has_room(size)) {
        snprintf(why, why_size, "%s has no room for it", file_temporary_folder());
        return false;
    }
    if (create(u))
        return true;
    snprintf(why, why_size, "%s: %s", file_temporary_folder(), strerror(errno));
    upload_cancel(u);
    return false;
}

void upload_take(upload *u, const char *bytes, size_t size) {
    if (size > u->expected - u->received)
        u->error = EFBIG;
    u->received += size;
    if (!u->error)
        u->error = file_write_all(u->fd, bytes, size);
}

char *upload_end(upload *u, char *why, size_t why_size) {
    char *path = u->path;
    if (close(u->fd) != 0 && !u->error)
        u->error = errno;
    u->fd = -1;
    if (!u->error && u->received == u->expected) {
        u->path = NULL;
        return path;
    }
    snprintf(why, why_size, "%s", u->error ? strerror(u->error) : "not all of the file came");
    upload_cancel(u);
    return NULL;
}

void upload_cancel(upload *u) {
    if (u->fd >= 0)
        close(u->fd);
    u->fd = -1;
    upload_remove(u->path);
    u->path = NULL;
}

void upload_remove(char *path) {
    char *slash = path ? strrchr(path, '/') : NULL;
    if (slash) {
        unlink(path);
        *slash = '\0';
        rmdir(path);
    }
    free(path);
}
