/* test_threads.c: VMs in threads of their own, each with a heap, an observer and output of its own.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "observer.h"

enum { THREADS = 4 };

/* Collects both generations, makes classes, closures and strings; its output says all is well. */
static const char program[] =
    "class Node { init(next) { this.next = next; self.name = \"n\" + String(COUNT); } }\n"
    "fun counter() { var n = 0; fun count() { n = n + 1; return n; } return count; }\n"
    "var list = nil; var kept = []; var count = counter();\n"
    "for (var i = 0; i < 20000; i = i + 1) {\n"
    "  list = Node(list); if (count() == 1000) { list = nil; count = counter(); }\n"
    "  kept[i - round(i / 1000 - 0.5) * 1000] = [i, list];\n"
    "}\n"
    "var sum = 0; for (var pair of kept) sum = sum + pair[0];\n"
    "print sum; print list == nil; nil.x;\n";

typedef struct machine {
    pthread_t thread;
    unsigned number; /* which the program sees as COUNT */
    char output[512];
    size_t size;
    lox_status status;
    size_t allocations;
} machine;

static void write_output(void *context, const char *text, size_t size) {
    machine *m = context;
    if (size > sizeof m->output - m->size)
        size = sizeof m->output - m->size;
    memcpy(m->output + m->size, text, size);
    m->size += size;
}

static void allocated(void *context, const lox_allocation *a) {
    machine *m = context;
    m->allocations++;
    (void)a;
}

static void *run(void *context) {
    machine *m = context;
    lox_vm *vm = lox_create(&(lox_options){.nursery_words = 4096,
                                           .gc_stress = 5000,
                                           .gc_verify = true,
                                           .write = write_output,
                                           .write_error = write_output,
                                           .context = m});
    char define[64];
    int size = snprintf(define, sizeof define, "var COUNT = %u;", m->number);
    lox_observe(vm, &(lox_observer){.context = m, .allocated = allocated});
    lox_run_text(vm, "-", define, (size_t)size);
    m->status = lox_run_text(vm, "-", program, sizeof program - 1);
    lox_destroy(vm);
    return NULL;
}

int main(void) {
    static const char expected[] = "19499500\ntrue\nOnly instances have properties.\n"
                                   "[line 9] in script\n";
    static machine machines[THREADS];
    int failures = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        machines[i].number = i;
        if (pthread_create(&machines[i].thread, NULL, run, &machines[i]))
            return 1;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        const machine *m = &machines[i];
        pthread_join(m->thread, NULL);
        bool good = m->status == LOX_RUNTIME_ERROR && m->size == sizeof expected - 1 &&
                    !memcmp(m->output, expected, m->size) &&
                    m->allocations == machines[0].allocations;
        failures += !good;
        printf("%s %u - a VM in a thread\n", good ? "ok" : "not ok", i + 1);
        if (!good)
            printf("# %zu allocations, %.*s\n", m->allocations, (int)m->size, m->output);
    }
    printf("1..%d\n", THREADS);
    return failures != 0;
}
