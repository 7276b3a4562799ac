/* hot.h: what every program of a run touches when it starts, and every child of a fork, stands
 * together: each page that is touched costs a fault, and one of code some microseconds. */
#ifndef BASE_HOT_H
#define BASE_HOT_H

/* A variable in front of those that begin as zeros, on the page of those that do not. */
#define HOT_DATA __attribute__((section(".data")))

/* A function that linkers put beside others of its kind. */
#define HOT_CODE __attribute__((hot))

#endif
