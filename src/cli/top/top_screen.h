/* top_screen.h: the terminal while a table is shown in it: lines, keys, its size, and that it is as
 * it was before however this process ends. One screen at a time, of one thread. */
#ifndef CLI_TOP_TOP_SCREEN_H
#define CLI_TOP_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

typedef enum top_look { LOOK_PLAIN, LOOK_TITLES, LOOK_SELECTED, LOOK_BAR } top_look;

/* Keys that are no character. */
enum {
    TOP_KEY_NONE = -1,
    TOP_KEY_GONE = -2, /* the terminal went away */
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

/* Whether there is a terminal that can show one; false: `*why`, to be said behind
 * "it needs a terminal". */
bool top_screen_usable(const char **why);

/* Takes the controlling terminal over. Without `color`, it is painted by bold and reversed letters
 * alone. False if that cannot be. */
bool top_screen_open(bool color);
void top_screen_close(void); /* also if there is none */

/* As large as the terminal is now; true: that changed since it was asked last. */
bool top_screen_size(unsigned *lines, unsigned *columns);

/* Writes a line, from its beginning to its end, cut where the terminal ends. Of what a terminal
 * obeys, the text may hold the colours of src/render/text.c. */
void top_screen_line(unsigned y, const char *text, size_t size, top_look look);
void top_screen_clear_from(unsigned y);
void top_screen_show(void);

/* The next key, or TOP_KEY_NONE after so many milliseconds. */
int top_screen_key(int ms);

#endif
