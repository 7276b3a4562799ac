/* jvm_late.h: the agent (jvm_agent.h) joins a running JVM, and leaves it.
 *
 * Problem. `attach` calls the recorder in some thread that it has stopped at an arbitrary point,
 * for example in compiled code or inside the JVM. That thread must not call the JVM. Nor may it
 * wait for anything that needs the world to stop, since it is part of that world.
 *
 * Way. A thread of our own attaches itself to the JVM, does the work in some milliseconds, and
 * ends. Nobody waits for it: a recording begins with malloc, and objects follow. If several
 * requests arrive before it looks, only the last one counts.
 *
 * Why not otherwise. The JVM's own way to load an agent, as `jcmd` does, creates a socket and a
 * thread that stay, prints a warning from Java 21 on, and is refused by some settings. Its SIGQUIT
 * ends a JVM that has not started far enough. A library that is in the process already needs none
 * of this. */
#ifndef RUNTIMES_JVM_JVM_LATE_H
#define RUNTIMES_JVM_JVM_LATE_H

/* `created` is JNI_GetCreatedJavaVMs. Only one thread at a time may call these functions. */
void jvm_late_begin(void *created);
void jvm_late_end(void); /* does nothing if no recording has begun */

#endif
