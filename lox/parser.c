/* parser.c: the basis of all parts of the parser: the current token and the next one, errors (one
 * per statement), nodes in an arena, the book's limits, and scopes, which decide whether a name is
 * a local, captured or global variable. */
#include "parser.h"

#include "memory.h"

enum { MAX_DEPTH = 2500 }; /* of trees */

static void *arena_take(parser *p, size_t size) {
    size = (size + 15) & ~(size_t)15;
    if (!p->chunks || p->chunks->used + size > sizeof p->chunks->space) {
        arena_chunk *chunk = memory_new(sizeof *chunk);
        chunk->next = p->chunks;
        p->chunks = chunk;
    }
    void *result = p->chunks->space + p->chunks->used;
    p->chunks->used += size;
    return result;
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void error_at(parser *p, const token *t, const char *message) {
    if (p->panicking || p->gave_up)
        return;
    p->panicking = p->had_error = true;
    if (t->type == TOKEN_END)
        vm_complain(p->vm, "[line %u] Error at end: %s\n", t->line, message);
    else if (t->type == TOKEN_ERROR)
        vm_complain(p->vm, "[line %u] Error: %s\n", t->line, message);
    else
        vm_complain(p->vm, "[line %u] Error at '%.*s': %s\n", t->line, (int)t->size, t->text,
                    message);
}

void parser_error(parser *p, const char *message) {
    error_at(p, &p->previous, message);
}
void parser_error_here(parser *p, const char *message) {
    error_at(p, &p->current, message);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

void parser_advance(parser *p) {
    p->previous = p->current;
    for (;;) {
        p->current = scanner_next(&p->scanner);
        if (p->current.type != TOKEN_ERROR)
            return;
        parser_error_here(p, p->current.text);
    }
}

bool parser_check(const parser *p, token_type type) {
    return p->current.type == type;
}

bool parser_match(parser *p, token_type type) {
    if (!parser_check(p, type))
        return false;
    parser_advance(p);
    return true;
}

void parser_expect(parser *p, token_type type, const char *message) {
    if (!parser_match(p, type))
        parser_error_here(p, message);
}

bool token_is(const token *t, const char *text) {
    return t->type == TOKEN_NAME && t->size == strlen(text) && !memcmp(t->text, text, t->size);
}

bool same_name(const token *a, const token *b) {
    return a->size == b->size && !memcmp(a->text, b->text, a->size);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* All open constructs end there, without further errors. */
void parser_give_up(parser *p) {
    p->gave_up = true;
    while (!parser_check(p, TOKEN_END))
        parser_advance(p);
}

static uint16_t column(const parser *p, uint32_t character) {
    uint32_t c = character - p->scanner.line_start;
    return character < p->scanner.line_start || c > UINT16_MAX ? 0 : (uint16_t)c;
}

/* Returns the place from `start` to the end of the token just taken. */
static place place_from(const parser *p, uint32_t start) {
    return (place){.line = p->previous.line,
                   .start = start,
                   .end = p->previous.end,
                   .statement = p->statement,
                   .start_column = column(p, start),
                   .end_column = column(p, p->previous.end)};
}

void parser_extend(parser *p, node *n) {
    uint32_t column = n->place.start_column + p->previous.end - n->place.start;
    n->place.end = p->previous.end;
    n->place.end_column = column > UINT16_MAX ? 0 : (uint16_t)column;
}

node *parser_node(parser *p, node_kind kind, uint32_t start, node *a, node *b) {
    node *n = arena_take(p, sizeof *n);
    n->kind = kind;
    n->place = place_from(p, start);
    n->a = a;
    n->b = b;
    n->assigns = kind == NODE_SET_LOCAL || (a && a->assigns) || (b && b->assigns);
    uint32_t depth_a = a ? a->depth : 0, depth_b = b ? b->depth : 0;
    n->depth = 1 + (depth_a > depth_b ? depth_a : depth_b);
    if (n->depth > MAX_DEPTH)
        parser_error(p, "Expression nested too deeply.");
    return n;
}

string *parser_intern(parser *p, const char *text, size_t size) {
    return string_intern(p->vm, text, size);
}

string *parser_intern_token(parser *p, const token *t) {
    return parser_intern(p, t->text, t->size);
}

/* ---- the book's limits ----------------------------------------------------------------------- */

void parser_spend(parser *p, int bytes) {
    p->compiler->book_bytes += bytes;
}

void parser_spend_constant(parser *p) {
    if (p->uncounted == 0 && ++p->compiler->book_constants > MAX_CONSTANTS)
        parser_error(p, "Too many constants in one chunk.");
}

void parser_check_jump(parser *p, int from) {
    if (p->compiler->book_bytes - from > UINT16_MAX)
        parser_error(p, "Too much code to jump over.");
}

void parser_check_loop(parser *p, int start) {
    parser_spend(p, 3);
    if (p->compiler->book_bytes - start > UINT16_MAX)
        parser_error(p, "Loop body too large.");
}

/* ---- scopes ---------------------------------------------------------------------------------- */

local *scope_add(parser *p, token name) {
    function_compiler *m = p->compiler;
    if (m->n_locals == MAX_LOCALS) {
        parser_error(p, "Too many local variables in function.");
        return m->locals[MAX_LOCALS - 1];
    }
    local *l = arena_take(p, sizeof *l);
    *l = (local){.name = name,
                 .reg = (uint16_t)m->n_locals,
                 .depth = -1,
                 .place = place_from(p, p->previous.start)};
    m->locals[m->n_locals++] = l;
    return l;
}

local *scope_add_hidden(parser *p, const char *name) {
    local *l = scope_add(p, (token){.type = TOKEN_NAME, .text = name, .size = strlen(name)});
    l->depth = p->compiler->depth;
    return l;
}

/* Returns NULL at the top level, where variables are global. */
local *scope_declare(parser *p) {
    function_compiler *m = p->compiler;
    if (m->depth == 0) {
        parser_spend_constant(p);
        return NULL;
    }
    for (int i = m->n_locals - 1; i >= 0; i--) {
        if (m->locals[i]->depth != -1 && m->locals[i]->depth < m->depth)
            break;
        if (same_name(&m->locals[i]->name, &p->previous))
            parser_error(p, "Already a variable with this name in this scope.");
    }
    return scope_add(p, p->previous);
}

void scope_define(parser *p, local *l) {
    if (l)
        l->depth = p->compiler->depth;
    else
        parser_spend(p, 2);
}

void scope_begin(parser *p) {
    p->compiler->depth++;
}

void scope_end(parser *p) {
    function_compiler *m = p->compiler;
    m->depth--;
    while (m->n_locals > 0 && m->locals[m->n_locals - 1]->depth > m->depth) {
        m->n_locals--;
        parser_spend(p, 1);
    }
}

static local *find_local(parser *p, function_compiler *m, const token *name) {
    for (int i = m->n_locals - 1; i >= 0; i--)
        if (same_name(&m->locals[i]->name, name)) {
            if (m->locals[i]->depth == -1)
                parser_error(p, "Can't read local variable in its own initializer.");
            return m->locals[i];
        }
    return NULL;
}

static int add_capture(parser *p, function_compiler *m, uint16_t index, bool is_local) {
    int n = m->function->n_captures;
    for (int i = 0; i < n; i++)
        if (m->captures[i].index == index && m->captures[i].is_local == is_local)
            return i;
    if (n == MAX_CAPTURES) {
        parser_error(p, "Too many closure variables in function.");
        return 0;
    }
    m->captures[n] = (capture){.is_local = is_local, .index = index};
    return m->function->n_captures++;
}

/* Returns the index of the captured variable; -1 if no enclosing function has such a local
 * variable. */
static int find_capture(parser *p, function_compiler *m, const token *name) {
    if (!m->outer)
        return -1;
    local *l = find_local(p, m->outer, name);
    if (l) {
        l->captured = true;
        return add_capture(p, m, l->reg, true);
    }
    int outer = find_capture(p, m->outer, name);
    return outer < 0 ? -1 : add_capture(p, m, (uint16_t)outer, false);
}

/* Makes a node that reads a variable. */
node *scope_variable(parser *p, const token *name, uint32_t start) {
    local *l = find_local(p, p->compiler, name);
    node *n = parser_node(p, NODE_LOCAL, start, NULL, NULL);
    int index = l ? -1 : find_capture(p, p->compiler, name);
    if (l) {
        n->local = l;
    } else if (index >= 0) {
        n->kind = NODE_CAPTURED;
        n->index = (uint32_t)index;
    } else {
        n->kind = NODE_GLOBAL;
        n->index = vm_global(p->vm, parser_intern_token(p, name));
        parser_spend_constant(p);
    }
    return n;
}
