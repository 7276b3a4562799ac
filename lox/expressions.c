/* expressions.c: parses expressions by precedence. */
#include <stdlib.h>

#include "memory.h"
#include "parser.h"

enum { MAX_NESTING = 500 }; /* levels of nesting in the source */

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

static node *parse_precedence(parser *p, precedence min);

static node *parse_grouping(parser *p) {
    node *n = parse_expression(p);
    parser_expect(p, TOKEN_RIGHT_PAREN, "Expect ')' after expression.");
    return n;
}

static node *parse_number(parser *p) {
    char text[64], *copy = text;
    const token *t = &p->previous;
    if (t->size >= sizeof text)
        copy = memory_new(t->size + 1);
    memcpy(copy, t->text, t->size);
    copy[t->size] = '\0';
    node *n = parser_node(p, NODE_NUMBER, t->start, NULL, NULL);
    n->number = strtod(copy, NULL);
    if (copy != text)
        memory_free(copy);
    parser_spend_constant(p);
    parser_spend(p, 2);
    return n;
}

static node *parse_string(parser *p) {
    const token *t = &p->previous;
    node *n = parser_node(p, NODE_STRING, t->start, NULL, NULL);
    n->name = parser_intern(p, t->text + 1, t->size - 2);
    parser_spend_constant(p);
    parser_spend(p, 2);
    return n;
}

static node *parse_literal(parser *p, value v) {
    node *n = parser_node(p, NODE_LITERAL, p->previous.start, NULL, NULL);
    n->index = v & 7;
    parser_spend(p, 1);
    return n;
}

node *parse_variable(parser *p, bool can_assign) {
    token name = p->previous;
    node *n = scope_variable(p, &name, name.start);
    if (can_assign && parser_match(p, TOKEN_EQUAL)) {
        node *v = parse_expression(p);
        node *set = parser_node(p, NODE_SET_LOCAL + (n->kind - NODE_LOCAL), name.start, v, NULL);
        set->assigns = n->kind == NODE_LOCAL || v->assigns;
        set->index = n->index;
        if (n->kind == NODE_LOCAL)
            set->local = n->local;
        n = set;
    }
    parser_spend(p, 2);
    return n;
}

const token parser_this = {.type = TOKEN_THIS, .text = "this", .size = 4};
static const token super_token = {.type = TOKEN_SUPER, .text = "super", .size = 5};

static node *parse_this(parser *p) {
    uint32_t start = p->previous.start;
    if (!p->class)
        parser_error(p, "Can't use 'this' outside of a class.");
    node *n = scope_variable(p, &parser_this, start);
    n->is_this = true;
    parser_spend(p, 2);
    return n;
}

static node *parse_arguments(parser *p, uint16_t *count, bool *assigns, uint32_t *depth) {
    node *list = NULL, **tail = &list;
    int n = 0;
    if (!parser_check(p, TOKEN_RIGHT_PAREN)) {
        do {
            node *argument = parse_expression(p);
            if (n == MAX_ARGUMENTS)
                parser_error(p, "Can't have more than 255 arguments.");
            n++;
            *assigns |= argument->assigns;
            *depth = argument->depth > *depth ? argument->depth : *depth;
            *tail = argument;
            tail = &(*tail)->next;
        } while (parser_match(p, TOKEN_COMMA));
    }
    parser_expect(p, TOKEN_RIGHT_PAREN, "Expect ')' after arguments.");
    *count = (uint16_t)n;
    return list;
}

static node *new_call(parser *p, node_kind kind, node *callee, uint32_t start) {
    uint16_t count;
    bool assigns = false;
    uint32_t depth = 0;
    node *arguments = parse_arguments(p, &count, &assigns, &depth);
    node *n = parser_node(p, kind, start, callee, NULL);
    n->b = arguments;
    n->count = count;
    n->assigns |= assigns;
    n->depth = depth + 1 > n->depth ? depth + 1 : n->depth;
    parser_spend(p, 2);
    return n;
}

static node *parse_super(parser *p) {
    uint32_t start = p->previous.start;
    if (!p->class)
        parser_error(p, "Can't use 'super' outside of a class.");
    else if (!p->class->has_superclass)
        parser_error(p, "Can't use 'super' in a class with no superclass.");
    parser_expect(p, TOKEN_DOT, "Expect '.' after 'super'.");
    parser_expect(p, TOKEN_NAME, "Expect superclass method name.");
    string *name = parser_intern_token(p, &p->previous);
    parser_spend_constant(p);
    node *receiver = scope_variable(p, &parser_this, start), *n;
    if (parser_match(p, TOKEN_LEFT_PAREN)) {
        n = new_call(p, NODE_INVOKE_SUPER, receiver, start);
        n->c = scope_variable(p, &super_token, start);
    } else {
        n = parser_node(p, NODE_SUPER, start, receiver, scope_variable(p, &super_token, start));
    }
    n->name = name;
    parser_spend(p, 6);
    return n;
}

static node *parse_array(parser *p, bool hands) {
    uint32_t start = p->previous.start, depth = 0;
    token_type close = hands ? TOKEN_RIGHT_HAND : TOKEN_RIGHT_BRACKET;
    bool assigns = false;
    node *list = NULL, **tail = &list;
    node *n = parser_node(p, NODE_ARRAY, start, NULL, NULL); /* on the bracket's line */
    p->uncounted++;
    if (!parser_check(p, close)) {
        do {
            node *element = parse_expression(p);
            assigns |= element->assigns;
            depth = element->depth > depth ? element->depth : depth;
            *tail = element;
            tail = &(*tail)->next;
        } while (parser_match(p, TOKEN_COMMA));
    }
    p->uncounted--;
    parser_expect(p, close,
                  hands ? "Expect '👈' after array elements." : "Expect ']' after array elements.");
    parser_extend(p, n);
    n->a = list;
    n->index = hands;
    n->assigns = assigns;
    n->depth += depth;
    return n;
}

static node *parse_unary(parser *p, node_kind kind) {
    uint32_t start = p->previous.start;
    node *operand = parse_precedence(p, PREC_UNARY);
    parser_spend(p, 1);
    return parser_node(p, kind, start, operand, NULL);
}

/* Returns NULL after an error. */
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
        return parse_variable(p, can_assign);
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
        parser_error(p, "Expect expression.");
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
    node *n = parser_node(p, NODE_BINARY, start, left, right);
    n->index = binary_operation(sign);
    parser_spend(
        p,
        sign == TOKEN_NOT_EQUAL || sign == TOKEN_LESS_EQUAL || sign == TOKEN_GREATER_EQUAL ? 2 : 1);
    return n;
}

static node *parse_logic(parser *p, node *left, uint32_t start) {
    bool is_and = p->previous.type == TOKEN_AND;
    parser_spend(p, is_and ? 4 : 7);
    int from = p->compiler->book_bytes - 1;
    node *right = parse_precedence(p, is_and ? PREC_AND : PREC_OR);
    parser_check_jump(p, from);
    return parser_node(p, is_and ? NODE_AND : NODE_OR, start, left, right);
}

/* Notes a field that instances of the enclosing class will have. */
static void note_field(parser *p, string *name) {
    class_state *c = p->class;
    for (uint32_t i = 0; i < c->n_fields; i++)
        if (c->fields[i] == name)
            return;
    if (c->n_fields < sizeof c->fields / sizeof *c->fields)
        c->fields[c->n_fields++] = name;
}

static node *parse_dot(parser *p, node *target, uint32_t start, bool can_assign) {
    parser_expect(p, TOKEN_NAME, "Expect property name after '.'.");
    string *name = parser_intern_token(p, &p->previous);
    parser_spend_constant(p);
    node *n;
    if (can_assign && parser_match(p, TOKEN_EQUAL)) {
        node *v = parse_expression(p);
        n = parser_node(p, NODE_SET, start, target, v);
        if (target->is_this && p->class)
            note_field(p, name);
    } else if (parser_match(p, TOKEN_LEFT_PAREN)) {
        n = new_call(p, NODE_INVOKE, target, start);
        parser_spend(p, 1);
        n->name = name;
        return n;
    } else {
        n = parser_node(p, NODE_GET, start, target, NULL);
    }
    n->name = name;
    parser_spend(p, 2);
    return n;
}

static node *parse_index(parser *p, node *target, uint32_t start, bool can_assign) {
    bool hands = p->previous.type == TOKEN_LEFT_HAND;
    node *index = parse_expression(p);
    parser_expect(p, hands ? TOKEN_RIGHT_HAND : TOKEN_RIGHT_BRACKET,
                  hands ? "Expect '👈' after index." : "Expect ']' after index.");
    node *n = parser_node(p, NODE_INDEX, start, target, index);
    if (can_assign && parser_match(p, TOKEN_EQUAL)) {
        node *v = parse_expression(p);
        node *set = parser_node(p, NODE_SET_INDEX, start, n, v);
        set->a = target;
        set->b = index;
        set->c = v;
        n = set;
    }
    parser_spend(p, 1);
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

bool parser_is_too_nested(parser *p) {
    if (p->nesting < MAX_NESTING)
        return false;
    parser_error_here(p, "Nested too deeply.");
    parser_give_up(p);
    return true;
}

static node *parse_precedence(parser *p, precedence min) {
    if (parser_is_too_nested(p))
        return nothing(p);
    p->nesting++;
    parser_advance(p);
    bool can_assign = min <= PREC_ASSIGNMENT;
    uint32_t start = p->previous.start;
    node *n = parse_prefix(p, can_assign);
    while (n && infix_precedence(p->current.type) >= min && infix_precedence(p->current.type)) {
        parser_advance(p);
        n = parse_infix(p, n, start, can_assign);
    }
    if (n && can_assign && parser_match(p, TOKEN_EQUAL))
        parser_error(p, "Invalid assignment target.");
    p->nesting--;
    return n ? n : nothing(p);
}

node *parse_expression(parser *p) {
    return parse_precedence(p, PREC_ASSIGNMENT);
}
