/* ocaml.c: OCaml; see language.h. */
#include <ctype.h>

#include "languages/language.h"

/* Returns the module that a function's name begins with, such as Stdlib in
 * `Stdlib__Map.Make.bal`. */
static language_name module_of_function(const char *function) {
    size_t n = 0;
    if (!isupper((unsigned char)function[0]))
        return (language_name){0};
    while (isalnum((unsigned char)function[n]) || function[n] == '\'')
        n++;
    const char next = function[n] == '_' ? function[n + 1] : '\0';
    const bool ends = function[n] == '.' || next == '_' || islower((unsigned char)next);
    return (language_name){.text = function, .size = ends ? n : 0};
}

const language ocaml_language = {
    .name = "OCaml",
    .source = ".ml",
    .entry = "caml_main",
    .module_of_function = module_of_function,
};
