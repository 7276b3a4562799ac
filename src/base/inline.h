/* inline.h: functions that must be inlined, because a copy for each caller's constants is what
 * makes them fast, or because they read the caller's registers. */
#ifndef BASE_INLINE_H
#define BASE_INLINE_H

#define ALWAYS_INLINE inline __attribute__((always_inline))

#endif
