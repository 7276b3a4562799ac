/* vm.c: the life of a virtual machine, and what embedders call. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "arrays.h"
#include "memory.h"
#include "profile.h"
#include "vm.h"

static void write_stdout(void *context, const char *text, size_t size) {
    (void)context;
    fwrite(text, 1, size, stdout);
}

static void write_stderr(void *context, const char *text, size_t size) {
    (void)context;
    fflush(stdout);
    fwrite(text, 1, size, stderr);
}

/* Memory that costs nothing until it is touched. */
static void *reserve(size_t size) {
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (p == MAP_FAILED)
        memory_exhausted();
    return p;
}

enum {
    REGISTER_BYTES = (MAX_REGISTERS + STACK_STEP + UINT16_MAX + 1) * (int)sizeof(value),
    FRAME_BYTES = MAX_FRAMES * (int)sizeof(frame),
};

lox_vm *lox_create(const lox_options *options) {
    lox_vm *vm = memory_new(sizeof *vm);
    vm->write = options->write ? options->write : write_stdout;
    vm->write_error = options->write_error ? options->write_error : write_stderr;
    vm->write_context = options->context;
    vm->registers = reserve(REGISTER_BYTES);
    vm->clean = vm->registers + STACK_STEP;
    vm->frames = vm->frame = vm->lowest = reserve(FRAME_BYTES);
    for (size_t i = 0; i < sizeof vm->hold / sizeof *vm->hold; i++)
        vm->hold[i] = VALUE_NIL;
    vm->watch_returns = options->watch_returns;
    heap_init(vm, options);
    vm->heap.locked++;
    vm->init_name = string_intern(vm, "init", 4);
    vm->length_name = string_intern(vm, "length", 6);
    native_define_all(vm);
    vm->heap.locked--;
    return vm;
}

void lox_destroy(lox_vm *vm) {
    lox_trace_stop(vm);
    lox_observe(vm, NULL);
    heap_free(vm);
    for (uint32_t i = 0; i < vm->n_functions; i++)
        function_free(vm->functions[i]);
    for (uint32_t i = 0; i < vm->n_files; i++)
        memory_free(vm->files[i]);
    memory_free(vm->functions);
    memory_free(vm->files);
    memory_free(vm->globals);
    memory_free(vm->global_names);
    table_free(&vm->global_index);
    munmap(vm->registers, REGISTER_BYTES);
    munmap(vm->frames, FRAME_BYTES);
    memory_free(vm);
}

uint32_t vm_global(lox_vm *vm, string *name) {
    value *known = table_get(&vm->global_index, name);
    if (known)
        return (uint32_t)*known;
    uint32_t index = vm->n_globals, n_names = index;
    MEMORY_PUSH(vm->global_names, n_names, vm->global_names_capacity, name);
    MEMORY_PUSH(vm->globals, vm->n_globals, vm->globals_capacity, VALUE_UNDEFINED);
    table_set(&vm->global_index, name, index);
    return index;
}

const char *vm_keep_file_name(lox_vm *vm, const char *file) {
    for (uint32_t i = 0; i < vm->n_files; i++)
        if (!strcmp(vm->files[i], file))
            return vm->files[i];
    size_t size = strlen(file) + 1;
    char *copy = memory_new(size);
    memcpy(copy, file, size);
    MEMORY_PUSH(vm->files, vm->n_files, vm->files_capacity, copy);
    return copy;
}

int vm_read_file(const char *path, char **text, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return errno;
    size_t n = 0, capacity = 1 << 16, got;
    char *buffer = memory_new(capacity);
    errno = 0;
    while ((got = fread(buffer + n, 1, capacity - n, file)) > 0) {
        n += got;
        if (n == capacity)
            buffer = memory_resize(buffer, capacity *= 2);
    }
    int why = ferror(file) ? (errno ? errno : EIO) : 0;
    fclose(file);
    if (why) {
        memory_free(buffer);
        return why;
    }
    *text = buffer;
    *size = n;
    return 0;
}

void lox_set_arguments(lox_vm *vm, const char *const *arguments, size_t n) {
    vm->heap.locked++;
    value *list = &vm->hold[0];
    if (array_new(vm, list, (uint32_t)n, false))
        for (size_t i = 0; i < n; i++) {
            vm->hold[1] = value_from_object(string_intern(vm, arguments[i], strlen(arguments[i])));
            array_append(vm, list, &vm->hold[1]);
        }
    uint32_t global = vm_global(vm, string_intern(vm, "ARGV", 4));
    vm->globals[global] = *list;
    vm->hold[0] = vm->hold[1] = VALUE_NIL;
    vm->heap.locked--;
}

closure *vm_closure_of(lox_vm *vm, function *f) {
    vm->heap.locked++;
    function_object *o =
        (function_object *)heap_new_major(vm, OBJECT_FUNCTION, WORDS_OF(function_object));
    o->function = f;
    closure *c = (closure *)heap_new_major(vm, OBJECT_CLOSURE, WORDS_OF(closure));
    c->function = f;
    vm->heap.locked--;
    return c;
}

lox_status lox_run_text(lox_vm *vm, const char *file, const char *text, size_t size, bool echo) {
    function *f = compile(vm, vm_keep_file_name(vm, file), text, size, echo);
    if (!f)
        return LOX_COMPILE_ERROR;
    return interpret(vm, vm_closure_of(vm, f));
}

lox_status lox_run_file(lox_vm *vm, const char *path) {
    char *text;
    size_t size;
    int why = vm_read_file(path, &text, &size);
    if (why) {
        vm_complain(vm, "Could not open file \"%s\".\n", path);
        return LOX_IO_ERROR;
    }
    lox_status status = lox_run_text(vm, path, text, size, false);
    memory_free(text);
    return status;
}

void lox_observe(lox_vm *vm, const lox_observer *observer) {
    heap *h = &vm->heap;
    profile_stop_sampler(h);
    h->observer = observer ? *observer : (lox_observer){0};
    if (h->observer.rate > 0 && h->observer.rate < 1)
        profile_start_sampler(h, h->observer.rate, h->observer.seed);
    heap_set_limit(h);
}

/* Whatever the interpreter would do next, it now ends: no instruction of its own looks at a flag.
 * Operations from N_OPERATIONS on do that, and remember which they were. */
void lox_interrupt(lox_vm *vm) {
    vm->interrupted = 1;
    for (uint32_t i = 0; !vm->compiling && i < vm->n_functions; i++)
        for (uint32_t j = 0; j < vm->functions[i]->n_code; j++)
            if (vm->functions[i]->code[j].op < N_OPERATIONS)
                vm->functions[i]->code[j].op += N_OPERATIONS;
}

void vm_restore_code(lox_vm *vm) {
    vm->interrupted = 0;
    for (uint32_t i = 0; i < vm->n_functions; i++)
        for (uint32_t j = 0; j < vm->functions[i]->n_code; j++)
            if (vm->functions[i]->code[j].op >= N_OPERATIONS)
                vm->functions[i]->code[j].op -= N_OPERATIONS;
}

void lox_get_counters(lox_vm *vm, lox_counters *counters) {
    heap *h = &vm->heap;
    *counters = h->counters;
    counters->minor_words += (h->next - h->start) / sizeof(value);
    if (h->count)
        for (uintptr_t at = h->start; at < h->next;
             at += (object_payload((object *)at) + 1) * sizeof(value))
            counters->minor_objects++;
}
