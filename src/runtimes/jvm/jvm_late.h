/* jvm_late.h: the agent (jvm_agent.h) comes into a JVM that runs already, and leaves it.
 *
 * Problem. `attach` has the recorder called by some thread that it has stopped, in the midst of
 * whatever that is doing: in compiled code, say, or inside the JVM. That thread must not call the
 * JVM, nor wait for what needs the world to stop, since it is part of that world.
 *
 * Way. A thread of our own does it, which becomes one of the JVM's for as long as that takes, some
 * milliseconds, and ends. Nobody waits for it: a recording begins with malloc, and the objects
 * follow. If it was asked for several things by the time that it looks, the last one counts.
 *
 * Why not otherwise. The JVM's own way, by which `jcmd` loads agents, makes a socket and a thread
 * that stay, prints a warning from Java 21 on, is refused by some settings, and SIGQUIT ends a JVM
 * that is not far enough. A library that is in the process already needs none of it. */
#ifndef RUNTIMES_JVM_JVM_LATE_H
#define RUNTIMES_JVM_JVM_LATE_H

/* `created` is JNI_GetCreatedJavaVMs. By one thread at a time. */
void jvm_late_begin(void *created);
void jvm_late_end(void); /* nothing happens if none has begun */

#endif
