/* result_room.c: the room is the free space in the file system (statvfs) or the remainder of the
 * size limit (setrlimit), whichever is less. It is unlimited for pipes and devices. */
#include "cli/result_room.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/message.h"
#include "render/figures.h"

#define FEWER "use --filter, or thin the trace first: allotrace subsample"

static bool is_regular(int fd) {
    struct stat s;
    return fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
}

static uint64_t room_on_disk(int fd) {
    struct statvfs s;
    return fstatvfs(fd, &s) == 0 ? (uint64_t)s.f_bavail * s.f_frsize : UINT64_MAX;
}

/* The remainder of the process's limit for files. */
static uint64_t room_in_file(int fd) {
    struct rlimit l;
    if (getrlimit(RLIMIT_FSIZE, &l) != 0 || l.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    const off_t at = lseek(fd, 0, SEEK_CUR);
    const uint64_t used = at > 0 ? (uint64_t)at : 0;
    return used < l.rlim_cur ? l.rlim_cur - used : 0;
}

uint64_t result_room(int fd) {
    if (!is_regular(fd))
        return UINT64_MAX;
    const uint64_t disk = room_on_disk(fd), file = room_in_file(fd);
    return disk < file ? disk : file;
}

bool result_room_suffices(int fd, const char *name, uint64_t bytes) {
    const uint64_t room = result_room(fd);
    const figure_text about = figure_bytes((double)bytes);
    if (bytes > room)
        message_error("%s: the output would take about %s, and only %s is free; %s", name,
                      about.text, figure_bytes((double)room).text, FEWER);
    else if (bytes >= RESULT_LARGE && is_regular(fd))
        message_warning("%s: the output will take about %s; %s", name, about.text, FEWER);
    return bytes <= room;
}
