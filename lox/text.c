/* text.c: the text of values, for `print` and String. */
#include <math.h>
#include <stdio.h>

#include "code.h"
#include "object.h"
#include "vm.h"

/* The arrays that are being printed. One that is among them contains itself. */
typedef struct open_array {
    const array *array;
    const struct open_array *outer;
    int depth;
} open_array;

enum { MAX_ARRAY_DEPTH = 16 };

/* Formats a number as in the book, except that an exact whole number gets all its digits. */
static size_t text_of_number(double d, char *buffer, size_t size) {
    bool is_exact = fabs(d) <= 0x1p53 && d == trunc(d);
    return (size_t)snprintf(buffer, size, is_exact ? "%.0f" : "%g", d);
}

static void put(text_sink *sink, void *context, const char *text) {
    sink(context, text, strlen(text));
}

static void put_function(const function *f, text_sink *sink, void *context) {
    if (!f->name) {
        put(sink, context, "<script>");
        return;
    }
    put(sink, context, "<fn ");
    put(sink, context, f->name->text);
    put(sink, context, ">");
}

static void put_value(value v, text_sink *sink, void *context, const open_array *outer);

static bool is_cut(const array *a, const open_array *outer) {
    if (outer && outer->depth == MAX_ARRAY_DEPTH)
        return true;
    for (; outer; outer = outer->outer)
        if (outer->array == a)
            return true;
    return false;
}

static void put_array(const array *a, text_sink *sink, void *context, const open_array *outer) {
    bool hands = a->head.header & OBJECT_HANDS, cut = is_cut(a, outer);
    open_array open = {.array = a, .outer = outer, .depth = outer ? outer->depth + 1 : 1};
    put(sink, context, hands ? "👉" : "[");
    if (cut)
        put(sink, context, "...");
    for (uint32_t i = 0; i < a->length && !cut; i++) {
        if (i)
            put(sink, context, ", ");
        put_value(a->cells[i] == VALUE_UNDEFINED ? VALUE_NIL : a->cells[i], sink, context, &open);
    }
    put(sink, context, hands ? "👈" : "]");
}

static void put_object(value v, text_sink *sink, void *context, const open_array *outer) {
    switch (object_type_of(value_object(v))) {
    case OBJECT_STRING:
        sink(context, AS(string, v)->text, AS(string, v)->length);
        break;
    case OBJECT_ARRAY:
        put_array(AS(array, v), sink, context, outer);
        break;
    case OBJECT_INSTANCE:
        put(sink, context, AS(instance, v)->class->name->text);
        put(sink, context, " instance");
        break;
    case OBJECT_CLOSURE:
        put_function(AS(closure, v)->function, sink, context);
        break;
    case OBJECT_CLASS:
        put(sink, context, AS(class, v)->name->text);
        break;
    case OBJECT_BOUND:
        put_function(AS(bound_method, v)->method->function, sink, context);
        break;
    case OBJECT_NATIVE:
        put(sink, context, "<native fn>");
        break;
    default:
        put(sink, context, "<internal>");
        break;
    }
}

static void put_value(value v, text_sink *sink, void *context, const open_array *outer) {
    char text[32];
    if (value_is_number(v))
        sink(context, text, text_of_number(value_number(v), text, sizeof text));
    else if (value_is_object(v))
        put_object(v, sink, context, outer);
    else
        put(sink, context, v == VALUE_NIL ? "nil" : v == VALUE_TRUE ? "true" : "false");
}

void text_of_value(value v, text_sink *sink, void *context) {
    put_value(v, sink, context, NULL);
}
