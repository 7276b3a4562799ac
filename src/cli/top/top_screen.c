/* top_screen.c: draws with ncurses. ncurses cannot restore the terminal when the process crashes,
 * so signal handlers write a prepared sequence that does. */
#include "cli/top/top_screen.h"

#include <curses.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "base/file.h"
#include "base/utf8.h"

#undef lines /* these macros of <term.h> collide with names used here */
#undef columns

enum { ESCAPE_MS = 25, PAIR_RED = 1, PAIR_GREEN };

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

enum { N_CRASHES = sizeof crashes / sizeof *crashes };

/* State of the only screen. The fields that crash handlers use are set before the handlers, and
 * stay valid. */
static struct {
    FILE *file; /* NULL: no screen is open */
    int fd;
    SCREEN *screen;
    bool color;
    unsigned lines, columns;
    struct termios before;
    struct sigaction old[N_CRASHES];
    char restore[256]; /* escape sequences that restore the terminal */
    size_t restore_size;
} the;

/* ---- the terminal ------------------------------------------------------------------------ */

static int open_terminal(void) {
    const int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
    const int high = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
    file_close(fd);
    return high;
}

bool top_screen_usable(const char **why) {
    const int fd = open_terminal();
    int known = 0;
    *why = "";
    if (fd < 0)
        return false;
    const char *term = getenv("TERM");
    *why = " that can move the cursor, and $TERM does not name one";
    const bool usable = term && setupterm(term, fd, &known) == OK && cursor_address && clear_screen;
    if (known == 1)
        del_curterm(cur_term);
    close(fd);
    return usable;
}

/* Adds an escape sequence, without its delays ($<...>) and what follows them. */
static void add_restore(const char *text) {
    const size_t size = text ? strcspn(text, "$") : 0;
    if (!text || text == (const char *)-1 || the.restore_size + size > sizeof the.restore)
        return;
    memcpy(the.restore + the.restore_size, text, size);
    the.restore_size += size;
}

static void restore_when_crashed(int sig) {
    const ssize_t ignored = write(the.fd, the.restore, the.restore_size);
    (void)ignored;
    tcsetattr(the.fd, TCSANOW, &the.before);
    signal(sig, SIG_DFL);
    raise(sig);
}

static void watch_crashes(void) {
    const struct sigaction new = {.sa_handler = restore_when_crashed, .sa_flags = SA_NODEFER};
    the.restore_size = 0;
    add_restore(exit_attribute_mode);
    add_restore(cursor_normal);
    add_restore(keypad_local);
    add_restore(exit_ca_mode);
    for (size_t i = 0; i < N_CRASHES; i++)
        sigaction(crashes[i], &new, &the.old[i]);
}

/* Ctrl-C ends the program properly, so it is kept. The keys that suspend or kill it are disabled,
 * as they would leave the terminal as it is. */
static void set_keys(void) {
    struct termios now;
    cbreak();
    noecho();
    nonl();
    intrflush(stdscr, FALSE);
    keypad(stdscr, TRUE);
    set_escdelay(ESCAPE_MS);
    if (tcgetattr(the.fd, &now) != 0)
        return;
    now.c_cc[VSUSP] = now.c_cc[VQUIT] = _POSIX_VDISABLE;
    tcsetattr(the.fd, TCSANOW, &now);
}

static void set_colors(bool color) {
    the.color = color && start_color() == OK && use_default_colors() == OK;
    if (!the.color)
        return;
    init_pair(PAIR_RED, COLOR_RED, -1);
    init_pair(PAIR_GREEN, COLOR_GREEN, -1);
}

bool top_screen_open(bool color) {
    the.fd = open_terminal();
    the.file = the.fd >= 0 && tcgetattr(the.fd, &the.before) == 0 ? fdopen(the.fd, "r+") : NULL;
    the.screen = the.file ? newterm(NULL, the.file, the.file) : NULL;
    if (!the.screen) {
        if (the.file)
            fclose(the.file);
        else if (the.fd >= 0)
            close(the.fd);
        the.file = NULL;
        return false;
    }
    the.lines = the.columns = 0;
    watch_crashes();
    set_keys();
    set_colors(color);
    curs_set(0);
    return true;
}

void top_screen_close(void) {
    if (!the.file)
        return;
    endwin();
    delscreen(the.screen);
    tcsetattr(the.fd, TCSADRAIN, &the.before);
    for (size_t i = 0; i < N_CRASHES; i++)
        sigaction(crashes[i], &the.old[i], NULL);
    fclose(the.file);
    the.file = NULL;
}

/* ---- what is shown ----------------------------------------------------------------------- */

bool top_screen_size(unsigned *lines, unsigned *columns) {
    struct winsize now = {0};
    if (ioctl(the.fd, TIOCGWINSZ, &now) != 0 || now.ws_row == 0 || now.ws_col == 0)
        now = (struct winsize){.ws_row = (unsigned short)LINES, .ws_col = (unsigned short)COLS};
    const bool changed = now.ws_row != the.lines || now.ws_col != the.columns;
    if (changed)
        resizeterm(now.ws_row, now.ws_col);
    *lines = the.lines = now.ws_row;
    *columns = the.columns = now.ws_col;
    return changed;
}

static attr_t attributes_of(top_look look) {
    switch (look) {
    case LOOK_TITLES:
        return A_BOLD | A_UNDERLINE;
    case LOOK_SELECTED:
    case LOOK_BAR:
        return A_REVERSE;
    default:
        return A_NORMAL;
    }
}

/* Sets the color of the escape sequence at `at`, one of those that text.c writes. Returns the end
 * of the sequence. */
static const char *paint(const char *at, const char *end, attr_t plain) {
    const char *m = memchr(at, 'm', (size_t)(end - at));
    const int code = m && at + 1 < end ? (int)strtol(at + 2, NULL, 10) : 0;
    switch (code) {
    case 1:
        attron(A_BOLD);
        break;
    case 2:
        attron(A_DIM);
        break;
    case 31:
    case 32:
        attron(the.color ? COLOR_PAIR(code == 31 ? PAIR_RED : PAIR_GREEN) : A_NORMAL);
        break;
    default:
        attrset(plain);
    }
    return m ? m + 1 : end;
}

/* A line with a background is filled up to the right edge. */
void top_screen_line(unsigned y, const char *text, size_t size, top_look look) {
    const attr_t plain = attributes_of(look);
    const char *end = text + size;
    size_t column = 0;
    if (y >= the.lines)
        return;
    move((int)y, 0);
    clrtoeol();
    attrset(plain);
    while (text < end) {
        if (*text == '\033') {
            text = paint(text, end, plain);
            continue;
        }
        const char *next = utf8_next_within(text, end);
        const size_t wide = utf8_columns(text, (size_t)(next - text));
        if (column + wide > the.columns)
            break;
        addnstr(text, (int)(next - text));
        column += wide;
        text = next;
    }
    while (look != LOOK_PLAIN && column++ < the.columns)
        addch(' ');
    attrset(A_NORMAL);
}

void top_screen_clear_from(unsigned y) {
    if (y >= the.lines)
        return;
    move((int)y, 0);
    clrtobot();
}

void top_screen_show(void) {
    refresh();
}

/* ---- keys -------------------------------------------------------------------------------- */

static int special(int key) {
    switch (key) {
    case KEY_UP:
        return TOP_KEY_UP;
    case KEY_DOWN:
        return TOP_KEY_DOWN;
    case KEY_PPAGE:
        return TOP_KEY_PAGE_UP;
    case KEY_NPAGE:
        return TOP_KEY_PAGE_DOWN;
    case KEY_HOME:
        return TOP_KEY_HOME;
    case KEY_END:
        return TOP_KEY_END;
    case KEY_BACKSPACE:
    case '\b':
    case 127:
        return TOP_KEY_ERASE;
    case KEY_ENTER:
    case '\r':
        return TOP_KEY_ENTER;
    default:
        return key >= KEY_MIN ? TOP_KEY_NONE : key;
    }
}

static bool is_gone(void) {
    struct pollfd fd = {.fd = the.fd, .events = POLLIN};
    return poll(&fd, 1, 0) > 0 && (fd.revents & (POLLHUP | POLLERR | POLLNVAL));
}

int top_screen_key(int ms) {
    timeout(ms);
    const int key = getch();
    if (key == ERR)
        return is_gone() ? TOP_KEY_GONE : TOP_KEY_NONE;
    return special(key);
}
