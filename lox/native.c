/* native.c: the built-in functions. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "memory.h"
#include "vm.h"

static native_result native_clock(lox_vm *vm, value *args, int n) {
    (void)vm, (void)n;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    args[-1] = value_from_number((double)t.tv_sec + (double)t.tv_nsec / 1e9);
    return NATIVE_DONE;
}

/* A growable text. */
typedef struct buffer {
    char *text;
    size_t n, capacity;
} buffer;

static void buffer_add(void *context, const char *text, size_t size) {
    buffer *b = context;
    if (b->n + size > b->capacity) {
        b->capacity = 2 * (b->n + size);
        b->text = memory_resize(b->text, b->capacity);
    }
    memcpy(b->text + b->n, text, size);
    b->n += size;
}

static native_result native_string(lox_vm *vm, value *args, int n) {
    (void)n;
    if (value_is(args[0], OBJECT_STRING)) {
        args[-1] = args[0];
        return NATIVE_DONE;
    }
    buffer b = {0};
    text_of_value(args[0], buffer_add, &b);
    string *s = string_new(vm, b.text, b.n);
    memory_free(b.text);
    if (!s) {
        vm_error(vm, "Out of memory.");
        return NATIVE_FAILED;
    }
    args[-1] = value_from_object(s);
    return NATIVE_DONE;
}

static const char *skip_digits(const char *at) {
    while (*at >= '0' && *at <= '9')
        at++;
    return at;
}

/* Parses a decimal number with optional sign, fraction and exponent; only blanks may surround
 * it. */
static bool parse_number(const char *text, double *number) {
    static const char blanks[] = " \t\r\n";
    text += strspn(text, blanks);
    const char *at = text + (*text == '-' || *text == '+'), *digits = at;
    at = skip_digits(at);
    if (at == digits)
        return false;
    if (*at == '.' && at[1] >= '0' && at[1] <= '9')
        at = skip_digits(at + 1);
    if (*at == 'e' || *at == 'E') {
        const char *exponent = at + 1 + (at[1] == '-' || at[1] == '+');
        if (*exponent < '0' || *exponent > '9')
            return false;
        at = skip_digits(exponent);
    }
    *number = strtod(text, NULL);
    return at[strspn(at, blanks)] == '\0';
}

static native_result native_number(lox_vm *vm, value *args, int n) {
    (void)vm, (void)n;
    double number;
    if (value_is_number(args[0]))
        args[-1] = args[0];
    else if (value_is(args[0], OBJECT_STRING) && parse_number(AS(string, args[0])->text, &number))
        args[-1] = value_from_number(number);
    else
        args[-1] = VALUE_NIL;
    return NATIVE_DONE;
}

static native_result native_round(lox_vm *vm, value *args, int n) {
    (void)n;
    if (!value_is_number(args[0])) {
        vm_error(vm, "Operand must be a number.");
        return NATIVE_FAILED;
    }
    args[-1] = value_from_number(floor(value_number(args[0]) + 0.5));
    return NATIVE_DONE;
}

/* Returns `path` relative to the folder of the file that runs, unless it is absolute. */
static char *beside(const lox_vm *vm, const char *path) {
    const char *file = vm->frame->closure->function->file, *slash = strrchr(file, '/');
    size_t folder = slash && path[0] != '/' ? (size_t)(slash - file) + 1 : 0,
           size = strlen(path) + 1;
    char *full = memory_new(folder + size);
    memcpy(full, file, folder);
    memcpy(full + folder, path, size);
    return full;
}

/* The interpreter runs the file; its top-level `return` is the result of the call. */
static native_result native_load(lox_vm *vm, value *args, int n) {
    (void)n;
    if (!value_is(args[0], OBJECT_STRING)) {
        vm_error(vm, "Operand must be a string.");
        return NATIVE_FAILED;
    }
    char *path = beside(vm, AS(string, args[0])->text), *text;
    size_t size;
    int why = vm_read_file(path, &text, &size);
    if (why) {
        vm_error(vm, "Could not read file '%s': %s.", path, strerror(why));
        memory_free(path);
        return NATIVE_FAILED;
    }
    source_text what = {vm_keep_file_name(vm, path), text, size, {.line = 1}, false};
    function *f = compile(vm, &what, NULL);
    memory_free(text);
    if (!f)
        vm_error(vm, "Could not compile file '%s'.", path);
    memory_free(path);
    if (!f)
        return NATIVE_FAILED;
    args[-1] = value_from_object(vm_closure_of(vm, f));
    return NATIVE_ENTER;
}

static void define(lox_vm *vm, const char *name, native_call *call, int arity) {
    native *n = (native *)heap_new_major(vm, OBJECT_NATIVE, WORDS_OF(native));
    n->call = call;
    n->arity = arity;
    n->name = name;
    uint32_t global = vm_global(vm, string_intern(vm, name, strlen(name)));
    vm->globals[global] = value_from_object(n);
}

void native_define_all(lox_vm *vm) {
    struct {
        const char *name;
        native_call *call;
        int arity;
    } const natives[] = {
        {"clock", native_clock, -1}, {"String", native_string, 1}, {"Number", native_number, 1},
        {"round", native_round, 1},  {"load", native_load, 1},
    };
    for (size_t i = 0; i < sizeof natives / sizeof *natives; i++)
        define(vm, natives[i].name, natives[i].call, natives[i].arity);
}
