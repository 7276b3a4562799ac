/* progress.c: a mutex protects the line. Signal handlers cannot lock it, and use only two atomic
 * flags. */
#include "cli/progress.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "platform/clock.h"
#include "render/output.h"

enum { FIRST_MS = 1000, NEXT_MS = 250, LINE_SIZE = 4096 };

static const char wipe_code[] = "\r\033[K";

static struct {
    pthread_mutex_t lock; /* protects everything below */
    pthread_cond_t begun;
    bool started, watched; /* `started`: `watched` is set; `watched`: standard error is a terminal,
                              and the thread exists */
    bool busy;             /* an activity is in progress */
    uint64_t due;          /* when to show the line next, ms */
    uint64_t since;        /* when the activity began, ms; activities in immediate succession count
                              as one */
    uint64_t ended;        /* when the last activity ended, ms; 0: there was none */
    char text[LINE_SIZE];  /* describes the activity */
    size_t shown;          /* length of the displayed line, bytes; 0: none */
} line = {.lock = PTHREAD_MUTEX_INITIALIZER, .begun = PTHREAD_COND_INITIALIZER};

/* For signal handlers: a line is displayed; no line may be displayed any more. */
static atomic_bool stands, interrupted;

static void write_there(const char *bytes, size_t size) {
    const ssize_t ignored = write(STDERR_FILENO, bytes, size);
    (void)ignored;
}

/* ---- the line ------------------------------------------------------------------------------ */

/* Returns the part of the text that fits: its end, since the progress comes after a long name. */
static const char *fit(const char *text, size_t columns) {
    const char *from = text;
    for (size_t n = strlen(text); *from && n >= columns; n--)
        from = utf8_next(from);
    return from;
}

/* Displays the line in place of the last one. A line that wrapped could not be replaced, so it is
 * cut. */
static void show(void) {
    char bytes[2 * LINE_SIZE];
    const unsigned columns = terminal_columns_of(STDERR_FILENO);
    const char *text = columns ? fit(line.text, columns) : line.text;
    const size_t size = strlen(text);
    const int n =
        snprintf(bytes, sizeof bytes, "\r%s%s", text, size < line.shown ? wipe_code + 1 : "");
    line.shown = size;
    stands = true;
    if (!interrupted)
        write_there(bytes, (size_t)n);
}

static void wipe(void) {
    if (line.shown)
        write_there(wipe_code, sizeof wipe_code - 1);
    line.shown = 0;
    stands = false;
}

static void *show_when_due(void *ignored) {
    (void)ignored;
    pthread_mutex_lock(&line.lock);
    for (;;) {
        const uint64_t due = line.due;
        const struct timespec until = {.tv_sec = (time_t)(due / 1000),
                                       .tv_nsec = (long)(due % 1000) * 1000000};
        if (!line.busy) {
            pthread_cond_wait(&line.begun, &line.lock);
        } else if (pthread_cond_clockwait(&line.begun, &line.lock, CLOCK_MONOTONIC, &until) ==
                       ETIMEDOUT &&
                   line.busy && line.due == due) {
            show();
            line.due = clock_monotonic_ms() + NEXT_MS;
        }
    }
    return NULL;
}

static bool start_thread(void) {
    pthread_t thread;
    return signals_start_thread(&thread, show_when_due, NULL) == 0 && pthread_detach(thread) == 0;
}

/* ---- the activity -------------------------------------------------------------------------- */

/* Begins an activity. If it follows another one immediately, the user has been waiting since that
 * began. */
static void begin(void) {
    const uint64_t now = clock_monotonic_ms();
    if (!line.ended || now - line.ended >= NEXT_MS)
        line.since = now;
    line.due = line.since + FIRST_MS > now + NEXT_MS ? line.since + FIRST_MS : now + NEXT_MS;
    line.busy = true;
    pthread_cond_signal(&line.begun);
}

/* Sets the text without control characters, which file names may contain. */
static void set_text(const char *format, va_list args) {
    char raw[LINE_SIZE];
    const char *from = raw;
    size_t used = 0;
    vsnprintf(raw, sizeof raw, format, args);
    while (*from) {
        const output_piece piece = output_shown_next(&from);
        if (used + piece.size >= sizeof line.text)
            break;
        memcpy(line.text + used, piece.bytes, piece.size);
        used += piece.size;
    }
    line.text[used] = '\0';
}

void progress_say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&line.lock);
    if (!line.started)
        line.watched = isatty(STDERR_FILENO) && start_thread();
    line.started = true;
    if (line.watched) {
        set_text(format, args);
        if (!line.busy)
            begin();
    }
    pthread_mutex_unlock(&line.lock);
    va_end(args);
}

void progress_end(void) {
    pthread_mutex_lock(&line.lock);
    if (line.busy)
        line.ended = clock_monotonic_ms();
    line.busy = false;
    wipe();
    pthread_mutex_unlock(&line.lock);
}

void progress_wipe(void) {
    pthread_mutex_lock(&line.lock);
    wipe();
    line.due = line.busy ? clock_monotonic_ms() + NEXT_MS : 0;
    pthread_mutex_unlock(&line.lock);
}

void progress_interrupted(void) {
    interrupted = true;
    if (stands)
        write_there(wipe_code, sizeof wipe_code - 1);
}
