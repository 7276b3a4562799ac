/* classes.c: classes, instances, and access to fields when no inline cache helps.
 *
 * A class numbers the fields of its instances. The first fields are those that its methods assign
 * through `this`, which are known when the class is made; others are added as the program assigns
 * them. An instance has room for the first n_slots fields in place. */
#include "memory.h"
#include "vm.h"

enum { SPARE_SLOTS = 4, MAX_SLOTS = 255 }; /* in place: if methods assign no field; at most */

static void number_fields(class *c, const class_plan *plan) {
    for (uint32_t i = 0; i < plan->n_fields; i++)
        if (!table_get(&c->fields, plan->fields[i]))
            table_set(&c->fields, plan->fields[i], c->fields.count);
    c->n_slots = c->fields.count ? c->fields.count : SPARE_SLOTS;
    if (c->n_slots > MAX_SLOTS)
        c->n_slots = MAX_SLOTS;
}

class *class_new(lox_vm *vm, const class_plan *plan) {
    class *c = (class *)heap_new_major(vm, OBJECT_CLASS, WORDS_OF(class));
    memset(&c->head + 1, 0, WORDS_OF(class) * sizeof(value));
    c->name = plan->name;
    number_fields(c, plan);
    return c;
}

static void copy_methods(table *to, const table *from) {
    for (uint32_t i = 0; i < from->capacity; i++)
        if (from->entries[i].key)
            table_set(to, from->entries[i].key, from->entries[i].value);
}

/* The superclass's fields come first, so that inherited code finds them in the same slots. */
void class_inherit(class *c, const class *from) {
    table own = c->fields;
    c->fields = (table){0};
    copy_methods(&c->methods, &from->methods);
    copy_methods(&c->fields, &from->fields);
    for (uint32_t i = 0; i < own.capacity; i++)
        if (own.entries[i].key && !table_get(&c->fields, own.entries[i].key))
            table_set(&c->fields, own.entries[i].key, c->fields.count);
    table_free(&own);
    c->n_slots = c->fields.count ? c->fields.count : SPARE_SLOTS;
    if (c->n_slots > MAX_SLOTS)
        c->n_slots = MAX_SLOTS;
    c->init = from->init;
}

void class_add_method(lox_vm *vm, class *c, string *name, closure *method) {
    table_set(&c->methods, name, value_from_object(method));
    if (name == vm->init_name)
        c->init = method;
}

closure *class_method(class *c, const string *name) {
    value *v = table_get(&c->methods, name);
    return v ? AS(closure, *v) : NULL;
}

instance *class_new_instance(lox_vm *vm, class *c) {
    heap *h = &vm->heap;
    h->new_class = c;
    instance *o = (instance *)heap_new(vm, h, OBJECT_INSTANCE, WORDS_OF(instance) + c->n_slots);
    if (!o)
        return NULL;
    o->class = c;
    o->extra = NULL;
    for (uint32_t i = 0; i < c->n_slots; i++)
        o->slots[i] = VALUE_UNDEFINED;
    return o;
}

/* Returns NULL if the instance has no such slot yet. */
value *class_instance_slot(instance *o, uint32_t slot) {
    uint32_t in_place = o->class->n_slots;
    if (slot < in_place)
        return &o->slots[slot];
    if (!o->extra || slot - in_place >= object_payload(&o->extra->head))
        return NULL;
    return &o->extra->slots[slot - in_place];
}

/* Makes room for a slot in the instance. */
static bool grow_extra(lox_vm *vm, value *holder, uint32_t slot) {
    heap *h = &vm->heap;
    uint32_t n = slot - AS(instance, *holder)->class->n_slots + 1;
    n += n / 2 + 2;
    storage *s = (storage *)heap_new(vm, h, OBJECT_STORAGE, n);
    if (!s)
        return false;
    instance *o = AS(instance, *holder);
    uint32_t have = o->extra ? (uint32_t)object_payload(&o->extra->head) : 0;
    for (uint32_t i = 0; i < n; i++)
        s->slots[i] = i < have ? o->extra->slots[i] : VALUE_UNDEFINED;
    o->extra = s;
    if (!heap_in_nursery(h, s))
        heap_remember_object(h, &s->head);
    else if (!heap_in_nursery(h, o))
        heap_remember_object(h, &o->head);
    return true;
}

bool class_set_field(lox_vm *vm, value *holder, value *v, string *name) {
    class *c = AS(instance, *holder)->class;
    value *known = table_get(&c->fields, name);
    uint32_t slot = known ? (uint32_t)*known : c->fields.count;
    if (!known) {
        table_set(&c->fields, name, slot);
        if (table_get(&c->methods, name))
            class_forget_caches(vm, false); /* a field may hide that method from now on */
    }
    if (!class_instance_slot(AS(instance, *holder), slot) && !grow_extra(vm, holder, slot))
        return false;
    heap_write(&vm->heap, class_instance_slot(AS(instance, *holder), slot), *v);
    return true;
}

void class_forget_caches(lox_vm *vm, bool dead_only) {
    for (uint32_t i = 0; i < vm->n_functions; i++) {
        function *f = vm->functions[i];
        for (uint32_t j = 0; j < f->n_caches; j++) {
            cache *c = &f->caches[j];
            if (c->class && (!dead_only || !(c->class->head.header & OBJECT_MARKED))) {
                c->class = NULL;
                c->method = NULL;
            }
        }
    }
}
