/* progress.h: a line on standard error that shows a user at a terminal what a command is doing. It
 * appears when the command has been busy for a second, and is updated four times a second. A thread
 * shows it, so a long computation need not call anything. There is one line, which shows the latest
 * text. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

/* Sets the text of the line. Cheap enough to be called for each packet of a trace. */
__attribute__((format(printf, 1, 2))) void progress_say(const char *format, ...);

/* Ends the activity, and removes the line. */
void progress_end(void);

/* Removes the line, since something else is about to be written to the terminal. It comes back if
 * the activity continues. */
void progress_wipe(void);

/* Removes the line; for a signal handler that ends the process. */
void progress_interrupted(void);

#endif
