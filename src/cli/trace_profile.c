/* trace_profile.c: uses the index if it has what the query needs, and otherwise reads the trace.
 * With --index, writes an index with everything that later queries may need, unless another user
 * could have replaced the trace meanwhile. */
#include "cli/trace_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path_rights.h"
#include "base/text.h"
#include "cli/message.h"
#include "cli/origin.h"
#include "cli/profile_names.h"
#include "cli/progress.h"
#include "cli/ring/ring_read.h"
#include "cli/traces.h"
#include "profile/index.h"

/* A trace, and its index. */
typedef struct reading {
    trace_file *in;
    profile *profile;
    const trace_profile_options *options;
    char *path; /* of the index; NULL: there is none, and none is to be written */
    index_stamp stamp;
    uint64_t n_blocks; /* number of blocks allocated so far */
    bool in_order;     /* each of them was a new row of the block table when it was allocated */
} reading;

/* ---- the index ----------------------------------------------------------------------------- */

/* Finds the index to use or to write. There is none for standard input, or for a trace in
 * memory. */
static void find_index(reading *r, const char *path) {
    const bool is_file = strcmp(path, "-") != 0 && !origin_is_memory(path);
    r->path = is_file ? text_format("%s.idx", path) : NULL;
    const bool matters = r->path && (r->options->index || access(r->path, F_OK) == 0);
    if (matters && index_stamp_take(path, &r->stamp))
        return;
    free(r->path);
    r->path = NULL;
}

/* Returns the parts of an index that the options require. A callback for blocks needs them in the
 * order of the file. */
static index_parts needs_of(const profile_options *how) {
    return (index_parts){.blocks = how->keep_blocks || how->block,
                         .order = how->keep_order,
                         .in_order = how->block,
                         .columns = how->block ? 0 : how->columns};
}

/* Removes from a profile what was not requested, so that commands see the same with and without an
 * index. */
static void drop_rest(profile *p, const profile_options *how) {
    if (!how->track_promotion)
        p->promoted_blocks = p->promoted_samples = 0;
    if (!how->keep_blocks)
        blocks_free(&p->table);
    else if (!how->keep_order)
        vec_free(&p->table.order);
    p->track_promotion = how->track_promotion;
    p->keep_blocks = how->keep_blocks;
    p->table.keep_order = how->keep_order;
}

static bool report_rows(const profile *p, const profile_options *how) {
    const block_table *b = &p->table;
    bool ok = true;
    for (size_t i = 0; ok && how->block && i < b->count; i++) {
        const memtrace_event event = {.kind = MEMTRACE_ALLOC,
                                      .domain = b->domain[i],
                                      .time = blocks_born(b, i),
                                      .source = (memtrace_source)b->source[i],
                                      .length = blocks_length(b, i),
                                      .samples = blocks_samples(b, i)};
        ok = how->block(how->block_context, b->node[i], &event);
    }
    return ok;
}

static void say_unused(const reading *r, index_status status) {
    if (r->options->index)
        return; /* it will be rewritten */
    if (status == INDEX_STALE)
        message_warning("%s: not used, because it was made from a different trace or by another "
                        "version (--index rewrites it)",
                        r->path);
    if (status == INDEX_DAMAGED)
        message_warning("%s: not used, because it is damaged (--index rewrites it)", r->path);
}

/* Loads the profile from the index. Returns false if that is impossible, or if a trace with
 * warnings is read strictly: reading it must fail, as it does without an index. */
static bool use_index(reading *r, const char *path) {
    const profile_options *how = &r->options->how;
    const index_parts needs = needs_of(how);
    index_remarks remarks;
    progress_say("%s: reading", r->path);
    const index_status status =
        index_load(r->path, &r->stamp, ALLOTRACE_VERSION, &needs, r->profile, &remarks);
    progress_end();
    say_unused(r, status);
    if (status != INDEX_OK)
        return false;
    if ((r->options->strict && remarks.n > 0) || !report_rows(r->profile, how)) {
        profile_free(r->profile);
        return false;
    }
    drop_rest(r->profile, how);
    trace_file_know(r->in, path, r->options->strict, remarks.items, remarks.n);
    return true;
}

static void write_index(const reading *r, const char *path) {
    size_t n;
    rights theirs;
    if (path_is_others(path, &theirs)) { /* it may have replaced the trace meanwhile */
        message_warning("%s: not written, because another user controls the path of the trace; "
                        "that user can write it",
                        r->path);
        return;
    }
    index_stamp now;
    index_remarks remarks = {0};
    const memtrace_warning *warnings = trace_file_warnings(r->in, &n);
    if (!index_stamp_take(path, &now) || !index_stamp_equal(&now, &r->stamp)) {
        message_warning("%s: changed while it was read; no index is written", path);
        return;
    }
    for (; remarks.n < n; remarks.n++)
        remarks.items[remarks.n] = warnings[remarks.n];
    const index_parts parts = {.blocks = true, .order = true, .in_order = r->in_order};
    progress_say("%s: writing", r->path);
    const int error =
        index_save(r->path, &r->stamp, ALLOTRACE_VERSION, &parts, r->profile, &remarks);
    progress_end();
    if (error)
        message_warning("%s: %s; no index is written", r->path, strerror(error));
}

/* ---- the trace --------------------------------------------------------------------------- */

/* Checks that the table gets a new row for each block. */
static bool see_block(void *context, uint32_t node, const memtrace_event *event) {
    reading *r = context;
    const profile_options *how = &r->options->how;
    r->in_order &= r->profile->table.count == ++r->n_blocks;
    return !how->block || how->block(how->block_context, node, event);
}

static memtrace_status read_trace(reading *r, bool whole) {
    profile_options how = r->options->how;
    how.all_read = trace_file_all_read;
    how.all_read_context = r->in;
    if (whole) {
        how.track_promotion = how.keep_blocks = how.keep_order = true;
        how.columns = 0;
        how.block = see_block;
        how.block_context = r;
    }
    return profile_read(r->profile, r->in->reader, &how);
}

/* Resolves addresses in segments, which are symbolized only when their recording has ended. Another
 * user's segments are left as they are, since modules, which a trace names, are read with our
 * rights. */
static bool give_names(const reading *r, const char *segment) {
    rights theirs;
    if (!segment || path_is_others(segment, &theirs))
        return true;
    symbolizer *s =
        symbolizer_new(&(symbolize_options){.recorded_at = r->profile->info.start_time});
    const bool ok = s && profile_names_give(s, r->profile);
    symbolizer_free(s);
    return ok;
}

static int use_trace(reading *r, const char *path) {
    const trace_profile_options *o = r->options;
    const bool writes = o->index && r->path;
    int status = trace_file_open(r->in, path, &(memtrace_reader_options){.strict = o->strict});
    if (status != STATUS_OK)
        return status;
    const memtrace_status end = read_trace(r, writes);
    progress_end();
    r->in->told = o->says_end && profile_is_partial(r->profile);
    if (end != MEMTRACE_OK || !o->keep_warnings)
        status = trace_file_report(r->in, end);
    const char *segment = status == STATUS_OK ? traces_segment(path) : NULL;
    if (!give_names(r, segment))
        return message_no_memory();
    const profile_end *said = &r->profile->end;
    if (segment == path && r->profile->n_domains > 1)
        ring_say_cut(path, said->how, said->reason);
    if (status == STATUS_OK && writes) {
        write_index(r, path);
        drop_rest(r->profile, &o->how);
    } else if (status == STATUS_OK && o->index) {
        message_warning("%s: not a regular file, so no index is written", r->in->name);
    }
    return status;
}

int trace_profile_read(trace_file *in, profile *p, const char *path,
                       const trace_profile_options *options) {
    reading r = {.in = in, .profile = p, .options = options, .in_order = true};
    int status;
    find_index(&r, path);
    if (r.path && use_index(&r, path)) {
        in->told = options->says_end && profile_is_partial(p);
        status = options->keep_warnings ? STATUS_OK : trace_file_report(in, MEMTRACE_OK);
    } else {
        status = use_trace(&r, path);
    }
    free(r.path);
    return status;
}

bool trace_profile_recall(trace_file *in, profile *p, const char *path,
                          const trace_profile_options *options) {
    reading r = {.in = in, .profile = p, .options = options};
    find_index(&r, path);
    const bool found = r.path && use_index(&r, path);
    free(r.path);
    return found;
}
