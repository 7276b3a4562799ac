/* cmd_import.c: `allotrace import FILE`: makes a trace from another tool's heap profile. */
#include <errno.h>
#include <fcntl.h>
#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

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
    X(v8)                                                                                          \
    X(heaptrack)                                                                                   \
    X(memray)

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
     OPTION_TAKES(FILE, import_options, output, "OUT"),
     .help = "write the trace to OUT, replacing it, instead of standard output"},
    {.name = "from",
     OPTION_CHOOSES(import_options, from, formats),
     .help = "the format of FILE: pprof, a heap profile of pprof; jemalloc, a heap dump; v8, a "
             ".heapprofile of node or Chromium; heaptrack, its .zst or .gz; memray, a capture, "
             "aggregated or not; auto (default) looks at its first bytes"},
    OPTIONS_SYMBOLIZE(import_options),
};

/* ---- the file ------------------------------------------------------------------------------ */

typedef struct whole {
    uint8_t *bytes;
    size_t size, capacity;
} whole;

/* Allocates memory according to the actual data, not to sizes that a header claims. Refuses files
 * that decompress to more than 2 GB. */
static const char *whole_has_room(whole *w, size_t more) {
    const size_t most = (size_t)1 << 31;
    size_t capacity = w->capacity ? w->capacity : more;
    while (capacity - w->size < more)
        capacity *= 2;
    if (capacity > most)
        return "it has more than 2 GB";
    uint8_t *grown = capacity > w->capacity ? realloc(w->bytes, capacity) : w->bytes;
    if (!grown)
        return strerror(ENOMEM);
    w->bytes = grown;
    w->capacity = capacity;
    return NULL;
}

static const char *read_whole(whole *w, gzFile in) {
    enum { STEP = 1 << 16 };
    for (;;) {
        const char *why = whole_has_room(w, STEP);
        const int n = why ? -1 : gzread(in, w->bytes + w->size, STEP);
        if (why)
            return why;
        if (n < 0) {
            int error;
            why = gzerror(in, &error);
            return error == Z_ERRNO ? strerror(errno) : why;
        }
        if (n == 0)
            return NULL;
        w->size += (size_t)n;
    }
}

/* Replaces zstd data by its decompressed content. */
static const char *inflate_zstd(whole *w) {
    static const uint8_t magic[] = {0x28, 0xB5, 0x2F, 0xFD};
    if (w->size < sizeof magic || memcmp(w->bytes, magic, sizeof magic) != 0)
        return NULL;
    enum { STEP = 1 << 20 };
    whole out = {0};
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer in = {.src = w->bytes, .size = w->size};
    const char *why = stream ? NULL : strerror(ENOMEM);
    size_t left = 1;
    while (!why && (in.pos < in.size || left > 0)) {
        why = whole_has_room(&out, STEP);
        if (why)
            break;
        ZSTD_outBuffer to = {.dst = out.bytes + out.size, .size = STEP};
        left = ZSTD_decompressStream(stream, &to, &in);
        out.size += to.pos;
        if (ZSTD_isError(left))
            why = ZSTD_getErrorName(left);
        else if (left > 0 && in.pos == in.size && to.pos < to.size)
            why = "its compressed data ends too early";
    }
    ZSTD_freeDStream(stream);
    free(w->bytes);
    *w = out;
    return why;
}

/* Replaces LZ4 frames by their decompressed content. */
static const char *inflate_lz4(whole *w) {
    static const uint8_t magic[] = {0x04, 0x22, 0x4D, 0x18};
    if (w->size < sizeof magic || memcmp(w->bytes, magic, sizeof magic) != 0)
        return NULL;
    enum { STEP = 1 << 20 };
    whole out = {0};
    LZ4F_dctx *stream = NULL;
    const char *why = LZ4F_isError(LZ4F_createDecompressionContext(&stream, LZ4F_VERSION))
                          ? strerror(ENOMEM)
                          : NULL;
    size_t left = 1, at = 0;
    while (!why && (at < w->size || left > 0)) {
        size_t taken = w->size - at, made = STEP;
        why = whole_has_room(&out, STEP);
        if (why)
            break;
        left = LZ4F_decompress(stream, out.bytes + out.size, &made, w->bytes + at, &taken, NULL);
        if (LZ4F_isError(left))
            why = LZ4F_getErrorName(left);
        else if (left > 0 && taken == 0 && made == 0)
            why = "its compressed data ends too early";
        at += LZ4F_isError(left) ? 0 : taken;
        out.size += LZ4F_isError(left) ? 0 : made;
    }
    LZ4F_freeDecompressionContext(stream);
    free(w->bytes);
    *w = out;
    return why;
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
    if (!why)
        why = inflate_zstd(w);
    if (!why)
        why = inflate_lz4(w);
    if (!in && fd >= 0)
        close(fd);
    if (!why)
        return STATUS_OK;
    return message_error("%s: cannot be read: %s", path, why);
}

/* ---- the formats --------------------------------------------------------------------------- */

static bool begins_with(const whole *w, const char *text) {
    return w->size >= strlen(text) && memcmp(w->bytes, text, strlen(text)) == 0;
}

/* Guesses the format. A pprof profile may begin with any of its fields. */
static enum format format_of(const whole *w) {
    size_t at = 0;
    while (at < w->size && strchr(" \t\r\n", w->bytes[at]) && w->bytes[at])
        at++;
    if (begins_with(w, "heap_v2/"))
        return FORMAT_jemalloc;
    if (w->size > 6 && memcmp(w->bytes, "memray", 7) == 0)
        return FORMAT_memray;
    if (begins_with(w, "v "))
        return FORMAT_heaptrack;
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
    case FORMAT_heaptrack:
        return import_heaptrack(to, w->bytes, w->size, error);
    case FORMAT_memray:
        return import_memray(to, w->bytes, w->size, error);
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
    for (size_t i = 0; i < from->records.count && !from->has_events; i++) {
        live += (double)from->records.items[i].live_bytes;
        all += (double)from->records.items[i].bytes;
    }
    if (from->has_events)
        message_note("%s: imported %s: %zu allocations and frees%s%s", path, from->format,
                     from->events.count - from->remarks.count,
                     from->missing ? "; there are no " : "", from->missing ? from->missing : "");
    else
        message_note("%s: imported %s: %zu stacks, %s allocated, %s of it live; there are no %s",
                     path, from->format, from->records.count, figure_bytes(all).text,
                     figure_bytes(live).text, from->missing);
    if (from->caveat)
        message_note("%s: %s", path, from->caveat);
    if (rate < 1 && from->period <= 8)
        message_note("the trace holds a sample of the blocks, as they are too many");
}

static int run(const void *opts_, char **operands) {
    const import_options *opts = opts_;
    const bool to_file = opts->output && strcmp(opts->output, "-") != 0;
    struct import from = {0};
    double rate = 1;
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
        "a .heapprofile of V8, a recording of heaptrack, or a capture of memray, compressed or "
        "not, and writes a trace "
        "with its stacks "
        "and "
        "sums, which the other commands read.\n"
        "\n"
        "All but heaptrack's and memray's have no times: commands that need them say so. Addresses "
        "are given "
        "names "
        "where their modules are on this machine.",
    .example = "allotrace import -o heap.ctf heap.pb.gz\n"
               "allotrace hotspots --measure live heap.ctf\n",
    OPTIONS_OF(options, defaults),
    .run = run,
};
