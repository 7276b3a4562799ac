/* main.c: the launcher. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "allotrace/memtrace.h"
#include "guest/own_trace.h"
#include "lox.h"
#include "repl.h"
#include "tracing.h"

MEMTRACE_WRITES_OWN_TRACE;

static const char help[] =
    "Usage: lox [OPTIONS] FILE|- [ARGUMENTS]\n"
    "       lox [OPTIONS] -c CODE [ARGUMENTS]\n"
    "       lox [OPTIONS]\n"
    "\n"
    "Runs the Lox program in FILE, on standard input (-), or CODE. Without any, reads\n"
    "and runs lines.\n"
    "\n"
    "  -c CODE            run CODE\n"
    "  --max-heap=SIZE    end the program with an error when its objects need more\n"
    "                     than SIZE bytes; K, M and G are understood\n"
    "  --memtracer        show after the program's end which lines allocated what\n"
    "  --help:memtracer   show the options of that\n"
    "  --help             show this help\n"
    "  --version          show the version\n"
    "\n"
    "Environment:\n"
    "  MEMTRACE=FILE      record a trace of allocations, for allotrace; %p in the name\n"
    "                     becomes the process id\n"
    "  MEMTRACE_RATE=R    sample each word with this probability (1e-5)\n"
    "  LOX_GC_STRESS=N    collect all garbage at each N-th allocation and check the heap\n"
    "  LOX_GC_STATS=1     show at the end what the collector did\n";

typedef struct launch {
    lox_options options;
    memtracer_options memtracer;
    const char *code, *file; /* at most one of them is set */
    char **arguments;
    size_t n_arguments;
    bool stats;
} launch;

static _Noreturn void usage(const char *problem, const char *what) {
    fprintf(stderr, "lox: %s%s (see lox --help)\n", problem, what);
    exit(LOX_USAGE);
}

/* Parses a size such as "64M", in bytes. */
static size_t parse_size(const char *text) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    static const char units[] = "KMG";
    const char *unit = *end ? strchr(units, *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (text[0] < '0' || text[0] > '9' || errno || end[unit ? 1 : 0] || !n || n > SIZE_MAX >> shift)
        usage("not a size: ", text);
    return (size_t)n << shift;
}

static bool environment_says(const char *name) {
    const char *v = getenv(name);
    return v && *v && strcmp(v, "0");
}

/* Returns true if it is an option of the tracer. */
static bool parse_memtracer(launch *l, const char *option) {
    char problem[512];
    switch (options_take(&l->memtracer, option, problem, sizeof problem)) {
    case MEMTRACER_TAKEN:
        return true;
    case MEMTRACER_HELP:
        options_help(stdout, "lox");
        exit(fflush(stdout) ? LOX_IO_ERROR : 0);
    case MEMTRACER_BAD:
        fprintf(stderr, "lox: %s (see lox --help:memtracer)\n", problem);
        exit(LOX_USAGE);
    default:
        return false;
    }
}

static void parse_option(launch *l, const char *option) {
    static const char max_heap[] = "--max-heap=";
    if (parse_memtracer(l, option)) {
        return;
    } else if (!strcmp(option, "--help")) {
        fputs(help, stdout);
        exit(fflush(stdout) ? LOX_IO_ERROR : 0);
    } else if (!strcmp(option, "--version")) {
        puts("lox (allotrace) " ALLOTRACE_VERSION);
        exit(fflush(stdout) ? LOX_IO_ERROR : 0);
    } else if (!strncmp(option, max_heap, sizeof max_heap - 1)) {
        l->options.max_heap = parse_size(option + sizeof max_heap - 1);
    } else {
        usage("unknown option: ", option);
    }
}

static void parse_command_line(launch *l, int argc, char **argv) {
    int i = 1;
    for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
        if (!strcmp(argv[i], "--")) {
            i++;
            break;
        }
        if (!strcmp(argv[i], "-c")) {
            if (i + 1 == argc)
                usage("-c needs code", "");
            l->code = argv[i + 1];
            i += 2;
            break;
        }
        parse_option(l, argv[i]);
    }
    if (!l->code && i < argc)
        l->file = argv[i++];
    l->arguments = argv + i;
    l->n_arguments = (size_t)(argc - i);
    char problem[512];
    if (!options_check(&l->memtracer, problem, sizeof problem)) {
        fprintf(stderr, "lox: %s\n", problem);
        exit(LOX_USAGE);
    }
}

static uint64_t choose_seed(void) {
    const char *text = getenv("MEMTRACE_SEED");
    uint64_t seed = (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid();
    if (text && *text && !options_parse_whole(text, &seed))
        usage("MEMTRACE_SEED is not a whole number: ", text);
    return seed;
}

/* Reads the options of the trace from the environment. */
static lox_trace_options trace_options(void) {
    const char *rate_text = getenv("MEMTRACE_RATE"), *depth_text = getenv("MEMTRACE_DEPTH");
    double rate = 1e-5;
    if (rate_text && *rate_text &&
        (!options_parse_real(rate_text, &rate) || !(rate > 0 && rate <= 1)))
        usage("MEMTRACE_RATE is not above 0 and at most 1: ", rate_text);
    uint64_t depth = 256;
    if (depth_text && *depth_text &&
        (!options_parse_whole(depth_text, &depth) || depth < 1 || depth > 4096))
        usage("MEMTRACE_DEPTH is not from 1 to 4096: ", depth_text);
    return (lox_trace_options){.rate = rate,
                               .seed = choose_seed(),
                               .depth = (uint32_t)depth,
                               .context = getenv("MEMTRACE_CONTEXT")};
}

static void start_trace(lox_vm *vm) {
    char path[PATH_MAX], problem[512];
    if (!own_trace_wanted(path, sizeof path, problem, sizeof problem)) {
        if (*problem)
            usage(problem, "");
        return;
    }
    const lox_trace_options options = trace_options();
    signal(SIGXFSZ, SIG_IGN); /* exceeding a file size limit shows as a failed write */
    int why = lox_trace_start(vm, path, &options);
    if (why)
        fprintf(stderr, "lox: cannot write %s: %s; nothing is recorded\n", path,
                why == EWOULDBLOCK ? "another process is recording to it" : strerror(why));
}

static void show_counters(lox_vm *vm) {
    lox_counters c;
    lox_get_counters(vm, &c);
    fprintf(stderr,
            "minor_collections %llu\nmajor_collections %llu\nminor_objects %llu\n"
            "minor_words %llu\nmajor_objects %llu\nmajor_words %llu\npromoted_objects %llu\n"
            "promoted_words %llu\ndead_minor_objects %llu\ndead_major_objects %llu\n"
            "live_bytes %zu\npeak_bytes %zu\n",
            (unsigned long long)c.minor_collections, (unsigned long long)c.major_collections,
            (unsigned long long)c.minor_objects, (unsigned long long)c.minor_words,
            (unsigned long long)c.major_objects, (unsigned long long)c.major_words,
            (unsigned long long)c.promoted_objects, (unsigned long long)c.promoted_words,
            (unsigned long long)c.dead_minor_objects, (unsigned long long)c.dead_major_objects,
            c.live_bytes, c.peak_bytes);
}

static lox_status run(lox_vm *vm, const launch *l) {
    if (l->code)
        return lox_run_text(vm, "-c", l->code, strlen(l->code));
    if (l->file)
        return lox_run_file(vm, l->file);
    return repl(vm);
}

/* ---- Ctrl-C ---------------------------------------------------------------------------------- */

static lox_vm *volatile interrupted_vm;       /* NULL: it has ended */
static volatile sig_atomic_t received_signal; /* 0: none */

static void on_signal(int number) {
    lox_vm *vm = interrupted_vm;
    received_signal = number;
    if (vm)
        lox_interrupt(vm);
}

/* The first SIGINT or SIGTERM ends the program, so that what was recorded is kept. A second one has
 * its usual effect. */
static void catch_signals(lox_vm *vm) {
    static const int numbers[] = {SIGINT, SIGTERM};
    struct sigaction catch = {.sa_handler = on_signal, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
    interrupted_vm = vm;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction old;
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(numbers[i], &catch, NULL);
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

static lox_status flush_output(lox_status status) {
    if (!fflush(stdout) || status)
        return status;
    fprintf(stderr, "lox: cannot write the output: %s\n", strerror(errno));
    return LOX_IO_ERROR;
}

/* Whether there is something to report. A single program may not even have started. */
static bool has_started(const launch *l, lox_status status) {
    return (!l->code && !l->file) || !status || status == LOX_RUNTIME_ERROR ||
           status == LOX_INTERRUPTED;
}

/* Writes the report and returns the exit status. */
static int report(tracer *t, lox_status status) {
    char problem[512];
    switch (tracer_report(t, problem, sizeof problem)) {
    case TRACER_OK:
        return (int)status;
    case TRACER_EXPECT_FAILED:
        return status ? (int)status : TRACER_EXIT_EXPECT;
    default:
        fprintf(stderr, "lox: %s\n", problem);
        return status ? (int)status : LOX_IO_ERROR;
    }
}

static lox_status run_launch(lox_vm *vm, const launch *l, tracer **t) {
    start_trace(vm);
    if (l->memtracer.on && !(*t = tracing_start(vm, &l->memtracer, choose_seed())))
        fputs("lox: not enough memory for --memtracer\n", stderr);
    bool records = *t || getenv("MEMTRACE");
    if (records && (l->code || l->file))
        catch_signals(vm);
    lox_set_arguments(vm, (const char *const *)l->arguments, l->n_arguments);
    lox_status status = run(vm, l);
    interrupted_vm = NULL;
    status = flush_output(status);
    int why = lox_trace_stop(vm);
    if (why)
        fprintf(stderr, "lox: the trace is incomplete: %s\n", strerror(why));
    return status;
}

int main(int argc, char **argv) {
    launch l = {0};
    options_init(&l.memtracer);
    parse_command_line(&l, argc, argv);
    const char *stress = getenv("LOX_GC_STRESS");
    l.options.gc_stress = stress ? (uint32_t)strtoul(stress, NULL, 10) : 0;
    l.options.gc_verify = l.options.gc_stress > 0;
    l.stats = l.options.gc_count = environment_says("LOX_GC_STATS");
    l.options.watch_returns = l.memtracer.on && options_want_stacks(&l.memtracer);
    lox_vm *vm = lox_create(&l.options);
    tracer *t = NULL;
    lox_status ended = run_launch(vm, &l, &t);
    if (l.stats)
        show_counters(vm);
    lox_destroy(vm); /* if the system has no more memory, the report can use what this frees */
    int status = t && has_started(&l, ended) ? report(t, ended) : (int)ended;
    tracer_free(t);
    options_free(&l.memtracer);
    if (received_signal) {
        signal(received_signal, SIG_DFL);
        raise(received_signal);
    }
    return status;
}
