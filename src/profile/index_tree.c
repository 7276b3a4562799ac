/* index_tree.c: the first section of an index: the head of the trace, its defects, names, places,
 * marks and the tree.
 *
 * Each string is stored once and referred to by its number from 1 on; 0 means none. */
#include <string.h>

#include "profile/index_parts.h"
#include "profile/spans.h"
#include "trace/defects.h"

/* ---- strings: writing -------------------------------------------------------------------- */

typedef struct names {
    VEC(const char *) items; /* by number - 1 */
    map64 numbers;           /* address → number; equal strings are the same pointer */
    bool failed;             /* no memory */
} names;

static uint32_t number_of(names *all, const char *s) {
    uint32_t *number = s ? map64_put(&all->numbers, (uintptr_t)s) : NULL;
    if (!number) {
        all->failed |= s != NULL;
        return 0;
    }
    if (*number == MAP64_NONE) {
        all->failed |= !vec_push(&all->items, s);
        *number = (uint32_t)all->items.count;
    }
    return *number;
}

static void number_all(names *all, const profile *p) {
    number_of(all, p->info.executable_name);
    number_of(all, p->info.host_name);
    number_of(all, p->info.runtime_params);
    number_of(all, p->info.context);
    number_of(all, p->end.reason);
    for (size_t i = 0; i < p->frames.count; i++)
        number_of(all, p->frames.items[i].type);
    for (size_t i = 0; i < p->locations.count; i++) {
        number_of(all, p->locations.items[i].file);
        number_of(all, p->locations.items[i].function);
    }
    for (size_t i = 0; i < p->marks.count; i++)
        number_of(all, p->marks.items[i].name);
    for (size_t i = 0; i < p->table.spans.count; i++)
        number_of(all, p->table.spans.items[i].text);
}

static void put_names(index_stream *s, const names *all) {
    index_put(s, all->items.count);
    for (size_t i = 0; i < all->items.count; i++) {
        const size_t size = strlen(all->items.items[i]);
        index_put(s, size);
        index_put_bytes(s, all->items.items[i], size);
    }
}

/* ---- strings: reading -------------------------------------------------------------------- */

typedef VEC(char) text;

/* The state of reading the section. */
typedef struct source {
    index_stream *s;
    profile *p;
    VEC(const char *) names;
    bool damaged, no_memory;
} source;

static index_status status_of(const source *in) {
    return in->no_memory ? INDEX_NOMEM : in->damaged || in->s->failed ? INDEX_DAMAGED : INDEX_OK;
}

static bool usable(const source *in) {
    return !in->damaged && !in->no_memory && !in->s->failed;
}

/* Returns how many items of so many words each follow. */
static size_t get_count(source *in, unsigned words_each) {
    const uint64_t n = index_get(in->s);
    if (n <= index_words_left(in->s) / words_each)
        return (size_t)n;
    in->damaged = true;
    return 0;
}

/* Returns how many items follow in columns; must be at most `most`. */
static size_t get_column_count(source *in, uint64_t most) {
    const uint64_t n = index_get(in->s);
    if (n <= most && n <= index_most_in(index_words_left(in->s)))
        return (size_t)n;
    in->damaged = true;
    return 0;
}

static void get_name(source *in, text *buffer) {
    const uint64_t size = index_get(in->s);
    in->damaged |= size / sizeof(uint64_t) > index_words_left(in->s);
    buffer->count = 0;
    in->no_memory |= usable(in) && !vec_reserve(buffer, size + 1);
    if (!usable(in))
        return;
    index_get_bytes(in->s, buffer->items, size);
    in->damaged |= memchr(buffer->items, '\0', size) != NULL;
    if (!usable(in))
        return;
    buffer->items[size] = '\0';
    const char *name = intern(&in->p->strings, buffer->items, size);
    in->no_memory |= !name || !vec_push(&in->names, name);
}

static void get_names(source *in) {
    text buffer = {0};
    const size_t n = get_count(in, 1);
    for (size_t i = 0; i < n && usable(in); i++)
        get_name(in, &buffer);
    vec_free(&buffer);
}

/* Returns NULL if there is no string, or if it is damaged. */
static const char *get_string(source *in) {
    const uint64_t number = index_get(in->s);
    in->damaged |= number > in->names.count;
    return number == 0 || in->damaged ? NULL : in->names.items[number - 1];
}

/* Returns a string that must exist. */
static const char *need_string(source *in) {
    const char *s = get_string(in);
    in->damaged |= !s;
    return s;
}

/* Returns a number that must be less than `limit`. */
static uint64_t get_below(source *in, uint64_t limit) {
    const uint64_t value = index_get(in->s);
    in->damaged |= value >= limit;
    return in->damaged ? 0 : value;
}

/* ---- the head of the trace ----------------------------------------------------------------- */

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void put_info(index_stream *s, names *all, const memtrace_info *info) {
    index_put(s, info->version);
    index_put(s, info->word_size);
    index_put(s, bits_of(info->sample_rate));
    index_put(s, info->start_time);
    index_put(s, info->pid);
    index_put(s, number_of(all, info->executable_name));
    index_put(s, number_of(all, info->host_name));
    index_put(s, number_of(all, info->runtime_params));
    index_put(s, number_of(all, info->context));
}

static void get_info(source *in, memtrace_info *info) {
    info->version = (uint16_t)get_below(in, UINT16_MAX);
    info->word_size = (uint8_t)get_below(in, UINT8_MAX);
    info->sample_rate = double_of(index_get(in->s));
    info->start_time = index_get(in->s);
    info->pid = index_get(in->s);
    info->executable_name = need_string(in);
    info->host_name = need_string(in);
    info->runtime_params = need_string(in);
    info->context = need_string(in);
    in->damaged |= !(info->sample_rate > 0 && info->sample_rate <= 1) ||
                   (info->word_size != 32 && info->word_size != 64);
}

static void put_sums(index_stream *s, const profile *p) {
    for (int i = 0; i < CCT_SOURCES; i++) {
        index_put(s, p->samples[i]);
        index_put(s, p->blocks[i]);
    }
    index_put(s, p->promoted_samples);
    index_put(s, p->promoted_blocks);
    index_put(s, p->collected_blocks);
    index_put(s, p->suspect_blocks);
    index_put(s, p->duration);
    index_put(s, p->n_domains);
    index_put(s, p->n_traces);
    index_put(s, p->n_spans);
}

static void get_sums(source *in) {
    profile *p = in->p;
    for (int i = 0; i < CCT_SOURCES; i++) {
        p->samples[i] = index_get(in->s);
        p->blocks[i] = index_get(in->s);
    }
    p->promoted_samples = index_get(in->s);
    p->promoted_blocks = index_get(in->s);
    p->collected_blocks = index_get(in->s);
    p->suspect_blocks = index_get(in->s);
    p->duration = index_get(in->s);
    p->n_domains = (uint32_t)get_below(in, UINT32_MAX);
    p->n_traces = index_get(in->s);
    p->n_spans = index_get(in->s);
}

static void put_end(index_stream *s, names *all, const profile_end *end) {
    index_put(s, end->how);
    index_put(s, end->time);
    index_put(s, end->n_lost);
    index_put(s, number_of(all, end->reason));
}

static void get_end(source *in, profile_end *end) {
    end->how = (memtrace_ending)get_below(in, MEMTRACE_END_EARLY + 1);
    end->time = index_get(in->s);
    end->n_lost = index_get(in->s);
    end->reason = get_string(in);
    in->damaged |= end->how != MEMTRACE_END_UNSAID && !end->reason;
}

static void put_loss(index_stream *s, const profile_loss *loss) {
    index_put(s, loss->places);
    index_put(s, loss->from);
    index_put(s, loss->to);
    index_put(s, loss->duration);
    index_put(s, loss->bytes);
    index_put(s, loss->of);
}

static void get_loss(source *in, profile_loss *loss) {
    loss->places = index_get(in->s);
    loss->from = index_get(in->s);
    loss->to = index_get(in->s);
    loss->duration = index_get(in->s);
    loss->bytes = index_get(in->s);
    loss->of = index_get(in->s);
    in->damaged |= loss->to < loss->from;
}

static void put_remarks(index_stream *s, const index_remarks *remarks) {
    index_put(s, remarks->n);
    for (size_t i = 0; i < remarks->n; i++) {
        index_put(s, remarks->items[i].defect);
        index_put(s, remarks->items[i].count);
        index_put(s, remarks->items[i].first_offset);
    }
}

static void get_remarks(source *in, index_remarks *remarks) {
    static const char *const texts[] = {
#define TEXT(name, text) [MEMTRACE_DEFECT_##name] = text,
        MEMTRACE_DEFECTS(TEXT)
#undef TEXT
    };
    const size_t n = (size_t)get_below(in, MEMTRACE_N_DEFECTS + 1);
    for (remarks->n = 0; remarks->n < n; remarks->n++) {
        memtrace_warning *w = &remarks->items[remarks->n];
        w->defect = (memtrace_defect)get_below(in, MEMTRACE_N_DEFECTS);
        w->count = index_get(in->s);
        w->first_offset = index_get(in->s);
        w->text = texts[w->defect];
    }
}

/* ---- places ------------------------------------------------------------------------------ */

static void put_places(index_stream *s, names *all, const profile *p) {
    index_put(s, p->locations.count);
    for (size_t i = 0; i < p->locations.count; i++) {
        const profile_location *l = &p->locations.items[i];
        index_put(s, number_of(all, l->file));
        index_put(s, number_of(all, l->function));
        index_put(s, l->line);
    }
    index_put(s, p->frames.count);
    for (size_t i = 0; i < p->frames.count; i++) {
        const profile_frame *f = &p->frames.items[i];
        index_put(s, f->first);
        index_put(s, f->n);
        index_put(s, number_of(all, f->type));
    }
    index_put(s, p->marks.count);
    for (size_t i = 0; i < p->marks.count; i++) {
        const profile_mark *m = &p->marks.items[i];
        index_put(s, m->time);
        index_put(s, number_of(all, m->name));
        index_put(s, m->is_gauge);
        index_put(s, m->value);
    }
}

static void get_locations(source *in) {
    profile *p = in->p;
    const size_t n = get_count(in, 3);
    in->no_memory |= !vec_reserve(&p->locations, n);
    for (size_t i = 0; i < n && usable(in); i++) {
        profile_location *l = &p->locations.items[p->locations.count++];
        l->file = need_string(in);
        l->function = need_string(in);
        l->line = (uint32_t)get_below(in, (uint64_t)UINT32_MAX + 1);
    }
}

static void get_frames(source *in) {
    profile *p = in->p;
    const size_t n = get_count(in, 3);
    in->damaged |= n >= CCT_NO_FRAME;
    in->no_memory |= usable(in) && !vec_reserve(&p->frames, n);
    for (size_t i = 0; i < n && usable(in); i++) {
        profile_frame *f = &p->frames.items[p->frames.count++];
        f->first = (uint32_t)get_below(in, p->locations.count);
        f->n = (uint32_t)get_below(in, p->locations.count - f->first + 1);
        f->type = get_string(in);
        in->damaged |= f->n == 0;
    }
}

static void get_marks(source *in) {
    profile *p = in->p;
    const size_t n = get_count(in, 4);
    in->no_memory |= !vec_reserve(&p->marks, n);
    for (size_t i = 0; i < n && usable(in); i++) {
        profile_mark *m = &p->marks.items[p->marks.count++];
        m->time = get_below(in, p->duration + 1);
        m->name = need_string(in);
        m->is_gauge = get_below(in, 2);
        m->value = index_get(in->s);
    }
}

static void put_spans(index_stream *s, names *all, const block_table *b) {
    index_put(s, b->spans.count);
    for (size_t i = 0; i < b->spans.count; i++) {
        index_put(s, b->spans.items[i].first);
        index_put(s, (uint64_t)b->spans.items[i].kind << 16 | b->spans.items[i].domain);
        index_put(s, number_of(all, b->spans.items[i].text));
    }
}

static void get_spans(source *in) {
    block_table *b = &in->p->table;
    const size_t n = get_count(in, 3);
    in->no_memory |= !vec_reserve(&b->spans, n);
    for (size_t i = 0; i < n && usable(in); i++) {
        blocks_span *span = &b->spans.items[b->spans.count++];
        span->first = (uint32_t)get_below(in, UINT32_MAX);
        const uint64_t of = get_below(in, (uint64_t)SPAN_N_KINDS << 16);
        span->kind = (uint8_t)(of >> 16);
        span->domain = (uint16_t)of;
        span->text = need_string(in);
    }
    spans_finish(b, NULL); /* a file may have them in any order */
}

/* ---- the tree ---------------------------------------------------------------------------- */

static size_t chunk_at(size_t at, size_t n) {
    return n - at < INDEX_CHUNK ? n - at : INDEX_CHUNK;
}

/* The lowest bit tells whether a node is the first of a chain; there it costs least. */
static void put_nodes(index_stream *s, const cct *tree) {
    uint64_t values[INDEX_CHUNK];
    index_put(s, cct_count(tree));
    for (size_t at = 0; at < cct_count(tree); at += INDEX_CHUNK) {
        const size_t n = chunk_at(at, cct_count(tree));
        for (size_t i = 0; i < n; i++) {
            const uint32_t frame = tree->frames.items[at + i];
            values[i] = (uint64_t)(frame & ~CCT_FIRST) << 1 | frame / CCT_FIRST;
        }
        index_put_column(s, values, n);
    }
    index_put(s, tree->parents.count);
    for (size_t at = 0; at < tree->parents.count; at += INDEX_CHUNK) {
        const size_t n = chunk_at(at, tree->parents.count);
        for (size_t i = 0; i < n; i++)
            values[i] = tree->parents.items[at + i];
        index_put_column(s, values, n);
    }
}

/* Only the root, the first node, has no frame. */
static void get_node_frames(source *in) {
    cct *tree = &in->p->tree;
    uint64_t values[INDEX_CHUNK];
    const size_t count = get_column_count(in, INT32_MAX);
    in->no_memory |= !vec_reserve(&tree->frames, count);
    for (size_t at = 0; at < count && usable(in); at += INDEX_CHUNK) {
        const size_t n = chunk_at(at, count);
        index_get_column(in->s, values, n);
        for (size_t i = 0; i < n; i++) {
            const uint64_t frame = values[i] >> 1;
            in->damaged |= at + i == 0 ? frame != CCT_NO_FRAME : frame >= in->p->frames.count;
            tree->frames.items[at + i] = (uint32_t)frame | (values[i] & 1 ? CCT_FIRST : 0);
        }
        tree->frames.count = at + n;
    }
}

static void get_parents(source *in) {
    cct *tree = &in->p->tree;
    uint64_t values[INDEX_CHUNK];
    const size_t count = get_column_count(in, cct_count(tree));
    in->no_memory |= !vec_reserve(&tree->parents, count);
    for (size_t at = 0; at < count && usable(in); at += INDEX_CHUNK) {
        const size_t n = chunk_at(at, count);
        index_get_column(in->s, values, n);
        for (size_t i = 0; i < n; i++) {
            in->damaged |= values[i] >= cct_count(tree);
            tree->parents.items[at + i] = (uint32_t)values[i];
        }
        tree->parents.count = at + n;
    }
}

/* Counts the chains before each line, and checks that each chain has a parent before it. */
static void link_chains(source *in) {
    cct *tree = &in->p->tree;
    const size_t n = usable(in) ? cct_count(tree) : 0, n_chains = tree->parents.count;
    in->no_memory |= !vec_reserve(&tree->chains_before, n / CCT_LINE + 1);
    in->damaged |= n > 0 && !(tree->frames.items[0] & CCT_FIRST);
    size_t begun = 0;
    for (size_t i = 0; i < n && usable(in); i++) {
        if (i % CCT_LINE == 0)
            tree->chains_before.items[tree->chains_before.count++] = (uint32_t)begun;
        if (!(tree->frames.items[i] & CCT_FIRST))
            continue;
        in->damaged |= begun == n_chains || tree->parents.items[begun] > (i > 0 ? i - 1 : 0);
        begun++;
    }
    in->damaged |= begun != n_chains;
}

/* ---- totals ------------------------------------------------------------------------------ */

/* Packs the fields beside the node and the sums into one number, which is small for most totals. */
static uint64_t pack_link(const cct_totals *t) {
    const uint64_t next = t->next == CCT_NO_TOTALS ? 0 : (uint64_t)t->next + 1;
    return next << 3 | (uint64_t)t->is_first << 2 | t->source;
}

static void unpack_link(cct_totals *t, uint64_t link) {
    const uint64_t next = link >> 3;
    t->source = link & 3;
    t->is_first = link >> 2 & 1;
    t->next = (next > 0 ? (uint32_t)next - 1 : CCT_NO_TOTALS) & CCT_NO_TOTALS;
}

static void put_totals(index_stream *s, const cct *tree) {
    uint64_t nodes[INDEX_CHUNK], samples[INDEX_CHUNK], blocks[INDEX_CHUNK], links[INDEX_CHUNK];
    index_put(s, tree->totals.count);
    for (size_t at = 0; at < tree->totals.count; at += INDEX_CHUNK) {
        const size_t n = chunk_at(at, tree->totals.count);
        for (size_t i = 0; i < n; i++) {
            const cct_totals *t = &tree->totals.items[at + i];
            nodes[i] = t->node;
            const cct_sums sums = cct_sums_at(tree, (uint32_t)(at + i));
            samples[i] = sums.samples;
            blocks[i] = sums.blocks;
            links[i] = pack_link(t);
        }
        index_put_column(s, nodes, n);
        index_put_column(s, samples, n);
        index_put_column(s, blocks, n);
        index_put_column(s, links, n);
    }
}

static void get_totals(source *in) {
    cct *tree = &in->p->tree;
    uint64_t nodes[INDEX_CHUNK], samples[INDEX_CHUNK], blocks[INDEX_CHUNK], links[INDEX_CHUNK];
    const size_t count = get_column_count(in, CCT_NO_TOTALS);
    in->no_memory |= !vec_reserve(&tree->totals, count);
    for (size_t at = 0; at < count && usable(in); at += INDEX_CHUNK) {
        const size_t n = chunk_at(at, count);
        index_get_column(in->s, nodes, n);
        index_get_column(in->s, samples, n);
        index_get_column(in->s, blocks, n);
        index_get_column(in->s, links, n);
        for (size_t i = 0; i < n; i++) {
            cct_totals *t = &tree->totals.items[at + i];
            *t = (cct_totals){.node = (uint32_t)nodes[i]};
            unpack_link(t, links[i]);
            in->no_memory |=
                !cct_add_at(tree, (uint32_t)(at + i), (cct_sums){samples[i], blocks[i]});
            tree->n_stacks += t->is_first;
            in->damaged |=
                nodes[i] >= cct_count(tree) || t->source >= CCT_SOURCES || links[i] >> 3 > count;
        }
        tree->totals.count = at + n;
    }
}

/* Checks that the totals of each node are one list that begins with its first. All totals are in
 * exactly one place of a list, so there is no cycle. */
static void check_lists(source *in) {
    const cct *tree = &in->p->tree;
    const size_t n = tree->totals.count;
    uint8_t *placed = calloc(n + 1, sizeof *placed);
    size_t n_placed = 0;
    in->no_memory |= !placed;
    for (size_t i = 0; i < n && usable(in); i++) {
        const cct_totals *t = &tree->totals.items[i];
        if (t->next == CCT_NO_TOTALS)
            continue;
        const cct_totals *next = &tree->totals.items[t->next];
        in->damaged |= next->is_first || next->node != t->node || placed[t->next];
        placed[t->next] = true;
        n_placed++;
    }
    free(placed);
    in->damaged |= n_placed + tree->n_stacks != n;
}

/* Checks that the totals add up to the sums. Sums of samples must fit a signed number, as other
 * code stores them. */
static void check_sums(source *in) {
    const profile *p = in->p;
    uint64_t left = INT64_MAX, samples[CCT_SOURCES] = {0}, blocks[CCT_SOURCES] = {0};
    for (uint32_t i = 0; i < p->tree.totals.count && usable(in); i++) {
        const unsigned from = p->tree.totals.items[i].source;
        const cct_sums sums = cct_sums_at(&p->tree, i);
        in->damaged |= sums.samples > left;
        left -= sums.samples;
        samples[from] += sums.samples;
        blocks[from] += sums.blocks;
    }
    in->damaged |= memcmp(samples, p->samples, sizeof samples) != 0 ||
                   memcmp(blocks, p->blocks, sizeof blocks) != 0;
}

/* ---- the section --------------------------------------------------------------------------- */

bool index_put_tree(index_stream *s, const profile *p, const index_remarks *remarks) {
    names all = {0};
    number_all(&all, p);
    if (!all.failed) {
        put_names(s, &all);
        put_info(s, &all, &p->info);
        put_sums(s, p);
        put_end(s, &all, &p->end);
        put_loss(s, &p->loss);
        put_remarks(s, remarks);
        put_places(s, &all, p);
        put_spans(s, &all, &p->table);
        put_nodes(s, &p->tree);
        put_totals(s, &p->tree);
    }
    vec_free(&all.items);
    map64_free(&all.numbers);
    return !all.failed;
}

index_status index_get_tree(index_stream *s, profile *p, index_remarks *remarks) {
    source in = {.s = s, .p = p};
    get_names(&in);
    get_info(&in, &p->info);
    p->table.is_ordered = p->info.context && strstr(p->info.context, MEMTRACE_ORDERED);
    get_sums(&in);
    get_end(&in, &p->end);
    get_loss(&in, &p->loss);
    get_remarks(&in, remarks);
    p->lacks_events = defects_cost_events(remarks->items, remarks->n);
    get_locations(&in);
    get_frames(&in);
    get_marks(&in);
    get_spans(&in);
    get_node_frames(&in);
    get_parents(&in);
    link_chains(&in);
    get_totals(&in);
    check_lists(&in);
    check_sums(&in);
    in.no_memory |= usable(&in) && !cct_number_stacks(&p->tree);
    vec_free(&in.names);
    return status_of(&in);
}
