/* cmd_mcp.c: `allotrace mcp`: serves the analyses to coding agents over the Model Context Protocol:
 * JSON-RPC 2.0 with one message per line, on standard input and output.
 *
 * Each tool call runs a command in a process of its own (mcp_child), so that it can be cancelled,
 * and no trace, however hostile, can end the server. Calls run one at a time, but input is always
 * read at once. */
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/mcp/mcp_child.h"
#include "cli/mcp/mcp_tools.h"
#include "cli/message.h"
#include "platform/clock.h"

enum {
    PARSE_ERROR = -32700,
    INVALID_REQUEST = -32600,
    NO_METHOD = -32601,
    INVALID_PARAMS = -32602,
    MOST_LINE = 4 << 20, /* maximum size of a message, bytes */
    MOST_WAITING = 64,
    PAGES = 16, /* recent answers that are kept for `more` */
    DEFAULT_BYTES = 4096,
    LEAST_BYTES = 256,
    DEFAULT_SECONDS = 600
};

/* The newest first. The differences between them do not affect us. */
static const char *const versions[] = {"2025-11-25", "2025-06-18", NULL};

typedef struct mcp_options {
    option_texts folders;
    bool allow_run;
    uint64_t bytes, timeout; /* `timeout` is in microseconds */
} mcp_options;

static const mcp_options defaults = {.bytes = DEFAULT_BYTES,
                                     .timeout = DEFAULT_SECONDS * UINT64_C(1000000)};

static const option options[] = {
    {.name = "folder",
     OPTION_TAKES(TEXTS, mcp_options, folders, "FOLDER"),
     .help = "allow reading traces and sources in FOLDER (default: the current folder); may be "
             "repeated; relative paths start at the first"},
    {.name = "allow-run",
     OPTION_SETS(FLAG, mcp_options, allow_run),
     .help = "offer the tool `record`, which runs any program with your permissions and writes its "
             "trace to one of the folders"},
    {.name = "bytes",
     OPTION_TAKES(COUNT, mcp_options, bytes, "N"),
     .help = "limit each answer to N bytes (default 4096); `more` returns the rest"},
    {.name = "timeout",
     OPTION_TAKES(TIME, mcp_options, timeout, "TIME"),
     .help = "end a tool that takes longer than TIME, such as 90s (default 10min)"},
};

typedef struct server {
    const mcp_options *options;
    mcp_limits limits;
    VEC(char) input;               /* the beginning of the next message */
    bool skips;                    /* discarding the rest of a line that is too long */
    json_t *waiting[MOST_WAITING]; /* queued calls */
    size_t n_waiting;
    json_t *call; /* the running call; NULL: none */
    const mcp_tool *tool;
    mcp_child child;
    int64_t ends_at; /* monotonic, ms */
    char *pages[PAGES];
    uint64_t n_pages;
    bool lost; /* writing to standard output failed */
} server;

/* ---- messages ---------------------------------------------------------------------------- */

static void send_message(server *s, json_t *message) {
    char *text = json_dumps(message, JSON_COMPACT);
    if (!text || puts(text) < 0 || fflush(stdout) != 0)
        s->lost = true;
    free(text);
    json_decref(message);
}

/* Sends a response. Takes ownership of `result`, but not of `id`. */
static void respond(server *s, json_t *id, json_t *result) {
    send_message(s, json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result));
}

static void respond_error(server *s, json_t *id, int code, const char *text) {
    send_message(s, json_pack("{s:s, s:O?, s:{s:i, s:s}}", "jsonrpc", "2.0", "id", id, "error",
                              "code", code, "message", text));
}

/* Replaces bytes that are not UTF-8, as in file names, since JSON cannot contain them. */
static void make_valid(char *text) {
    for (char *p = text; *p;) {
        const size_t n = utf8_size(p);
        if (n == 0)
            *p = '?';
        p += n ? n : 1;
    }
}

static void respond_text(server *s, json_t *id, const char *text, bool failed) {
    respond(s, id,
            json_pack("{s:[{s:s, s:s}], s:b}", "content", "type", "text", "text", text, "isError",
                      failed));
}

/* ---- pages ------------------------------------------------------------------------------- */

/* Returns the size of a page that starts at `text`. It ends at a line's end, unless the page would
 * be less than half full. */
static size_t page_size(const char *text, size_t most) {
    const size_t size = strnlen(text, most + 1);
    if (size <= most)
        return size;
    const char *newline = memrchr(text, '\n', most);
    if (newline && (size_t)(newline - text) > most / 2)
        return (size_t)(newline - text) + 1;
    return utf8_whole(text, most);
}

static void respond_page(server *s, json_t *id, uint64_t number, size_t at, bool failed) {
    const char *text = s->pages[number % PAGES] + at;
    const size_t size = page_size(text, (size_t)s->options->bytes);
    char *page =
        text[size]
            ? text_format("%.*s\n[%zu bytes more: call `more` with cursor \"%llu:%zu\"]", (int)size,
                          text, strlen(text + size), (unsigned long long)number, at + size)
            : strdup(text);
    respond_text(s, id, page ? page : "not enough memory", failed || !page);
    free(page);
}

/* Stores an answer, taking ownership of `text`, and sends its first page. */
static void keep_page(server *s, json_t *id, char *text, bool failed) {
    const uint64_t number = s->n_pages++;
    free(s->pages[number % PAGES]);
    s->pages[number % PAGES] = text;
    make_valid(text);
    respond_page(s, id, number, 0, failed);
}

static void show_more(server *s, json_t *id, json_t *arguments) {
    const char *cursor = json_string_value(json_object_get(arguments, "cursor"));
    unsigned long long number;
    size_t at;
    char end;
    if (!cursor || sscanf(cursor, "%llu:%zu%c", &number, &at, &end) != 2 || number >= s->n_pages ||
        number + PAGES < s->n_pages || at > strlen(s->pages[number % PAGES]))
        respond_text(s, id, "This cursor does not exist or has expired; call the tool again.",
                     true);
    else
        respond_page(s, id, number, at, false);
}

/* ---- calls ------------------------------------------------------------------------------- */

static json_t *id_of(json_t *message) {
    return json_object_get(message, "id");
}

static json_t *arguments_of(json_t *call) {
    return json_object_get(json_object_get(call, "params"), "arguments");
}

static void end_call(server *s) {
    mcp_child_free(&s->child);
    json_decref(s->call);
    s->call = NULL;
}

/* Adds a line to the text, if there is memory for it. */
static __attribute__((format(printf, 2, 3))) void add_line(char **text, const char *format, ...) {
    char *line, *more;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&line, format, arguments) < 0)
        line = NULL;
    va_end(arguments);
    if (line && (more = text_format("%s[%s]\n", *text, line))) {
        free(*text);
        *text = more;
    }
    free(line);
}

static void say_status(char **text, int status) {
    if (WIFSIGNALED(status))
        add_line(text, "ended by signal %d", WTERMSIG(status));
    else
        add_line(text, "exit status %d", WEXITSTATUS(status));
}

static void answer_call(server *s) {
    const bool failed = s->child.status != 0;
    const char *printed = s->child.text.items ? s->child.text.items : "";
    char *text =
        failed ? NULL : mcp_tool_answer(s->tool, &s->limits, arguments_of(s->call), printed);
    if (!text)
        text = strdup(printed);
    if (text && s->child.cut)
        add_line(&text, "the output is longer than %d MB, and is cut", MCP_CHILD_MOST >> 20);
    if (text && failed)
        say_status(&text, s->child.status);
    if (text)
        keep_page(s, id_of(s->call), text, failed);
    else
        respond_text(s, id_of(s->call), "not enough memory", true);
    end_call(s);
}

/* Starts a call. Wrong arguments are reported as the tool's result, so that the model sees the
 * reason. */
static void start_call(server *s, json_t *call) {
    char reason[MCP_REASON];
    mcp_words words;
    json_t *params = json_object_get(call, "params"), *none = json_object();
    json_t *arguments = arguments_of(call) ? arguments_of(call) : none;
    const char *name = json_string_value(json_object_get(params, "name"));
    s->tool = name ? mcp_tool_find(&s->limits, name) : NULL;
    if (name && strcmp(name, "more") == 0) {
        show_more(s, id_of(call), arguments);
    } else if (!s->tool || !json_is_object(arguments)) {
        respond_error(s, id_of(call), INVALID_PARAMS,
                      s->tool ? "`arguments` is not an object" : "there is no such tool");
    } else {
        const bool ok = mcp_tool_words(s->tool, &s->limits, arguments, &words, reason);
        if (ok && mcp_child_start(&s->child, words.items)) {
            s->call = json_incref(call);
            s->ends_at = (int64_t)clock_monotonic_ms() + (int64_t)(s->options->timeout / 1000);
        } else {
            respond_text(s, id_of(call), ok ? strerror(errno) : reason, true);
        }
        mcp_words_free(&words);
    }
    json_decref(none);
}

static void start_next(server *s) {
    while (!s->call && s->n_waiting) {
        json_t *call = s->waiting[0];
        memmove(s->waiting, s->waiting + 1, --s->n_waiting * sizeof *s->waiting);
        start_call(s, call);
        json_decref(call);
    }
}

/* Cancels a call, which then gets no response. */
static void cancel(server *s, json_t *id) {
    if (s->call && json_equal(id_of(s->call), id))
        end_call(s);
    for (size_t i = 0; i < s->n_waiting; i++)
        if (json_equal(id_of(s->waiting[i]), id)) {
            json_decref(s->waiting[i]);
            memmove(s->waiting + i, s->waiting + i + 1, (--s->n_waiting - i) * sizeof *s->waiting);
            return;
        }
}

/* ---- methods ----------------------------------------------------------------------------- */

static const char *version_for(json_t *params) {
    const char *asked = json_string_value(json_object_get(params, "protocolVersion"));
    for (size_t i = 0; asked && versions[i]; i++)
        if (strcmp(versions[i], asked) == 0)
            return versions[i];
    return versions[0];
}

static json_t *introduction(json_t *params) {
    return json_pack(
        "{s:s, s:{s:{}}, s:{s:s, s:s, s:s}, s:s}", "protocolVersion", version_for(params),
        "capabilities", "tools", "serverInfo", "name", "allotrace", "title",
        "allotrace, an allocation profiler", "version", ALLOTRACE_VERSION, "instructions",
        "Finds where a program allocates memory, from traces. Record the same work before and "
        "after a change (rate 1e-3 for runs of seconds), look at `summary`, `hotspots` and "
        "`advise`, change what allocates 10% or more, and prove it with `diff`. Each amount has a "
        "95% confidence interval; an amount smaller than its error is noise.");
}

static json_t *list_tools(const server *s) {
    json_t *list = mcp_tools_list(&s->limits);
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:{s:s, s:{s:{s:s, s:s}}, s:[s], s:b}, s:{s:b}}", "name",
                        "more", "description", "The next part of an answer that was cut.",
                        "inputSchema", "type", "object", "properties", "cursor", "type", "string",
                        "description", "the cursor in the last line of the answer", "required",
                        "cursor", "additionalProperties", 0, "annotations", "readOnlyHint", 1));
    return json_pack("{s:o}", "tools", list);
}

static void handle_request(server *s, json_t *message, const char *method) {
    json_t *id = id_of(message), *params = json_object_get(message, "params");
    if (strcmp(method, "initialize") == 0)
        respond(s, id, introduction(params));
    else if (strcmp(method, "ping") == 0)
        respond(s, id, json_object());
    else if (strcmp(method, "tools/list") == 0)
        respond(s, id, list_tools(s));
    else if (strcmp(method, "tools/call") != 0)
        respond_error(s, id, NO_METHOD, "there is no such method");
    else if (s->n_waiting == MOST_WAITING)
        respond_error(s, id, INVALID_REQUEST, "too many calls are waiting");
    else
        s->waiting[s->n_waiting++] = json_incref(message);
}

static void handle(server *s, json_t *message) {
    const char *method = json_string_value(json_object_get(message, "method"));
    json_t *id = id_of(message);
    if (method && (json_is_string(id) || json_is_number(id)))
        handle_request(s, message, method);
    else if (method && !id && strcmp(method, "notifications/cancelled") == 0)
        cancel(s, json_object_get(json_object_get(message, "params"), "requestId"));
    else if (!method && !json_object_get(message, "result") && !json_object_get(message, "error"))
        respond_error(s, NULL, INVALID_REQUEST, "not a request");
}

static void handle_line(server *s, const char *line, size_t size) {
    if (strspn(line, " \t\r") == size)
        return;
    json_t *message =
        json_loadb(line, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
    if (message)
        handle(s, message);
    else
        respond_error(s, NULL, PARSE_ERROR, "the line is not JSON");
    json_decref(message);
}

/* ---- input ------------------------------------------------------------------------------- */

static void handle_lines(server *s) {
    char *newline;
    while (s->input.count > 0 && (newline = memchr(s->input.items, '\n', s->input.count))) {
        const size_t size = (size_t)(newline - s->input.items);
        *newline = '\0';
        if (!s->skips)
            handle_line(s, s->input.items, size);
        s->skips = false;
        s->input.count -= size + 1;
        memmove(s->input.items, newline + 1, s->input.count);
    }
    if (s->input.count < MOST_LINE)
        return;
    if (!s->skips)
        respond_error(s, NULL, INVALID_REQUEST, "the message is too long");
    s->skips = true;
    vec_clear(&s->input);
}

/* Returns false at the end of the input. */
static bool take_input(server *s) {
    enum { PIECE = 65536 };
    if (!vec_reserve(&s->input, PIECE))
        return false;
    const ssize_t n = read(STDIN_FILENO, s->input.items + s->input.count, PIECE);
    if (n <= 0)
        return n < 0 && errno == EINTR;
    s->input.count += (size_t)n;
    handle_lines(s);
    return true;
}

static void end_late_call(server *s) {
    if (!s->call || (int64_t)clock_monotonic_ms() < s->ends_at)
        return;
    respond_text(
        s, id_of(s->call),
        "The tool exceeded the time limit and was ended; `allotrace mcp --timeout` sets the limit.",
        true);
    end_call(s);
}

/* After the end of the input, calls already received are still answered. */
static void serve(server *s) {
    bool open = true;
    while (!s->lost && (open || s->call || s->n_waiting)) {
        start_next(s);
        struct pollfd fds[] = {{.fd = open ? STDIN_FILENO : -1, .events = POLLIN},
                               {.fd = s->call ? s->child.out : -1, .events = POLLIN},
                               {.fd = s->call ? s->child.end : -1, .events = POLLIN}};
        if (!open && !s->call)
            continue;
        if (poll(fds, 3, s->call ? 1000 : -1) < 0 && errno != EINTR)
            return;
        if (s->call && (fds[1].revents || fds[2].revents) && !mcp_child_read(&s->child))
            answer_call(s);
        if (fds[0].revents)
            open = take_input(s);
        end_late_call(s);
    }
}

/* ---- the command ------------------------------------------------------------------------- */

static bool add_folder(mcp_limits *limits, const char *folder) {
    char *real = realpath(folder, NULL);
    if (!real) {
        message_error("%s: %s", folder, strerror(errno));
        return false;
    }
    limits->folders[limits->n_folders++] = real;
    return true;
}

static void server_free(server *s) {
    if (s->call)
        end_call(s);
    for (size_t i = 0; i < s->n_waiting; i++)
        json_decref(s->waiting[i]);
    for (size_t i = 0; i < s->limits.n_folders; i++)
        free(s->limits.folders[i]);
    for (size_t i = 0; i < PAGES; i++)
        free(s->pages[i]);
    vec_free(&s->input);
}

static int run(const void *opts_, char **operands) {
    const mcp_options *opts = opts_;
    server s = {
        .options = opts, .limits.allow_run = opts->allow_run, .child = {.out = -1, .end = -1}};
    bool ok = true;
    (void)operands;
    if (opts->bytes < LEAST_BYTES)
        return message_usage(&command_mcp, "mcp: --bytes must be at least %d", LEAST_BYTES);
    for (size_t i = 0; ok && i < opts->folders.n; i++)
        ok = add_folder(&s.limits, opts->folders.items[i]);
    if (ok && opts->folders.n == 0)
        ok = add_folder(&s.limits, ".");
    if (ok && chdir(s.limits.folders[0]) != 0) {
        message_error("%s: %s", s.limits.folders[0], strerror(errno));
        ok = false;
    }
    if (ok)
        serve(&s);
    server_free(&s);
    return ok ? STATUS_OK : STATUS_FAILED;
}

const command command_mcp = {
    .name = "mcp",
    .group = GROUP_LOOK,
    .operand = OPERAND_NONE,
    .usage = "",
    .summary = "serve the analyses to coding agents (MCP)",
    .description = "Serves the analyses to coding agents over the Model Context Protocol, on "
                   "standard input and output. The tools are summary, hotspots, callers, peak, "
                   "leaks, lifetimes, advise, diff, source, explain and, with --allow-run, record. "
                   "An answer has at most 4096 bytes; `more` returns the rest.\n"
                   "\n"
                   "Only files in the given folders can be read.",
    .example = "allotrace mcp\n"
               "allotrace mcp --folder ~/project --allow-run\n",
    OPTIONS_OF(options, defaults),
    .run = run,
};
