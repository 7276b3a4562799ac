/* compiler.c: parses a file and has code generated for each function of it (generate.c). Names are
 * resolved while parsing. Grammar, messages and limits are the book's; where a limit is about the
 * book's own byte code, `spend` counts what that would need.
 *
 * Nothing here collects: what is compiled is allocated in the major heap, uncollected until done.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ast.h"
#include "memory.h"

enum { MAX_NESTING = 500, MAX_DEPTH = 2500 }; /* of source, of trees */

typedef struct class_state {
    struct class_state *outer;
    string *name;
    bool has_superclass;
    string *fields[64]; /* assigned through `this` */
    uint32_t n_fields;
} class_state;

/* Nodes and locals of a file, freed together. */
typedef struct arena_chunk {
    struct arena_chunk *next;
    size_t used;
    _Alignas(16) char space[64 * 1024 - 32];
} arena_chunk;

typedef struct parser {
    lox_vm *vm;
    scanner scanner;
    token current, previous;
    bool had_error, panicking, echo;
    const char *file;
    maker *maker;
    class_state *class;
    int nesting;
    uint32_t statement; /* the innermost one, in maker->function->statements */
    arena_chunk *chunks;
    int uncounted; /* inside this many array literals, whose constants are not counted */
} parser;

typedef enum precedence {
    PREC_NONE,
    PREC_ASSIGNMENT,
    PREC_OR,
    PREC_AND,
    PREC_EQUALITY,
    PREC_COMPARISON,
    PREC_TERM,
    PREC_FACTOR,
    PREC_UNARY,
    PREC_CALL,
} precedence;

static node *parse_expression(parser *p);
static node *parse_declaration(parser *p);
static node *parse_precedence(parser *p, precedence min);

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
    if (p->panicking)
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

static void error(parser *p, const char *message) {
    error_at(p, &p->previous, message);
}
static void error_here(parser *p, const char *message) {
    error_at(p, &p->current, message);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static void advance(parser *p) {
    p->previous = p->current;
    for (;;) {
        p->current = scanner_next(&p->scanner);
        if (p->current.type != TOKEN_ERROR)
            return;
        error_here(p, p->current.text);
    }
}

static bool check(const parser *p, token_type type) {
    return p->current.type == type;
}

static bool match(parser *p, token_type type) {
    if (!check(p, type))
        return false;
    advance(p);
    return true;
}

static void expect(parser *p, token_type type, const char *message) {
    if (!match(p, type))
        error_here(p, message);
}

static bool token_is(const token *t, const char *text) {
    return t->type == TOKEN_NAME && t->size == strlen(text) && !memcmp(t->text, text, t->size);
}

static bool same_name(const token *a, const token *b) {
    return a->size == b->size && !memcmp(a->text, b->text, a->size);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static uint16_t column(const parser *p, uint32_t character) {
    uint32_t c = character - p->scanner.line_start;
    return character < p->scanner.line_start || c > UINT16_MAX ? 0 : (uint16_t)c;
}

static node *new_node(parser *p, node_kind kind, uint32_t start, node *a, node *b) {
    node *n = arena_take(p, sizeof *n);
    n->kind = kind;
    n->place = (place){.line = p->previous.line,
                       .start = start,
                       .end = p->previous.end,
                       .statement = p->statement,
                       .start_column = column(p, start),
                       .end_column = column(p, p->previous.end)};
    n->a = a;
    n->b = b;
    n->assigns = kind == NODE_SET_LOCAL || (a && a->assigns) || (b && b->assigns);
    uint32_t depth_a = a ? a->depth : 0, depth_b = b ? b->depth : 0;
    n->depth = 1 + (depth_a > depth_b ? depth_a : depth_b);
    if (n->depth > MAX_DEPTH)
        error(p, "Expression nested too deeply.");
    return n;
}

static string *intern(parser *p, const char *text, size_t size) {
    return string_intern(p->vm, text, size);
}

static string *intern_token(parser *p, const token *t) {
    return intern(p, t->text, t->size);
}

/* ---- the book's limits ----------------------------------------------------------------------- */

static void spend(parser *p, int bytes) {
    p->maker->book_bytes += bytes;
}

static void spend_constant(parser *p) {
    if (p->uncounted == 0 && ++p->maker->book_constants > MAX_CONSTANTS)
        error(p, "Too many constants in one chunk.");
}

static void check_jump(parser *p, int from) {
    if (p->maker->book_bytes - from > UINT16_MAX)
        error(p, "Too much code to jump over.");
}

static void check_loop(parser *p, int start) {
    spend(p, 3);
    if (p->maker->book_bytes - start > UINT16_MAX)
        error(p, "Loop body too large.");
}

/* ---- scopes ---------------------------------------------------------------------------------- */

static local *add_local(parser *p, token name) {
    maker *m = p->maker;
    if (m->n_locals == MAX_LOCALS) {
        error(p, "Too many local variables in function.");
        return m->locals[MAX_LOCALS - 1];
    }
    local *l = arena_take(p, sizeof *l);
    *l = (local){.name = name, .reg = (uint16_t)m->n_locals, .depth = -1};
    m->locals[m->n_locals++] = l;
    return l;
}

static local *add_hidden(parser *p, const char *name) {
    local *l = add_local(p, (token){.type = TOKEN_NAME, .text = name, .size = strlen(name)});
    l->depth = p->maker->depth;
    return l;
}

/* NULL at the top level, where variables are global. */
static local *declare_variable(parser *p) {
    maker *m = p->maker;
    if (m->depth == 0) {
        spend_constant(p);
        return NULL;
    }
    for (int i = m->n_locals - 1; i >= 0; i--) {
        if (m->locals[i]->depth != -1 && m->locals[i]->depth < m->depth)
            break;
        if (same_name(&m->locals[i]->name, &p->previous))
            error(p, "Already a variable with this name in this scope.");
    }
    return add_local(p, p->previous);
}

static void define_variable(parser *p, local *l) {
    if (l)
        l->depth = p->maker->depth;
    else
        spend(p, 2);
}

static void begin_scope(parser *p) {
    p->maker->depth++;
}

static void end_scope(parser *p) {
    maker *m = p->maker;
    m->depth--;
    while (m->n_locals > 0 && m->locals[m->n_locals - 1]->depth > m->depth) {
        m->n_locals--;
        spend(p, 1);
    }
}

static local *find_local(parser *p, maker *m, const token *name) {
    for (int i = m->n_locals - 1; i >= 0; i--)
        if (same_name(&m->locals[i]->name, name)) {
            if (m->locals[i]->depth == -1)
                error(p, "Can't read local variable in its own initializer.");
            return m->locals[i];
        }
    return NULL;
}

static int add_capture(parser *p, maker *m, uint16_t index, bool is_local) {
    int n = m->function->n_captures;
    for (int i = 0; i < n; i++)
        if (m->captures[i].index == index && m->captures[i].is_local == is_local)
            return i;
    if (n == MAX_CAPTURES) {
        error(p, "Too many closure variables in function.");
        return 0;
    }
    m->captures[n] = (capture){.is_local = is_local, .index = index};
    return m->function->n_captures++;
}

/* The index of the captured variable; -1: there is no such local variable around. */
static int find_capture(parser *p, maker *m, const token *name) {
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

/* A variable to read. */
static node *name_node(parser *p, const token *name, uint32_t start) {
    local *l = find_local(p, p->maker, name);
    node *n = new_node(p, NODE_LOCAL, start, NULL, NULL);
    int index = l ? -1 : find_capture(p, p->maker, name);
    if (l) {
        n->local = l;
    } else if (index >= 0) {
        n->kind = NODE_CAPTURED;
        n->index = (uint32_t)index;
    } else {
        n->kind = NODE_GLOBAL;
        n->index = vm_global(p->vm, intern_token(p, name));
        spend_constant(p);
    }
    return n;
}

/* ---- expressions ----------------------------------------------------------------------------- */

static node *parse_grouping(parser *p) {
    node *n = parse_expression(p);
    expect(p, TOKEN_RIGHT_PAREN, "Expect ')' after expression.");
    return n;
}

static node *parse_number(parser *p) {
    char text[64], *copy = text;
    const token *t = &p->previous;
    if (t->size >= sizeof text)
        copy = memory_new(t->size + 1);
    memcpy(copy, t->text, t->size);
    copy[t->size] = '\0';
    node *n = new_node(p, NODE_NUMBER, t->start, NULL, NULL);
    n->number = strtod(copy, NULL);
    if (copy != text)
        memory_free(copy);
    spend_constant(p);
    spend(p, 2);
    return n;
}

static node *parse_string(parser *p) {
    const token *t = &p->previous;
    node *n = new_node(p, NODE_STRING, t->start, NULL, NULL);
    n->name = intern(p, t->text + 1, t->size - 2);
    spend_constant(p);
    spend(p, 2);
    return n;
}

static node *parse_literal(parser *p, value v) {
    node *n = new_node(p, NODE_LITERAL, p->previous.start, NULL, NULL);
    n->index = v & 7;
    spend(p, 1);
    return n;
}

static node *parse_name(parser *p, bool can_assign) {
    token name = p->previous;
    node *n = name_node(p, &name, name.start);
    if (can_assign && match(p, TOKEN_EQUAL)) {
        node *v = parse_expression(p);
        node *set = new_node(p, NODE_SET_LOCAL + (n->kind - NODE_LOCAL), name.start, v, NULL);
        set->assigns = n->kind == NODE_LOCAL || v->assigns;
        set->index = n->index;
        if (n->kind == NODE_LOCAL)
            set->local = n->local;
        n = set;
    }
    spend(p, 2);
    return n;
}

static const token this_token = {.type = TOKEN_THIS, .text = "this", .size = 4};
static const token super_token = {.type = TOKEN_SUPER, .text = "super", .size = 5};

static node *parse_this(parser *p) {
    uint32_t start = p->previous.start;
    if (!p->class)
        error(p, "Can't use 'this' outside of a class.");
    node *n = name_node(p, &this_token, start);
    n->is_this = true;
    spend(p, 2);
    return n;
}

static node *parse_arguments(parser *p, uint16_t *count, bool *assigns, uint32_t *depth) {
    node *list = NULL, **tail = &list;
    int n = 0;
    if (!check(p, TOKEN_RIGHT_PAREN)) {
        do {
            node *argument = parse_expression(p);
            if (n == MAX_ARGUMENTS)
                error(p, "Can't have more than 255 arguments.");
            n++;
            *assigns |= argument->assigns;
            *depth = argument->depth > *depth ? argument->depth : *depth;
            *tail = argument;
            tail = &(*tail)->next;
        } while (match(p, TOKEN_COMMA));
    }
    expect(p, TOKEN_RIGHT_PAREN, "Expect ')' after arguments.");
    *count = (uint16_t)n;
    return list;
}

static node *new_call(parser *p, node_kind kind, node *callee, uint32_t start) {
    uint16_t count;
    bool assigns = false;
    uint32_t depth = 0;
    node *arguments = parse_arguments(p, &count, &assigns, &depth);
    node *n = new_node(p, kind, start, callee, NULL);
    n->b = arguments;
    n->count = count;
    n->assigns |= assigns;
    n->depth = depth + 1 > n->depth ? depth + 1 : n->depth;
    spend(p, 2);
    return n;
}

static node *parse_super(parser *p) {
    uint32_t start = p->previous.start;
    if (!p->class)
        error(p, "Can't use 'super' outside of a class.");
    else if (!p->class->has_superclass)
        error(p, "Can't use 'super' in a class with no superclass.");
    expect(p, TOKEN_DOT, "Expect '.' after 'super'.");
    expect(p, TOKEN_NAME, "Expect superclass method name.");
    string *name = intern_token(p, &p->previous);
    spend_constant(p);
    node *receiver = name_node(p, &this_token, start), *n;
    if (match(p, TOKEN_LEFT_PAREN)) {
        n = new_call(p, NODE_INVOKE_SUPER, receiver, start);
        n->c = name_node(p, &super_token, start);
    } else {
        n = new_node(p, NODE_SUPER, start, receiver, name_node(p, &super_token, start));
    }
    n->name = name;
    spend(p, 6);
    return n;
}

static node *parse_array(parser *p, bool hands) {
    uint32_t start = p->previous.start, depth = 0;
    token_type close = hands ? TOKEN_RIGHT_HAND : TOKEN_RIGHT_BRACKET;
    bool assigns = false;
    node *list = NULL, **tail = &list;
    p->uncounted++;
    if (!check(p, close)) {
        do {
            node *element = parse_expression(p);
            assigns |= element->assigns;
            depth = element->depth > depth ? element->depth : depth;
            *tail = element;
            tail = &(*tail)->next;
        } while (match(p, TOKEN_COMMA));
    }
    p->uncounted--;
    expect(p, close,
           hands ? "Expect '👈' after array elements." : "Expect ']' after array elements.");
    node *n = new_node(p, NODE_ARRAY, start, NULL, NULL);
    n->a = list;
    n->index = hands;
    n->assigns = assigns;
    n->depth += depth;
    return n;
}

static node *parse_unary(parser *p, node_kind kind) {
    uint32_t start = p->previous.start;
    node *operand = parse_precedence(p, PREC_UNARY);
    spend(p, 1);
    return new_node(p, kind, start, operand, NULL);
}

/* NULL after an error. */
static node *parse_prefix(parser *p, bool can_assign) {
    switch (p->previous.type) {
    case TOKEN_LEFT_PAREN:
        return parse_grouping(p);
    case TOKEN_NUMBER:
        return parse_number(p);
    case TOKEN_STRING:
        return parse_string(p);
    case TOKEN_NIL:
        return parse_literal(p, VALUE_NIL);
    case TOKEN_FALSE:
        return parse_literal(p, VALUE_FALSE);
    case TOKEN_TRUE:
        return parse_literal(p, VALUE_TRUE);
    case TOKEN_NAME:
        return parse_name(p, can_assign);
    case TOKEN_THIS:
    case TOKEN_SELF:
        return parse_this(p);
    case TOKEN_SUPER:
        return parse_super(p);
    case TOKEN_LEFT_BRACKET:
        return parse_array(p, false);
    case TOKEN_LEFT_HAND:
        return parse_array(p, true);
    case TOKEN_MINUS:
        return parse_unary(p, NODE_NEGATE);
    case TOKEN_NOT:
        return parse_unary(p, NODE_NOT);
    default:
        error(p, "Expect expression.");
        return NULL;
    }
}

static precedence infix_precedence(token_type type) {
    switch (type) {
    case TOKEN_OR:
        return PREC_OR;
    case TOKEN_AND:
        return PREC_AND;
    case TOKEN_EQUAL_EQUAL:
    case TOKEN_NOT_EQUAL:
        return PREC_EQUALITY;
    case TOKEN_LESS:
    case TOKEN_LESS_EQUAL:
    case TOKEN_GREATER:
    case TOKEN_GREATER_EQUAL:
        return PREC_COMPARISON;
    case TOKEN_PLUS:
    case TOKEN_MINUS:
        return PREC_TERM;
    case TOKEN_STAR:
    case TOKEN_SLASH:
        return PREC_FACTOR;
    case TOKEN_LEFT_PAREN:
    case TOKEN_DOT:
    case TOKEN_LEFT_BRACKET:
    case TOKEN_LEFT_HAND:
        return PREC_CALL;
    default:
        return PREC_NONE;
    }
}

static operation binary_operation(token_type type) {
    switch (type) {
    case TOKEN_EQUAL_EQUAL:
        return OP_EQ;
    case TOKEN_NOT_EQUAL:
        return OP_NE;
    case TOKEN_LESS:
        return OP_LT;
    case TOKEN_LESS_EQUAL:
        return OP_LE;
    case TOKEN_GREATER:
        return OP_GT;
    case TOKEN_GREATER_EQUAL:
        return OP_GE;
    case TOKEN_PLUS:
        return OP_ADD;
    case TOKEN_MINUS:
        return OP_SUB;
    case TOKEN_STAR:
        return OP_MUL;
    default:
        return OP_DIV;
    }
}

static node *parse_binary(parser *p, node *left, uint32_t start) {
    token_type sign = p->previous.type;
    node *right = parse_precedence(p, infix_precedence(sign) + 1);
    node *n = new_node(p, NODE_BINARY, start, left, right);
    n->index = binary_operation(sign);
    spend(p, sign == TOKEN_NOT_EQUAL || sign == TOKEN_LESS_EQUAL || sign == TOKEN_GREATER_EQUAL
                 ? 2
                 : 1);
    return n;
}

static node *parse_logic(parser *p, node *left, uint32_t start) {
    bool is_and = p->previous.type == TOKEN_AND;
    spend(p, is_and ? 4 : 7);
    int from = p->maker->book_bytes - 1;
    node *right = parse_precedence(p, is_and ? PREC_AND : PREC_OR);
    check_jump(p, from);
    return new_node(p, is_and ? NODE_AND : NODE_OR, start, left, right);
}

/* Remembers that instances of the class around will have this field. */
static void note_field(parser *p, string *name) {
    class_state *c = p->class;
    for (uint32_t i = 0; i < c->n_fields; i++)
        if (c->fields[i] == name)
            return;
    if (c->n_fields < sizeof c->fields / sizeof *c->fields)
        c->fields[c->n_fields++] = name;
}

static node *parse_dot(parser *p, node *target, uint32_t start, bool can_assign) {
    expect(p, TOKEN_NAME, "Expect property name after '.'.");
    string *name = intern_token(p, &p->previous);
    spend_constant(p);
    node *n;
    if (can_assign && match(p, TOKEN_EQUAL)) {
        node *v = parse_expression(p);
        n = new_node(p, NODE_SET, start, target, v);
        if (target->is_this && p->class)
            note_field(p, name);
    } else if (match(p, TOKEN_LEFT_PAREN)) {
        n = new_call(p, NODE_INVOKE, target, start);
        spend(p, 1);
        n->name = name;
        return n;
    } else {
        n = new_node(p, NODE_GET, start, target, NULL);
    }
    n->name = name;
    spend(p, 2);
    return n;
}

static node *parse_index(parser *p, node *target, uint32_t start, bool can_assign) {
    bool hands = p->previous.type == TOKEN_LEFT_HAND;
    node *index = parse_expression(p);
    expect(p, hands ? TOKEN_RIGHT_HAND : TOKEN_RIGHT_BRACKET,
           hands ? "Expect '👈' after index." : "Expect ']' after index.");
    node *n = new_node(p, NODE_INDEX, start, target, index);
    if (can_assign && match(p, TOKEN_EQUAL)) {
        node *v = parse_expression(p);
        node *set = new_node(p, NODE_SET_INDEX, start, n, v);
        set->a = target;
        set->b = index;
        set->c = v;
        n = set;
    }
    spend(p, 1);
    return n;
}

static node *parse_infix(parser *p, node *left, uint32_t start, bool can_assign) {
    switch (p->previous.type) {
    case TOKEN_LEFT_PAREN:
        return new_call(p, NODE_CALL, left, start);
    case TOKEN_DOT:
        return parse_dot(p, left, start, can_assign);
    case TOKEN_LEFT_BRACKET:
    case TOKEN_LEFT_HAND:
        return parse_index(p, left, start, can_assign);
    case TOKEN_AND:
    case TOKEN_OR:
        return parse_logic(p, left, start);
    default:
        return parse_binary(p, left, start);
    }
}

static node *nothing(parser *p) {
    return parse_literal(p, VALUE_NIL);
}

static bool too_nested(parser *p) {
    if (p->nesting < MAX_NESTING)
        return false;
    error_here(p, "Nested too deeply.");
    return true;
}

static node *parse_precedence(parser *p, precedence min) {
    if (too_nested(p))
        return nothing(p);
    p->nesting++;
    advance(p);
    bool can_assign = min <= PREC_ASSIGNMENT;
    uint32_t start = p->previous.start;
    node *n = parse_prefix(p, can_assign);
    while (n && infix_precedence(p->current.type) >= min && infix_precedence(p->current.type)) {
        advance(p);
        n = parse_infix(p, n, start, can_assign);
    }
    if (n && can_assign && match(p, TOKEN_EQUAL))
        error(p, "Invalid assignment target.");
    p->nesting--;
    return n ? n : nothing(p);
}

static node *parse_expression(parser *p) {
    return parse_precedence(p, PREC_ASSIGNMENT);
}

/* ---- functions ------------------------------------------------------------------------------- */

static void begin_function(parser *p, maker *m, function_kind kind, string *name) {
    *m = (maker){.outer = p->maker, .kind = kind, .vm = p->vm};
    m->function = function_new(p->vm, p->file, name);
    p->maker = m;
    token receiver = kind >= KIND_METHOD ? this_token : (token){.text = ""};
    add_local(p, receiver)->depth = 0;
}

static uint32_t begin_statement(parser *p, uint32_t start_line, uint32_t start) {
    function *f = p->maker->function;
    MEMORY_PUSH(f->statements, f->n_statements, p->maker->statements_capacity,
                (extent){.first_line = start_line, .start = start});
    uint32_t outer = p->statement;
    p->statement = f->n_statements - 1;
    return outer;
}

static void end_statement(parser *p, uint32_t outer) {
    extent *e = &p->maker->function->statements[p->statement];
    e->last_line = p->previous.line;
    e->end = p->previous.end;
    p->statement = outer;
}

/* Generates its code, unless there were errors. */
static function *end_function(parser *p, node *body, token start) {
    maker *m = p->maker;
    function *f = m->function;
    f->extent = (extent){.first_line = start.line,
                         .last_line = p->previous.line,
                         .start = start.start,
                         .end = p->previous.end};
    if (f->n_captures) {
        f->captures = memory_new(f->n_captures * sizeof *f->captures);
        memcpy(f->captures, m->captures, f->n_captures * sizeof *f->captures);
    }
    if (!p->had_error && !generate(m, body))
        error(p, m->problem);
    p->maker = m->outer;
    return f;
}

static void parse_parameters(parser *p) {
    function *f = p->maker->function;
    expect(p, TOKEN_LEFT_PAREN, "Expect '(' after function name.");
    if (!check(p, TOKEN_RIGHT_PAREN)) {
        do {
            if (++f->arity > MAX_ARGUMENTS)
                error_here(p, "Can't have more than 255 parameters.");
            expect(p, TOKEN_NAME, "Expect parameter name.");
            define_variable(p, declare_variable(p));
        } while (match(p, TOKEN_COMMA));
    }
    expect(p, TOKEN_RIGHT_PAREN, "Expect ')' after parameters.");
}

static node *parse_block(parser *p) {
    node *list = NULL, **tail = &list;
    while (!check(p, TOKEN_RIGHT_BRACE) && !check(p, TOKEN_END)) {
        *tail = parse_declaration(p);
        while (*tail)
            tail = &(*tail)->next;
    }
    expect(p, TOKEN_RIGHT_BRACE, "Expect '}' after block.");
    return list;
}

/* `start` is the first token of the declaration. */
static node *parse_function(parser *p, function_kind kind, string *name, token start) {
    maker m;
    uint32_t statement = p->statement;
    int uncounted = p->uncounted;
    p->uncounted = 0;
    begin_function(p, &m, kind, name);
    if (kind >= KIND_METHOD)
        m.function->class_name = p->class->name;
    begin_statement(p, start.line, start.start);
    begin_scope(p);
    parse_parameters(p);
    expect(p, TOKEN_LEFT_BRACE, "Expect '{' before function body.");
    node *body = parse_block(p);
    end_statement(p, statement);
    function *f = end_function(p, body, start);
    p->statement = statement;
    p->uncounted = uncounted;
    node *n = new_node(p, NODE_FUNCTION, start.start, NULL, NULL);
    function *outer = p->maker->function;
    n->index = outer->n_inner;
    MEMORY_PUSH(outer->inner, outer->n_inner, p->maker->inner_capacity, f);
    spend_constant(p);
    spend(p, 2 + 2 * f->n_captures);
    return n;
}

/* ---- declarations ---------------------------------------------------------------------------- */

static node *new_variable(parser *p, local *l, const token *name, uint32_t start, node *init) {
    node *n = new_node(p, l ? NODE_VAR_LOCAL : NODE_VAR_GLOBAL, start, init, NULL);
    if (l)
        n->local = l;
    else
        n->index = vm_global(p->vm, intern_token(p, name));
    return n;
}

static node *finish_var(parser *p, uint32_t start) {
    token name = p->previous;
    local *l = declare_variable(p);
    node *init = NULL;
    if (match(p, TOKEN_EQUAL))
        init = parse_expression(p);
    else
        spend(p, 1);
    expect(p, TOKEN_SEMICOLON, "Expect ';' after variable declaration.");
    define_variable(p, l);
    return new_variable(p, l, &name, start, init);
}

static node *parse_var(parser *p) {
    uint32_t start = p->previous.start;
    expect(p, TOKEN_NAME, "Expect variable name.");
    return finish_var(p, start);
}

static node *parse_fun(parser *p) {
    token start = p->previous;
    expect(p, TOKEN_NAME, "Expect function name.");
    token name = p->previous;
    local *l = declare_variable(p);
    if (l)
        l->depth = p->maker->depth; /* it may call itself */
    node *f = parse_function(p, KIND_FUNCTION, intern_token(p, &name), start);
    node *n = new_variable(p, l, &name, start.start, f);
    if (l)
        n->kind = NODE_FUN_LOCAL;
    else
        spend(p, 2);
    return n;
}

static node *parse_method(parser *p) {
    expect(p, TOKEN_NAME, "Expect method name.");
    token name = p->previous;
    spend_constant(p);
    string *text = intern_token(p, &name);
    node *n = parse_function(p, text == p->vm->init_name ? KIND_INIT : KIND_METHOD, text, name);
    n->name = text;
    spend(p, 2);
    return n;
}

static node *parse_superclass(parser *p, const token *class_name) {
    if (!match(p, TOKEN_LESS) && !match(p, TOKEN_INHERITS))
        return NULL;
    expect(p, TOKEN_NAME, "Expect superclass name.");
    if (same_name(class_name, &p->previous))
        error(p, "A class can't inherit from itself.");
    node *n = parse_name(p, false);
    p->class->has_superclass = true;
    begin_scope(p);
    spend(p, 3);
    return n;
}

static uint32_t add_plan(parser *p, string *name, const class_state *state) {
    function *f = p->maker->function;
    class_plan plan = {.name = name, .n_fields = state->n_fields};
    plan.fields = memory_new(state->n_fields * sizeof *plan.fields);
    memcpy(plan.fields, state->fields, state->n_fields * sizeof *plan.fields);
    MEMORY_PUSH(f->classes, f->n_classes, p->maker->classes_capacity, plan);
    return f->n_classes - 1;
}

static node *parse_class(parser *p) {
    uint32_t start = p->previous.start;
    expect(p, TOKEN_NAME, "Expect class name.");
    token name = p->previous;
    spend_constant(p);
    local *l = declare_variable(p), *super = NULL;
    spend(p, 2);
    if (l)
        l->depth = p->maker->depth;
    else
        spend(p, 2);
    node *target = new_variable(p, l, &name, start, NULL);
    class_state state = {.outer = p->class, .name = intern_token(p, &name)};
    p->class = &state;
    node *superclass = parse_superclass(p, &name);
    if (superclass)
        super = add_hidden(p, "super");
    expect(p, TOKEN_LEFT_BRACE, "Expect '{' before class body.");
    node *list = NULL, **tail = &list;
    while (!check(p, TOKEN_RIGHT_BRACE) && !check(p, TOKEN_END)) {
        *tail = parse_method(p);
        tail = &(*tail)->next;
    }
    expect(p, TOKEN_RIGHT_BRACE, "Expect '}' after class body.");
    spend(p, 3);
    node *n = new_node(p, NODE_CLASS, start, superclass, NULL);
    n->place.line = name.line;
    n->b = list;
    n->c = target;
    n->local = super;
    n->index = add_plan(p, intern_token(p, &name), &state);
    if (superclass)
        end_scope(p);
    p->class = state.outer;
    return n;
}

/* ---- statements ------------------------------------------------------------------------------ */

static node *parse_statement(parser *p);

static node *parse_expression_statement(parser *p, uint32_t start) {
    node *e = parse_expression(p);
    bool echo = p->echo && p->maker->kind == KIND_SCRIPT && p->maker->depth == 0;
    if (echo && check(p, TOKEN_END))
        ; /* at the prompt the last semicolon may be left out */
    else
        expect(p, TOKEN_SEMICOLON, "Expect ';' after expression.");
    spend(p, 1);
    bool show = echo && (e->kind < NODE_SET_LOCAL || e->kind > NODE_SET_GLOBAL) &&
                e->kind != NODE_SET && e->kind != NODE_SET_INDEX;
    return new_node(p, show ? NODE_ECHO : NODE_EXPRESSION, start, e, NULL);
}

static node *parse_print(parser *p) {
    uint32_t start = p->previous.start;
    node *e = parse_expression(p);
    expect(p, TOKEN_SEMICOLON, "Expect ';' after value.");
    spend(p, 1);
    return new_node(p, NODE_PRINT, start, e, NULL);
}

static node *parse_if(parser *p) {
    uint32_t start = p->previous.start;
    expect(p, TOKEN_LEFT_PAREN, "Expect '(' after 'if'.");
    node *condition = parse_expression(p);
    expect(p, TOKEN_RIGHT_PAREN, "Expect ')' after condition.");
    spend(p, 3);
    int from = p->maker->book_bytes;
    spend(p, 1);
    node *then = parse_statement(p);
    spend(p, 3);
    check_jump(p, from);
    from = p->maker->book_bytes;
    spend(p, 1);
    node *otherwise = match(p, TOKEN_ELSE) ? parse_statement(p) : NULL;
    check_jump(p, from);
    node *n = new_node(p, NODE_IF, start, condition, NULL);
    n->b = then;
    n->c = otherwise;
    return n;
}

static node *parse_while(parser *p) {
    uint32_t start = p->previous.start;
    int loop = p->maker->book_bytes;
    expect(p, TOKEN_LEFT_PAREN, "Expect '(' after 'while'.");
    node *condition = parse_expression(p);
    expect(p, TOKEN_RIGHT_PAREN, "Expect ')' after condition.");
    spend(p, 3);
    int from = p->maker->book_bytes;
    spend(p, 1);
    node *body = parse_statement(p);
    check_loop(p, loop);
    check_jump(p, from);
    spend(p, 1);
    node *n = new_node(p, NODE_WHILE, start, condition, NULL);
    n->b = body;
    return n;
}

/* `for (var x of e)`, from `of` or `in` on. */
static node *parse_each(parser *p, token name, uint32_t start) {
    bool in = token_is(&p->current, "in");
    advance(p);
    add_hidden(p, ""); /* the array, the position in it */
    add_hidden(p, "");
    node *e = parse_expression(p);
    expect(p, TOKEN_RIGHT_PAREN, "Expect ')' after for clauses.");
    local *l = add_local(p, name);
    l->depth = p->maker->depth;
    int loop = p->maker->book_bytes;
    node *body = parse_statement(p);
    check_loop(p, loop);
    node *n = new_node(p, NODE_EACH, start, e, NULL);
    n->b = body;
    n->local = l;
    n->index = in;
    end_scope(p);
    return n;
}

static node *parse_for_rest(parser *p, node *init, uint32_t start) {
    int loop = p->maker->book_bytes;
    node *condition = NULL, *step = NULL;
    if (!match(p, TOKEN_SEMICOLON)) {
        condition = parse_expression(p);
        expect(p, TOKEN_SEMICOLON, "Expect ';' after loop condition.");
        spend(p, 4);
    }
    if (!match(p, TOKEN_RIGHT_PAREN)) {
        spend(p, 3);
        int step_start = p->maker->book_bytes;
        step = parse_expression(p);
        spend(p, 1);
        expect(p, TOKEN_RIGHT_PAREN, "Expect ')' after for clauses.");
        check_loop(p, loop);
        loop = step_start;
    }
    node *body = parse_statement(p);
    check_loop(p, loop);
    spend(p, 1);
    node *n = new_node(p, NODE_FOR, start, NULL, NULL);
    n->a = init;
    n->b = condition;
    n->c = step;
    n->d = body;
    end_scope(p);
    return n;
}

static node *parse_for(parser *p) {
    uint32_t start = p->previous.start;
    begin_scope(p);
    expect(p, TOKEN_LEFT_PAREN, "Expect '(' after 'for'.");
    node *init = NULL;
    if (match(p, TOKEN_VAR)) {
        uint32_t at = p->previous.start;
        expect(p, TOKEN_NAME, "Expect variable name.");
        if (token_is(&p->current, "of") || token_is(&p->current, "in"))
            return parse_each(p, p->previous, start);
        init = finish_var(p, at);
    } else if (!match(p, TOKEN_SEMICOLON)) {
        init = parse_expression_statement(p, p->current.start);
    }
    return parse_for_rest(p, init, start);
}

static node *parse_return(parser *p) {
    uint32_t start = p->previous.start;
    node *e = NULL;
    if (!match(p, TOKEN_SEMICOLON)) {
        if (p->maker->kind == KIND_INIT)
            error(p, "Can't return a value from an initializer.");
        e = parse_expression(p);
        expect(p, TOKEN_SEMICOLON, "Expect ';' after return value.");
    } else {
        spend(p, 1);
    }
    spend(p, 1);
    return new_node(p, NODE_RETURN, start, e, NULL);
}

static node *parse_braces(parser *p) {
    uint32_t start = p->previous.start;
    begin_scope(p);
    node *list = parse_block(p);
    end_scope(p);
    node *n = new_node(p, NODE_BLOCK, start, NULL, NULL);
    n->a = list;
    return n;
}

static node *parse_simple(parser *p) {
    if (match(p, TOKEN_PRINT))
        return parse_print(p);
    if (match(p, TOKEN_FOR))
        return parse_for(p);
    if (match(p, TOKEN_IF))
        return parse_if(p);
    if (match(p, TOKEN_RETURN))
        return parse_return(p);
    if (match(p, TOKEN_WHILE))
        return parse_while(p);
    if (match(p, TOKEN_LEFT_BRACE))
        return parse_braces(p);
    return parse_expression_statement(p, p->current.start);
}

static node *in_statement(parser *p, node *parse(parser *p)) {
    if (too_nested(p)) {
        advance(p);
        return new_node(p, NODE_BLOCK, p->previous.start, NULL, NULL);
    }
    p->nesting++;
    uint32_t outer = begin_statement(p, p->current.line, p->current.start);
    node *n = parse(p);
    end_statement(p, outer);
    p->nesting--;
    return n;
}

static node *parse_statement(parser *p) {
    return in_statement(p, parse_simple);
}

static void synchronize(parser *p) {
    p->panicking = false;
    while (!check(p, TOKEN_END) && p->previous.type != TOKEN_SEMICOLON) {
        switch (p->current.type) {
        case TOKEN_CLASS:
        case TOKEN_FUN:
        case TOKEN_VAR:
        case TOKEN_FOR:
        case TOKEN_IF:
        case TOKEN_WHILE:
        case TOKEN_PRINT:
        case TOKEN_RETURN:
            return;
        default:
            advance(p);
        }
    }
}

static node *parse_declared(parser *p) {
    if (match(p, TOKEN_CLASS))
        return parse_class(p);
    if (match(p, TOKEN_FUN))
        return parse_fun(p);
    if (match(p, TOKEN_VAR))
        return parse_var(p);
    return parse_simple(p);
}

static node *parse_declaration(parser *p) {
    node *n = in_statement(p, parse_declared);
    if (p->panicking)
        synchronize(p);
    return n;
}

static node *parse_file(parser *p) {
    node *list = NULL, **tail = &list;
    while (!match(p, TOKEN_END)) {
        *tail = parse_declaration(p);
        tail = &(*tail)->next;
    }
    return list;
}

function *compile(lox_vm *vm, const char *file, const char *text, size_t size, bool echo) {
    parser p = {.vm = vm, .file = file, .echo = echo};
    scanner_start(&p.scanner, text, size);
    maker m;
    vm->heap.locked++;
    begin_function(&p, &m, KIND_SCRIPT, NULL);
    begin_statement(&p, 1, 0);
    advance(&p);
    node *body = parse_file(&p);
    end_statement(&p, 0);
    function *f = end_function(&p, body, (token){.line = 1});
    while (p.chunks) {
        arena_chunk *next = p.chunks->next;
        memory_free(p.chunks);
        p.chunks = next;
    }
    vm->heap.locked--;
    return p.had_error ? NULL : f;
}
