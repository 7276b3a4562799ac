/* hot.h: groups what every program of a run touches when it starts, and every child of a fork. Each
 * page that is touched costs a fault, which takes some microseconds for a page of code. */
#ifndef BASE_HOT_H
#define BASE_HOT_H

/* Puts a variable that starts as zero on the page of the variables that do not. */
#define HOT_DATA __attribute__((section(".data")))

/* Lets the linker put a function next to others that are hot. */
#define HOT_CODE __attribute__((hot))

#endif
