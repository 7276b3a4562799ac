/* terminal.c: the width is the smaller of COLUMNS and the terminal's own width. */
#include "cli/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/progress.h"

enum { NARROWEST = 20, WIDEST = 10000 };

/* A program that sets COLUMNS may show less than the whole terminal, and the terminal may have
 * become narrower since COLUMNS was set. */
unsigned terminal_columns_of(int fd) {
    if (!isatty(fd))
        return 0;
    const char *wanted = getenv("COLUMNS");
    struct winsize size = {0};
    long columns = wanted ? strtol(wanted, NULL, 10) : 0;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 &&
        (columns <= 0 || size.ws_col < columns))
        columns = size.ws_col;
    if (columns <= 0 || columns > WIDEST)
        return 0;
    return columns < NARROWEST ? NARROWEST : (unsigned)columns;
}

unsigned terminal_columns(void) {
    return terminal_columns_of(STDOUT_FILENO);
}

void terminal_start(output *o, bool text) {
    progress_end();
    output_start_lines(o, STDOUT_FILENO, text ? terminal_columns() : 0);
}
