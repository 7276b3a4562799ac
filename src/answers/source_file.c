/* source_file.c: only regular files up to a size limit are read, since opening others may block or
 * have side effects. A relative name must stay inside the folder. */
#include "answers/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static bool climbs(const char *name) {
    for (const char *at = name; *at;) {
        size_t size = strcspn(at, "/");
        if (size == 2 && at[0] == '.' && at[1] == '.')
            return true;
        at += size;
        at += *at == '/';
    }
    return false;
}

static bool refuse(source_file *f, const char *reason) {
    f->reason = reason;
    return false;
}

static bool read_all(source_file *f, int fd, size_t size) {
    f->text = malloc(size + 1);
    if (!f->text)
        return refuse(f, "not enough memory");
    if (file_read_at(fd, f->text, size, 0) != 0)
        return refuse(f, "it cannot be read");
    f->text[size] = '\0';
    return !memchr(f->text, '\0', size) || refuse(f, "it is not a text file");
}

/* Opening must not block, as it would for a pipe, nor have side effects, as it has for devices. */
static bool read_path(source_file *f, const char *path) {
    struct stat st;
    if (stat(path, &st) != 0)
        return refuse(f, errno == EACCES ? "it may not be read" : "it is not on this machine");
    if (!S_ISREG(st.st_mode))
        return refuse(f, "it is not a regular file");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return refuse(f, "it may not be read");
    const bool ok = fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)
                        ? refuse(f, "it is not a regular file")
                    : (size_t)st.st_size > SOURCE_FILE_MAX ? refuse(f, "it is larger than 8 MB")
                                                           : read_all(f, fd, (size_t)st.st_size);
    close(fd);
    if (ok)
        f->path = realpath(path, NULL);
    else
        source_file_free(f);
    return ok;
}

bool source_file_read(source_file *f, const char *folder, const char *name) {
    char path[PATH_MAX];
    *f = (source_file){0};
    if (!*name)
        return refuse(f, "the trace does not name it");
    if (*name == '/')
        return read_path(f, name);
    if (climbs(name))
        return refuse(f, "its path leads outside the source folder");
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return refuse(f, "its name is too long");
    return read_path(f, path);
}

void source_file_free(source_file *f) {
    free(f->text);
    free(f->path);
    f->text = f->path = NULL;
}
