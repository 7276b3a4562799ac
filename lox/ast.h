/* ast.h: the tree that the parser makes of a function's body and the generator turns into code.
 * This is done function by function, since only at the end of one it is known which of its
 * variables are captured. */
#ifndef LOX_AST_H
#define LOX_AST_H

#include "code.h"
#include "scanner.h"
#include "vm.h"

typedef enum node_kind {
    /* Expressions. The operands a, b, c are in the order of evaluation. */
    NODE_NUMBER,       /* number */
    NODE_STRING,       /* name */
    NODE_LITERAL,      /* nil, false, true: index has the low bits of the value */
    NODE_LOCAL,        /* local */
    NODE_CAPTURED,     /* index */
    NODE_GLOBAL,       /* index */
    NODE_SET_LOCAL,    /* = a */
    NODE_SET_CAPTURED, /* = a */
    NODE_SET_GLOBAL,   /* = a */
    NODE_GET,          /* a.name */
    NODE_SET,          /* a.name = b */
    NODE_INDEX,        /* a[b] */
    NODE_SET_INDEX,    /* a[b] = c */
    NODE_ARRAY,        /* elements: list a; index: in hands */
    NODE_NEGATE,
    NODE_NOT,
    NODE_BINARY, /* index: an operation, OP_ADD … OP_DIV, OP_EQ … OP_GE */
    NODE_AND,
    NODE_OR,
    NODE_CALL,         /* a(list b) */
    NODE_INVOKE,       /* a.name(list b) */
    NODE_SUPER,        /* super.name: a is `this`, b the superclass */
    NODE_INVOKE_SUPER, /* super.name(list b): a is `this`, c the superclass */
    NODE_FUNCTION,     /* index of the inner function; also in NODE_CLASS */

    /* Statements. */
    NODE_EXPRESSION,
    NODE_ECHO,
    NODE_PRINT,
    NODE_BLOCK,      /* list a */
    NODE_VAR_LOCAL,  /* local = a, which may be NULL */
    NODE_VAR_GLOBAL, /* global index = a */
    NODE_FUN_LOCAL,  /* as above; the function may refer to itself */
    NODE_IF,         /* if (a) b else c */
    NODE_WHILE,      /* while (a) b */
    NODE_FOR,        /* for (a; b; c) d */
    NODE_EACH,       /* for (local of a) b; index: `in`; the two hidden locals are before `local` */
    NODE_RETURN,     /* a or NULL */
    NODE_CLASS,      /* index: plan; target in c (NODE_VAR_*), superclass in a, methods: list b */
} node_kind;

/* A local variable or parameter. */
typedef struct local {
    token name;
    uint16_t reg;
    int depth; /* of its scope; -1: declared, but not initialized */
    bool captured;
    place place; /* of its declaration */
} local;

typedef struct node {
    node_kind kind;
    bool assigns; /* it, or a part of it, assigns a local variable */
    bool is_this;
    uint16_t count; /* arguments of a call */
    uint32_t depth; /* of the tree below */
    uint32_t index;
    place place;
    struct node *a, *b, *c, *d;
    struct node *next; /* in a list */
    string *name;
    union {
        double number;
        struct local *local;
    };
} node;

/* A function that is being compiled. */
typedef enum function_kind { KIND_SCRIPT, KIND_FUNCTION, KIND_METHOD, KIND_INIT } function_kind;

enum { MAX_LOCALS = 256, MAX_CAPTURES = 256, MAX_CONSTANTS = 256, MAX_ARGUMENTS = 255 };

typedef struct function_compiler {
    struct function_compiler *outer;
    function_kind kind;
    lox_vm *vm;
    function *function;
    local *locals[MAX_LOCALS];
    int n_locals;
    int depth;
    capture captures[MAX_CAPTURES];
    uint32_t inner_capacity, classes_capacity, statements_capacity;

    /* Some limits of the book concern its own byte code. These count what the code would take
     * there. */
    int book_constants;
    int book_bytes;

    /* Used by the generator. */
    uint32_t code_capacity, places_capacity, constants_capacity, caches_capacity;
    uint32_t links_capacity;
    int32_t *links;      /* by jump that waits for its target: the next such jump, -1: none */
    uint32_t free;       /* first register that is not in use */
    const char *problem; /* NULL: none */
    bool too_far;        /* a short jump cannot reach its target: … */
    bool far;            /* … the code is made again with long jumps only */
} function_compiler;

/* Generates the code of the function's body, which is a list. Returns false if m->problem is
 * set. */
bool generate(function_compiler *m, node *body);

#endif
