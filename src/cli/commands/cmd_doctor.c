/* cmd_doctor.c: `allotrace doctor FILE`: lists all defects of a trace, and writes a repaired
 * copy. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/origin.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/trace_file.h"
#include "render/figures.h"
#include "render/output.h"
#include "trace/rewrite.h"

enum { SHOWN_OF_A_KIND = 5 };

typedef struct doctor_options {
    const char *output;
    bool all;
} doctor_options;

static const doctor_options defaults = {0};

static const option options[] = {
    {.name = "all",
     OPTION_SETS(FLAG, doctor_options, all),
     .help = "list every defect, instead of the first five of each kind"},
    {.name = "output",
     .letter = 'o',
     OPTION_TAKES(FILE, doctor_options, output, "OUT"),
     .help = "write everything usable to OUT as a clean trace"},
};

static const char *const defect_texts[] = {
#define DEFECT_TEXT(name, text) [MEMTRACE_DEFECT_##name] = text,
    MEMTRACE_DEFECTS(DEFECT_TEXT)
#undef DEFECT_TEXT
};

typedef struct examination {
    output *out;
    bool all;     /* list every defect */
    bool is_copy; /* a repaired copy: statements that events are missing are not defects */
    bool lacks;   /* the trace states that events are missing */
    uint64_t counts[MEMTRACE_N_DEFECTS];
    uint64_t events, duration; /* readable events; duration in microseconds */
} examination;

static void list_defect(void *context, memtrace_defect defect, uint64_t offset,
                        const char *detail) {
    examination *x = context;
    const bool says_so = defect == MEMTRACE_DEFECT_ENDS_EARLY || defect == MEMTRACE_DEFECT_GAP;
    x->lacks |= says_so;
    if (x->is_copy && says_so)
        return;
    x->counts[defect]++;
    if (!x->all && x->counts[defect] > SHOWN_OF_A_KIND)
        return;
    output_format(x->out, "byte %" PRIu64 ": %s", offset, defect_texts[defect]);
    if (detail[0]) {
        output_text(x->out, " (");
        output_shown(x->out, detail);
        output_char(x->out, ')');
    }
    output_char(x->out, '\n');
}

/* Reports defects found while the trace was opened, and then further ones as they are found. */
static void watch(examination *x, trace_file *in) {
    size_t n;
    trace_file_printed(in);
    const memtrace_warning *met = memtrace_reader_warnings(in->reader, &n);
    for (size_t i = 0; i < n; i++) {
        list_defect(x, met[i].defect, met[i].first_offset, "");
        x->counts[met[i].defect] += met[i].count - 1;
    }
    memtrace_reader_on_defect(in->reader, list_defect, x);
}

/* Reads a trace to its end. */
static int examine(examination *x, trace_file *in) {
    memtrace_event event;
    memtrace_status status;
    watch(x, in);
    while ((status = memtrace_reader_next(in->reader, &event)) == MEMTRACE_OK)
        x->events++;
    x->duration = memtrace_reader_duration(in->reader);
    progress_end();
    return status == MEMTRACE_END ? STATUS_OK : trace_file_report(in, status);
}

/* Reads the repaired trace. It must have no defects, and tells how many events could be read. */
static int check_repaired(examination *x, const char *path) {
    trace_file repaired;
    examination again = {.out = x->out, .all = true, .is_copy = true};
    int status = trace_file_open(&repaired, path, NULL);
    if (status != STATUS_OK)
        return status;
    status = examine(&again, &repaired);
    trace_file_close(&repaired);
    x->events = again.events;
    x->duration = again.duration;
    x->lacks = again.lacks;
    for (int i = 0; i < MEMTRACE_N_DEFECTS; i++)
        if (again.counts[i])
            return message_error("%s: still has defects; please report this as a bug", path);
    return status;
}

static int repair(examination *x, trace_file *in, const char *path) {
    memtrace_error error;
    watch(x, in);
    memtrace_status status = rewrite_to_file(in->reader, NULL, path, &error);
    if (status == MEMTRACE_OK)
        return check_repaired(x, path);
    if (memtrace_reader_error(in->reader)->status != MEMTRACE_OK)
        return trace_file_report(in, status);
    return message_error("%s: cannot write: %s", path,
                         error.os_error ? strerror(error.os_error) : error.reason);
}

static bool any_left_out(const examination *x) {
    for (int i = 0; i < MEMTRACE_N_DEFECTS; i++)
        if (!x->all && x->counts[i] > SHOWN_OF_A_KIND)
            return true;
    return false;
}

/* Returns whether there are defects to repair. A trace that only states what it lacks cannot be
 * improved. */
static bool can_be_repaired(const examination *x) {
    for (int i = 0; i < MEMTRACE_N_DEFECTS; i++)
        if (x->counts[i] && i != MEMTRACE_DEFECT_ENDS_EARLY && i != MEMTRACE_DEFECT_NO_END &&
            i != MEMTRACE_DEFECT_GAP)
            return true;
    return false;
}

static void say_lost(const examination *x, const memtrace_reader *reader) {
    size_t n;
    uint64_t bytes = 0, took = 0;
    const memtrace_gap *gaps = memtrace_reader_gaps(reader, &n);
    for (size_t i = 0; i < n; i++) {
        bytes += gaps[i].bytes;
        took += gaps[i].to - gaps[i].from;
    }
    if (n > 0)
        output_format(x->out, "  %s in %s place%s cannot be used: events of %s are missing\n",
                      figure_bytes((double)bytes).text, figure_count(n).text, n == 1 ? "" : "s",
                      figure_duration(took).text);
}

/* Prints a summary, and returns the number of defects. Gaps that the trace states, from an earlier
 * repair, do not count. */
static uint64_t summarise(const examination *x, const trace_file *in, const char *repaired) {
    uint64_t total = 0;
    int kinds = 0;
    for (int i = 0; i < MEMTRACE_N_DEFECTS; i++) {
        total += i != MEMTRACE_DEFECT_GAP ? x->counts[i] : 0;
        kinds += x->counts[i] > 0;
    }
    output_shown(x->out, in->name);
    if (total == 0)
        output_text(x->out, ": no defects\n");
    else
        output_format(x->out, ": %s defect%s\n", figure_count(total).text, total == 1 ? "" : "s");
    for (int i = 0; i < MEMTRACE_N_DEFECTS; i++)
        if (x->counts[i] > SHOWN_OF_A_KIND || (x->counts[i] && kinds > 1))
            output_format(x->out, "  %s × %s\n", figure_count(x->counts[i]).text, defect_texts[i]);
    if (any_left_out(x))
        output_format(x->out, "  (the first %d of each kind are listed; --all lists the rest)\n",
                      SHOWN_OF_A_KIND);
    output_format(x->out, "  %s events can be used, over %s\n", figure_count(x->events).text,
                  figure_duration(x->duration).text);
    say_lost(x, in->reader);
    if (repaired) {
        output_text(x->out, "  written as a clean trace to ");
        output_shown(x->out, repaired);
        output_text(x->out, x->lacks ? ", which notes that events are missing\n" : "\n");
    }
    return total;
}

static int run(const void *opts_, char **operands) {
    const doctor_options *opts = opts_;
    trace_file in;
    output out;
    int status = trace_file_open(&in, operands[0], NULL);
    if (status != STATUS_OK)
        return status;
    terminal_start(&out, true);
    examination x = {.out = &out, .all = opts->all};
    status = opts->output ? repair(&x, &in, opts->output) : examine(&x, &in);
    uint64_t defects = status == STATUS_OK ? summarise(&x, &in, opts->output) : 0;
    trace_file_close(&in);
    int written = message_written(output_finish(&out));
    if (defects && !opts->output && can_be_repaired(&x))
        message_hint("to write what can be used as a clean trace: allotrace doctor -o clean.ctf %s",
                     origin_command_words(operands[0]));
    if (status != STATUS_OK || written != STATUS_OK)
        return STATUS_FAILED;
    return defects ? STATUS_DEFECTS : STATUS_OK;
}

static const option_lack lacks[] = {
    {"top", "--all, which lists more than five defects of a kind"},
    {"json",
     "allotrace info --json, or the text output: one defect per line, as FILE, byte, cause"},
    {"csv", "the text output: one defect per line, as FILE, byte, cause"},
    {"filter", "allotrace hotspots --filter FILTER"},
    {"measure", "allotrace hotspots --measure MEASURE"},
    {0},
};

const command command_doctor = {
    .name = "doctor",
    .group = GROUP_CHANGE,
    .operand = OPERAND_TRACE,
    .usage = "FILE",
    .summary = "list and repair the defects of a trace",
    .description = "Lists the defects of a trace: where each is, what it is, and how other "
                   "commands handle it. With -o, writes a clean trace with every readable event, "
                   "which notes where events are missing: commands say the same of both. (In "
                   "format version 2, frees of blocks whose allocation was lost are left out.)",
    .example = "allotrace doctor out.ctf\n"
               "allotrace doctor out.ctf -o clean.ctf\n",
    .statuses = "  3  the trace can be read, but has defects (with -o: and was repaired)\n",
    OPTIONS_OF(options, defaults),
    .lacks = lacks,
    .run = run,
};
