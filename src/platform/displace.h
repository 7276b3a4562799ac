/* displace.h: moves the first instructions of a function elsewhere, so that a jump fits in their
 * place and the original function can still be called. Allocates nothing, takes no locks, keeps
 * errno. */
#ifndef PLATFORM_DISPLACE_H
#define PLATFORM_DISPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DISPLACE_JUMP = 5,  /* bytes of a jump to a nearby address */
    DISPLACE_ROOM = 128 /* most bytes that the moved instructions take, with the jump back */
};

struct displaced {
    size_t entry; /* offset in the function where the jump is to be written, bytes */
    size_t taken; /* bytes moved from there: at least DISPLACE_JUMP */
    size_t size;  /* bytes written to `room` */
    bool returns; /* a moved call returns into the bytes that the jump overwrites */
};

/* Copies the first instructions of a function to `room` and adds a jump to the rest of the
 * function. `room` has DISPLACE_ROOM bytes and will be executed at `room_at`. The function has
 * `size` bytes of code at `code`, executed at `at`. Padding may follow a short function; `most`
 * bytes from the start of the function can be read. Returns NULL on success. Otherwise returns why
 * the instructions cannot be moved, as a phrase that continues the function's name. */
const char *displace_copy(const uint8_t *code, size_t size, size_t most, uintptr_t at,
                          uint8_t *room, uintptr_t room_at, struct displaced *out);

/* Writes a jump from `at` to `target`. Returns false if that is too far. */
bool displace_jump(uint8_t jump[DISPLACE_JUMP], uintptr_t at, uintptr_t target);

/* Returns whether the code calls or jumps to one of these `n` functions. */
bool displace_calls(const uint8_t *code, size_t size, uintptr_t at, const uintptr_t *functions,
                    size_t n);

/* Returns the lowest address outside a function that is the target of a conditional jump in it:
 * there begins the part that the compiler has split off. Returns 0 if there is none. */
uintptr_t displace_leaves(const uint8_t *code, size_t size, uintptr_t at);

/* Writes code that passes `argument` as the fifth argument and jumps to `target`. Returns its size,
 * at most DISPLACE_ENTRY bytes. */
enum { DISPLACE_ENTRY = 32 };
size_t displace_entry(uint8_t code[DISPLACE_ENTRY], uintptr_t argument, uintptr_t target);

#endif
