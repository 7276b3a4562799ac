/* render_fixture.h: small documents for the tests of the renderers, with cells of all kinds: rows
 * below rows, verdicts, changes and records. */
#ifndef RENDER_FIXTURE_H
#define RENDER_FIXTURE_H

#include <math.h>
#include <string.h>

#include "render/render.h"
#include "unit.h"

typedef struct thing {
    const profile_location *place;
    double value, error;
    const char *word;
    const struct thing *below;
    size_t n_below;
} thing;

static inline const thing *thing_of(const void *row) {
    return row;
}

static inline cell get_share(const table *t, const void *row) {
    (void)t;
    return (cell){.number = thing_of(row)->value / 4096};
}

static inline cell get_amount(const table *t, const void *row) {
    const thing *x = row;
    (void)t;
    return (cell){.amount = {.samples = 3,
                             .value = x->value,
                             .low = x->value - x->error,
                             .high = x->value + x->error,
                             .margin = x->error}};
}

static inline cell get_word(const table *t, const void *row) {
    (void)t;
    return thing_of(row)->word ? (cell){.text = thing_of(row)->word} : cell_none();
}

static inline cell get_line(const table *t, const void *row) {
    static const double points[] = {0, 1, 2};
    (void)t;
    (void)row;
    return (cell){.line = {.items = points, .n = 3}};
}

static inline cell get_place(const table *t, const void *row) {
    (void)t;
    return (cell){.place = thing_of(row)->place};
}

static inline bool get_below(const table *t, const void *row, table *below) {
    const thing *x = row;
    below->columns = t->columns;
    below->n_columns = t->n_columns;
    below->rows = x->below;
    below->stride = sizeof *x;
    below->n = x->n_below;
    return x->n_below > 0;
}

static inline bool never(const table *t) {
    (void)t;
    return false;
}

static const table_column columns[] = {
    {.name = "share", .kind = COLUMN_SHARE, .get = get_share, .help = "of all"},
    {.name = "", .kind = COLUMN_AMOUNT, .get = get_amount},
    {.name = "self", .kind = COLUMN_AMOUNT, .in = IN_CSV | IN_PAGE, .get = get_amount},
    {.name = "word", .kind = COLUMN_TEXT, .get = get_word},
    {.name = "absent", .kind = COLUMN_TEXT, .get = get_word, .has = never},
    {.name = "history", .kind = COLUMN_LINE, .in = IN_JSON | IN_PAGE, .get = get_line},
    {.name = "place", .title = "site", .kind = COLUMN_PLACE, .get = get_place},
    {.name = "callers",
     .title = "via ",
     .kind = COLUMN_ROWS,
     .in = IN_TEXT | IN_JSON,
     .below = get_below},
};

static const profile_location parse = {
    .file = "a/library/parse.c", .function = "parse", .line = 12};
static const profile_location main_ = {.file = "main.c", .function = "main", .line = 3};
static const thing caller = {.place = &main_, .value = 1024, .error = 0};
static const thing nobody = {.value = 1024, .error = 0};
static const thing things[] = {
    {.place = &parse, .value = 3072, .error = 100, .word = "a,\"b", .below = &caller, .n_below = 1},
    {.place = &main_, .value = 1024, .error = 0, .below = &nobody, .n_below = 1},
};

static inline document made(void) {
    document d = {0};
    const table rows = {.name = "things",
                        TABLE_COLUMNS(columns),
                        .rows = things,
                        .stride = sizeof *things,
                        .n = 2,
                        .by_line = true};
    document_title(&d, "4.0 KB", " in all");
    document_rows(&d, &rows, IN_ALL, "By thing");
    document_note(&d, "That was \033%d things.", 2);
    ck_assert(!d.failed);
    return d;
}

/* Returns what `render` writes for that document; the caller frees it. */
static inline char *written(void (*render)(output *, const document *)) {
    document d = made();
    output o;
    output_start(&o, OUTPUT_MEMORY);
    render(&o, &d);
    output_char(&o, '\0');
    ck_assert_int_eq(o.error, 0);
    document_free(&d);
    return o.buffer;
}

static inline cell get_maybe(const table *t, const void *row) {
    (void)t;
    return thing_of(row)->word ? (cell){.text = thing_of(row)->word} : cell_absent();
}

static inline cell get_verdict(const table *t, const void *row) {
    const bool good = thing_of(row)->word;
    (void)t;
    return (cell){.text = good ? "1 B" : "10 KB", .tone = good ? TONE_GOOD : TONE_BAD};
}

static inline document judged(void) {
    static const table_column verdicts[] = {
        {.name = "maybe", .kind = COLUMN_TEXT, .in = IN_DATA, .get = get_maybe},
        {.name = "", .kind = COLUMN_AMOUNT, .in = IN_JSON, .get = get_amount},
        {.name = "size", .kind = COLUMN_TEXT, .to_right = true, .get = get_verdict},
        {.name = "place", .kind = COLUMN_PLACE, .in = IN_TEXT, .get = get_place},
    };
    static const thing unsure[] = {
        {.place = &parse, .value = 10, .error = 9, .word = "w"},
        {.place = &main_, .value = 10, .error = 9},
    };
    document d = {0};
    const table rows = {
        .name = "rows", TABLE_COLUMNS(verdicts), .rows = unsure, .stride = sizeof *unsure, .n = 2};
    document_rows(&d, &rows, IN_ALL, NULL);
    return d;
}

static inline void expect_judged(void (*write)(output *, const document *), const char *expected) {
    document d = judged();
    output o;
    output_start(&o, OUTPUT_MEMORY);
    write(&o, &d);
    output_char(&o, '\0');
    ck_assert_str_eq(o.buffer, expected);
    output_finish(&o);
    document_free(&d);
}

typedef struct turn {
    double before, change, error, ratio;
    const char *name, *remark;
    bool sure;
} turn;

static inline cell turn_before(const table *t, const void *row) {
    const turn *x = row;
    (void)t;
    return (cell){
        .tone = x->sure ? TONE_NONE : TONE_DOUBT,
        .amount = {.samples = 2, .value = x->before, .low = 0, .high = INFINITY, .margin = 1}};
}

static inline cell turn_change(const table *t, const void *row) {
    const turn *x = row;
    (void)t;
    return (cell){.remark = "so much",
                  .tone = !x->sure        ? TONE_DOUBT
                          : x->change > 0 ? TONE_BAD
                                          : TONE_GOOD,
                  .amount = {.samples = 2,
                             .value = x->change,
                             .low = x->change - x->error,
                             .high = x->change + x->error,
                             .margin = x->error}};
}

static inline cell turn_ratio(const table *t, const void *row) {
    const turn *x = row;
    (void)t;
    return (cell){.number = x->ratio};
}

static inline cell turn_name(const table *t, const void *row) {
    const turn *x = row;
    (void)t;
    return (cell){.text = x->name, .remark = x->remark};
}

static inline cell turn_has_more(const table *t, const void *row) {
    const turn *x = row;
    (void)t;
    return x->remark ? cell_none() : cell_absent();
}

static inline bool turn_more(const table *t, const void *row, table *below) {
    static const table_column more[] = {
        {.name = "ratio", .kind = COLUMN_NUMBER, .get = turn_ratio}};
    (void)t;
    *below = (table){TABLE_COLUMNS(more), .rows = row, .n = 1};
    return true;
}

static inline const char *turn_group(const table *t, const void *row) {
    const turn *x = row;
    (void)t;
    return x->sure ? NULL : "In doubt";
}

static const table_column turn_columns[] = {
    {.name = "before", .kind = COLUMN_AMOUNT, .no_error = true, .get = turn_before},
    {.name = "change",
     .kind = COLUMN_AMOUNT,
     .has_sign = true,
     .unsampled = true,
     .get = turn_change},
    {.name = "ratio", .kind = COLUMN_NUMBER, .get = turn_ratio},
    {.name = "more",
     .kind = COLUMN_OBJECT,
     .in = IN_JSON,
     .get = turn_has_more,
     .below = turn_more},
    {.name = "name", .kind = COLUMN_TEXT, .get = turn_name},
};

static const turn turns[] = {
    {.before = 40960, .change = -2048, .error = 1024, .ratio = 1e-5, .name = "f", .sure = true},
    {.before = 0, .change = 512.5, .error = 600, .ratio = INFINITY, .name = "g", .remark = "(new)"},
    {.before = 0, .change = 0, .error = 0, .ratio = NAN, .name = "h"},
};

static inline table turns_table(amount_form form) {
    return (table){.name = "turns",
                   TABLE_COLUMNS(turn_columns),
                   .rows = turns,
                   .stride = sizeof *turns,
                   .n = 3,
                   .form = form,
                   .one_unit = true,
                   .group = turn_group};
}

static inline void expect_turns(void (*write)(output *, const document *), table t,
                                const char *expected) {
    document d = {0};
    output o;
    if (t.n == 1)
        document_object(&d, &t, IN_ALL);
    else
        document_rows(&d, &t, IN_ALL, NULL);
    output_start(&o, OUTPUT_MEMORY);
    write(&o, &d);
    output_char(&o, '\0');
    ck_assert_str_eq(o.buffer, expected);
    output_finish(&o);
    document_free(&d);
}

static const char *const done[] = {"run it with the option --long-enough", "look"};

static inline cell get_command(const table *t, const void *row) {
    const char *const *command = row;
    (void)t;
    return (cell){.text = *command};
}

static inline bool get_commands(const table *t, const void *row, table *below) {
    static const table_column commands[] = {
        {.name = "", .kind = COLUMN_TEXT, .whole = true, .get = get_command}};
    (void)t;
    (void)row;
    below->columns = commands;
    below->n_columns = 1;
    below->rows = done;
    below->stride = sizeof *done;
    below->n = 2;
    return true;
}

static inline bool get_parts(const table *t, const void *row, table *below) {
    static const table_column parts[] = {
        {.name = "share", .kind = COLUMN_SHARE, .get = get_share, .help = "of all"},
        {.name = "place", .kind = COLUMN_PLACE, .get = get_place},
    };
    (void)t;
    below->columns = parts;
    below->n_columns = 2;
    below->rows = row;
    below->stride = sizeof(thing);
    below->n = thing_of(row)->place ? 0 : 1;
    below->omitted = 3;
    below->no_name = "(no call stack)";
    return below->n > 0;
}

static inline cell get_known(const table *t, const void *row) {
    return thing_of(row)->place ? get_place(t, row) : cell_none();
}

static inline document recorded(void) {
    static const table_column fields[] = {
        {.name = "share", .kind = COLUMN_SHARE, .get = get_share, .help = "of all"},
        {.name = "place", .kind = COLUMN_PLACE, .in = IN_TEXT, .get = get_known},
        {.name = "name", .kind = COLUMN_TEXT, .in = IN_TEXT, .get = get_word},
        {.name = "parts",
         .title = "",
         .kind = COLUMN_ROWS,
         .in = IN_TEXT,
         .field = true,
         .below = get_parts},
        {.name = "size", .kind = COLUMN_AMOUNT, .in = IN_TEXT, .field = true, .get = get_amount},
        {.name = "word", .kind = COLUMN_TEXT, .in = IN_TEXT, .field = true, .get = get_word},
        {.name = "do", .kind = COLUMN_ROWS, .field = true, .below = get_commands},
    };
    static const thing rows[] = {
        {.place = &parse, .value = 2048, .word = "four words and 10 KB"},
        {.value = 1024},
    };
    document d = {0};
    const table t = {.name = "records",
                     TABLE_COLUMNS(fields),
                     .rows = rows,
                     .stride = sizeof *rows,
                     .n = 2,
                     .by_line = true,
                     .is_records = true};
    document_rows(&d, &t, IN_ALL, NULL);
    document_note(&d, "That is all.");
    return d;
}

static inline void expect_recorded(unsigned room, const char *expected) {
    document d = recorded();
    output o;
    output_start(&o, OUTPUT_MEMORY);
    if (room)
        render_text(&o, &d, &(text_style){.columns = room});
    else
        render_json(&o, &d);
    output_char(&o, '\0');
    ck_assert_str_eq(o.buffer, expected);
    output_finish(&o);
    document_free(&d);
}

#endif
