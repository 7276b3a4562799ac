/* expect.h: checks whether the programmer's estimates are right within an order of magnitude. */
#ifndef GUEST_EXPECT_H
#define GUEST_EXPECT_H

#include "guest/view.h"

typedef struct verdict {
    const expectation *expectation;
    tally actual;
    estimate count; /* estimated from `actual` */
    double ratio;   /* actual / expected; 1 if both are 0 */
    bool pass;      /* 0.1 <= ratio <= 10 */
} verdict;

typedef VEC(verdict) verdict_list;

/* Judges each expectation of the options. Returns false when there is no memory. */
bool expect_judge(verdict_list *verdicts, const view *v);

bool expect_all_pass(const verdict_list *verdicts);

#endif
