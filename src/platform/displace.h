/* displace.h: moves the first instructions of a function elsewhere, so that a jump fits in their
 * place and the function can still be called. No memory of its own, no locks, errno kept. */
#ifndef PLATFORM_DISPLACE_H
#define PLATFORM_DISPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DISPLACE_JUMP = 5,  /* bytes of a jump to a place near by */
    DISPLACE_ROOM = 128 /* bytes that moved instructions, with the jump back, take at most */
};

struct displaced {
    size_t entry; /* bytes from the start of the function to where the jump goes */
    size_t taken; /* bytes there that were moved: at least DISPLACE_JUMP */
    size_t size;  /* bytes written */
    bool returns; /* a call that was moved returns to where the jump is */
};

/* Writes to `room`, of DISPLACE_ROOM bytes, which will be executed at `room_at`, the first
 * instructions of the function whose `size` bytes of code are at `code`, executed at `at`, and a
 * jump to the rest of it. Behind a short function may be padding, of which `most` bytes from the
 * start of the function can be read. NULL: done. Else what keeps these instructions from being
 * moved, in words that go on from the function's name. */
const char *displace_copy(const uint8_t *code, size_t size, size_t most, uintptr_t at,
                          uint8_t *room, uintptr_t room_at, struct displaced *out);

/* A jump from `at` to `target`; false if that is too far. */
bool displace_jump(uint8_t jump[DISPLACE_JUMP], uintptr_t at, uintptr_t target);

/* Does the code call one of these `n` functions, or go on there? */
bool displace_calls(const uint8_t *code, size_t size, uintptr_t at, const uintptr_t *functions,
                    size_t n);

/* The lowest address outside of a function to which it jumps on a condition: where the part of it
 * is that its compiler has put elsewhere. 0: nowhere. */
uintptr_t displace_leaves(const uint8_t *code, size_t size, uintptr_t at);

/* Code of at most DISPLACE_ENTRY bytes that puts `argument` behind the first four arguments of a
 * function and goes on at `target`; gives its size. */
enum { DISPLACE_ENTRY = 32 };
size_t displace_entry(uint8_t code[DISPLACE_ENTRY], uintptr_t argument, uintptr_t target);

#endif
