/* top_view.c: everything shown is a document of src/reports. It is rendered as text for the width
 * of the screen, and put there line by line. */
#include "cli/top/top_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"
#include "cli/top/top_screen.h"
#include "platform/clock.h"
#include "query/sites.h"
#include "render/render.h"
#include "reports/activity.h"
#include "reports/hotspots.h"

enum {
    WINDOW_S = 10, /* seconds over which rates and growth are measured */
    STEP_MS = 100,
    FRESH_MS = 1000,     /* interval at which the numbers of a running program are updated */
    COST_OF_QUERIES = 5, /* queries take at most one part in so many of the time */
    TYPED_MAX = 200,
    LINES_FOR_GAP = 16,   /* no empty line is shown on screens with fewer lines */
    ROWS_FOR_UNITS = 500, /* columns have units that suit as many rows, so that scrolling does not
                             change them */
};

typedef enum top_mode { MODE_TABLE, MODE_CALLERS, MODE_HELP, MODE_FILTER } top_mode;

/* A site, independent of the reading in which it was selected. */
typedef struct top_site {
    char *file, *function; /* NULL: blocks without a backtrace */
    uint32_t line;
} top_site;

struct top_view {
    viewer *viewer;
    struct clock_anchor began; /* when the table was opened */
    top_mode mode;
    activity_order order;
    filter *filter;
    char filter_text[TYPED_MAX + 1], typed[TYPED_MAX + 1];
    char problem[256]; /* what is wrong with the filter; empty: nothing */
    size_t selected, first;
    top_site site; /* the site whose callers are shown */
    size_t scrolled;

    /* The numbers on the screen. */
    reading *reading; /* NULL: none yet */
    query_result query;
    report report;
    activity activity;
    activity_report head;
    uint64_t asked_ms, cost_ms;
    bool is_stale; /* the sort order or filter has changed, so the query must be repeated */
    bool is_drawn;
    unsigned lines, columns;
};

/* ---- the numbers ------------------------------------------------------------------------- */

static void forget(top_view *t) {
    if (!t->reading)
        return;
    activity_free(&t->activity);
    query_free(&t->query);
    reading_release(t->reading);
    t->reading = NULL;
}

static bool is_running(const reading *r) {
    return r->state == READING_GROWING;
}

/* Returns the current time of the program, in microseconds since the start. While it runs, that is
 * later than its last event. If the wall clock is set meanwhile, nothing changes. */
static uint64_t time_of(const top_view *t, const reading *r) {
    const uint64_t wall = clock_anchored_us(t->began, clock_monotonic_us());
    const uint64_t start = r->profile.info.start_time, end = r->profile.duration;
    return is_running(r) && wall > start && wall - start > end ? wall - start : end;
}

/* Queries a reading, and takes ownership of it. */
static bool ask(top_view *t, reading *r) {
    const query_spec spec = {.filter = t->filter, .keep_rows = true};
    const uint64_t to = time_of(t, r), window = UINT64_C(1000000) * WINDOW_S;
    filter_error error;
    forget(t);
    t->reading = r;
    *t->problem = '\0';
    if (t->filter && !filter_fits(t->filter, &r->profile, &error)) {
        snprintf(t->problem, sizeof t->problem, "%s", error.reason);
        filter_free(t->filter);
        t->filter = NULL;
        *t->filter_text = '\0';
        return ask(t, r);
    }
    if (!query_run(&t->query, &r->profile, &spec))
        return false;
    t->report = (report){.query = &t->query, .figures = &r->figures};
    if (!activity_query(&t->query, to > window ? to - window : 0, to + !to, t->order,
                        &t->activity)) {
        query_free(&t->query);
        return false;
    }
    t->head = (activity_report){.report = &t->report,
                                .activity = &t->activity,
                                .order = t->order,
                                .is_running = is_running(r),
                                .is_cut = t->head.is_cut,
                                .pid = r->profile.info.pid,
                                .time = to,
                                .peak = t->filter || !profile_has_times(&r->profile)
                                            ? (blocks_most){.samples = 0}
                                            : r->peak};
    return true;
}

static bool is_due(const top_view *t, const reading *r) {
    const uint64_t since = clock_monotonic_ms() - t->asked_ms;
    if (!t->reading || t->is_stale)
        return true;
    return since >= t->cost_ms * COST_OF_QUERIES &&
           (r->serial != t->reading->serial || (is_running(r) && since >= FRESH_MS));
}

/* Updates the numbers if that is due. Returns whether they may have changed. */
static bool refresh_numbers(top_view *t) {
    reading *r = viewer_take(t->viewer, 0, false);
    if (!r || !reading_has_blocks(r) || !is_due(t, r)) {
        reading_release(r);
        return false;
    }
    t->asked_ms = clock_monotonic_ms();
    if (!ask(t, r)) {
        t->reading = NULL;
        reading_release(r);
    }
    t->cost_ms = clock_monotonic_ms() - t->asked_ms;
    t->is_stale = false;
    return true;
}

/* Updates whether the trace could be read on. Returns whether that has changed. */
static bool refresh_cut(top_view *t) {
    const bool before = t->head.is_cut;
    t->head.is_cut = viewer_has_failed(t->viewer, 0);
    return t->head.is_cut != before;
}

/* ---- lines ------------------------------------------------------------------------------- */

static bool next_line(const char **at, const char *end, const char **line, size_t *size) {
    if (*at >= end)
        return false;
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    *line = *at;
    *size = (size_t)((newline ? newline : end) - *at);
    *at = newline ? newline + 1 : end;
    return true;
}

static void render(const top_view *t, document *d, output *o) {
    const text_style style = {.color = true, .columns = t->columns};
    output_start(o, OUTPUT_MEMORY);
    if (!d->failed)
        render_text(o, d, &style);
}

/* Puts phrases next to each other, as many as fit on a line. Returns the number of the line after
 * them. */
static unsigned put_phrases(const top_view *t, unsigned y, const char *at, const char *end) {
    static const char gap[] = "   ";
    const char *phrase;
    size_t size, used = 0;
    output o;
    output_start(&o, OUTPUT_MEMORY);
    while (next_line(&at, end, &phrase, &size)) {
        const size_t wide = utf8_columns(phrase, size);
        if (used > 0 && used + sizeof gap - 1 + wide > t->columns) {
            top_screen_line(y++, o.buffer, o.used, LOOK_PLAIN);
            o.used = used = 0;
        }
        output_text(&o, used ? gap : "");
        output_bytes(&o, phrase, size);
        used += wide + (used ? sizeof gap - 1 : 0);
    }
    if (used > 0 && !o.error)
        top_screen_line(y++, o.buffer, o.used, LOOK_PLAIN);
    output_finish(&o);
    return y;
}

static void put_text(unsigned y, const char *text, top_look look) {
    top_screen_line(y, text, strlen(text), look);
}

/* Puts the first line of the document on a line of its own, and the others as phrases. */
static unsigned put_head(const top_view *t) {
    document d = {0};
    output o;
    unsigned y = 0;
    const char *line;
    size_t size;
    activity_head(&d, &t->head);
    if (*t->filter_text)
        document_note(&d, "filter: %s", t->filter_text);
    render(t, &d, &o);
    const char *at = o.buffer, *end = o.buffer + o.used;
    if (!o.error && next_line(&at, end, &line, &size)) {
        top_screen_line(y++, line, size, LOOK_PLAIN);
        y = put_phrases(t, y, at, end);
    }
    output_finish(&o);
    document_free(&d);
    if (t->lines >= LINES_FOR_GAP)
        put_text(y++, "", LOOK_PLAIN);
    return y;
}

static void put_keys(const top_view *t) {
    static const char *const of_table[] = {"q quit",   "h help",   "enter callers",
                                           "/ filter", "l live",   "a allocated",
                                           "r rate",   "g growth", NULL};
    static const char *const of_rest[] = {"q quit", "esc back", NULL};
    const char *const *keys = t->mode == MODE_TABLE ? of_table : of_rest;
    char bar[200] = "";
    size_t used = 0;
    for (; *keys && used + strlen(*keys) + 3 < sizeof bar; keys++)
        if (used + strlen(*keys) + 2 <= t->columns)
            used += (size_t)snprintf(bar + used, sizeof bar - used, " %s ", *keys);
    put_text(t->lines - 1, bar, LOOK_BAR);
}

/* Puts the last line: the filter being typed, an error in it, or the keys. */
static void put_foot(const top_view *t) {
    char text[TYPED_MAX + sizeof t->problem + 60];
    if (t->mode == MODE_FILTER)
        snprintf(text, sizeof text, "/%s▏  %s", t->typed,
                 *t->problem ? t->problem
                             : "Enter applies, Esc cancels; for example parse or size:>=1K");
    else if (*t->problem)
        snprintf(text, sizeof text, "filter: %s", t->problem);
    else {
        put_keys(t);
        return;
    }
    put_text(t->lines - 1, text, t->mode == MODE_FILTER ? LOOK_BAR : LOOK_TITLES);
}

/* ---- modes ------------------------------------------------------------------------------- */

static size_t rows_between(const top_view *t, unsigned y) {
    return t->lines > y + 2 ? t->lines - y - 2 : 0; /* titles and keys take a line each */
}

static void keep_in_sight(top_view *t, size_t room) {
    const size_t n = t->activity.sites.count;
    if (t->selected >= n)
        t->selected = n ? n - 1 : 0;
    if (t->selected < t->first)
        t->first = t->selected;
    if (room && t->selected >= t->first + room)
        t->first = t->selected - room + 1;
}

static void put_table(top_view *t, unsigned y) {
    const size_t room = rows_between(t, y);
    const char *line;
    size_t size;
    document d = {0};
    output o;
    keep_in_sight(t, room);
    t->head.width = t->columns;
    t->head.shown = t->first + room > ROWS_FOR_UNITS ? t->first + room : ROWS_FOR_UNITS;
    activity_rows(&d, &t->head);
    render(t, &d, &o);
    const char *at = o.buffer, *end = o.buffer + o.used;
    if (t->activity.sites.count == 0)
        put_text(y++, *t->filter_text ? "Nothing matches the filter so far." : "No samples so far.",
                 LOOK_PLAIN);
    for (size_t i = 0; !o.error && next_line(&at, end, &line, &size); i++)
        if (i == 0)
            top_screen_line(y++, line, size, LOOK_TITLES);
        else if (i > t->first && y + 1 < t->lines)
            top_screen_line(y++, line, size, i - 1 == t->selected ? LOOK_SELECTED : LOOK_PLAIN);
    output_finish(&o);
    document_free(&d);
    top_screen_clear_from(y);
}

static bool is_site(const top_site *s, const profile_location *place) {
    if (!place || !s->function)
        return !place && !s->function;
    return place->line == s->line && strcmp(place->file, s->file) == 0 &&
           strcmp(place->function, s->function) == 0;
}

/* Adds the selected site with its callers, as `allotrace hotspots` shows it, by live or by
 * allocated memory. */
static void add_callers(const top_view *t, const query_result *q, hotspots *h, document *d,
                        hotspots_report *r, report *of) {
    *of = (report){.query = q, .figures = &t->reading->figures};
    *r = (hotspots_report){.report = of, .hotspots = h, .view = {.callers = SIZE_MAX}};
    table rows = hotspots_table(r);
    for (size_t i = 0; i < h->sites.count; i++) {
        if (!is_site(&t->site, h->sites.items[i].entry.place))
            continue;
        rows.rows = &h->sites.items[i];
        rows.n = 1;
        document_rows(d, &rows, IN_ALL, NULL);
        return;
    }
    document_note(d, "This site has nothing at the moment.");
}

static void put_scrolled(top_view *t, unsigned y, const output *o) {
    const char *at = o->buffer, *end = o->buffer + o->used, *line;
    size_t size;
    for (size_t i = 0; next_line(&at, end, &line, &size); i++)
        if (i == 0)
            top_screen_line(y++, line, size, LOOK_TITLES);
        else if (i > t->scrolled && y + 1 < t->lines)
            top_screen_line(y++, line, size, LOOK_PLAIN);
    top_screen_clear_from(y);
}

static void put_callers(top_view *t, unsigned y) {
    const bool is_live = t->order == ACTIVITY_BY_LIVE || t->order == ACTIVITY_BY_GROWTH;
    const query_spec spec = {.filter = t->filter,
                             .measure = is_live ? MEASURE_LIVE : MEASURE_ALLOCATED,
                             .moment = QUERY_END,
                             .lens = &t->query.lens};
    query_result q;
    hotspots h;
    hotspots_report r;
    report of;
    document d = {0};
    output o;
    put_text(y++, is_live ? "Callers, by live memory" : "Callers, by allocated memory", LOOK_PLAIN);
    if (!query_run(&q, &t->reading->profile, &spec))
        return;
    if (hotspots_query(&q, HOTSPOTS_BY_LINE, &h)) {
        add_callers(t, &q, &h, &d, &r, &of);
        render(t, &d, &o);
        if (!o.error)
            put_scrolled(t, y, &o);
        output_finish(&o);
        document_free(&d);
        hotspots_free(&h);
    }
    query_free(&q);
}

static void put_help(const top_view *t, unsigned y) {
    static const char *const lines[] = {
        "  l a r g     sort by live, allocated, rate or growth",
        "  ↑ ↓         select a site (also j, k, Page Up, Page Down, Home, End)",
        "  enter       show the callers of the selected site",
        "  /           filter, such as parse, file:json.c, size:>=1K or -fn:cache",
        "  esc         go back; in the table: remove the filter",
        "  q, Ctrl-C   quit",
        "",
        "  live        bytes allocated and not yet freed",
        "  allocated   bytes since the recording began",
        "  rate        bytes allocated in the last 10 s, per second",
        "  growth      change of live in the last 10 s",
        "  ±           95% confidence interval of sampling; faint rows are uncertain",
        NULL,
    };
    for (const char *const *line = lines; *line && y + 1 < t->lines; line++)
        put_text(y++, *line, LOOK_PLAIN);
    top_screen_clear_from(y);
}

static void put_waiting(const top_view *t) {
    const viewer_trace *trace = &t->viewer->traces[0];
    char text[200];
    put_text(0, trace->name, LOOK_PLAIN);
    if (viewer_has_failed(t->viewer, 0))
        snprintf(text, sizeof text, "Cannot read the trace.");
    else if (trace->progress > 0)
        snprintf(text, sizeof text, "Reading: %.0f%%", 100 * trace->progress);
    else
        snprintf(text, sizeof text, "Waiting for the first samples.");
    put_text(1, text, LOOK_PLAIN);
    top_screen_clear_from(2);
}

static void draw(top_view *t) {
    if (!t->reading) {
        put_waiting(t);
    } else {
        const unsigned y = put_head(t);
        if (t->mode == MODE_HELP)
            put_help(t, y);
        else if (t->mode == MODE_CALLERS)
            put_callers(t, y);
        else
            put_table(t, y);
    }
    if (t->lines > 0)
        put_foot(t);
    top_screen_show();
}

/* ---- keys -------------------------------------------------------------------------------- */

static void free_site(top_site *s) {
    free(s->file);
    free(s->function);
    *s = (top_site){0};
}

static void open_callers(top_view *t) {
    if (!t->reading || t->selected >= t->activity.sites.count)
        return;
    const profile_location *place = t->activity.sites.items[t->selected].place;
    free_site(&t->site);
    t->scrolled = 0;
    t->mode = MODE_CALLERS;
    if (place)
        t->site = (top_site){
            .file = strdup(place->file), .function = strdup(place->function), .line = place->line};
    if (place && !(t->site.file && t->site.function))
        t->mode = MODE_TABLE;
}

/* Parses a filter. For convenience, text that is not a term stands for a part of a function's
 * name. */
static bool parse_filter(char text[TYPED_MAX + 1], filter **f, filter_error *error) {
    char name[TYPED_MAX + 8];
    if (filter_parse(text, f, error))
        return true;
    const int n = snprintf(name, sizeof name, "fn:%s", text);
    if (strchr(text, ':') || n > TYPED_MAX || !filter_parse(name, f, &(filter_error){0}))
        return false;
    memcpy(text, name, (size_t)n + 1);
    return true;
}

/* Sets a filter; an empty text removes it. */
static void set_filter(top_view *t, const char *typed) {
    filter *f = NULL;
    filter_error error;
    char text[TYPED_MAX + 1];
    snprintf(text, sizeof text, "%s", typed);
    *t->problem = '\0';
    if (*text && !parse_filter(text, &f, &error)) {
        snprintf(t->problem, sizeof t->problem, "%s", error.reason);
        return;
    }
    filter_free(t->filter);
    t->filter = f;
    snprintf(t->filter_text, sizeof t->filter_text, "%s", text);
    t->mode = MODE_TABLE;
    t->is_stale = true;
    t->selected = t->first = 0;
}

static void type(top_view *t, int key) {
    size_t n = strlen(t->typed);
    if (key == TOP_KEY_ENTER) {
        set_filter(t, t->typed);
    } else if (key == TOP_KEY_ESCAPE) {
        t->mode = MODE_TABLE;
        *t->problem = '\0';
    } else if (key == TOP_KEY_ERASE) {
        t->typed[n ? utf8_whole(t->typed, n - 1) : 0] = '\0';
    } else if (key >= ' ' && key < 256 && n < TYPED_MAX) {
        t->typed[n] = (char)key;
        t->typed[n + 1] = '\0';
    }
}

static void sort_by(top_view *t, activity_order order) {
    t->is_stale |= t->order != order;
    t->order = order;
    t->selected = t->first = 0;
}

/* Moves the selection, or scrolls. */
static void move_by(top_view *t, long rows) {
    size_t *at = t->mode == MODE_CALLERS ? &t->scrolled : &t->selected;
    *at = rows < 0 && *at < (size_t)-rows ? 0 : *at + (size_t)rows;
}

static void move(top_view *t, int key) {
    const long page = t->lines > 6 ? (long)t->lines - 6 : 1;
    const long all = (long)t->activity.sites.count;
    move_by(t, key == TOP_KEY_UP || key == 'k'     ? -1
               : key == TOP_KEY_DOWN || key == 'j' ? 1
               : key == TOP_KEY_PAGE_UP            ? -page
               : key == TOP_KEY_PAGE_DOWN          ? page
               : key == TOP_KEY_HOME               ? -all - (long)t->scrolled
                                                   : all);
}

static void go_back(top_view *t) {
    if (t->mode == MODE_TABLE && *t->filter_text)
        set_filter(t, "");
    t->mode = MODE_TABLE;
    *t->problem = '\0';
}

/* Executes a key. Returns false if the user quits. */
static bool obey(top_view *t, int key) {
    static const char sorts[ACTIVITY_N_ORDERS] = "larg";
    const char *sort = key > 0 && key < 256 ? memchr(sorts, key, sizeof sorts) : NULL;
    if (t->mode == MODE_FILTER) {
        type(t, key);
        return true;
    }
    if (key == 'q' || key == 'Q')
        return false;
    if (sort)
        sort_by(t, (activity_order)(sort - sorts));
    else if (key == 'h' || key == '?')
        t->mode = t->mode == MODE_HELP ? MODE_TABLE : MODE_HELP;
    else if (key == '/') {
        t->mode = MODE_FILTER;
        snprintf(t->typed, sizeof t->typed, "%s", t->filter_text);
    } else if (key == TOP_KEY_ESCAPE || (key == TOP_KEY_ENTER && t->mode != MODE_TABLE))
        go_back(t);
    else if (key == TOP_KEY_ENTER)
        open_callers(t);
    else if (key == TOP_KEY_UP || key == TOP_KEY_DOWN || key == 'j' || key == 'k' ||
             (key >= TOP_KEY_PAGE_UP && key <= TOP_KEY_END))
        move(t, key);
    return true;
}

bool top_view_step(top_view *t) {
    const bool resized = top_screen_size(&t->lines, &t->columns);
    const bool newer = refresh_numbers(t), cut = refresh_cut(t);
    if (resized || newer || cut || !t->is_drawn || !t->reading)
        draw(t);
    t->is_drawn = true;
    const int key = top_screen_key(STEP_MS);
    if (key == TOP_KEY_NONE)
        return true;
    t->is_drawn = false;
    return key != TOP_KEY_GONE && obey(t, key);
}

/* ---- beginning and end ------------------------------------------------------------------- */

top_view *top_view_new(viewer *v, const top_options *options) {
    top_view *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->viewer = v;
    t->began = clock_anchor_now();
    t->order = (activity_order)options->order;
    if (options->filter)
        set_filter(t, options->filter);
    return t;
}

void top_view_free(top_view *t) {
    if (!t)
        return;
    forget(t);
    filter_free(t->filter);
    free_site(&t->site);
    free(t);
}
