/* repl.h: the prompt. */
#ifndef LOX_REPL_H
#define LOX_REPL_H

#include "lox.h"

/* Reads and runs lines until the end of input; with editing and history on a terminal. Errors do
 * not end it. The status is that of the first, but on a terminal, where whoever typed has seen
 * them, only if the system had no more memory. */
lox_status repl(lox_vm *vm);

#endif
