/* scope.c: the names of scopes. */
#include "record/scope.h"

static given_names scopes;

uint16_t scope_number(const char *name) {
    return names_number(&scopes, name);
}

const char *scope_text(uint16_t number) {
    return names_text(&scopes, number, "(other scopes)");
}
