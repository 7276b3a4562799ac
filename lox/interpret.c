/* interpret.c: the loop that runs code (code.h has the instructions), and the slow paths of the
 * instructions.
 *
 * Anything that may collect moves objects, so pointers to objects are read from registers again
 * after it. frame->at is stored before anything that may look at the stack: calls, allocations,
 * errors. */
#include <math.h>

#include "arrays.h"
#include "vm.h"

#define OUT_OF_MEMORY "Out of memory."

typedef enum outcome { FAILED, DONE, ENTER } outcome; /* ENTER: a closure must be called */

static bool values_equal(value a, value b) {
    if (value_is_number(a) && value_is_number(b))
        return value_number(a) == value_number(b);
    return a == b || (value_is(a, OBJECT_STRING) && value_is(b, OBJECT_STRING) &&
                      string_equal(AS(string, a), AS(string, b)));
}

/* ---- addition -------------------------------------------------------------------------------- */

static bool add_strings(lox_vm *vm, value *to, value *a, value *b) {
    size_t n = AS(string, *a)->length, size = n + AS(string, *b)->length;
    object *o =
        size < UINT32_MAX ? heap_new(vm, &vm->heap, OBJECT_STRING, STRING_WORDS(size)) : NULL;
    if (!o) {
        vm_error(vm, OUT_OF_MEMORY);
        return false;
    }
    string *s = (string *)o;
    s->length = (uint32_t)size;
    s->hash = 0;
    memcpy(s->text, AS(string, *a)->text, n);
    memcpy(s->text + n, AS(string, *b)->text, size - n + 1);
    *to = value_from_object(s);
    return true;
}

/* Adds when the sum as numbers is a NaN. */
static bool add_slow(lox_vm *vm, value *to, value *a, value *b) {
    if (value_is(*a, OBJECT_STRING) && value_is(*b, OBJECT_STRING))
        return add_strings(vm, to, a, b);
    if (value_is_number(*a) && value_is_number(*b)) {
        *to = value_from_number(value_number(*a) + value_number(*b));
        return true;
    }
    vm_error(vm, "Operands must be two numbers or two strings.");
    return false;
}

/* ---- properties ------------------------------------------------------------------------------ */

static void cache_fill(cache *c, class *of, closure *method, uint32_t slot) {
    c->class = of;
    c->method = method;
    c->slot = slot;
}

/* Returns the value of a field, VALUE_UNDEFINED if the instance does not have it, and fills the
 * cache. */
static value field_value(instance *o, cache *c) {
    value *slot = table_get(&o->class->fields, c->name);
    if (!slot)
        return VALUE_UNDEFINED;
    uint32_t number = (uint32_t)*slot;
    if (number < o->class->n_slots)
        cache_fill(c, o->class, NULL, number);
    value *held = class_instance_slot(o, number);
    return held ? *held : VALUE_UNDEFINED;
}

static bool bind(lox_vm *vm, value *to, value *receiver, closure *method) {
    object *o = heap_new(vm, &vm->heap, OBJECT_BOUND, WORDS_OF(bound_method)); /* a method stays */
    if (!o) {
        vm_error(vm, OUT_OF_MEMORY);
        return false;
    }
    ((bound_method *)o)->receiver = *receiver;
    ((bound_method *)o)->method = method;
    *to = value_from_object(o);
    return true;
}

static bool get_slow(lox_vm *vm, value *to, value *from, cache *c) {
    if (value_is(*from, OBJECT_ARRAY) && c->name == vm->length_name) {
        *to = value_from_number(AS(array, *from)->length);
        return true;
    }
    if (!value_is(*from, OBJECT_INSTANCE)) {
        vm_error(vm, "Only instances have properties.");
        return false;
    }
    instance *o = AS(instance, *from);
    value v = field_value(o, c);
    if (v != VALUE_UNDEFINED) {
        *to = v;
        return true;
    }
    closure *method = class_method(o->class, c->name);
    if (method)
        return bind(vm, to, from, method);
    vm_error(vm, "Undefined property '%s'.", c->name->text);
    return false;
}

static bool set_slow(lox_vm *vm, value *holder, value *v, cache *c) {
    if (!value_is(*holder, OBJECT_INSTANCE)) {
        vm_error(vm, "Only instances have fields.");
        return false;
    }
    if (!class_set_field(vm, holder, v, c->name)) {
        vm_error(vm, OUT_OF_MEMORY);
        return false;
    }
    field_value(AS(instance, *holder), c);
    return true;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Calls a class: makes an instance, which is passed to its initializer. */
static outcome call_class(lox_vm *vm, value *base, uint32_t n, closure **callee) {
    class *c = AS(class, *base);
    instance *o = class_new_instance(vm, c);
    if (!o) {
        vm_error(vm, OUT_OF_MEMORY);
        return FAILED;
    }
    *base = value_from_object(o);
    if (c->init) {
        *callee = c->init;
        return ENTER;
    }
    if (n) {
        vm_error(vm, "Expected 0 arguments but got %u.", n);
        return FAILED;
    }
    return DONE;
}

static outcome call_native(lox_vm *vm, value *base, uint32_t *n, closure **callee) {
    native *f = AS(native, *base);
    if (f->arity >= 0 && (uint32_t)f->arity != *n) {
        vm_error(vm, "Expected %d arguments but got %u.", (int)f->arity, *n);
        return FAILED;
    }
    switch (f->call(vm, base + 1, (int)*n)) {
    case NATIVE_DONE:
        return DONE;
    case NATIVE_ENTER: /* a file that `load` compiled */
        *callee = AS(closure, *base);
        *n = 0;
        return ENTER;
    default:
        return FAILED;
    }
}

/* Calls the value in base[0], or prepares base and *n so that *callee can be entered. */
static outcome call_slow(lox_vm *vm, value *base, uint32_t *n, closure **callee) {
    if (value_is(*base, OBJECT_CLASS))
        return call_class(vm, base, *n, callee);
    if (value_is(*base, OBJECT_NATIVE))
        return call_native(vm, base, n, callee);
    if (value_is(*base, OBJECT_BOUND)) {
        bound_method *b = AS(bound_method, *base);
        *base = b->receiver;
        *callee = b->method;
        return ENTER;
    }
    if (value_is(*base, OBJECT_CLOSURE)) {
        *callee = AS(closure, *base);
        return ENTER;
    }
    vm_error(vm, "Can only call functions and classes.");
    return FAILED;
}

static outcome invoke_slow(lox_vm *vm, value *base, uint32_t *n, cache *c, closure **callee) {
    if (!value_is(*base, OBJECT_INSTANCE)) {
        vm_error(vm, "Only instances have methods.");
        return FAILED;
    }
    instance *o = AS(instance, *base);
    value v = field_value(o, c);
    if (v != VALUE_UNDEFINED) {
        *base = v;
        return call_slow(vm, base, n, callee);
    }
    *callee = class_method(o->class, c->name);
    if (!*callee) {
        vm_error(vm, "Undefined property '%s'.", c->name->text);
        return FAILED;
    }
    if (!table_get(&o->class->fields, c->name))
        cache_fill(c, o->class, *callee, 0);
    return ENTER;
}

/* Makes room for a frame whose registers end at `end`. */
static bool more_registers(lox_vm *vm, const value *end) {
    if (end > vm->registers + MAX_REGISTERS)
        return false;
    if (end > vm->clean)
        vm->clean = (value *)end + STACK_STEP;
    return true;
}

/* ---- closures and classes -------------------------------------------------------------------- */

static bool make_closure(lox_vm *vm, frame *f, value *to, function *inner, bool method) {
    size_t payload = WORDS_OF(closure) + inner->n_captures;
    object *o = method ? heap_new_major(vm, OBJECT_CLOSURE, payload)
                       : heap_new(vm, &vm->heap, OBJECT_CLOSURE, payload);
    if (!o) {
        vm_error(vm, OUT_OF_MEMORY);
        return false;
    }
    closure *c = (closure *)o;
    c->function = inner;
    for (uint32_t i = 0; i < inner->n_captures; i++) {
        capture from = inner->captures[i];
        c->cells[i] =
            from.is_local ? AS(cell, f->registers[from.index]) : f->closure->cells[from.index];
    }
    if (method)
        heap_remember_object(&vm->heap, o);
    *to = value_from_object(c);
    return true;
}

static bool new_cell(lox_vm *vm, value *v) {
    object *o = heap_new(vm, &vm->heap, OBJECT_CELL, WORDS_OF(cell));
    if (!o) {
        vm_error(vm, OUT_OF_MEMORY);
        return false;
    }
    ((cell *)o)->value = *v;
    *v = value_from_object(o);
    return true;
}

/* ---- the loop -------------------------------------------------------------------------------- */

#define A    (r[i->a])
#define B    (r[i->b])
#define C    (r[i->c])
#define KB   (k[i->b])
#define KC   (k[i->c])
#define WIDE ((uint32_t)i->b | (uint32_t)i->c << 16)
#define STEP ((int16_t)i->c)
#define FAIL(...)                                                                                  \
    do {                                                                                           \
        f->at = ip;                                                                                \
        vm_error(vm, __VA_ARGS__);                                                                 \
        goto failed;                                                                               \
    } while (0)
#define TRY(call)                                                                                  \
    do {                                                                                           \
        f->at = ip;                                                                                \
        if (!(call))                                                                               \
            goto failed;                                                                           \
    } while (0)
#define LIKELY(x) __builtin_expect(!!(x), 1)

/* Makes every program end, for fuzzers. */
#ifdef LOX_FUEL
#define SPEND                                                                                      \
    if (vm->fuel-- == 0)                                                                           \
        FAIL("Out of fuel.");
#else
#define SPEND
#endif

#define NEXT                                                                                       \
    do {                                                                                           \
        SPEND                                                                                      \
        i = ip++;                                                                                  \
        goto *labels[i->op];                                                                       \
    } while (0)

/* Tagged values are NaNs, so if the result is not a NaN, both operands were numbers. */
#define ARITHMETIC(id, sign, right)                                                                \
    L_##id : {                                                                                     \
        double result = value_number(B) sign value_number(right);                                  \
        if (LIKELY(result == result)) {                                                            \
            A = value_from_number(result);                                                         \
            NEXT;                                                                                  \
        }                                                                                          \
        if (!value_is_number(B) || !value_is_number(right))                                        \
            FAIL("Operands must be numbers.");                                                     \
        A = value_from_number(result);                                                             \
        NEXT;                                                                                      \
    }

#define ADDITION(id, right)                                                                        \
    L_##id : {                                                                                     \
        double result = value_number(B) + value_number(right);                                     \
        if (LIKELY(result == result)) {                                                            \
            A = value_from_number(result);                                                         \
            NEXT;                                                                                  \
        }                                                                                          \
        TRY(add_slow(vm, &A, &B, &right));                                                         \
        NEXT;                                                                                      \
    }

#define COMPARE(id, sign)                                                                          \
    L_##id : {                                                                                     \
        double x = value_number(B), y = value_number(C);                                           \
        if (!LIKELY(!__builtin_isunordered(x, y)) && (!value_is_number(B) || !value_is_number(C))) \
            FAIL("Operands must be numbers.");                                                     \
        A = value_from_bool(x sign y);                                                             \
        NEXT;                                                                                      \
    }

#define COMPARE_JUMP(id, sign, right, sense)                                                       \
    L_##id : {                                                                                     \
        double x = value_number(A), y = value_number(right);                                       \
        if (!LIKELY(!__builtin_isunordered(x, y)) &&                                               \
            (!value_is_number(A) || !value_is_number(right)))                                      \
            FAIL("Operands must be numbers.");                                                     \
        if ((x sign y) == (sense))                                                                 \
            ip += STEP;                                                                            \
        NEXT;                                                                                      \
    }

#define EQUAL_JUMP(id, right, sense)                                                               \
    L_##id : {                                                                                     \
        if (values_equal(A, right) == (sense))                                                     \
            ip += STEP;                                                                            \
        NEXT;                                                                                      \
    }

lox_status interpret(lox_vm *vm, closure *entry) {
    static const void *const labels[] = {
#define LABEL(id) &&L_##id,
        OPERATIONS(LABEL)
#undef LABEL
            [N_OPERATIONS... 2 * N_OPERATIONS - 1] = &&interrupted, /* see lox_interrupt */
    };
    heap *h = &vm->heap;
    frame *bottom = vm->frame, *f = vm->frame;
    const code *ip = NULL, *i;
    value *r = vm->registers, *k;
    cache *caches;
    closure *callee = entry;
    uint32_t n_arguments = 0;
    value *base = r;
    *base = value_from_object(entry);
    goto enter;

    /* Calls `callee` with the arguments at base[1] and up. */
enter : {
    function *g = callee->function;
    if (n_arguments != g->arity)
        FAIL("Expected %u arguments but got %u.", g->arity, n_arguments);
    if (!LIKELY(base + g->n_registers <= vm->clean) && !more_registers(vm, base + g->n_registers))
        FAIL("Stack overflow.");
    if (f + 1 == vm->frames + MAX_FRAMES)
        FAIL("Stack overflow.");
    f->at = ip;
    vm->frame = ++f;
    f->closure = callee;
    f->registers = r = base;
    f->at = ip = g->code;
    k = g->constants;
    caches = g->caches;
    NEXT;
}

slow_call : {
    f->at = ip;
    uint32_t n = n_arguments; /* a copy, so that n_arguments can stay in a register */
    outcome done = call_slow(vm, base, &n, &callee);
    n_arguments = n;
    if (done == ENTER)
        goto enter;
    if (done == FAILED)
        goto failed;
    NEXT;
}

L_MOVE:
    A = B;
    NEXT;
L_LOADK:
    A = KB;
    NEXT;
L_LOAD:
    A = VALUE_QUIET | i->b;
    NEXT;
L_GETGLOBAL : {
    value v = vm->globals[WIDE];
    if (!LIKELY(v != VALUE_UNDEFINED))
        FAIL("Undefined variable '%s'.", vm->global_names[WIDE]->text);
    A = v;
    NEXT;
}
L_SETGLOBAL:
    if (!LIKELY(vm->globals[WIDE] != VALUE_UNDEFINED))
        FAIL("Undefined variable '%s'.", vm->global_names[WIDE]->text);
    vm->globals[WIDE] = A;
    NEXT;
L_DEFGLOBAL:
    vm->globals[WIDE] = A;
    NEXT;
L_GETCAPTURED:
    A = f->closure->cells[i->b]->value;
    NEXT;
L_SETCAPTURED:
    heap_write(h, &f->closure->cells[i->b]->value, A);
    NEXT;
L_NEWCELL:
    TRY(new_cell(vm, &A));
    NEXT;
L_GETCELL:
    A = AS(cell, B)->value;
    NEXT;
L_SETCELL:
    heap_write(h, &AS(cell, A)->value, B);
    NEXT;
L_GETFIELD : {
    cache *c = &caches[i->c];
    if (LIKELY(value_is(B, OBJECT_INSTANCE))) {
        instance *o = AS(instance, B);
        if (LIKELY(o->class == c->class && !c->method)) {
            value v = o->slots[c->slot];
            if (LIKELY(v != VALUE_UNDEFINED)) {
                A = v;
                NEXT;
            }
        }
    }
    TRY(get_slow(vm, &A, &B, c));
    NEXT;
}
L_SETFIELD : {
    cache *c = &caches[i->c];
    if (LIKELY(value_is(A, OBJECT_INSTANCE))) {
        instance *o = AS(instance, A);
        if (LIKELY(o->class == c->class)) {
            heap_write(h, &o->slots[c->slot], B);
            NEXT;
        }
    }
    TRY(set_slow(vm, &A, &B, c));
    NEXT;
}
L_GETSUPER : {
    string *name = AS(string, KC);
    closure *method = class_method(AS(class, r[i->b + 1]), name);
    if (!method)
        FAIL("Undefined property '%s'.", name->text);
    TRY(bind(vm, &A, &B, method));
    NEXT;
}
L_GETINDEX:
    if (LIKELY(value_is(B, OBJECT_ARRAY) && value_is_number(C))) {
        array *a = AS(array, B);
        double index = value_number(C);
        if (LIKELY(index >= 0 && index < a->length)) {
            value v = a->cells[(uint32_t)index];
            A = v == VALUE_UNDEFINED ? VALUE_NIL : v;
            NEXT;
        }
    }
    TRY(array_get_slow(vm, &A, B, C));
    NEXT;
L_SETINDEX:
    if (LIKELY(value_is(A, OBJECT_ARRAY) && value_is_number(B))) {
        array *a = AS(array, A);
        double index = value_number(B);
        if (LIKELY(index >= 0 && index < a->length)) {
            heap_write(h, &a->cells[(uint32_t)index], C);
            NEXT;
        }
    }
    TRY(array_set_slow(vm, &A, B, &C));
    NEXT;
L_NEWARRAY:
    TRY(array_new(vm, &A, i->b, i->c));
    NEXT;
L_APPEND:
    TRY(array_append(vm, &A, &B));
    NEXT;
    ADDITION(ADD, C)
    ADDITION(ADDK, KC)
    ARITHMETIC(SUB, -, C)
    ARITHMETIC(MUL, *, C)
    ARITHMETIC(DIV, /, C)
    ARITHMETIC(SUBK, -, KC)
    ARITHMETIC(MULK, *, KC)
    ARITHMETIC(DIVK, /, KC)
L_NEG:
    if (!LIKELY(value_is_number(B)))
        FAIL("Operand must be a number.");
    A = value_from_number(-value_number(B));
    NEXT;
L_NOT:
    A = value_from_bool(value_is_false(B));
    NEXT;
L_EQ:
    A = value_from_bool(values_equal(B, C));
    NEXT;
L_NE:
    A = value_from_bool(!values_equal(B, C));
    NEXT;
    COMPARE(LT, <)
    COMPARE(LE, <=)
    COMPARE(GT, >)
    COMPARE(GE, >=)
L_JUMP:
    ip += (int32_t)WIDE;
    NEXT;
L_JUMP_T:
    if (!value_is_false(A))
        ip += (int32_t)WIDE;
    NEXT;
L_JUMP_F:
    if (value_is_false(A))
        ip += (int32_t)WIDE;
    NEXT;
    EQUAL_JUMP(JEQ_T, B, true)
    EQUAL_JUMP(JEQ_F, B, false)
    EQUAL_JUMP(JEQK_T, KB, true)
    EQUAL_JUMP(JEQK_F, KB, false)
#define JUMPS(id, sign)                                                                            \
    COMPARE_JUMP(J##id##_T, sign, B, true)                                                         \
    COMPARE_JUMP(J##id##_F, sign, B, false)                                                        \
    COMPARE_JUMP(J##id##K_T, sign, KB, true)                                                       \
    COMPARE_JUMP(J##id##K_F, sign, KB, false)
    COMPARISONS(JUMPS)
#undef JUMPS
L_CALL:
    base = &A;
    n_arguments = i->b;
    if (LIKELY(value_is(*base, OBJECT_CLOSURE))) {
        callee = AS(closure, *base);
        goto enter;
    }
    goto slow_call;
L_INVOKE : {
    cache *c = &caches[i->c];
    base = &A;
    n_arguments = i->b;
    if (LIKELY(value_is(*base, OBJECT_INSTANCE)) &&
        LIKELY(AS(instance, *base)->class == c->class) && LIKELY(c->method)) {
        callee = c->method;
        goto enter;
    }
    f->at = ip;
    uint32_t n = n_arguments;
    outcome done = invoke_slow(vm, base, &n, c, &callee);
    n_arguments = n;
    if (done == ENTER)
        goto enter;
    if (done == FAILED)
        goto failed;
    NEXT;
}
L_INVOKESUPER:
    base = &A;
    n_arguments = i->b;
    callee = class_method(AS(class, base[n_arguments + 1]), AS(string, KC));
    if (!callee)
        FAIL("Undefined property '%s'.", AS(string, KC)->text);
    goto enter;
L_CLOSURE:
    TRY(make_closure(vm, f, &A, f->closure->function->inner[i->b], i->c));
    NEXT;
L_CLASS:
    f->at = ip;
    A = value_from_object(class_new(vm, &f->closure->function->classes[i->b]));
    NEXT;
L_INHERIT:
    if (!value_is(A, OBJECT_CLASS))
        FAIL("Superclass must be a class.");
    class_inherit(AS(class, B), AS(class, A));
    NEXT;
L_METHOD:
    class_add_method(vm, AS(class, A), AS(string, KC), AS(closure, B));
    NEXT;
L_LEAVE:
    if (f <= vm->lowest)
        vm->lowest = f - 1;
    NEXT;
L_RETURNNIL:
    r[0] = VALUE_NIL;
    goto leave;
L_RETURN:
    r[0] = A;
leave:
    vm->frame = --f;
    if (f == bottom)
        return LOX_OK;
    r = f->registers;
    ip = f->at;
    k = f->closure->function->constants;
    caches = f->closure->function->caches;
    NEXT;
L_PRINT:
    text_of_value(A, vm->write, vm->write_context);
    vm->write(vm->write_context, "\n", 1);
    NEXT;
L_ECHO:
    if (A != VALUE_NIL) {
        text_of_value(A, vm->write, vm->write_context);
        vm->write(vm->write_context, "\n", 1);
    }
    NEXT;
L_ITERATE:
    if (!value_is(A, OBJECT_ARRAY))
        FAIL("Can only iterate over arrays.");
    r[i->a + 1] = value_from_number(0);
    NEXT;
L_NEXTOF : {
    const array *a = AS(array, A);
    double at = value_number(r[i->a + 1]);
    if (at < a->length) {
        value v = a->cells[(uint32_t)at];
        B = v == VALUE_UNDEFINED ? VALUE_NIL : v;
        r[i->a + 1] = value_from_number(at + 1);
        ip += STEP;
    }
    NEXT;
}
L_NEXTIN : {
    double at = value_number(r[i->a + 1]);
    if (at < AS(array, A)->length) {
        B = value_from_number(at);
        r[i->a + 1] = value_from_number(at + 1);
        ip += STEP;
    }
    NEXT;
}

interrupted:
    vm->frame = bottom;
    vm->lowest = vm->frames;
    vm_restore_code(vm);
    return LOX_INTERRUPTED;
failed:
    vm->frame = bottom;
    vm->lowest = vm->frames;
    return LOX_RUNTIME_ERROR;
}
