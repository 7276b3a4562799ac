/* scope.c: the names of scopes. */
#include "record/scope.h"

static given_names scopes;

uint16_t scope_number(const char *name) {
    return names_number(&scopes, name, NAMES_MOST - 1);
}

uint16_t scope_number_found(const char *name, uint32_t most) {
    return names_number(&scopes, name, most);
}

const char *scope_text(uint16_t number) {
    return names_text(&scopes, number, "(other scopes)");
}
