/* tick.c: the tick is the median, over blocks that share their time with several others, of the
 * distance to the next time that occurs. Pauses do not count. There is no tick if few blocks share
 * a time. */
#include "profile/tick.h"

enum {
    MANY = 8,    /* blocks of one time */
    LONG = 1024, /* µs: a pause, not a tick */
    SHARE = 100  /* at least a hundredth of the blocks must share a time */
};

uint64_t tick_of(const block_table *b) {
    uint64_t weights[LONG] = {0}, all = 0, seen = 0, tick = 0;
    for (size_t i = 0, first = 0; i < b->count; i++) {
        const uint64_t time = blocks_born(b, first), next = blocks_born(b, i);
        if (next == time)
            continue;
        if (i - first >= MANY && next > time && next - time < LONG) {
            weights[next - time] += i - first;
            all += i - first;
        }
        first = i;
    }
    if (all * SHARE < b->count)
        return 0;
    while (seen * 2 < all)
        seen += weights[++tick];
    return tick > 1 ? tick : 0;
}
