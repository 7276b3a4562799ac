/* complete.c: names for completion at the prompt. It only reads, and allocates nothing. */
#include "scanner.h"
#include "vm.h"

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

size_t lox_name_start(const char *text, size_t end) {
    size_t start = end;
    while (start > 0 && is_name(text[start - 1]))
        start--;
    while (start < end && text[start] >= '0' && text[start] <= '9')
        start++; /* a name does not begin with a digit */
    return start;
}

static void tell(const lox_names *to, const string *name) {
    to->name(to->context, name->text);
}

static void tell_keys(const lox_names *to, const table *t) {
    for (uint32_t i = 0; i < t->capacity; i++)
        if (t->entries[i].key)
            tell(to, t->entries[i].key);
}

/* Returns VALUE_UNDEFINED if there is no such global. */
static value global_called(const lox_vm *vm, const char *name, size_t size) {
    for (uint32_t i = 0; i < vm->n_globals; i++) {
        const string *s = vm->global_names[i];
        if (s->length == size && !memcmp(s->text, name, size))
            return vm->globals[i];
    }
    return VALUE_UNDEFINED;
}

static void tell_properties_of(const lox_vm *vm, value v, const lox_names *to) {
    if (value_is(v, OBJECT_ARRAY))
        tell(to, vm->length_name);
    if (!value_is(v, OBJECT_INSTANCE))
        return;
    tell_keys(to, &AS(instance, v)->class->fields);
    tell_keys(to, &AS(instance, v)->class->methods);
}

/* Tells the properties that any class has or any code uses. */
static void tell_all_properties(const lox_vm *vm, const lox_names *to) {
    tell(to, vm->length_name);
    for (uint32_t i = 0; i < vm->n_functions; i++) {
        const function *f = vm->functions[i];
        if (f->class_name)
            tell(to, f->name);
        for (uint32_t j = 0; j < f->n_caches; j++)
            tell(to, f->caches[j].name);
    }
}

static void tell_properties(const lox_vm *vm, const char *text, size_t dot, const lox_names *to) {
    size_t start = lox_name_start(text, dot);
    bool is_whole = start < dot && (start == 0 || text[start - 1] != '.');
    value v = is_whole ? global_called(vm, text + start, dot - start) : VALUE_UNDEFINED;
    if (v == VALUE_UNDEFINED)
        tell_all_properties(vm, to);
    else
        tell_properties_of(vm, v, to);
}

static void tell_variables(const lox_vm *vm, const lox_names *to) {
    static const char *const keywords[] = {
#define KEYWORD(id, spelling) spelling,
        KEYWORDS(KEYWORD)
#undef KEYWORD
    };
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        to->name(to->context, keywords[i]);
    for (uint32_t i = 0; i < vm->n_globals; i++)
        if (vm->globals[i] != VALUE_UNDEFINED)
            tell(to, vm->global_names[i]);
}

void lox_name_next(const lox_vm *vm, const char *text, size_t start, const lox_names *to) {
    while (start > 0 && text[start - 1] == ' ')
        start--;
    if (start > 0 && text[start - 1] == '.')
        tell_properties(vm, text, start - 1, to);
    else
        tell_variables(vm, to);
}
