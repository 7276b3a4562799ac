/* top_screen_none.c: replaces the screen in a build without ncurses. It cannot be opened, and says
 * why. */
#include "cli/top/top_screen.h"

bool top_screen_usable(const char **why) {
    *why = " and ncurses, and this allotrace was built without it (libncurses-dev)";
    return false;
}

bool top_screen_open(bool color) {
    (void)color;
    return false;
}

void top_screen_close(void) {}

bool top_screen_size(unsigned *lines, unsigned *columns) {
    *lines = *columns = 0;
    return false;
}

void top_screen_line(unsigned y, const char *text, size_t size, top_look look) {
    (void)y;
    (void)text;
    (void)size;
    (void)look;
}

void top_screen_clear_from(unsigned y) {
    (void)y;
}

void top_screen_show(void) {}

int top_screen_key(int ms) {
    (void)ms;
    return TOP_KEY_GONE;
}
