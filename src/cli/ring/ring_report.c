/* ring_report.c: see ring_report.h. */
#include "cli/ring/ring_report.h"

#include <fcntl.h>
#include <string.h>

#include "base/shell.h"
#include "cli/message.h"
#include "cli/ring/ring_folder.h"
#include "cli/run/run_traces.h"
#include "render/figures.h"

/* When a segment was written says how old it is. */
static void keep_times(const ring_files *files) {
    for (size_t i = 0; i < files->count; i++) {
        const struct timespec changed = {.tv_sec = (time_t)files->items[i].changed},
                              times[] = {changed, changed};
        if (utimensat(AT_FDCWD, files->items[i].path, times, 0) != 0)
            return; /* then they are kept longer */
    }
}

ring_made ring_complete(const ring_plan *plan, uint64_t since,
                        const debug_file_options *debug_files, bool (*interrupted)(void *context),
                        void *context) {
    ring_files files;
    ring_made made = {0};
    run_traces traces = {0};
    if (!ring_folder_list(plan->folder, false, &files)) {
        ring_files_free(&files);
        return made;
    }
    for (size_t i = 0; i < files.count; i++)
        if (files.items[i].changed >= since && run_traces_add(&traces, files.items[i].path, -1))
            made.n_segments++;
    if (debug_files)
        run_traces_complete(&traces, debug_files, interrupted, context);
    keep_times(&files);
    run_traces_free(&traces);
    ring_files_free(&files);
    if (ring_folder_list(plan->folder, false, &files))
        for (size_t i = 0; i < files.count; i++)
            made.size += files.items[i].size;
    ring_files_free(&files);
    return made;
}

void ring_report(const ring_plan *plan, const ring_made *made) {
    char *word = shell_word(plan->folder);
    message_note("recorded into %s: %zu %s, %s on the disk", plan->folder, made->n_segments,
                 made->n_segments == 1 ? "segment" : "segments", figure_bytes(made->size).text);
    message_note("look closer: allotrace %s/", word ? word : plan->folder);
    free(word);
}
