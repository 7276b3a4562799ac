/* fuzz_lox.c: libFuzzer's entry: any bytes, compiled and run as a Lox program, then once more for a
 * short while with both generations collected and the whole heap checked at each allocation. */
#include "lox.h"
#include "vm.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void swallow(void *context, const char *text, size_t size) {
    (void)context, (void)text, (void)size;
}

static void run(const char *text, size_t size, bool stress) {
    lox_options options = {.max_heap = 4 << 20,
                           .nursery_words = 2048,
                           .gc_stress = stress,
                           .gc_verify = stress,
                           .write = swallow,
                           .write_error = swallow};
    lox_vm *vm = lox_create(&options);
    vm->fuel = stress ? 500 : 20000;
    lox_run_text(vm, "fuzz", text, size, false);
    lox_destroy(vm);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    run((const char *)bytes, size, false);
    run((const char *)bytes, size, true);
    return 0;
}
