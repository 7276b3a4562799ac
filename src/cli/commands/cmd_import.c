/* cmd_import.c: `allotrace import FILE`: a trace from a heap profile of another tool. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "cli/message.h"
#include "cli/result_file.h"
#include "cli/run/symbolize_file.h"
#include "import/import.h"
#include "query/figure.h"

typedef struct import_options {
    const char *output;
    int from;
    debug_file_options debug_files;
} import_options;

#define FORMATS(X)                                                                                 \
    X(pprof)                                                                                       \
    X(jemalloc)                                                                                    \
    X(v8)

static const char *const formats[] = {"auto",
#define FORMAT_NAME(name) #name,
                                      FORMATS(FORMAT_NAME) NULL};

enum format {
    FORMAT_AUTO,
#define FORMAT_ENUM(name) FORMAT_##name,
    FORMATS(FORMAT_ENUM)
};

static const import_options defaults = {.debug_files = {.root = DEBUG_FILE_ROOT}};

static const option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .at = offsetof(import_options, output),
     .argument = "OUT",
     .help = "write the trace to OUT, replacing it, instead of standard output"},
    {.name = "from",
     .kind = OPTION_CHOICE,
     .at = offsetof(import_options, from),
     .choices = formats,
     .help = "the format of FILE: pprof, a heap profile of pprof; jemalloc, a heap dump; v8, a "
             ".heapprofile of node or Chromium; auto (default) looks at its first bytes"},
    OPTIONS_SYMBOLIZE(import_options),
};

/* ---- the file ------------------------------------------------------------------------------ */

typedef struct whole {
    uint8_t *bytes;
    size_t size, capacity;
} whole;

/* Memory follows what is there, not what a header claims; a compressed file of gigabytes of nothing
 * is refused. */
static const char *read_whole(whole *w, gzFile in) {
    enum { STEP = 1 << 16 };
    const size_t most = (size_t)1 << 31;
    for (;;) {
        if (w->size + STEP > w->capacity) {
            const size_t more = w->capacity ? 2 * w->capacity : STEP;
            uint8_t *grown = more <= most ? realloc(w->bytes, more) : NULL;
            if (!grown)
                return more <= most ? strerror(ENOMEM) : "it has more than 2 GB";
            w->bytes = grown;
            w->capacity = more;
        }
        const int n = gzread(in, w->bytes + w->size, STEP);
        if (n < 0) {
            int error;
            const char *why = gzerror(in, &error);
            return error == Z_ERRNO ? strerror(errno) : why;
        }
        if (n == 0)
            return NULL;
        w->size += (size_t)n;
    }
}

static int open_input(const char *path) {
    return strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
}

static int read_file(whole *w, const char *path) {
    const int fd = open_input(path);
    gzFile in = fd >= 0 ? gzdopen(fd, "rb") : NULL;
    const char *why = in ? read_whole(w, in) : strerror(errno);
    if (in && gzclose(in) == Z_BUF_ERROR && !why)
        why = "its compressed data ends too early";
    if (!in && fd >= 0)
        close(fd);
    if (!why)
        return STATUS_OK;
    message_error("%s: cannot be read: %s", path, why);
    return STATUS_FAILED;
}

/* ---- the formats --------------------------------------------------------------------------- */

static bool begins_with(const whole *w, const char *text) {
    return w->size >= strlen(text) && memcmp(w->bytes, text, strlen(text)) == 0;
}

/* A pprof profile begins with any of its fields. */
static enum format format_of(const whole *w) {
    size_t at = 0;
    while (at < w->size && strchr(" \t\r\n", w->bytes[at]) && w->bytes[at])
        at++;
    if (begins_with(w, "heap_v2/"))
        return FORMAT_jemalloc;
    if (at < w->size && w->bytes[at] == '{')
        return FORMAT_v8;
    const unsigned field = w->size > 1 ? w->bytes[0] >> 3 : 0,
                   wire = w->size > 1 ? w->bytes[0] & 7 : 0;
    return field >= 1 && field <= 14 && (wire == 0 || wire == 2) ? FORMAT_pprof : FORMAT_AUTO;
}

static bool read_format(enum format f, import *to, const whole *w, import_error *error) {
    switch (f) {
    case FORMAT_pprof:
        return import_pprof(to, w->bytes, w->size, error);
    case FORMAT_jemalloc:
        return import_jemalloc(to, w->bytes, w->size, error);
    case FORMAT_v8:
        return import_v8(to, w->bytes, w->size, error);
    case FORMAT_AUTO:
        break;
    }
    return import_fail(error, 0, "it is no profile that import knows; --from says which it is");
}

static int read_profile(import *to, const import_options *opts, const char *path) {
    whole w = {0};
    import_error error = {0};
    int status = read_file(&w, path);
    if (status == STATUS_OK) {
        const enum format f = opts->from ? (enum format)opts->from : format_of(&w);
        if (!read_format(f, to, &w, &error)) {
            status = STATUS_FAILED;
            if (to->no_memory)
                message_no_memory();
            else
                message_error("%s: at byte %zu: %s", path, error.offset, error.reason);
        }
    }
    free(w.bytes);
    return status;
}

/* ---- the trace ----------------------------------------------------------------------------- */

static int write_trace(const import *from, const char *path, double *rate) {
    result_file out;
    memtrace_error error;
    int status = result_file_begin(&out, &command_import, path, true);
    if (status != STATUS_OK)
        return status;
    if (import_write(from, out.fd, compression_of(out.path), rate, &error) != MEMTRACE_OK)
        status = result_file_say(&out, &error);
    return result_file_end(&out, status);
}

static void say_imported(const import *from, const char *path, double rate) {
    double live = 0, all = 0;
    for (size_t i = 0; i < from->records.count; i++) {
        live += (double)from->records.items[i].live_bytes;
        all += (double)from->records.items[i].bytes;
    }
    message_note("%s: imported %s: %zu stacks, %s allocated, %s of it live; there are no %s", path,
                 from->format, from->records.count, figure_bytes(all).text, figure_bytes(live).text,
                 from->missing);
    if (rate < 1 && from->period <= 8)
        message_note("the trace holds a sample of the blocks, as they are too many");
}

static int run(const void *opts_, char **operands, size_t n_operands) {
    const import_options *opts = opts_;
    const bool to_file = opts->output && strcmp(opts->output, "-") != 0;
import from = {0 };
    double rate = 1;
    (void)n_operands;
    int status = read_profile(&from, opts, operands[0]);
    if (status == STATUS_OK)
        status = write_trace(&from, opts->output, &rate);
    if (status == STATUS_OK)
        say_imported(&from, operands[0], rate);
    if (status == STATUS_OK && from.has_addresses && to_file)
        status = symbolize_file(opts->output,
                                &(symbolize_file_options){.debug_files = opts->debug_files});
    import_free(&from);
    return status;
}

const command command_import = {
    .name = "import",
    .group = GROUP_CHANGE,
    .operand = OPERAND_PROFILE,
    .usage = "FILE",
    .summary = "make a trace from another tool's heap profile",
    .description =
        "Reads a heap profile of pprof (Go, tcmalloc and others), a heap dump of jemalloc "
        "(heap_v2), "
        "or a .heapprofile of V8, compressed by gzip or not, and writes a trace with its stacks "
        "and "
        "sums, which the other commands read.\n"
        "\n"
        "Such profiles have no times: commands that need them say so. Addresses are given names "
        "where their modules are on this machine.",
    .example = "allotrace import -o heap.ctf heap.pb.gz\n"
               "allotrace hotspots --measure live heap.ctf\n",
    OPTIONS_OF(options, defaults),
    .run = run,
};
