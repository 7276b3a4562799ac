/* jvm_weigh.h: the number of samples of an object that the JVM's sampler has picked.
 *
 * Problem. A trace says how many words of each object are sampled, each word independently at the
 * rate r. The estimates from samples follow from that (docs/estimator.md). The JVM only says that
 * it picked an object.
 *
 * What the JVM does. Each thread counts down the bytes to its next sample. This distance is drawn
 * from an exponential distribution with mean I, the interval, and is drawn anew after each object
 * that was picked. So an object of s bytes is picked with probability 1 - exp(-s / I), whatever
 * came before.
 *
 * Formula. With its header, an object of w words has a sampled word with probability 1 - (1 - r)^w.
 * Both probabilities are equal for I = -8 / ln(1 - r) bytes, nearly 8 / r. The number of samples of
 * a picked object is distributed as the number of sampled words among w, given that there is at
 * least one. So the first sampled word is drawn under that condition, and the words after it are
 * drawn independently as usual.
 *
 * The interval is a whole number of bytes. Where rounding would matter, from JVM_RATE_ALL on, the
 * JVM reports all objects, and all words are drawn here. */
#ifndef RUNTIMES_JVM_JVM_WEIGH_H
#define RUNTIMES_JVM_JVM_WEIGH_H

#include <stdint.h>

/* From this rate on, all objects are requested. Below it, rounding changes the rate by at most 1 in
 * 500. */
#define JVM_RATE_ALL (1 / 32.0)

/* Returns the interval to request, in bytes; 0: all objects. */
int32_t jvm_weigh_interval(double rate);

/* Returns the samples of an object of so many words, with its header, that was picked at this
 * interval; 0: it is not recorded. `random` is the thread's state, and changes. */
uint64_t jvm_weigh(double rate, uint64_t words, uint64_t *random);

#endif
