/* advise_blocks.c: adds sums row by row, and turns them into estimates once at the end. Sizes are
 * in a hash table, which tells the commonest size and the number of distinct sizes. */
#include "advice/advise_blocks.h"

#include "advice/advise_rules.h"

static bool tally_size(advise_tally *t, uint64_t words, uint64_t samples) {
    uint32_t at;
    if (!map64_number(&t->index, words, &at) ||
        (at == t->sizes.count && !vec_push(&t->sizes, ((advise_size){.words = words}))))
        return false;
    t->sizes.items[at].samples += samples;
    return true;
}

void advise_sums_row(advise_sums *s, const profile *p, const estimate_chances *chances, size_t row,
                     uint64_t words) {
    const block_table *b = &p->table;
    const uint64_t samples = blocks_samples(b, row);
    const bool promoted = blocks_was_promoted(b, row), dead = blocks_died(b, row) != BLOCKS_NEVER;
    estimate_blocks_add_chance(&s->number, estimate_chance(chances, words + 1));
    s->samples += samples;
    s->promoted += promoted ? samples : 0;
    s->alive += dead ? 0 : samples;
    s->young += dead && !promoted && b->source[row] == MEMTRACE_MINOR ? samples : 0;
    s->brief += dead && blocks_died(b, row) - blocks_born(b, row) < ADVISE_BRIEF ? samples : 0;
}

void advise_tally_sums(advise_tally *t, const advise_sums *s) {
    advise_sums *sum = &t->sums;
    estimate_blocks_join(&sum->number, &s->number);
    sum->samples += s->samples;
    sum->young += s->young;
    sum->promoted += s->promoted;
    sum->brief += s->brief;
    sum->alive += s->alive;
}

bool advise_tally_sizes(advise_tally *t, const advise_size *sizes, size_t n) {
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++)
        ok = tally_size(t, sizes[i].words, sizes[i].samples);
    return ok;
}

static double share_of(uint64_t part, uint64_t of) {
    return of ? 100 * (double)part / (double)of : 0;
}

/* Returns the commonest size; of two, the smaller one. */
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
    advise_blocks b = {.number = estimate_blocks_total(&t->sums.number),
                       .min_words = t->sizes.count ? UINT64_MAX : 0,
                       .words = most.words,
                       .one_size = share_of(most.samples, t->sums.samples),
                       .sizes = (uint32_t)t->sizes.count,
                       .young = share_of(t->sums.young, t->sums.samples),
                       .known_young = share_of(t->sums.young, t->sums.young + t->sums.promoted),
                       .promoted = share_of(t->sums.promoted, t->sums.samples),
                       .brief = share_of(t->sums.brief, t->sums.samples),
                       .alive = share_of(t->sums.alive, t->sums.samples)};
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
