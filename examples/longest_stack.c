/* longest_stack: how to read a trace with libmemtrace. Prints how much was allocated, and the
 * deepest backtrace.
 *
 *     cc longest_stack.c $(pkg-config --cflags --libs memtrace) -o longest_stack
 *     ./longest_stack program.ctf
 *
 * If libmemtrace is where the loader does not look (below $HOME), it takes this as well:
 * -Wl,-rpath,$(pkg-config --variable=libdir memtrace)
 */
#include <allotrace/memtrace.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct stack {
    uint32_t *frames;
    uint32_t n, capacity;
} stack;

/* An event's frames are valid until the next event: what is to be kept must be copied. */
static void keep(stack *s, const memtrace_event *event) {
    if (event->n_frames > s->capacity) {
        free(s->frames);
        s->frames = malloc(event->n_frames * sizeof *s->frames);
        if (!s->frames)
            abort();
        s->capacity = event->n_frames;
    }
    memcpy(s->frames, event->frames, event->n_frames * sizeof *s->frames);
    s->n = event->n_frames;
}

static void print(const stack *s, const memtrace_reader *reader) {
    for (uint32_t i = s->n; i-- > 0;) {
        const memtrace_frame *frame = memtrace_reader_frame(reader, s->frames[i]);
        for (uint32_t j = frame->n_locations; j-- > 0;) {
            const memtrace_location *l = &frame->locations[j];
            printf("  %s (%s:%" PRIu32 ")\n", l->function, l->file, l->line);
        }
        if (!frame->n_locations)
            printf("  0x%" PRIx64 "\n", frame->code);
    }
}

int main(int argc, char **argv) {
    memtrace_reader *reader;
    memtrace_error error;
    const char *path = argc > 1 ? argv[1] : "-";
    if (memtrace_reader_open(path, NULL, &reader, &error) != MEMTRACE_OK) {
        fprintf(stderr, "%s: %s\n", path, error.reason);
        return 1;
    }

    stack longest = {0};
    uint64_t samples = 0;
    memtrace_event event;
    memtrace_status status;
    while ((status = memtrace_reader_next(reader, &event)) == MEMTRACE_OK) {
        if (event.kind != MEMTRACE_ALLOC)
            continue;
        samples += event.samples;
        if (event.n_frames > longest.n)
            keep(&longest, &event);
    }
    if (status != MEMTRACE_END)
        fprintf(stderr, "%s: %s\n", path, memtrace_reader_error(reader)->reason);

    const memtrace_info *info = memtrace_reader_info(reader);
    printf("%s: %" PRIu64 " samples, about %.0f words\n", info->executable_name, samples,
           (double)samples / info->sample_rate);
    printf("the deepest stack, %" PRIu32 " frames:\n", longest.n);
    print(&longest, reader);

    free(longest.frames);
    memtrace_reader_close(reader);
    return status == MEMTRACE_END ? 0 : 1;
}
