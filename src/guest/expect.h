/* expect.h: was the programmer's estimate right, to within an order of magnitude? */
#ifndef GUEST_EXPECT_H
#define GUEST_EXPECT_H

#include "guest/view.h"

typedef struct verdict {
    const expectation *expectation;
    tally actual;
    estimate count; /* of `actual` */
    double ratio;   /* actual / expected; 1 if both are 0 */
    bool pass;      /* 0.1 <= ratio <= 10 */
} verdict;

typedef VEC(verdict) verdict_list;

/* One for each expectation of the options. False when there is no memory. */
bool expect_judge(verdict_list *verdicts, const view *v);

bool expect_all_pass(const verdict_list *verdicts);

#endif
