/* vm.c: creates and destroys virtual machines, and has the functions that embedders call. */
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

/* Reserves memory that costs nothing until it is touched. */
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
    RESERVE_BYTES = 256 * 1024,
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
    vm->reserve = memory_new(RESERVE_BYTES);
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
    memory_free(vm->reserve);
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

/* Returns why a stream could not be opened or read; never 0. */
static int stream_errno(void) {
    return errno ? errno : EIO;
}

/* Returns 0 or an errno. */
static int read_all(FILE *file, char **text, size_t *size) {
    size_t n = 0, capacity = 1 << 16, got;
    char *buffer = memory_new(capacity);
    errno = 0;
    while ((got = fread(buffer + n, 1, capacity - n, file)) > 0) {
        n += got;
        if (n == capacity)
            buffer = memory_resize(buffer, capacity *= 2);
    }
    int why = ferror(file) ? stream_errno() : 0;
    if (why) {
        memory_free(buffer);
        return why;
    }
    *text = buffer;
    *size = n;
    return 0;
}

int vm_read_file(const char *path, char **text, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return stream_errno();
    int why = read_all(file, text, size);
    fclose(file);
    return why;
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

/* ---- running --------------------------------------------------------------------------------- */

/* Updates closures that an aborted collection had moved, so that a stack trace can be shown. */
static void find_closures(lox_vm *vm) {
    for (frame *f = vm->frames + 1; f <= vm->frame; f++)
        if (f->closure->head.header & OBJECT_FORWARDED)
            f->closure = ((closure **)f->closure)[1];
}

static void end_exhausted(lox_vm *vm) {
    vm->exhausted = true;
    memory_free(vm->reserve);
    vm->reserve = NULL;
    find_closures(vm);
    vm_error(vm, "Out of memory.");
    vm->frame = vm->lowest = vm->frames;
}

static lox_status compile_and_run(lox_vm *vm, const source_text *what, lox_position *end) {
    function *f = compile(vm, what, end);
    return f ? interpret(vm, vm_closure_of(vm, f)) : LOX_COMPILE_ERROR;
}

static lox_status run_source(lox_vm *vm, const source_text *what, lox_position *end) {
    jmp_buf exhausted;
    if (vm->exhausted)
        return LOX_RUNTIME_ERROR;
    if (setjmp(exhausted)) {
        end_exhausted(vm);
        return LOX_RUNTIME_ERROR;
    }
    memory_catch(&exhausted);
    lox_status status = compile_and_run(vm, what, end);
    memory_catch(NULL);
    return status;
}

lox_status lox_run_text(lox_vm *vm, const char *file, const char *text, size_t size) {
    source_text what = {vm_keep_file_name(vm, file), text, size, {.line = 1}, false};
    return run_source(vm, &what, NULL);
}

lox_status lox_run_typed(lox_vm *vm, const char *file, const char *text, size_t size,
                         lox_position *at) {
    source_text what = {vm_keep_file_name(vm, file), text, size, *at, true};
    return run_source(vm, &what, at);
}

lox_status lox_run_file(lox_vm *vm, const char *path) {
    char *text;
    size_t size;
    bool standard_input = !strcmp(path, "-");
    int why = standard_input ? read_all(stdin, &text, &size) : vm_read_file(path, &text, &size);
    if (why && standard_input)
        vm_complain(vm, "Could not read standard input: %s.\n", strerror(why));
    else if (why)
        vm_complain(vm, "Could not open file \"%s\".\n", path);
    if (why)
        return LOX_IO_ERROR;
    lox_status status = lox_run_text(vm, path, text, size);
    memory_free(text);
    return status;
}

bool lox_is_exhausted(const lox_vm *vm) {
    return vm->exhausted;
}

/* ---- observers, interrupts, counters --------------------------------------------------------- */

void lox_observe(lox_vm *vm, const lox_observer *observer) {
    heap *h = &vm->heap;
    profile_stop_sampler(h);
    h->observer = observer ? *observer : (lox_observer){0};
    if (h->observer.rate > 0 && h->observer.rate < 1)
        profile_start_sampler(h, h->observer.rate, h->observer.seed);
    heap_set_limit(h);
}

/* Makes the interpreter stop at its next instruction, without a flag that instructions would have
 * to test: every operation is replaced by itself plus N_OPERATIONS, which stops and can be
 * reverted. */
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
