/* cmd_doctor.c: `allotrace doctor FILE`: every defect of a trace, and a clean copy. */
#include <inttypes.h>
#include <unistd.h>

#include "cli/message.h"
#include "cli/trace_file.h"
#include "present/figures.h"
#include "present/output.h"

enum { SHOWN_OF_A_KIND = 5 };

typedef struct doctor_options {
    const char *output;
    bool all;
} doctor_options;

static const doctor_options defaults = {0};

static const option options[] = {
    {.name = "all",
     .kind = OPTION_FLAG,
     .at = offsetof(doctor_options, all),
     .help = "list every defect, instead of the first five of each kind"},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .at = offsetof(doctor_options, output),
     .argument = "REPAIRED",
     .help = "write what can be used as a clean trace"},
};

static const char *const defect_texts[] = {
#define DEFECT_TEXT(name, text) [MEMTRACE_DEFECT_##name] = text,
    MEMTRACE_DEFECTS(DEFECT_TEXT)
#undef DEFECT_TEXT
};

typedef struct examination {
    output out;
    bool all;
    uint64_t counts[MEMTRACE_N_DEFECTS];
    uint64_t events, duration;
} examination;

static void list_defect(void *context, memtrace_defect defect, uint64_t offset,
                        const char *detail) {
    examination *x = context;
    x->counts[defect]++;
    if (!x->all && x->counts[defect] > SHOWN_OF_A_KIND)
        return;
    output_format(&x->out, "byte %" PRIu64 ": %s", offset, defect_texts[defect]);
    if (detail && detail[0]) {
        output_text(&x->out, " (");
        output_shown(&x->out, detail);
        output_char(&x->out, ')');
    }
    output_char(&x->out, '\n');
}

static memtrace_status examine(examination *x, trace_file *in) {
    memtrace_event event;
    memtrace_status status;
    memtrace_reader_on_defect(in->reader, list_defect, x);
    while ((status = memtrace_reader_next(in->reader, &event)) == MEMTRACE_OK) {
        x->events++;
        x->duration = event.time > x->duration ? event.time : x->duration;
        if (x->events % 4096 == 0)
            trace_file_tick(in, in->reader);
    }
    return status == MEMTRACE_END ? MEMTRACE_OK : status;
}

static uint64_t summarise(examination *x, const trace_file *in) {
    uint64_t total = 0;
    int kinds = 0;
    for (int i = 0; i < MEMTRACE_N_DEFECTS; i++) {
        total += x->counts[i];
        kinds += x->counts[i] > 0;
    }
    output_shown(&x->out, in->name);
    if (total == 0)
        output_text(&x->out, ": no defects\n");
    else
        output_format(&x->out, ": %s defect%s\n", figure_count(total).text, total == 1 ? "" : "s");
    for (int i = 0; i < MEMTRACE_N_DEFECTS && kinds > 0; i++)
        if (x->counts[i] > SHOWN_OF_A_KIND || (x->counts[i] && kinds > 1))
            output_format(&x->out, "  %s × %s\n", figure_count(x->counts[i]).text, defect_texts[i]);
    output_format(&x->out, "  %s events can be used, over %s\n", figure_count(x->events).text,
                  figure_duration(x->duration).text);
    return total;
}

static int run(const void *opts_, char **operands, size_t n_operands) {
    const doctor_options *opts = opts_;
    (void)n_operands;
    trace_file in;
    int status = trace_file_open(&in, operands[0], NULL);
    if (status != STATUS_OK)
        return status;
    examination x = {.all = opts->all};
    output_start(&x.out, STDOUT_FILENO);
    memtrace_status read = examine(&x, &in);
    trace_file_clear_progress(&in);
    uint64_t defects = summarise(&x, &in);
    status = report_output(output_finish(&x.out));
    if (read != MEMTRACE_OK)
        status = trace_file_report(&in, read);
    trace_file_close(&in);
    if (status != STATUS_OK)
        return status;
    return defects ? STATUS_DEFECTS : STATUS_OK;
}

const command command_doctor = {
    .name = "doctor",
    .group = GROUP_MEND,
    .operand = OPERAND_TRACE,
    .usage = "FILE",
    .summary = "list what is wrong with a trace, and repair it",
    .description =
        "Lists the defects of a trace: at which byte, what, and how the other commands deal with "
        "it. With -o, writes a clean trace with every event that can be read.",
    .example = "allotrace doctor out.ctf\n"
               "allotrace doctor out.ctf -o clean.ctf\n",
    .statuses = "  3  the trace can be read, but has defects\n",
    OPTIONS_OF(options, defaults),
    .run = run,
};
