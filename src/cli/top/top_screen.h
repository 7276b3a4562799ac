/* top_screen.h: the terminal while a table is shown in it: lines, keys and size. Restores the
 * terminal however the process ends, except by SIGKILL. There can be one screen at a time, used by
 * one thread. */
#ifndef CLI_TOP_TOP_SCREEN_H
#define CLI_TOP_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

typedef enum top_look { LOOK_PLAIN, LOOK_TITLES, LOOK_SELECTED, LOOK_BAR } top_look;

/* Keys that are not characters. */
enum {
    TOP_KEY_NONE = -1,
    TOP_KEY_GONE = -2, /* the terminal has disappeared */
    TOP_KEY_UP = 256,
    TOP_KEY_DOWN,
    TOP_KEY_PAGE_UP,
    TOP_KEY_PAGE_DOWN,
    TOP_KEY_HOME,
    TOP_KEY_END,
    TOP_KEY_ERASE,
    TOP_KEY_ENTER = '\n',
    TOP_KEY_ESCAPE = 27,
};

/* Returns whether there is a suitable terminal. If not, sets `*why` to text that completes "...
 * needs a terminal". */
bool top_screen_usable(const char **why);

/* Opens the screen on the controlling terminal. Without `color`, uses attributes such as bold and
 * reverse only. Returns false on failure. */
bool top_screen_open(bool color);
void top_screen_close(void); /* does nothing if none is open */

/* Adapts the screen to the terminal's size. Returns true if that has changed since the last
 * call. */
bool top_screen_size(unsigned *lines, unsigned *columns);

/* top_screen_line replaces a whole line, cut at the right edge. The text may contain the color
 * sequences of src/render/text.c, but no other control sequences. */
void top_screen_line(unsigned y, const char *text, size_t size, top_look look);
void top_screen_clear_from(unsigned y);
void top_screen_show(void);

/* Returns the next key, or TOP_KEY_NONE after `ms` milliseconds. */
int top_screen_key(int ms);

#endif
