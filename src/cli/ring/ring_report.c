/* ring_report.c: a segment belongs to the recording if its name contains the process and it was
 * written after the start. All segments are symbolized together. */
#include "cli/ring/ring_report.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/map64.h"
#include "base/shell.h"
#include "cli/message.h"
#include "cli/ring/ring_folder.h"
#include "cli/run/run_traces.h"
#include "cli/run/symbolize_file.h"
#include "render/figures.h"

/* Returns whether a finished segment belongs to this process, or to this run, and was written since
 * `since`. */
static bool is_made(const ring_file *file, const ring_plan *plan, uint64_t pid, uint64_t since) {
    const uint64_t whose = ring_segment_process(file->path);
    return file->changed / 1000000000 >= since &&
           (plan->run ? ring_run_has(plan->run, whose) && !symbolize_file_is_recording(file->path)
                      : whose == pid);
}

static void count_process(map64 *processes, uint64_t pid) {
    uint32_t *known = map64_put(processes, pid);
    if (known)
        *known = 1;
}

ring_made ring_complete(const ring_plan *plan, uint64_t pid, uint64_t since,
                        const debug_file_options *debug_files, bool (*interrupted)(void *context),
                        void *context) {
    ring_files files;
    ring_made made = {0};
    run_traces traces = {0};
    map64 processes = {0};
    if (!ring_folder_list(plan->folder, false, &files)) {
        ring_files_free(&files);
        return made;
    }
    for (size_t i = 0; i < files.count; i++)
        if (is_made(&files.items[i], plan, pid, since) &&
            run_traces_add(&traces, files.items[i].path, -1)) {
            made.n_segments++;
            count_process(&processes, ring_segment_process(files.items[i].path));
        }
    made.n_processes = plan->run ? processes.count : 0;
    map64_free(&processes);
    if (debug_files)
        run_traces_complete(&traces, debug_files, interrupted, context);
    for (size_t i = 0; i < files.count; i++)
        ring_file_keep_time(&files.items[i]);
    run_traces_free(&traces);
    ring_files_free(&files);
    if (ring_folder_list(plan->folder, false, &files))
        for (size_t i = 0; i < files.count; i++)
            made.size += files.items[i].size;
    ring_files_free(&files);
    return made;
}

void ring_report(const ring_plan *plan, const ring_made *made) {
    char *word = shell_word(plan->folder), processes[64] = "";
    if (made->n_processes)
        snprintf(processes, sizeof processes, " of %zu process%s", made->n_processes,
                 made->n_processes == 1 ? "" : "es");
    message_note("recorded into %s: %zu %s%s, %s on the disk", plan->folder, made->n_segments,
                 made->n_segments == 1 ? "segment" : "segments", processes,
                 figure_bytes(made->size).text);
    message_note("look closer: allotrace %s/", word ? word : plan->folder);
    free(word);
}
