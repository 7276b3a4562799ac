/* lox.c: Lox; see language.h. */
#include "languages/language.h"

const language lox_language = {.name = "Lox", .source = ".lox", .entry = "script"};
