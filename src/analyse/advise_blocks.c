/* advise_blocks.c: see advise_blocks.h. */
#include "analyse/advise_blocks.h"

#include "analyse/advise_rules.h"

static bool tally_size(advise_tally *t, uint64_t words, uint64_t samples) {
    uint32_t *at = map64_put(&t->index, words);
    if (at && *at == MAP64_NONE) {
        *at = (uint32_t)t->sizes.count;
        if (!vec_push(&t->sizes, ((advise_size){.words = words})))
            return false;
    }
    if (at)
        t->sizes.items[*at].samples += samples;
    return at;
}

bool advise_tally_row(advise_tally *t, const profile *p, size_t row) {
    const block_table *b = &p->table;
    const uint64_t samples = blocks_samples(b, row), words = blocks_length(b, row);
    const bool promoted = b->promoted[row] != BLOCKS_NEVER, dead = b->died[row] != BLOCKS_NEVER;
    estimate_blocks_add(&t->number, words + 1, p->info.sample_rate);
    t->samples += samples;
    t->promoted += promoted ? samples : 0;
    t->alive += dead ? 0 : samples;
    t->young += dead && !promoted && b->source[row] == MEMTRACE_MINOR ? samples : 0;
    t->brief += dead && b->died[row] - b->born[row] < ADVISE_BRIEF ? samples : 0;
    return tally_size(t, words, samples);
}

static double share_of(uint64_t part, uint64_t of) {
    return of ? 100 * (double)part / (double)of : 0;
}

/* The commonest size, the smaller one if there are two. */
static advise_size find_commonest(const advise_tally *t) {
    advise_size most = {0};
    for (size_t i = 0; i < t->sizes.count; i++) {
        const advise_size *s = &t->sizes.items[i];
        if (s->samples > most.samples || (s->samples == most.samples && s->words < most.words))
            most = *s;
    }
    return most;
}

advise_blocks advise_tally_blocks(const advise_tally *t) {
    const advise_size most = find_commonest(t);
    advise_blocks b = {.number = estimate_blocks_total(&t->number),
                       .min_words = t->sizes.count ? UINT64_MAX : 0,
                       .words = most.words,
                       .one_size = share_of(most.samples, t->samples),
                       .sizes = (uint32_t)t->sizes.count,
                       .young = share_of(t->young, t->samples),
                       .known_young = share_of(t->young, t->young + t->promoted),
                       .promoted = share_of(t->promoted, t->samples),
                       .brief = share_of(t->brief, t->samples),
                       .alive = share_of(t->alive, t->samples)};
    for (size_t i = 0; i < t->sizes.count; i++) {
        const uint64_t words = t->sizes.items[i].words;
        b.min_words = words < b.min_words ? words : b.min_words;
        b.max_words = words > b.max_words ? words : b.max_words;
    }
    return b;
}

void advise_tally_free(advise_tally *t) {
    map64_free(&t->index);
    vec_free(&t->sizes);
}
