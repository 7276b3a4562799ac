/* run_summary.c: reads each trace, adds up its sites over all traces, and keeps the profile of the
 * largest trace for further findings. */
#include "cli/run/run_summary.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/map64.h"
#include "base/path.h"
#include "base/shell.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/message.h"
#include "cli/run/run_findings.h"
#include "cli/trace_file.h"
#include "document/table.h"
#include "languages/language.h"
#include "query/figure.h"
#include "query/hotspots.h"
#include "query/libraries.h"
#include "query/unseen.h"
#include "trace/end.h"

enum {
    TOP_SITES = 3,
    MOST_FINDINGS = 3,   /* lines; with the total, the sites and the last line, six in all */
    TABLED = 1 << 20,    /* maximum size, in bytes, of an exact trace whose blocks are kept */
    NAMED_EACH = 3,      /* maximum number of traces that are listed one by one */
    SHOWN_FUNCTION = 56, /* bytes of a function's name */
};

/* A source location that allocates, with its bytes in all traces. */
typedef struct top_site {
    char *text;
    double bytes;
} top_site;

/* The sites of all traces of a run, those with the same text added up. */
typedef struct top_sites {
    VEC(top_site) all;
    map64 by_text; /* index of `all` by the hashes of their texts */
    double bytes;
} top_sites;

/* The sum over all traces of a run, and the profile of the largest. */
typedef struct summary {
    uint64_t samples, blocks, bytes;
    size_t n_unread;     /* traces that were not read; only their `blocks` and `bytes` are known */
    bool counts_remarks; /* `blocks` includes a few gauges and marks */
    size_t n_early;      /* traces whose recording ended before the program */
    size_t first_early;  /* the first of these; when and why it ended is below */
    uint64_t early_time;
    char early_reason[2 * MEMTRACE_MAX_REASON];
    figure total; /* allocated, in the traces that were read */
    double rate;  /* of the largest trace, as are the three fields below */
    size_t greatest;
    double greatest_value;
    profile *profile;    /* NULL: no trace was read */
    top_sites sites[2];  /* as they are, and with libraries hidden */
    double in_libraries; /* bytes of the traces of which libraries allocated most */
} summary;

/* Returns whether libraries are hidden. All traces are shown alike, because one command shows
 * them. */
static bool hides(const summary *s) {
    return s->in_libraries > s->sites[false].bytes / 2;
}

static bool read_profile(profile *p, const char *path) {
    trace_file in;
    if (trace_file_open(&in, path, NULL) != STATUS_OK)
        return false;
    /* The table of blocks shows what was live, but takes too long for very many blocks. */
    struct stat file;
    const bool is_small = memtrace_reader_info(in.reader)->sample_rate < 1 ||
                          (stat(path, &file) == 0 && file.st_size <= TABLED);
    memtrace_status status =
        profile_read(p, in.reader, &(profile_options){.keep_blocks = is_small});
    trace_file_close(&in);
    return status != MEMTRACE_NOMEM;
}

static void add_early(summary *s, size_t i, uint64_t time, const char *reason) {
    if (s->n_early++)
        return;
    s->first_early = i;
    s->early_time = time;
    snprintf(s->early_reason, sizeof s->early_reason, "%s", reason);
}

/* Returns the last two parts of a path, which are enough to recognize it. */
static const char *short_path(const char *path) {
    const char *last = strrchr(path, '/');
    const char *before = last ? memrchr(path, '/', (size_t)(last - path)) : NULL;
    return before ? before + 1 : path;
}

static void say_place(output *o, const profile_location *place) {
    const bool cut = strlen(place->function) > SHOWN_FUNCTION;
    const size_t size = cut ? utf8_whole(place->function, SHOWN_FUNCTION) : SHOWN_FUNCTION;
    char name[SHOWN_FUNCTION + 1];
    snprintf(name, sizeof name, "%.*s", (int)size, place->function);
    if (place->line) {
        output_shown(o, short_path(place->file));
        output_format(o, ":%" PRIu32 " ", place->line);
    }
    output_shown(o, name);
    if (cut)
        output_text(o, "…");
}

static void add_site(top_sites *sites, const hotspots_entry *e, double bytes, bool hides) {
    output o;
    uint32_t at;
    output_start(&o, OUTPUT_MEMORY);
    if (e->place)
        say_place(&o, e->place);
    else
        output_text(&o, hides ? TABLE_ALL_LIBRARIES : TABLE_NO_STACK);
    output_char(&o, '\0');
    if (!o.error && map64_number(&sites->by_text, hash_bytes(o.buffer, o.used), &at)) {
        if (at < sites->all.count)
            sites->all.items[at].bytes += bytes;
        else if (vec_push(&sites->all, ((top_site){.text = o.buffer, .bytes = bytes})))
            o.buffer = NULL;
    }
    free(o.buffer);
}

/* Adds the sites of a trace, and returns whether libraries allocated most of it. */
static bool add_sites(top_sites *sites, const profile *p, bool hides) {
    query_result q;
    hotspots h = {0};
    filter *hide = NULL;
    filter_error error;
    const bool ok = (!hides || filter_parse(LIBRARIES_HIDDEN, &hide, &error)) &&
                    query_run(&q, p, &(query_spec){.filter = hide});
    const bool in_libraries = ok && libraries_hold_most(&q);
    if (ok && hotspots_query(&q, HOTSPOTS_BY_LINE, &h))
        for (size_t i = 0; i < h.sites.count; i++) {
            const hotspots_entry *e = &h.sites.items[i].entry;
            add_site(sites, e, figure_of(p, e->cost.samples).value, hides);
        }
    sites->bytes += figure_of(p, h.total.samples).value;
    hotspots_free(&h);
    if (ok)
        query_free(&q);
    filter_free(hide);
    return in_libraries;
}

static void free_sites(top_sites *sites) {
    for (size_t i = 0; i < sites->all.count; i++)
        free(sites->all.items[i].text);
    vec_free(&sites->all);
    map64_free(&sites->by_text);
}

static void add_trace(summary *s, const run_traces *t, size_t i, profile *p) {
    struct stat status;
    uint64_t samples = 0;
    for (int source = 0; source < CCT_SOURCES; source++) {
        samples += p->samples[source];
        s->blocks += p->blocks[source];
    }
    if (profile_ends_early(p))
        add_early(s, i, p->end.time, p->end.reason);
    figure f = figure_of(p, samples);
    s->samples += samples;
    s->total = s->profile ? figure_sum(s->total, f) : f;
    s->bytes += stat(t->all.items[i].path, &status) == 0 ? (uint64_t)status.st_size : 0;
    const bool in_libraries = add_sites(&s->sites[false], p, false);
    s->in_libraries += in_libraries ? f.value : 0;
    if (in_libraries || t->all.count > 1) /* a single trace decides at once */
        add_sites(&s->sites[true], p, true);
    if (s->profile && f.value <= s->greatest_value) {
        profile_free(p);
        free(p);
        return;
    }
    if (s->profile)
        profile_free(s->profile);
    free(s->profile);
    s->profile = p;
    s->greatest = i;
    s->greatest_value = f.value;
    s->rate = p->info.sample_rate;
}

/* Adds the totals of a trace that is too large to be read. Returns false if the trace has to be
 * read. */
static bool add_unread(summary *s, const run_traces *t, size_t i) {
    struct stat status;
    const run_trace *trace = &t->all.items[i];
    if (!trace->n_allocations)
        return false;
    if (!s->profile && !s->n_unread)
        s->greatest = i;
    s->n_unread++;
    s->counts_remarks |= trace->counts_remarks;
    if (end_is_missing(&trace->end)) {
        char why[2 * MEMTRACE_MAX_REASON];
        end_explain(&trace->end, why, sizeof why);
        add_early(s, i, trace->end.time, why);
    }
    s->blocks += trace->n_allocations;
    s->bytes += stat(trace->path, &status) == 0 ? (uint64_t)status.st_size : 0;
    return true;
}

static void summarize(summary *s, const run_traces *t) {
    for (size_t i = 0; i < t->all.count; i++) {
        if (add_unread(s, t, i))
            continue;
        profile *p = calloc(1, sizeof *p);
        if (p && read_profile(p, t->all.items[i].path))
            add_trace(s, t, i, p);
        else
            free(p);
    }
}

/* Ends the line with the totals: says where the traces are. */
static void say_where(output *o, const summary *s, const run_traces *t) {
    if (t->all.count > 1) {
        output_format(o, "by %zu programs", t->all.count);
    } else {
        output_text(o, "into ");
        output_shown(o, t->all.items[0].path);
    }
    output_format(o, ", %s", figure_bytes((double)s->bytes).text);
    if (t->replaced && t->all.count == 1)
        output_format(o, ", in place of the one of %s", figure_date(t->replaced).text);
    output_char(o, '\n');
}

static bool any_earlier(const run_traces *t) {
    for (size_t i = 0; i < t->all.count; i++)
        if (t->all.items[i].earlier)
            return true;
    return false;
}

/* Says why there are more traces than the user asked for: exec. */
static void say_earlier(output *o, const run_traces *t) {
    size_t n = 0, first = 0, last = 0;
    for (size_t i = t->all.count; i-- > 0;)
        if (t->all.items[i].earlier) {
            n++;
            first = i;
        } else {
            last = i;
        }
    if (n == 0)
        return;
    output_text(o, "allotrace: ");
    if (n + 1 == t->all.count) {
        output_text(o, "one process ran them in turn (exec): ");
        output_shown(o, t->all.items[first].path);
        output_text(o, " is the first, ");
        output_shown(o, t->all.items[last].path);
        output_text(o, " the last\n");
    } else {
        output_format(o,
                      "%s of them ran another program (exec); their traces have a number before "
                      ".ctf, such as ",
                      figure_count(n).text);
        output_shown(o, t->all.items[first].path);
        output_char(o, '\n');
    }
}

/* At rate 1, whether all allocations were recorded, or up to when. */
static figure_range all_or_part(const summary *s) {
    figure_range r = {"every allocation,"};
    if (s->n_early)
        snprintf(r.text, sizeof r.text, "the allocations up to %s%s,",
                 figure_duration(s->early_time).text,
                 s->n_early > 1 ? " (of the first that ended)" : "");
    return r;
}

static void say_early(output *o, const summary *s, const run_traces *t) {
    if (!s->n_early)
        return;
    output_text(o, "allotrace: ");
    output_shown(o, t->all.items[s->first_early].path);
    output_format(o, " ends early, at %s: ", figure_duration(s->early_time).text);
    output_shown(o, s->early_reason);
    if (s->n_early > 1)
        output_format(o, "; %zu more also end early", s->n_early - 1);
    output_char(o, '\n');
}

static void say_total(output *o, const summary *s, const run_traces *t) {
    if (s->n_unread)
        output_format(o, "allotrace: recorded %s %s%s blocks, ", all_or_part(s).text,
                      s->counts_remarks ? "about " : "", figure_count(s->blocks).text);
    else if (s->rate == 1)
        output_format(o, "allotrace: recorded %s %s in %s block%s, ", all_or_part(s).text,
                      figure_bytes(s->total.value).text, figure_count(s->blocks).text,
                      s->blocks == 1 ? "" : "s");
    else
        output_format(o, "allotrace: recorded %s (%s, %s sample%s in %s block%s at rate %s) ",
                      figure_bytes(s->total.value).text, figure_margin(&s->total).text,
                      figure_count(s->samples).text, s->samples == 1 ? "" : "s",
                      figure_count(s->blocks).text, s->blocks == 1 ? "" : "s",
                      figure_rate(s->rate).text);
    say_where(o, s, t);
    say_early(o, s, t);
}

static int compare_sites(const void *a, const void *b) {
    const top_site *x = a, *y = b;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static void say_top_sites(output *o, summary *s, const char *traces) {
    top_sites *sites = &s->sites[hides(s)];
    if (sites->all.count == 0)
        return;
    qsort(sites->all.items, sites->all.count, sizeof *sites->all.items, compare_sites);
    output_text(o, "allotrace: top sites:");
    for (size_t i = 0; i < sites->all.count && i < TOP_SITES; i++)
        output_format(o, "%s %.1f%% %s", i ? ";" : "",
                      sites->all.items[i].bytes / sites->bytes * 100, sites->all.items[i].text);
    output_format(o, ": allotrace hotspots %s%s\n",
                  hides(s) ? "--filter " LIBRARIES_HIDDEN " " : "", traces);
}

static void say_quoted(output *o, const char *path) {
    char *word = shell_word(path);
    output_shown(o, word ? word : path);
    free(word);
}

static char *words_of_each(const run_traces *t) {
    char *all = NULL;
    for (size_t i = 0; i < t->all.count; i++)
        all = shell_add_word(all, t->all.items[i].path);
    return all;
}

/* Names all traces of a run as words of a shell command: by a pattern, if it matches exactly these;
 * one by one, if they are few. Otherwise returns NULL. */
static char *words_of_all(const run_traces *t) {
    glob_t found = {0};
    const bool is_exact =
        t->glob && glob(t->glob, 0, NULL, &found) == 0 && found.gl_pathc == t->all.count;
    globfree(&found);
    return is_exact ? shell_word(t->glob) : t->all.count <= NAMED_EACH ? words_of_each(t) : NULL;
}

/* Prints the findings, each with the command that shows more. The top sites are those of all
 * traces, other findings those of the largest. */
static void say_findings(output *o, summary *s, const run_traces *t, size_t lines) {
    const bool several = t->all.count > 1;
    const char *path = t->all.items[s->greatest].path;
    char *word = shell_word(path), *all = several ? words_of_all(t) : NULL;
    const char *trace = word ? word : path;
    if (!s->n_unread)
        say_top_sites(o, s, all ? all : trace);
    const bool said =
        !s->n_unread && run_findings_say(o, s->profile, trace, several, hides(s), lines);
    output_format(o, "allotrace: %s: allotrace ", said ? "look closer" : "peak, growth, advice");
    output_shown(o, all ? all : trace);
    output_char(o, '\n');
    free(word);
    free(all);
}

/* No sample does not mean no allocation: says how much may have been allocated, and what to do. */
static void say_nothing(output *o, const summary *s, const run_traces *t, run_summary_how how) {
    double most = figure_of(s->profile, 0).high;
    if (s->n_early) { /* the trace is incomplete, so nothing is known about the amount */
        output_text(o, "allotrace: recorded nothing ");
        say_where(o, s, t);
        say_early(o, s, t);
        return;
    }
    output_format(o, "allotrace: recorded no %s at rate %s ", most > 0 ? "sample" : "allocation",
                  figure_rate(s->rate).text);
    say_where(o, s, t);
    if (most > 0)
        output_format(o, "allotrace: %s allocated less than about %s %s%s\n",
                      t->all.count > 1 ? "each" : "it", figure_bytes(most).text,
                      !how.from_start ? "of recorded memory while attached"
                      : how.left_out  ? "itself"
                                      : "in all",
                      how.left_out ? "" : "; --rate 1 records every allocation");
}

/* If malloc sees only a small part of the program's memory, percentages of it would mislead. */
static void hint_unseen(const profile *p) {
    unseen u;
    if (!unseen_find(p, &u))
        return;
    const char *setting = languages_whole_malloc(path_base(p->info.executable_name));
    message_hint("the program held %s, but at most %s of it is recorded; it mapped the rest "
                 "directly, which --mmap records%s%s%s",
                 figure_bytes(u.held).text, figure_bytes(u.recorded).text, setting ? "; with " : "",
                 setting ? setting : "",
                 setting ? " in its environment, it takes all memory from malloc" : "");
}

/* Returns whether a runtime's heap, which itself comes from malloc, is recorded together with
 * malloc. */
static bool counts_twice(const summary *s, run_summary_how how) {
    return s->profile && how.counted_twice && s->profile->samples[MEMTRACE_MINOR] > 0;
}

/* Counts the lines of the summary that are about the recording, not about its content. */
static size_t count_notes(const run_traces *t, const summary *s, run_summary_how how) {
    const bool hints =
        s->profile &&
        ((how.from_start && !how.told && !how.mapped && unseen_find(s->profile, &(unseen){0})) ||
         counts_twice(s, how));
    return any_earlier(t) + (s->n_early > 0) + how.killed + (how.n_silent > 0) +
           (how.left_out && !how.told) + hints;
}

static void say_summary(const run_traces *t, run_summary_how how) {
    summary s = {0};
    output o;
    output_start(&o, OUTPUT_MEMORY);
    summarize(&s, t);
    if (s.profile && !s.n_unread && !s.samples) {
        if (!how.told)
            say_nothing(&o, &s, t, how);
    } else if (s.profile || s.n_unread) {
        say_total(&o, &s, t);
        say_earlier(&o, t);
        say_findings(&o, &s, t, MOST_FINDINGS - count_notes(t, &s, how));
    }
    if (how.n_silent)
        output_format(&o, "allotrace: %s more program%s had no samples and left no trace\n",
                      figure_count(how.n_silent).text, how.n_silent == 1 ? "" : "s");
    if (how.left_out && !how.told) {
        output_text(&o, "allotrace: child processes were not recorded; to record each, use -o ");
        say_quoted(&o, how.left_out);
        output_char(&o, '\n');
    }
    message_lines(&o);
    if (s.profile && how.from_start && !how.told && !how.mapped)
        hint_unseen(s.profile);
    if (counts_twice(&s, how))
        message_hint("%s", how.counted_twice);
    if (s.profile)
        profile_free(s.profile);
    free(s.profile);
    free_sites(&s.sites[false]);
    free_sites(&s.sites[true]);
}

void run_summary_report(const run_traces *t, run_summary_how how) {
    if (!how.quiet)
        say_summary(t, how);
}
