/* generate.c: generates code from a function's tree.
 *
 * An expression is computed into a register that the caller chooses (make_to), or into whichever is
 * cheapest (make_any: the value of a local variable stays in that variable's register). The
 * register of a local variable is only written by the last instruction of an expression, since
 * parts of the expression may read the variable. */
#include "ast.h"

#include "memory.h"

static void make_to(function_compiler *m, node *n, uint32_t to);
static void make_statement(function_compiler *m, node *n);

static void give_up(function_compiler *m, const char *why) {
    if (!m->problem)
        m->problem = why;
}

static uint32_t emit(function_compiler *m, const node *n, operation op, uint32_t a, uint32_t b,
                     uint32_t c) {
    function *f = m->function;
    if (a > UINT16_MAX || b > UINT16_MAX || c > UINT16_MAX)
        give_up(m, "Function too large.");
    uint32_t n_places = f->n_code, n_links = f->n_code;
    MEMORY_PUSH(m->links, n_links, m->links_capacity, -1);
    MEMORY_PUSH(f->places, n_places, m->places_capacity, n->place);
    MEMORY_PUSH(f->code, f->n_code, m->code_capacity,
                (code){.op = (uint16_t)op, .a = (uint16_t)a, .b = (uint16_t)b, .c = (uint16_t)c});
    return f->n_code - 1;
}

/* Moves the value of a captured variable into a new cell; this counts as part of the
 * declaration. */
static void emit_cell(function_compiler *m, const local *l) {
    emit(m, &(node){.place = l->place}, OP_NEWCELL, l->reg, 0, 0);
}

static uint32_t emit_wide(function_compiler *m, const node *n, operation op, uint32_t a,
                          uint32_t bc) {
    return emit(m, n, op, a, bc & 0xffff, bc >> 16);
}

static uint32_t take(function_compiler *m) {
    uint32_t reg = m->free++;
    if (m->free > m->function->n_registers)
        m->function->n_registers = m->free;
    if (reg >= UINT16_MAX)
        give_up(m, "Expression too complex.");
    return reg;
}

static uint32_t constant(function_compiler *m, value v) {
    function *f = m->function;
    uint32_t from = f->n_constants > 64 ? f->n_constants - 64 : 0;
    for (uint32_t i = from; i < f->n_constants; i++)
        if (f->constants[i] == v)
            return i;
    MEMORY_PUSH(f->constants, f->n_constants, m->constants_capacity, v);
    return f->n_constants - 1;
}

static uint32_t name_constant(function_compiler *m, string *name) {
    return constant(m, value_from_object(name));
}

static uint32_t new_cache(function_compiler *m, string *name) {
    function *f = m->function;
    MEMORY_PUSH(f->caches, f->n_caches, m->caches_capacity, (cache){.name = name});
    return f->n_caches - 1;
}

/* ---- jumps -----------------------------------------------------------------------------------

Jumps that wait for the same target form a chain through m->links. A chain is identified by its last
jump; NO_JUMPS is the empty chain. ---- */

enum { NO_JUMPS = -1 };

/* Sets the distance of a jump: in c if it has three operands, otherwise in B:C. */
static void jump_set(function_compiler *m, int32_t at, uint32_t target) {
    code *i = &m->function->code[at];
    int64_t distance = (int64_t)target - at - 1;
    if (i->op == OP_JUMP || i->op == OP_JUMP_T || i->op == OP_JUMP_F) {
        i->b = (uint16_t)(uint32_t)distance;
        i->c = (uint16_t)((uint32_t)distance >> 16);
    } else {
        m->too_far |= distance > INT16_MAX || distance < INT16_MIN;
        i->c = (uint16_t)distance;
    }
}

static void jumps_land(function_compiler *m, int32_t chain, uint32_t target) {
    while (chain != NO_JUMPS) {
        int32_t next = m->links[chain];
        jump_set(m, chain, target);
        chain = next;
    }
}

static void jumps_land_here(function_compiler *m, int32_t chain) {
    jumps_land(m, chain, m->function->n_code);
}

static int32_t jumps_join(function_compiler *m, int32_t a, int32_t b) {
    if (b == NO_JUMPS)
        return a;
    int32_t first = b;
    while (m->links[first] != NO_JUMPS)
        first = m->links[first];
    m->links[first] = a;
    return b;
}

/* ---- operands -------------------------------------------------------------------------------- */

static bool is_register(const node *n) {
    return n->kind == NODE_LOCAL && !n->local->captured;
}

/* Returns a register that holds the value of n. */
static uint32_t make_any(function_compiler *m, node *n) {
    if (is_register(n))
        return n->local->reg;
    uint32_t reg = take(m);
    make_to(m, n, reg);
    return reg;
}

/* Like make_any, for an operand that must keep its value while `later` is computed. */
static uint32_t make_before(function_compiler *m, node *n, const node *later) {
    if (!is_register(n) || !later->assigns)
        return make_any(m, n);
    uint32_t reg = take(m);
    make_to(m, n, reg);
    return reg;
}

static bool is_constant(const node *n) {
    return n->kind == NODE_NUMBER;
}

static void move(function_compiler *m, const node *n, uint32_t to, uint32_t from) {
    if (to != from)
        emit(m, n, OP_MOVE, to, from, 0);
}

/* Computes arithmetic on two literals, with the result that the interpreter would get. */
static bool fold(node *n) {
    if (n->kind == NODE_NEGATE && is_constant(n->a)) {
        n->kind = NODE_NUMBER;
        n->number = -n->a->number;
        return true;
    }
    if (n->kind != NODE_BINARY || !is_constant(n->a) || !is_constant(n->b))
        return false;
    double a = n->a->number, b = n->b->number;
    switch (n->index) {
    case OP_ADD:
        n->number = a + b;
        break;
    case OP_SUB:
        n->number = a - b;
        break;
    case OP_MUL:
        n->number = a * b;
        break;
    case OP_DIV:
        n->number = a / b;
        break;
    default:
        return false;
    }
    n->kind = NODE_NUMBER;
    return true;
}

/* ---- conditions ------------------------------------------------------------------------------ */

static operation jump_of(uint32_t comparison, bool with_constant, bool sense) {
    switch (comparison) {
#define JUMP_OF(id, sign)                                                                          \
    case OP_##id:                                                                                  \
        return with_constant ? (sense ? OP_J##id##K_T : OP_J##id##K_F)                             \
                             : (sense ? OP_J##id##_T : OP_J##id##_F);
        COMPARISONS(JUMP_OF)
        JUMP_OF(EQ, ==)
#undef JUMP_OF
    default: /* NE */
        return jump_of(OP_EQ, with_constant, !sense);
    }
}

static bool literal_truth(const node *n, bool *truth) {
    if (n->kind == NODE_LITERAL)
        *truth = !value_is_false(VALUE_QUIET | n->index);
    else if (n->kind == NODE_NUMBER || n->kind == NODE_STRING)
        *truth = true;
    else
        return false;
    return true;
}

static int32_t make_comparison_jump(function_compiler *m, node *n, bool sense) {
    uint32_t free = m->free, left = make_before(m, n->a, n->b);
    fold(n->b);
    bool with_constant = is_constant(n->b);
    uint32_t right =
        with_constant ? constant(m, value_from_number(n->b->number)) : make_any(m, n->b);
    m->free = free;
    return (int32_t)emit(m, n, jump_of(n->index, with_constant, sense), left, right, 0);
}

/* Returns a chain of jumps that are taken if the truth of n is `sense`; otherwise execution
 * continues. */
static int32_t make_jump_if(function_compiler *m, node *n, bool sense) {
    bool truth;
    if (literal_truth(n, &truth))
        return truth == sense ? (int32_t)emit(m, n, OP_JUMP, 0, 0, 0) : NO_JUMPS;
    if (n->kind == NODE_NOT)
        return make_jump_if(m, n->a, !sense);
    if (n->kind == NODE_AND || n->kind == NODE_OR) {
        bool short_cut = n->kind == NODE_OR; /* the truth of a that decides */
        int32_t first = make_jump_if(m, n->a, short_cut);
        int32_t second = make_jump_if(m, n->b, sense);
        if (short_cut == sense)
            return jumps_join(m, first, second);
        jumps_land_here(m, first);
        return second;
    }
    if (n->kind == NODE_BINARY && n->index >= OP_EQ && !m->far)
        return make_comparison_jump(m, n, sense);
    uint32_t free = m->free, reg = make_any(m, n);
    m->free = free;
    return (int32_t)emit(m, n, sense ? OP_JUMP_T : OP_JUMP_F, reg, 0, 0);
}

/* ---- expressions ----------------------------------------------------------------------------- */

static void make_binary(function_compiler *m, node *n, uint32_t to) {
    uint32_t free = m->free, left = make_before(m, n->a, n->b);
    fold(n->b);
    bool with_constant = is_constant(n->b) && n->index <= OP_DIV;
    uint32_t right =
        with_constant ? constant(m, value_from_number(n->b->number)) : make_any(m, n->b);
    m->free = free;
    operation op = with_constant ? (operation)(n->index + (OP_ADDK - OP_ADD)) : (operation)n->index;
    emit(m, n, op, to, left, right);
}

/* Returns the register in which a result is built in several steps: `to` if it is the topmost
 * register in use, so a temporary or a variable that is just being declared; otherwise a new
 * one. */
static uint32_t workplace(function_compiler *m, uint32_t to) {
    return to + 1 == m->free ? to : take(m);
}

static void make_logic(function_compiler *m, node *n, uint32_t to) {
    uint32_t free = m->free, work = workplace(m, to);
    make_to(m, n->a, work);
    int32_t skip = (int32_t)emit(m, n, n->kind == NODE_AND ? OP_JUMP_F : OP_JUMP_T, work, 0, 0);
    make_to(m, n->b, work);
    jumps_land_here(m, skip);
    move(m, n, to, work);
    m->free = free;
}

static void make_array(function_compiler *m, node *n, uint32_t to) {
    uint32_t free = m->free, work = take(m), length = 0;
    for (node *e = n->a; e; e = e->next)
        length++;
    emit(m, n, OP_NEWARRAY, work, length > UINT16_MAX ? UINT16_MAX : length, n->index);
    for (node *e = n->a; e; e = e->next) {
        uint32_t before = m->free;
        emit(m, n, OP_APPEND, work, make_any(m, e), 0);
        m->free = before;
    }
    move(m, n, to, work);
    m->free = free;
}

static void make_arguments(function_compiler *m, node *list) {
    for (node *e = list; e; e = e->next) {
        uint32_t reg = take(m);
        make_to(m, e, reg);
        m->free = reg + 1;
    }
}

static void make_call(function_compiler *m, node *n, uint32_t to) {
    uint32_t free = m->free, base = workplace(m, to);
    m->free = base + 1;
    make_to(m, n->a, base);
    make_arguments(m, n->b);
    if (n->kind == NODE_CALL) {
        emit(m, n, OP_CALL, base, n->count, 0);
    } else if (n->kind == NODE_INVOKE) {
        emit(m, n, OP_INVOKE, base, n->count, new_cache(m, n->name));
    } else {
        make_to(m, n->c, take(m));
        emit(m, n, OP_INVOKESUPER, base, n->count, name_constant(m, n->name));
    }
    m->free = free;
    move(m, n, to, base);
}

static void make_super(function_compiler *m, node *n, uint32_t to) {
    uint32_t free = m->free, base = take(m);
    make_to(m, n->a, base);
    make_to(m, n->b, take(m));
    emit(m, n, OP_GETSUPER, to, base, name_constant(m, n->name));
    m->free = free;
}

static void make_set_local(function_compiler *m, node *n, uint32_t to) {
    uint32_t free = m->free;
    if (n->local->captured) {
        uint32_t reg = make_any(m, n->a);
        emit(m, n, OP_SETCELL, n->local->reg, reg, 0);
        move(m, n, to, reg);
    } else {
        take(m); /* the variable's own register must not be used for intermediate values */
        make_to(m, n->a, n->local->reg);
        move(m, n, to, n->local->reg);
    }
    m->free = free;
}

static void make_set_wide(function_compiler *m, node *n, uint32_t to) {
    uint32_t free = m->free, reg = make_any(m, n->a);
    if (n->kind == NODE_SET_GLOBAL)
        emit_wide(m, n, OP_SETGLOBAL, reg, n->index);
    else
        emit(m, n, OP_SETCAPTURED, reg, n->index, 0);
    move(m, n, to, reg);
    m->free = free;
}

static void make_member(function_compiler *m, node *n, uint32_t to) {
    uint32_t free = m->free;
    if (n->kind == NODE_GET) {
        emit(m, n, OP_GETFIELD, to, make_any(m, n->a), new_cache(m, n->name));
    } else if (n->kind == NODE_SET) {
        uint32_t target = make_before(m, n->a, n->b), v = make_any(m, n->b);
        emit(m, n, OP_SETFIELD, target, v, new_cache(m, n->name));
        move(m, n, to, v);
    } else if (n->kind == NODE_INDEX) {
        uint32_t target = make_before(m, n->a, n->b);
        emit(m, n, OP_GETINDEX, to, target, make_any(m, n->b));
    } else {
        bool assigns = n->c->assigns;
        uint32_t target = make_before(m, n->a, assigns ? n->c : n->b);
        uint32_t index = make_before(m, n->b, n->c), v = make_any(m, n->c);
        emit(m, n, OP_SETINDEX, target, index, v);
        move(m, n, to, v);
    }
    m->free = free;
}

static void make_to(function_compiler *m, node *n, uint32_t to) {
    uint32_t free = m->free;
    fold(n);
    switch (n->kind) {
    case NODE_NUMBER:
        emit(m, n, OP_LOADK, to, constant(m, value_from_number(n->number)), 0);
        break;
    case NODE_STRING:
        emit(m, n, OP_LOADK, to, name_constant(m, n->name), 0);
        break;
    case NODE_LITERAL:
        emit(m, n, OP_LOAD, to, n->index, 0);
        break;
    case NODE_LOCAL:
        if (n->local->captured)
            emit(m, n, OP_GETCELL, to, n->local->reg, 0);
        else
            move(m, n, to, n->local->reg);
        break;
    case NODE_CAPTURED:
        emit(m, n, OP_GETCAPTURED, to, n->index, 0);
        break;
    case NODE_GLOBAL:
        emit_wide(m, n, OP_GETGLOBAL, to, n->index);
        break;
    case NODE_SET_LOCAL:
        make_set_local(m, n, to);
        break;
    case NODE_SET_CAPTURED:
    case NODE_SET_GLOBAL:
        make_set_wide(m, n, to);
        break;
    case NODE_GET:
    case NODE_SET:
    case NODE_INDEX:
    case NODE_SET_INDEX:
        make_member(m, n, to);
        break;
    case NODE_ARRAY:
        make_array(m, n, to);
        break;
    case NODE_NEGATE:
        emit(m, n, OP_NEG, to, make_any(m, n->a), 0);
        break;
    case NODE_NOT:
        emit(m, n, OP_NOT, to, make_any(m, n->a), 0);
        break;
    case NODE_BINARY:
        make_binary(m, n, to);
        break;
    case NODE_AND:
    case NODE_OR:
        make_logic(m, n, to);
        break;
    case NODE_CALL:
    case NODE_INVOKE:
    case NODE_INVOKE_SUPER:
        make_call(m, n, to);
        break;
    case NODE_SUPER:
        make_super(m, n, to);
        break;
    case NODE_FUNCTION:
        emit(m, n, OP_CLOSURE, to, n->index, 0);
        break;
    default:
        give_up(m, "Unknown expression.");
        break;
    }
    m->free = free;
}

/* Generates an expression for its side effects only. */
static void make_effects(function_compiler *m, node *n) {
    uint32_t free = m->free;
    if (n->kind == NODE_SET_LOCAL && !n->local->captured)
        take(m), make_to(m, n->a, n->local->reg);
    else if (n->kind >= NODE_NUMBER && n->kind <= NODE_CAPTURED)
        ; /* no effects */
    else if (n->kind == NODE_SET_LOCAL)
        emit(m, n, OP_SETCELL, n->local->reg, make_any(m, n->a), 0);
    else if (n->kind == NODE_SET_GLOBAL)
        emit_wide(m, n, OP_SETGLOBAL, make_any(m, n->a), n->index);
    else if (n->kind == NODE_SET) {
        uint32_t target = make_before(m, n->a, n->b);
        emit(m, n, OP_SETFIELD, target, make_any(m, n->b), new_cache(m, n->name));
    } else if (n->kind == NODE_SET_INDEX) {
        uint32_t target = make_before(m, n->a, n->c->assigns ? n->c : n->b);
        uint32_t index = make_before(m, n->b, n->c);
        emit(m, n, OP_SETINDEX, target, index, make_any(m, n->c));
    } else
        make_to(m, n, take(m));
    m->free = free;
}

/* ---- statements ------------------------------------------------------------------------------ */

static void make_list(function_compiler *m, node *list) {
    for (node *n = list; n; n = n->next)
        make_statement(m, n);
}

/* The register of a new variable is the next free one, as there are no temporaries between
 * statements. */
static uint32_t declare(function_compiler *m, const local *l) {
    while (m->free <= l->reg)
        take(m);
    return l->reg;
}

static void make_variable(function_compiler *m, node *n) {
    node nil = {.kind = NODE_LITERAL, .index = VALUE_NIL & 7, .place = n->place};
    node *init = n->a ? n->a : &nil;
    if (n->kind == NODE_VAR_GLOBAL) {
        uint32_t free = m->free;
        emit_wide(m, n, OP_DEFGLOBAL, make_any(m, init), n->index);
        m->free = free;
        return;
    }
    uint32_t reg = declare(m, n->local);
    bool recursive = n->kind == NODE_FUN_LOCAL && n->local->captured;
    make_to(m, recursive ? &nil : init, reg);
    if (n->local->captured)
        emit_cell(m, n->local);
    if (recursive) {
        uint32_t free = m->free;
        emit(m, n, OP_SETCELL, reg, make_any(m, init), 0);
        m->free = free;
    }
}

static void make_if(function_compiler *m, node *n) {
    int32_t otherwise = make_jump_if(m, n->a, false);
    make_statement(m, n->b);
    if (n->c) {
        int32_t end = (int32_t)emit(m, n, OP_JUMP, 0, 0, 0);
        jumps_land_here(m, otherwise);
        make_statement(m, n->c);
        jumps_land_here(m, end);
    } else {
        jumps_land_here(m, otherwise);
    }
}

/* The condition is placed after the body, so that each iteration takes one jump. */
static void make_loop(function_compiler *m, node *n, node *condition, node *body, node *step) {
    bool truth, endless = !condition || (literal_truth(condition, &truth) && truth);
    int32_t entry = endless ? NO_JUMPS : (int32_t)emit(m, condition, OP_JUMP, 0, 0, 0);
    uint32_t start = m->function->n_code;
    make_statement(m, body);
    if (step)
        make_effects(m, step);
    jumps_land_here(m, entry);
    int32_t back =
        endless ? (int32_t)emit(m, n, OP_JUMP, 0, 0, 0) : make_jump_if(m, condition, true);
    jumps_land(m, back, start);
}

static void make_for(function_compiler *m, node *n) {
    uint32_t free = m->free;
    if (n->a)
        make_statement(m, n->a);
    make_loop(m, n, n->b, n->d, n->c);
    m->free = free;
}

/* Takes the next element and jumps to `start`; continues if there is none. */
static void make_next(function_compiler *m, node *n, uint32_t list, uint32_t start) {
    int32_t next = (int32_t)emit(m, n, n->index ? OP_NEXTIN : OP_NEXTOF, list, n->local->reg, 0);
    if (!m->far) {
        jumps_land(m, next, start);
        return;
    }
    int32_t end = (int32_t)emit(m, n, OP_JUMP, 0, 0, 0);
    jumps_land_here(m, next);
    jumps_land(m, (int32_t)emit(m, n, OP_JUMP, 0, 0, 0), start);
    jumps_land_here(m, end);
}

static void make_each(function_compiler *m, node *n) {
    uint32_t free = m->free;
    uint32_t reg = declare(m, n->local), list = reg - 2;
    make_to(m, n->a, list);
    emit(m, n->a, OP_ITERATE, list, 0, 0);
    int32_t entry = (int32_t)emit(m, n, OP_JUMP, 0, 0, 0);
    uint32_t start = m->function->n_code;
    if (n->local->captured)
        emit_cell(m, n->local);
    make_statement(m, n->b);
    jumps_land_here(m, entry);
    make_next(m, n, list, start);
    m->free = free;
}

static void make_methods(function_compiler *m, node *n, uint32_t made) {
    for (node *method = n->b; method; method = method->next) {
        uint32_t reg = take(m);
        emit(m, method, OP_CLOSURE, reg, method->index, 1);
        emit(m, method, OP_METHOD, made, reg, name_constant(m, method->name));
        m->free = reg;
    }
}

/* The class is bound to its name before its methods are made, as they may refer to it. */
static void make_class(function_compiler *m, node *n) {
    uint32_t free = m->free;
    node nil = {.kind = NODE_LITERAL, .index = VALUE_NIL & 7, .place = n->place};
    bool is_local = n->c->kind != NODE_VAR_GLOBAL;
    if (is_local) {
        free = declare(m, n->c->local) + 1;
        make_to(m, &nil, n->c->local->reg);
        if (n->c->local->captured)
            emit_cell(m, n->c->local);
    }
    uint32_t superclass = 0, made;
    if (n->a) {
        superclass = declare(m, n->local);
        made = take(m);
    } else {
        made = take(m);
    }
    emit(m, n, OP_CLASS, made, n->index, 0);
    if (!is_local)
        emit_wide(m, n, OP_DEFGLOBAL, made, n->c->index);
    else if (n->c->local->captured)
        emit(m, n, OP_SETCELL, n->c->local->reg, made, 0);
    else
        move(m, n, n->c->local->reg, made);
    if (n->a) {
        make_to(m, n->a, superclass);
        emit(m, n->a, OP_INHERIT, superclass, made, 0);
        if (n->local->captured)
            emit_cell(m, n->local);
    }
    make_methods(m, n, made);
    m->free = free;
}

static void make_return(function_compiler *m, node *n) {
    uint32_t free = m->free;
    node receiver = {.kind = NODE_LOCAL, .local = m->locals[0], .place = n->place};
    node *result = m->kind == KIND_INIT ? &receiver : n->a;
    uint32_t reg = result ? make_any(m, result) : 0;
    if (m->vm->watch_returns)
        emit(m, n, OP_LEAVE, 0, 0, 0);
    emit(m, n, result ? OP_RETURN : OP_RETURNNIL, reg, 0, 0);
    m->free = free;
}

static void make_one(function_compiler *m, node *n, operation op) {
    uint32_t free = m->free;
    emit(m, n, op, make_any(m, n->a), 0, 0);
    m->free = free;
}

static void make_statement(function_compiler *m, node *n) {
    uint32_t free = m->free;
    switch (n->kind) {
    case NODE_EXPRESSION:
        make_effects(m, n->a);
        break;
    case NODE_ECHO:
        make_one(m, n, OP_ECHO);
        break;
    case NODE_PRINT:
        make_one(m, n, OP_PRINT);
        break;
    case NODE_BLOCK:
        make_list(m, n->a);
        m->free = free;
        break;
    case NODE_VAR_LOCAL:
    case NODE_VAR_GLOBAL:
    case NODE_FUN_LOCAL:
        make_variable(m, n);
        break;
    case NODE_IF:
        make_if(m, n);
        break;
    case NODE_WHILE:
        make_loop(m, n, n->a, n->b, NULL);
        break;
    case NODE_FOR:
        make_for(m, n);
        break;
    case NODE_EACH:
        make_each(m, n);
        break;
    case NODE_RETURN:
        make_return(m, n);
        break;
    case NODE_CLASS:
        make_class(m, n);
        break;
    default:
        give_up(m, "Unknown statement.");
        break;
    }
}

static void make_function(function_compiler *m, node *body) {
    function *f = m->function;
    node end = {.kind = NODE_RETURN, .place = {.line = f->extent.last_line}};
    f->n_code = f->n_constants = f->n_caches = 0;
    m->free = 0;
    for (uint32_t i = 0; i <= f->arity; i++)
        take(m);
    take(m); /* for results of natives and for errors: there is always a register above R[0] */
    m->free--;
    for (uint32_t i = 0; i <= f->arity; i++)
        if (m->locals[i]->captured)
            emit_cell(m, m->locals[i]);
    make_list(m, body);
    make_return(m, &end);
}

/* Jumps that compare are short. If a function is too large for them, its code is generated again
 * without them. */
bool generate(function_compiler *m, node *body) {
    make_function(m, body);
    if (m->too_far) {
        m->far = true;
        make_function(m, body);
    }
    memory_free(m->links);
    return !m->problem;
}
