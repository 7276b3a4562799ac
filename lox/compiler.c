/* compiler.c: parses a file with its statements, classes and functions, and generates the code of
 * each function (generate.c) at its end.
 *
 * Nothing is collected meanwhile: all that is compiled is allocated in the major heap, where it
 * stays until compilation is done. */
#include "memory.h"
#include "parser.h"

static node *parse_declaration(parser *p);

/* ---- functions ------------------------------------------------------------------------------- */

static void begin_function(parser *p, function_compiler *m, function_kind kind, string *name) {
    *m = (function_compiler){.outer = p->compiler, .kind = kind, .vm = p->vm};
    m->function = function_new(p->vm, p->file, name);
    p->compiler = m;
    token receiver = kind >= KIND_METHOD ? parser_this : (token){.text = ""};
    local *l = scope_add(p, receiver);
    l->depth = 0;
    l->place.statement = 0;
}

static uint32_t begin_statement(parser *p, uint32_t start_line, uint32_t start) {
    function *f = p->compiler->function;
    MEMORY_PUSH(f->statements, f->n_statements, p->compiler->statements_capacity,
                (extent){.first_line = start_line, .start = start});
    uint32_t outer = p->statement;
    p->statement = f->n_statements - 1;
    return outer;
}

static void end_statement(parser *p, uint32_t outer) {
    extent *e = &p->compiler->function->statements[p->statement];
    e->last_line = p->previous.line;
    e->end = p->previous.end;
    p->statement = outer;
}

/* Generates the function's code, unless there were errors. */
static function *end_function(parser *p, node *body, token start) {
    function_compiler *m = p->compiler;
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
        parser_error(p, m->problem);
    p->compiler = m->outer;
    return f;
}

static void parse_parameters(parser *p) {
    function *f = p->compiler->function;
    parser_expect(p, TOKEN_LEFT_PAREN, "Expect '(' after function name.");
    if (!parser_check(p, TOKEN_RIGHT_PAREN)) {
        do {
            if (++f->arity > MAX_ARGUMENTS)
                parser_error_here(p, "Can't have more than 255 parameters.");
            parser_expect(p, TOKEN_NAME, "Expect parameter name.");
            scope_define(p, scope_declare(p));
        } while (parser_match(p, TOKEN_COMMA));
    }
    parser_expect(p, TOKEN_RIGHT_PAREN, "Expect ')' after parameters.");
}

static node *parse_block(parser *p) {
    node *list = NULL, **tail = &list;
    while (!parser_check(p, TOKEN_RIGHT_BRACE) && !parser_check(p, TOKEN_END)) {
        *tail = parse_declaration(p);
        while (*tail)
            tail = &(*tail)->next;
    }
    parser_expect(p, TOKEN_RIGHT_BRACE, "Expect '}' after block.");
    return list;
}

/* `start` is the first token of the declaration. */
static node *parse_function(parser *p, function_kind kind, string *name, token start) {
    function_compiler m;
    uint32_t statement = p->statement;
    int uncounted = p->uncounted;
    p->uncounted = 0;
    begin_function(p, &m, kind, name);
    if (kind >= KIND_METHOD)
        m.function->class_name = p->class->name;
    begin_statement(p, start.line, start.start);
    scope_begin(p);
    parse_parameters(p);
    parser_expect(p, TOKEN_LEFT_BRACE, "Expect '{' before function body.");
    node *body = parse_block(p);
    end_statement(p, statement);
    function *f = end_function(p, body, start);
    p->statement = statement;
    p->uncounted = uncounted;
    node *n = parser_node(p, NODE_FUNCTION, start.start, NULL, NULL);
    n->place.line = start.line;
    function *outer = p->compiler->function;
    n->index = outer->n_inner;
    MEMORY_PUSH(outer->inner, outer->n_inner, p->compiler->inner_capacity, f);
    parser_spend_constant(p);
    parser_spend(p, 2 + 2 * f->n_captures);
    return n;
}

/* ---- the end of a statement ------------------------------------------------------------------ */

static bool is_at_prompt(const parser *p) {
    return p->echo && p->compiler->kind == KIND_SCRIPT && p->compiler->depth == 0;
}

/* Expects a semicolon. At the prompt, the last one may be omitted. */
static void expect_semicolon(parser *p, const char *message) {
    if (!is_at_prompt(p) || !parser_check(p, TOKEN_END))
        parser_expect(p, TOKEN_SEMICOLON, message);
}

/* ---- declarations ---------------------------------------------------------------------------- */

static node *new_variable(parser *p, local *l, const token *name, uint32_t start, node *init) {
    node *n = parser_node(p, l ? NODE_VAR_LOCAL : NODE_VAR_GLOBAL, start, init, NULL);
    if (l)
        n->local = l;
    else
        n->index = vm_global(p->vm, parser_intern_token(p, name));
    return n;
}

static node *finish_var(parser *p, uint32_t start) {
    token name = p->previous;
    local *l = scope_declare(p);
    node *init = NULL;
    if (parser_match(p, TOKEN_EQUAL))
        init = parse_expression(p);
    else
        parser_spend(p, 1);
    expect_semicolon(p, "Expect ';' after variable declaration.");
    scope_define(p, l);
    return new_variable(p, l, &name, start, init);
}

static node *parse_var(parser *p) {
    uint32_t start = p->previous.start;
    parser_expect(p, TOKEN_NAME, "Expect variable name.");
    return finish_var(p, start);
}

static node *parse_fun(parser *p) {
    token start = p->previous;
    parser_expect(p, TOKEN_NAME, "Expect function name.");
    token name = p->previous;
    local *l = scope_declare(p);
    if (l)
        l->depth = p->compiler->depth; /* it may call itself */
    node *f = parse_function(p, KIND_FUNCTION, parser_intern_token(p, &name), start);
    node *n = new_variable(p, l, &name, start.start, f);
    if (l)
        n->kind = NODE_FUN_LOCAL;
    else
        parser_spend(p, 2);
    return n;
}

static node *parse_method(parser *p) {
    parser_expect(p, TOKEN_NAME, "Expect method name.");
    token name = p->previous;
    parser_spend_constant(p);
    string *text = parser_intern_token(p, &name);
    node *n = parse_function(p, text == p->vm->init_name ? KIND_INIT : KIND_METHOD, text, name);
    n->name = text;
    parser_spend(p, 2);
    return n;
}

static node *parse_superclass(parser *p, const token *class_name) {
    if (!parser_match(p, TOKEN_LESS) && !parser_match(p, TOKEN_INHERITS))
        return NULL;
    parser_expect(p, TOKEN_NAME, "Expect superclass name.");
    if (same_name(class_name, &p->previous))
        parser_error(p, "A class can't inherit from itself.");
    node *n = parse_variable(p, false);
    if (p->compiler->depth == 0)
        parser_spend_constant(p); /* the class's name, again */
    p->class->has_superclass = true;
    scope_begin(p);
    parser_spend(p, 3);
    return n;
}

static uint32_t add_plan(parser *p, string *name, const class_state *state) {
    function *f = p->compiler->function;
    class_plan plan = {.name = name, .n_fields = state->n_fields};
    plan.fields = memory_new(state->n_fields * sizeof *plan.fields);
    memcpy(plan.fields, state->fields, state->n_fields * sizeof *plan.fields);
    MEMORY_PUSH(f->classes, f->n_classes, p->compiler->classes_capacity, plan);
    return f->n_classes - 1;
}

static node *parse_class(parser *p) {
    uint32_t start = p->previous.start;
    parser_expect(p, TOKEN_NAME, "Expect class name.");
    token name = p->previous;
    parser_spend_constant(p);
    local *l = scope_declare(p), *super = NULL;
    parser_spend(p, 2);
    if (l)
        l->depth = p->compiler->depth;
    else
        parser_spend(p, 2);
    node *target = new_variable(p, l, &name, start, NULL);
    class_state state = {.outer = p->class, .name = parser_intern_token(p, &name)};
    p->class = &state;
    node *superclass = parse_superclass(p, &name);
    if (superclass)
        super = scope_add_hidden(p, "super");
    parser_expect(p, TOKEN_LEFT_BRACE, "Expect '{' before class body.");
    node *list = NULL, **tail = &list;
    while (!parser_check(p, TOKEN_RIGHT_BRACE) && !parser_check(p, TOKEN_END)) {
        *tail = parse_method(p);
        tail = &(*tail)->next;
    }
    parser_expect(p, TOKEN_RIGHT_BRACE, "Expect '}' after class body.");
    parser_spend(p, 3);
    node *n = parser_node(p, NODE_CLASS, start, superclass, NULL);
    n->place.line = name.line;
    n->b = list;
    n->c = target;
    n->local = super;
    n->index = add_plan(p, parser_intern_token(p, &name), &state);
    if (superclass)
        scope_end(p);
    p->class = state.outer;
    return n;
}

/* ---- statements ------------------------------------------------------------------------------ */

static node *parse_statement(parser *p);

static node *parse_expression_statement(parser *p, uint32_t start) {
    node *e = parse_expression(p);
    expect_semicolon(p, "Expect ';' after expression.");
    parser_spend(p, 1);
    bool show = is_at_prompt(p) && (e->kind < NODE_SET_LOCAL || e->kind > NODE_SET_GLOBAL) &&
                e->kind != NODE_SET && e->kind != NODE_SET_INDEX;
    return parser_node(p, show ? NODE_ECHO : NODE_EXPRESSION, start, e, NULL);
}

static node *parse_print(parser *p) {
    uint32_t start = p->previous.start;
    node *e = parse_expression(p);
    expect_semicolon(p, "Expect ';' after value.");
    parser_spend(p, 1);
    return parser_node(p, NODE_PRINT, start, e, NULL);
}

static node *parse_if(parser *p) {
    uint32_t start = p->previous.start;
    parser_expect(p, TOKEN_LEFT_PAREN, "Expect '(' after 'if'.");
    node *condition = parse_expression(p);
    parser_expect(p, TOKEN_RIGHT_PAREN, "Expect ')' after condition.");
    parser_spend(p, 3);
    int from = p->compiler->book_bytes;
    parser_spend(p, 1);
    node *then = parse_statement(p);
    parser_spend(p, 3);
    parser_check_jump(p, from);
    from = p->compiler->book_bytes;
    parser_spend(p, 1);
    node *otherwise = parser_match(p, TOKEN_ELSE) ? parse_statement(p) : NULL;
    parser_check_jump(p, from);
    node *n = parser_node(p, NODE_IF, start, condition, NULL);
    n->b = then;
    n->c = otherwise;
    return n;
}

static node *parse_while(parser *p) {
    uint32_t start = p->previous.start;
    int loop = p->compiler->book_bytes;
    parser_expect(p, TOKEN_LEFT_PAREN, "Expect '(' after 'while'.");
    node *condition = parse_expression(p);
    parser_expect(p, TOKEN_RIGHT_PAREN, "Expect ')' after condition.");
    parser_spend(p, 3);
    int from = p->compiler->book_bytes;
    parser_spend(p, 1);
    node *body = parse_statement(p);
    parser_check_loop(p, loop);
    parser_check_jump(p, from);
    parser_spend(p, 1);
    node *n = parser_node(p, NODE_WHILE, start, condition, NULL);
    n->b = body;
    return n;
}

/* Parses the rest of `for (var x of e)`, starting at `of` or `in`. */
static node *parse_each(parser *p, token name, uint32_t start) {
    bool in = token_is(&p->current, "in");
    local *list = scope_add_hidden(p, ""); /* the array, and the position in it */
    scope_add_hidden(p, "");
    parser_advance(p);
    node *e = parse_expression(p);
    parser_expect(p, TOKEN_RIGHT_PAREN, "Expect ')' after for clauses.");
    local *l = scope_add(p, name);
    l->depth = p->compiler->depth;
    l->place = list->place; /* the place of the name */
    int loop = p->compiler->book_bytes;
    node *body = parse_statement(p);
    parser_check_loop(p, loop);
    node *n = parser_node(p, NODE_EACH, start, e, NULL);
    n->b = body;
    n->local = l;
    n->index = in;
    scope_end(p);
    return n;
}

static node *parse_for_rest(parser *p, node *init, uint32_t start) {
    int loop = p->compiler->book_bytes;
    node *condition = NULL, *step = NULL;
    if (!parser_match(p, TOKEN_SEMICOLON)) {
        condition = parse_expression(p);
        parser_expect(p, TOKEN_SEMICOLON, "Expect ';' after loop condition.");
        parser_spend(p, 4);
    }
    if (!parser_match(p, TOKEN_RIGHT_PAREN)) {
        parser_spend(p, 3);
        int step_start = p->compiler->book_bytes;
        step = parse_expression(p);
        parser_spend(p, 1);
        parser_expect(p, TOKEN_RIGHT_PAREN, "Expect ')' after for clauses.");
        parser_check_loop(p, loop);
        loop = step_start;
    }
    node *body = parse_statement(p);
    parser_check_loop(p, loop);
    parser_spend(p, 1);
    node *n = parser_node(p, NODE_FOR, start, NULL, NULL);
    n->a = init;
    n->b = condition;
    n->c = step;
    n->d = body;
    scope_end(p);
    return n;
}

static node *parse_for(parser *p) {
    uint32_t start = p->previous.start;
    scope_begin(p);
    parser_expect(p, TOKEN_LEFT_PAREN, "Expect '(' after 'for'.");
    node *init = NULL;
    if (parser_match(p, TOKEN_VAR)) {
        uint32_t at = p->previous.start;
        parser_expect(p, TOKEN_NAME, "Expect variable name.");
        if (token_is(&p->current, "of") || token_is(&p->current, "in"))
            return parse_each(p, p->previous, start);
        init = finish_var(p, at);
    } else if (!parser_match(p, TOKEN_SEMICOLON)) {
        init = parse_expression_statement(p, p->current.start);
    }
    return parse_for_rest(p, init, start);
}

static node *parse_return(parser *p) {
    uint32_t start = p->previous.start;
    node *e = NULL;
    bool is_end = is_at_prompt(p) && parser_check(p, TOKEN_END);
    if (!is_end && !parser_match(p, TOKEN_SEMICOLON)) {
        if (p->compiler->kind == KIND_INIT)
            parser_error(p, "Can't return a value from an initializer.");
        e = parse_expression(p);
        expect_semicolon(p, "Expect ';' after return value.");
    } else {
        parser_spend(p, 1);
    }
    parser_spend(p, 1);
    return parser_node(p, NODE_RETURN, start, e, NULL);
}

static node *parse_braces(parser *p) {
    uint32_t start = p->previous.start;
    scope_begin(p);
    node *list = parse_block(p);
    scope_end(p);
    node *n = parser_node(p, NODE_BLOCK, start, NULL, NULL);
    n->a = list;
    return n;
}

static node *parse_simple(parser *p) {
    if (parser_match(p, TOKEN_PRINT))
        return parse_print(p);
    if (parser_match(p, TOKEN_FOR))
        return parse_for(p);
    if (parser_match(p, TOKEN_IF))
        return parse_if(p);
    if (parser_match(p, TOKEN_RETURN))
        return parse_return(p);
    if (parser_match(p, TOKEN_WHILE))
        return parse_while(p);
    if (parser_match(p, TOKEN_LEFT_BRACE))
        return parse_braces(p);
    return parse_expression_statement(p, p->current.start);
}

static node *in_statement(parser *p, node *parse(parser *p)) {
    if (parser_is_too_nested(p))
        return parser_node(p, NODE_BLOCK, p->previous.start, NULL, NULL);
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
    while (!parser_check(p, TOKEN_END) && p->previous.type != TOKEN_SEMICOLON) {
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
            parser_advance(p);
        }
    }
}

static node *parse_declared(parser *p) {
    if (parser_match(p, TOKEN_CLASS))
        return parse_class(p);
    if (parser_match(p, TOKEN_FUN))
        return parse_fun(p);
    if (parser_match(p, TOKEN_VAR))
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
    while (!parser_match(p, TOKEN_END)) {
        *tail = parse_declaration(p);
        tail = &(*tail)->next;
    }
    return list;
}

static bool ends_line(const source_text *what) {
    return what->size && what->text[what->size - 1] == '\n';
}

function *compile(lox_vm *vm, const source_text *what, lox_position *end) {
    parser p = {.vm = vm, .file = what->file, .echo = what->typed};
    scanner_start(&p.scanner, what->text, what->size, what->start);
    function_compiler m;
    vm->heap.locked++;
    vm->compiling = 1;
    begin_function(&p, &m, KIND_SCRIPT, NULL);
    begin_statement(&p, what->start.line, what->start.character);
    parser_advance(&p);
    node *body = parse_file(&p);
    end_statement(&p, 0);
    function *f =
        end_function(&p, body, (token){.line = what->start.line, .start = what->start.character});
    if (ends_line(what) && f->extent.last_line > what->start.line)
        f->extent.last_line--; /* there is nothing in the line after the last newline */
    while (p.chunks) {
        arena_chunk *next = p.chunks->next;
        memory_free(p.chunks);
        p.chunks = next;
    }
    vm->heap.locked--;
    vm->compiling = 0;
    if (end)
        *end = (lox_position){p.scanner.line, p.scanner.character};
    if (vm->interrupted)
        lox_interrupt(vm);
    return p.had_error ? NULL : f;
}
