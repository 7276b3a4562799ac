/* report.c: what all forms of a report share: where it goes, and the expectations at its end. */
#include "guest/report.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "guest/text.h"
#include "trace/replace.h"

/* Where a report goes. */
typedef struct destination {
    FILE *stream;
    const char *path; /* NULL: standard output */
    replacement file; /* of `path` */
} destination;

static tracer_status cannot_write(const char *path, int why, char *problem, size_t size) {
    snprintf(problem, size, "cannot write %s: %s", path ? path : "the report", strerror(why));
    return TRACER_CANNOT_WRITE;
}

/* 0, else an errno. */
static int destination_open(destination *d, const char *path) {
    memtrace_error error;
    *d = (destination){.stream = stdout, .path = path};
    if (!path)
        return 0;
    if (replacement_begin(&d->file, path, &error))
        return error.os_error ? error.os_error : EIO;
    int fd = dup(d->file.fd);
    d->stream = fd < 0 ? NULL : fdopen(fd, "w");
    if (d->stream)
        return 0;
    int why = errno;
    if (fd >= 0)
        close(fd);
    replacement_abort(&d->file);
    return why;
}

/* 0, else an errno: of what failed before if that is not 0. */
static int destination_close(destination *d, int why) {
    memtrace_error error;
    errno = 0;
    bool failed = ferror(d->stream) | (d->path ? fclose(d->stream) : fflush(d->stream));
    if (failed && !why)
        why = errno ? errno : EIO;
    if (!d->path)
        return why;
    if (why)
        replacement_abort(&d->file);
    else if (replacement_commit(&d->file, &error))
        why = error.os_error ? error.os_error : EIO;
    return why;
}

static bool write_form(view *v, const verdict_list *verdicts, double elapsed, FILE *out) {
    switch (v->tracer->options->form) {
    case FORM_JSON:
        return report_json(v, verdicts, elapsed, out);
    case FORM_HISTOGRAM:
        return report_histogram(v, out);
    case FORM_TYPEHISTOGRAM:
        return report_typehistogram(v, out);
    case FORM_CALLTREE:
        return report_calltree(v, out);
    default:
        return report_table(v, out);
    }
}

static bool write_report(view *v, verdict_list *verdicts, double elapsed, FILE *out) {
    if (!expect_judge(verdicts, v) || !write_form(v, verdicts, elapsed, out) || v->tracer->failed)
        return false;
    const tracer *t = v->tracer;
    if (t->options->form == FORM_JSON)
        return true;
    if (t->partial)
        fputs("\nThe tracer ran out of memory: what the program allocated after that is not "
              "counted.\n",
              out);
    if (t->cut)
        fprintf(out,
                "\n%llu %s had stacks deeper than StackLimit=%llu: of these the outermost frames "
                "and the innermost are known.\n",
                (unsigned long long)t->cut, t->options->rate < 1 ? "samples" : "allocations",
                (unsigned long long)t->options->stack_limit);
    if (verdicts->count)
        report_verdicts(verdicts, out);
    return true;
}

tracer_status report_write(tracer *t, double elapsed, char *problem, size_t size) {
    destination d;
    view v;
    verdict_list verdicts = {0};
    int why = destination_open(&d, t->options->output_file);
    if (why)
        return cannot_write(t->options->output_file, why, problem, size);
    locale_t before = text_use_utf8();
    bool written = view_init(&v, t) && write_report(&v, &verdicts, elapsed, d.stream);
    text_restore(before);
    bool pass = expect_all_pass(&verdicts);
    view_free(&v);
    vec_free(&verdicts);
    why = destination_close(&d, written ? 0 : ENOMEM);
    if (why)
        return cannot_write(t->options->output_file, why, problem, size);
    return pass ? TRACER_OK : TRACER_EXPECT_FAILED;
}
