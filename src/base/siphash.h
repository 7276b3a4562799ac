/* siphash.h: SipHash-2-4, a hash with a secret key. Without the key, nobody can test whether a
 * value belongs to a guessed input, or find two inputs with the same value. */
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t siphash(const uint64_t key[2], const void *bytes, size_t size);

#endif
