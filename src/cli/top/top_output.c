/* top_output.c: standard streams that are terminals are redirected to an unnamed file, and restored
 * from duplicates of their descriptors. */
#include "cli/top/top_output.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"

/* Redirects a standard stream to `to` if it is a terminal. */
static void replace(top_output *o, int stream, int to) {
    if (to < 0 || !isatty(stream))
        return;
    o->saved[stream] = fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (o->saved[stream] >= 0)
        dup2(to, stream);
}

bool top_output_begin(top_output *o, bool input) {
    /* Append mode, since several processes write to it. */
    *o = (top_output){.file = file_temporary(O_APPEND), .saved = {-1, -1, -1}};
    if (o->file < 0)
        return false;
    fflush(stdout);
    const int nothing = input ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
    replace(o, STDIN_FILENO, nothing);
    replace(o, STDOUT_FILENO, o->file);
    replace(o, STDERR_FILENO, o->file);
    file_close(nothing);
    return true;
}

void top_output_restore(top_output *o) {
    fflush(stdout);
    for (int i = 0; i < 3; i++)
        if (o->saved[i] >= 0)
            dup2(o->saved[i], i);
}

void top_output_show(top_output *o) {
    char piece[1 << 14];
    const int to = o->saved[STDOUT_FILENO] >= 0 ? STDOUT_FILENO : STDERR_FILENO;
    ssize_t n;
    if (o->file < 0)
        return;
    while ((n = pread(o->file, piece, sizeof piece, o->shown)) > 0) {
        o->shown += n;
        if (file_write_all(to, piece, (size_t)n) != 0)
            break;
    }
}

void top_output_end(top_output *o) {
    if (o->file < 0)
        return;
    top_output_restore(o);
    top_output_show(o);
    for (int i = 0; i < 3; i++)
        file_close(o->saved[i]);
    close(o->file);
    o->file = -1;
}
