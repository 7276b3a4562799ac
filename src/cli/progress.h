/* progress.h: the line on standard error that says what a command is at, to who watches a terminal:
 * when it has been busy for a second, with one thing or several, and four times a second from then
 * on. A thread shows it, so that nothing has to be called while something takes long. There is one
 * line, and who said something last has it. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

/* What is going on from now on. Cheap enough for each packet of a trace. */
__attribute__((format(printf, 1, 2))) void progress_say(const char *format, ...);

/* It is over: removes the line. */
void progress_end(void);

/* Something else is about to be written to the terminal: removes the line, which comes back if what
 * it says still goes on. */
void progress_wipe(void);

/* For a signal handler that ends the process: removes the line. */
void progress_interrupted(void);

#endif
