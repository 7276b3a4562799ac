/* repl.c: reads and runs lines. A statement that is open at the end of a line is continued by the
 * next line. The history is in ~/.lox_history and is saved after each entry.
 *
 * On a terminal, SIGINT is blocked at the prompt except while waiting for a key, so that none is
 * lost and none interrupts the line editor. */
#include "repl.h"

#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

enum { HISTORY_LINES = 1000 };

static lox_vm *volatile running; /* NULL: waiting at the prompt */
static volatile sig_atomic_t interrupted, changed;

/* The prompt, with or without a terminal. */
typedef struct prompt {
    EditLine *editor; /* NULL: not on a terminal */
    History *history;
    char path[4096]; /* of the history */
    char *line;      /* buffer of getline */
    size_t capacity;
    lox_vm *vm;
    const char *open;  /* earlier lines of an entry that is being continued; NULL: none */
    lox_position at;   /* where the next text starts; on a terminal, each entry starts at line 1 */
    lox_status status; /* of the first entry that failed */
} prompt;

/* ---- open constructs ------------------------------------------------------------------------- */

/* Skips a construct that begins with `open`; returns NULL if it does not end. */
static const char *skip_past(const char *at, const char *open, const char *close) {
    const char *end = strstr(at + strlen(open), close);
    return end ? end + strlen(close) : NULL;
}

static bool starts(const char *at, const char *with) {
    return !strncmp(at, with, strlen(with));
}

/* Whether a bracket, hand, string or block comment is open. */
static bool is_open(const char *at) {
    int depth = 0;
    while (at && *at) {
        if (*at == '"') {
            at = skip_past(at, "\"", "\"");
        } else if (starts(at, "/*")) {
            at = skip_past(at, "/*", "*/");
        } else if (starts(at, "//")) {
            at += strcspn(at, "\n");
        } else {
            depth += strchr("({[", *at) || starts(at, "👉");
            depth -= strchr(")}]", *at) || starts(at, "👈");
            at++;
        }
    }
    return !at || depth > 0;
}

/* ---- completion ------------------------------------------------------------------------------ */

enum { MAX_SHOWN = 200 };

/* Names that begin with what is typed. */
typedef struct candidates {
    const char *typed;
    size_t size; /* of `typed` */
    char **names;
    size_t n, capacity;
} candidates;

static void add_candidate(void *context, const char *name) {
    candidates *c = context;
    if (strncmp(name, c->typed, c->size) != 0)
        return;
    char *copy = strdup(name);
    if (!copy)
        abort();
    if (c->n == c->capacity) {
        c->capacity = c->capacity ? 2 * c->capacity : 32;
        c->names = realloc(c->names, c->capacity * sizeof *c->names);
        if (!c->names)
            abort();
    }
    c->names[c->n++] = copy;
}

/* Adds the names in earlier lines of this entry, which are not compiled yet. */
static void add_mentioned(candidates *c, const char *text) {
    for (size_t end = 0; text && end < strlen(text);) {
        size_t size = strcspn(text + end, " \t\n()[]{},;.=<>!+-*/\"");
        if (size && lox_name_start(text, end + size) == end) {
            char *name = strndup(text + end, size);
            add_candidate(c, name);
            free(name);
        }
        end += size + (text[end + size] != '\0');
    }
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the names and removes duplicates. */
static void sort_candidates(candidates *c) {
    size_t n = 0;
    if (c->n)
        qsort(c->names, c->n, sizeof *c->names, compare_names);
    for (size_t i = 0; i < c->n; i++) {
        if (n && !strcmp(c->names[n - 1], c->names[i]))
            free(c->names[i]);
        else
            c->names[n++] = c->names[i];
    }
    c->n = n;
}

static void free_candidates(candidates *c) {
    for (size_t i = 0; i < c->n; i++)
        free(c->names[i]);
    free(c->names);
}

/* Returns the size of the common prefix of all candidates, which must be sorted. */
static size_t common_size(const candidates *c) {
    const char *first = c->names[0], *last = c->names[c->n - 1];
    size_t n = 0;
    while (first[n] && first[n] == last[n])
        n++;
    return n;
}

static void show_candidates(const candidates *c) {
    struct winsize window;
    size_t width = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) && window.ws_col ? window.ws_col : 80;
    size_t shown = c->n < MAX_SHOWN ? c->n : MAX_SHOWN, at = 0;
    putchar('\n');
    for (size_t i = 0; i < shown; i++) {
        size_t size = strlen(c->names[i]);
        if (at && at + 2 + size > width)
            at = 0, putchar('\n');
        at += (size_t)printf("%s%s", at ? "  " : "", c->names[i]);
    }
    if (c->n > shown)
        printf("\n… and %zu more", c->n - shown);
    putchar('\n');
}

/* Inserts what all candidates have in common; if that is nothing, shows them. */
static unsigned char insert_common(EditLine *editor, const candidates *c) {
    if (!c->n)
        return CC_ERROR;
    size_t size = common_size(c);
    if (size == c->size) {
        if (c->n > 1)
            show_candidates(c);
        return CC_REDISPLAY;
    }
    char *rest = strndup(c->names[0] + c->size, size - c->size);
    int failed = !rest || el_insertstr(editor, rest);
    free(rest);
    return failed ? CC_ERROR : CC_REFRESH;
}

/* Completes a name. Before the first character of a line, inserts two blanks instead. */
static unsigned char complete_name(EditLine *editor, int key) {
    const prompt *p;
    const LineInfo *line = el_line(editor);
    size_t end = (size_t)(line->cursor - line->buffer);
    char *text = strndup(line->buffer, end);
    (void)key;
    el_get(editor, EL_CLIENTDATA, &p);
    if (!text || strspn(text, " ") == end) {
        free(text);
        return text && !el_insertstr(editor, "  ") ? CC_REFRESH : CC_ERROR;
    }
    size_t start = lox_name_start(text, end);
    candidates c = {.typed = text + start, .size = end - start};
    lox_name_next(p->vm, text, start, &(lox_names){add_candidate, &c});
    if (start == 0 || text[start - 1] != '.')
        add_mentioned(&c, p->open);
    sort_candidates(&c);
    unsigned char done = insert_common(editor, &c);
    free_candidates(&c);
    free(text);
    return done;
}

/* ---- the terminal ---------------------------------------------------------------------------- */

static void on_interrupt(int number) {
    (void)number;
    lox_vm *vm = running;
    interrupted = 1;
    if (vm)
        lox_interrupt(vm);
}

static void on_change(int number) {
    (void)number;
    changed = 1;
}

static void set_blocked(bool blocked) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigprocmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

/* Waits for a byte of input. Returns false after SIGINT or at the end of input. */
static bool next_byte(EditLine *editor, char *byte) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    sigset_t unblocked;
    sigprocmask(SIG_SETMASK, NULL, &unblocked);
    sigdelset(&unblocked, SIGINT);
    while (ppoll(&input, 1, NULL, &unblocked) < 0 && !interrupted)
        if (changed) { /* resized, or stopped and continued */
            changed = 0;
            el_set(editor, EL_PREP_TERM, 1);
            el_resize(editor);
            el_set(editor, EL_REFRESH);
        }
    return !interrupted && read(STDIN_FILENO, byte, 1) == 1;
}

static int next_character(EditLine *editor, wchar_t *character) {
    mbstate_t state = {0};
    char byte;
    while (next_byte(editor, &byte)) {
        if (byte == '\0') /* a Ctrl-D typed before the editor had set up the terminal */
            continue;
        size_t n = mbrtowc(character, &byte, 1, &state);
        if (n == (size_t)-1)
            memset(&state, 0, sizeof state); /* invalid UTF-8 is ignored */
        else if (n != (size_t)-2)
            return 1;
    }
    return -1;
}

static char *show_prompt(EditLine *editor) {
    static char first[] = "> ", further[] = "... ";
    const prompt *p;
    el_get(editor, EL_CLIENTDATA, &p);
    return p->open ? further : first;
}

static void catch_signals(void) {
    static const struct {
        int number;
        void (*handler)(int);
    } caught[] = {{SIGINT, on_interrupt}, {SIGCONT, on_change}, {SIGWINCH, on_change}};
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaction(caught[i].number,
                  &(struct sigaction){.sa_handler = caught[i].handler, .sa_flags = SA_RESTART},
                  NULL);
}

static void open_history(prompt *p) {
    const char *home = getenv("HOME");
    HistEvent event;
    snprintf(p->path, sizeof p->path, "%s/.lox_history", home ? home : ".");
    p->history = history_init();
    history(p->history, &event, H_SETSIZE, HISTORY_LINES);
    history(p->history, &event, H_SETUNIQUE, 1);
    history(p->history, &event, H_LOAD, p->path);
}

static void remember(prompt *p, const char *text) {
    HistEvent event;
    history(p->history, &event, H_ENTER, text);
    history(p->history, &event, H_SAVE, p->path);
}

static void open_terminal(prompt *p) {
    if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1)
        setlocale(LC_CTYPE, "C.UTF-8"); /* Lox source is UTF-8 */
    set_blocked(true);
    catch_signals();
    p->editor = el_init("lox", stdin, stdout, stderr);
    open_history(p);
    el_set(p->editor, EL_CLIENTDATA, p);
    el_set(p->editor, EL_PROMPT, show_prompt);
    el_set(p->editor, EL_EDITOR, "emacs");
    el_set(p->editor, EL_HIST, history, p->history);
    el_set(p->editor, EL_GETCFN, next_character);
    /* The wide version, as el_set would copy both strings and never free them. */
    el_wset(p->editor, EL_ADDFN, L"lox-complete", L"Complete a name", complete_name);
    el_set(p->editor, EL_BIND, "^I", "lox-complete", NULL);
    el_source(p->editor, NULL); /* reads ~/.editrc */
    puts("lox (allotrace) " ALLOTRACE_VERSION
         ". Tab completes, Ctrl-D ends it; lox --help lists options.");
}

static void close_terminal(prompt *p) {
    puts("");
    history_end(p->history);
    el_end(p->editor);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Returns a line with its newline; NULL at the end of input, and if `interrupted`. */
static const char *next_line(prompt *p) {
    int count;
    if (p->editor)
        return el_gets(p->editor, &count);
    return getline(&p->line, &p->capacity, stdin) < 0 ? NULL : p->line;
}

/* Returns `text` with another line appended; takes `text` over. */
static char *append(char *text, const char *line) {
    size_t n = text ? strlen(text) : 0, size = strlen(line) + 1;
    char *both = realloc(text, n + size);
    if (!both)
        abort();
    memcpy(both + n, line, size);
    return both;
}

/* Removes a newline at the end. Returns whether there was one. */
static bool chop(char *text) {
    size_t size = strlen(text);
    bool ends_line = size && text[size - 1] == '\n';
    if (ends_line)
        text[size - 1] = '\0';
    return ends_line;
}

/* Advances the position past an entry that is done. */
static void advance(prompt *p, bool ends_line) {
    if (p->editor)
        p->at = (lox_position){.line = 1};
    else if (ends_line)
        p->at.line++, p->at.character++;
}

static void run(prompt *p, lox_vm *vm, char *text) {
    bool ends_line = chop(text);
    if (p->editor && *text)
        remember(p, text);
    interrupted = 0;
    running = vm;
    if (p->editor)
        set_blocked(false);
    lox_status status = lox_run_typed(vm, "-", text, strlen(text), &p->at);
    if (p->editor)
        set_blocked(true);
    running = NULL;
    interrupted = 0;
    if (status == LOX_INTERRUPTED)
        fputs("\nInterrupted.\n", stderr);
    fflush(stdout);
    advance(p, ends_line);
    if (status && !p->status)
        p->status = status;
}

lox_status repl(lox_vm *vm) {
    prompt p = {.vm = vm, .at = {.line = 1}};
    char *text = NULL;
    const char *line;
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        open_terminal(&p);
    while (!lox_is_exhausted(vm) && ((line = next_line(&p)) || interrupted)) {
        if (interrupted) { /* the line is dropped */
            interrupted = 0;
            puts("^C");
        } else {
            text = append(text, line);
            p.open = is_open(text) ? text : NULL;
            if (p.open)
                continue;
            run(&p, vm, text);
        }
        free(text);
        p.open = text = NULL;
    }
    if (text)
        run(&p, vm, text); /* this reports what is missing */
    free(text);
    free(p.line);
    bool typed = p.editor != NULL;
    if (typed)
        close_terminal(&p);
    return typed && !lox_is_exhausted(vm) ? LOX_OK : p.status;
}
