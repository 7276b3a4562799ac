/* jvm_weigh.h: how many samples an object has that the JVM's sampler has picked.
 *
 * Problem. A trace says of each object how many of its words are sampled, each with the rate r on
 * its own; from that follows what samples estimate (docs/estimator.md). The JVM says only that it
 * picked an object.
 *
 * What the JVM does. Each thread counts down the bytes to its next sample, which it draws from an
 * exponential distribution whose mean is the interval I, and does so anew behind an object that it
 * has picked. So an object of s bytes is picked with probability 1 - exp(-s / I), whatever came
 * before it.
 *
 * Formula. An object of w words, header included, holds a sampled word with probability
 * 1 - (1 - r)^w. Both are the same for I = -8 / ln(1 - r) bytes, nearly 8 / r. A picked object then
 * has n samples with the probability that n of w words are sampled, given that one is: the first
 * of them is drawn among the w under that condition, those behind it as always.
 *
 * The interval is a whole number of bytes. Where rounding would matter, from JVM_RATE_ALL on, the
 * JVM is asked for all objects, and all words are drawn here. */
#ifndef RUNTIMES_JVM_JVM_WEIGH_H
#define RUNTIMES_JVM_JVM_WEIGH_H

#include <stdint.h>

/* From here on all objects are asked for; below, rounding changes the rate by 1 in 500 at most. */
#define JVM_RATE_ALL (1 / 32.0)

/* The interval to ask for, bytes; 0: all. */
int32_t jvm_weigh_interval(double rate);

/* The samples of an object of so many words, header included, that was picked at that interval; 0:
 * it is not to be recorded. `random` is the thread's, and changes. */
uint64_t jvm_weigh(double rate, uint64_t words, uint64_t *random);

#endif
