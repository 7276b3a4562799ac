/* function.c: makes and frees compiled functions. */
#include "memory.h"
#include "vm.h"

function *function_new(lox_vm *vm, const char *file, string *name) {
    function *f = memory_new(sizeof *f);
    f->file = file;
    f->name = name;
    f->id = vm->n_functions;
    MEMORY_PUSH(vm->functions, vm->n_functions, vm->functions_capacity, f);
    return f;
}

void function_free(function *f) {
    for (uint32_t i = 0; i < f->n_classes; i++)
        memory_free(f->classes[i].fields);
    memory_free(f->code);
    memory_free(f->constants);
    memory_free(f->caches);
    memory_free(f->captures);
    memory_free(f->inner);
    memory_free(f->classes);
    memory_free(f->places);
    memory_free(f->statements);
    memory_free(f);
}
