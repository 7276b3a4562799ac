/* excerpt_file.c: opens the trace, lets trace/excerpt select and write, and reports errors of
 * either side. The output has the version of the input unless another one is requested. */
#include "cli/excerpt_file.h"

#include <stdio.h>
#include <string.h>

#include "cli/message.h"
#include "cli/progress.h"
#include "cli/result_file.h"
#include "cli/trace_file.h"
#include "render/figures.h"
#include "trace/rewrite.h"

const char *const excerpt_formats[] = {"same", "2", "3", NULL};

static uint16_t version_for(int format, uint16_t old) {
    return format ? (uint16_t)(format + 1) : old < 2 ? 2 : old;
}

/* Reports problems of the trace if reading failed, otherwise of the result. */
static int report(trace_file *in, const result_file *out, memtrace_status status,
                  const memtrace_error *error) {
    if (status == MEMTRACE_OK || memtrace_reader_error(in->reader)->status != MEMTRACE_OK)
        return trace_file_report(in, status);
    progress_end();
    return result_file_say(out, error);
}

static int write_excerpt(const command *cmd, excerpt *e, trace_file *in,
                         const excerpt_file_options *options) {
    result_file out;
    memtrace_error error;
    int status = result_file_begin(&out, cmd, options->output, true);
    if (status != STATUS_OK)
        return status;
    const rewrite_input input = {
        .reader = in->reader, .options = {.select = excerpt_select, .end = excerpt_end, .user = e}};
    memtrace_info info = *memtrace_reader_info(in->reader);
    info.version = version_for(options->format, info.version);
    excerpt_head(e, &info);
    status =
        report(in, &out, rewrite_traces(&info, &input, 1, out.fd, compression_of(out.path), &error),
               &error);
    return result_file_end(&out, status);
}

static int read_and_write(const command *cmd, excerpt *e, const char *path,
                          const excerpt_file_options *options) {
    trace_file in;
    int status = trace_file_open(&in, path, &(memtrace_reader_options){.strict = options->strict});
    if (status != STATUS_OK)
        return status;
    status = write_excerpt(cmd, e, &in, options);
    trace_file_close(&in);
    if (status == STATUS_OK && options->output && strcmp(options->output, "-") != 0)
        printf("%s: %s of %s samples, in %s of %s blocks\n", options->output,
               figure_count(e->n_taken).text, figure_count(e->n_samples).text,
               figure_count(e->n_kept).text, figure_count(e->n_blocks).text);
    return status;
}

int excerpt_file(const command *cmd, const char *path, double keep,
                 const excerpt_file_options *options) {
    excerpt_options part = options->part;
    const memtrace_reader_options quick = {.skip_backtraces = part.from == 0,
                                           .strict = options->strict};
    if (strcmp(path, "-") == 0)
        return message_usage(cmd, "%s reads its trace twice, so standard input cannot be used",
                             cmd->name);
    if (part.from >= part.to)
        return message_usage(cmd, "--from must be before --to");
    part.keep = keep;
    trace_file in;
    excerpt e = {0};
    int status = trace_file_open(&in, path, &quick);
    if (status != STATUS_OK)
        return status;
    const memtrace_status planned = excerpt_plan(&e, in.reader, &part);
    if (planned != MEMTRACE_OK) /* the second pass reports defects */
        status = trace_file_report(&in, planned);
    trace_file_close(&in);
    if (status == STATUS_OK)
        status = read_and_write(cmd, &e, path, options);
    excerpt_free(&e);
    return status;
}
