/* table.c: finds a column by its name, and sorts rows. */
#include "document/table.h"

#include <string.h>

const table_column *table_find(const table *t, const char *name) {
    for (size_t i = 0; i < t->n_columns; i++)
        if (strcmp(t->columns[i].name, name) == 0 && (!t->columns[i].has || t->columns[i].has(t)))
            return &t->columns[i];
    return NULL;
}

double table_key(const table *t, const table_column *c, const void *row) {
    const cell x = c->get(t, row);
    if (x.none)
        return 0;
    switch (c->kind) {
    case COLUMN_AMOUNT:
        return x.amount.value;
    case COLUMN_PART:
        return x.part.share.value;
    case COLUMN_SHARE:
    case COLUMN_NUMBER:
        return x.number;
    case COLUMN_COUNT:
    case COLUMN_DURATION:
        return (double)x.count;
    case COLUMN_FLAG:
        return x.flag;
    default:
        return 0;
    }
}

static const char *text_of(const table_column *c, cell x) {
    const char *text = x.none                   ? NULL
                       : c->kind == COLUMN_TEXT ? x.text
                       : x.place                ? x.place->function
                                                : NULL;
    return text ? text : "";
}

int table_compare(const table *t, const table_column *c, const void *a, const void *b) {
    if (c->kind == COLUMN_TEXT || c->kind == COLUMN_PLACE)
        return strcmp(text_of(c, c->get(t, a)), text_of(c, c->get(t, b)));
    const double x = table_key(t, c, a), y = table_key(t, c, b);
    return (x > y) - (x < y);
}
