/* repl.h: the prompt. */
#ifndef LOX_REPL_H
#define LOX_REPL_H

#include "lox.h"

/* Reads and runs lines until the end of input, on a terminal with editing and history. Errors do
 * not end the loop. The result is the status of the first error. On a terminal it is LOX_OK, since
 * the user has seen the errors, unless the system had no more memory. */
lox_status repl(lox_vm *vm);

#endif
