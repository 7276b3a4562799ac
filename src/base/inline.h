/* inline.h: forces inlining where it is what makes a function fast, or where the function reads its
 * caller's registers. */
#ifndef BASE_INLINE_H
#define BASE_INLINE_H

#define ALWAYS_INLINE inline __attribute__((always_inline))

#endif
