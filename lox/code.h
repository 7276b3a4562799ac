/* code.h: the code that the compiler makes and the interpreter runs.
 *
 * It is for a register machine. R[0] is the called function, or `this` in a method. Parameters and
 * local variables follow, then temporaries. A variable that an inner function captures lives in a
 * cell (LoxUpvalue), and its register holds that cell. An instruction has 8 bytes: the operation
 * and three operands of 16 bits. B:C is one operand of 32 bits. K is the function's table of
 * constants. */
#ifndef LOX_CODE_H
#define LOX_CODE_H

#include "object.h"

typedef struct code {
    uint16_t op, a, b, c;
} code;

/* The comparisons, each of which has six forms of jump. X(name, C operator) */
#define COMPARISONS(X) X(LT, <) X(LE, <=) X(GT, >) X(GE, >=)

#define OPERATIONS(X)                                                                              \
    X(MOVE)        /* R[a] = R[b] */                                                               \
    X(LOADK)       /* R[a] = K[b] */                                                               \
    X(LOAD)        /* R[a] = the constant nil, false or true whose low bits are b */               \
    X(GETGLOBAL)   /* R[a] = global B:C */                                                         \
    X(SETGLOBAL)   /* global B:C = R[a]; it must be defined */                                     \
    X(DEFGLOBAL)   /* global B:C = R[a] */                                                         \
    X(GETCAPTURED) /* R[a] = captured variable b */                                                \
    X(SETCAPTURED) /* captured variable b = R[a] */                                                \
    X(NEWCELL)     /* R[a] = a cell that holds R[a] */                                             \
    X(GETCELL)     /* R[a] = what the cell R[b] holds */                                           \
    X(SETCELL)     /* the cell R[a] holds R[b] */                                                  \
    X(GETFIELD)    /* R[a] = R[b].name; cache c */                                                 \
    X(SETFIELD)    /* R[a].name = R[b]; cache c */                                                 \
    X(GETSUPER)    /* R[a] = method K[c] of class R[b+1], bound to R[b] */                         \
    X(GETINDEX)    /* R[a] = R[b][R[c]] */                                                         \
    X(SETINDEX)    /* R[a][R[b]] = R[c] */                                                         \
    X(NEWARRAY)    /* R[a] = an array with room for b cells; c: in hands */                        \
    X(APPEND)      /* the array R[a] gets one more cell, R[b] */                                   \
    X(ADD)         /* R[a] = R[b] + R[c] */                                                        \
    X(SUB)                                                                                         \
    X(MUL)                                                                                         \
    X(DIV)                                                                                         \
    X(ADDK) /* R[a] = R[b] + K[c], a number */                                                     \
    X(SUBK)                                                                                        \
    X(MULK)                                                                                        \
    X(DIVK)                                                                                        \
    X(NEG) /* R[a] = -R[b] */                                                                      \
    X(NOT)                                                                                         \
    X(EQ) /* R[a] = R[b] == R[c] */                                                                \
    X(NE)                                                                                          \
    X(LT)                                                                                          \
    X(LE)                                                                                          \
    X(GT)                                                                                          \
    X(GE)                                                                                          \
    X(JUMP)   /* by B:C, signed, counted from the next instruction */                              \
    X(JUMP_T) /* by B:C if R[a] is true */                                                         \
    X(JUMP_F)                                                                                      \
    X(JEQ_T)  /* by c, signed, if R[a] == R[b] */                                                  \
    X(JEQ_F)  /* if R[a] != R[b] */                                                                \
    X(JEQK_T) /* if R[a] == K[b] */                                                                \
    X(JEQK_F)                                                                                      \
    X(JLT_T)                                                                                       \
    X(JLT_F)                                                                                       \
    X(JLE_T)                                                                                       \
    X(JLE_F)                                                                                       \
    X(JGT_T)                                                                                       \
    X(JGT_F)                                                                                       \
    X(JGE_T)                                                                                       \
    X(JGE_F)                                                                                       \
    X(JLTK_T)                                                                                      \
    X(JLTK_F)                                                                                      \
    X(JLEK_T)                                                                                      \
    X(JLEK_F)                                                                                      \
    X(JGTK_T)                                                                                      \
    X(JGTK_F)                                                                                      \
    X(JGEK_T)                                                                                      \
    X(JGEK_F)                                                                                      \
    X(CALL)        /* R[a] = R[a](R[a+1] … R[a+b]) */                                            \
    X(INVOKE)      /* R[a] = R[a].name(R[a+1] … R[a+b]); cache c */                              \
    X(INVOKESUPER) /* like INVOKE, but in class R[a+b+1]; name K[c] */                             \
    X(CLOSURE)     /* R[a] = a closure of inner function b; c: it is a method */                   \
    X(CLASS)       /* R[a] = a class as class plan b says */                                       \
    X(INHERIT)     /* class R[b] inherits from R[a] */                                             \
    X(METHOD)      /* class R[a] gets the closure R[b] as method K[c] */                           \
    X(LEAVE)       /* a return follows: see lox_stack_kept */                                      \
    X(RETURN)      /* R[a] */                                                                      \
    X(RETURNNIL)                                                                                   \
    X(PRINT)   /* R[a] */                                                                          \
    X(ECHO)    /* R[a], unless it is nil: the value of an expression at the prompt */              \
    X(ITERATE) /* R[a] must be an array; R[a+1] = 0 */                                             \
    X(NEXTOF)  /* R[b] = element R[a+1]++ of R[a], and jump by c; at its end continue */           \
    X(NEXTIN)  /* like NEXTOF, but R[b] = the index */

typedef enum operation {
#define OPERATION_ENUM(id) OP_##id,
    OPERATIONS(OPERATION_ENUM)
#undef OPERATION_ENUM
        N_OPERATIONS
} operation;

/* Where an instruction comes from. Characters count from the start of the file, in code points. */
typedef struct place {
    uint32_t line;       /* as messages give it: of the last token of the expression */
    uint32_t start, end; /* characters of the expression */
    uint32_t statement;  /* index in function->statements */
    uint16_t start_column, end_column; /* characters in the line where it starts */
} place;

/* The extent of a function or statement. */
typedef struct extent {
    uint32_t first_line, last_line;
    uint32_t start, end; /* characters */
} extent;

/* An inline cache: the meaning of `name` for instances of `class`. Classes do not move. A major
 * collection empties the caches of classes that die. */
typedef struct cache {
    string *name;
    class *class;    /* NULL: empty */
    closure *method; /* NULL: a field */
    uint32_t slot;
} cache;

typedef struct capture {
    bool is_local; /* in a register of the enclosing function; else one of its captures */
    uint16_t index;
} capture;

/* What is known about a class at compile time. */
typedef struct class_plan {
    string *name;
    string **fields; /* those that its methods assign through `this` */
    uint32_t n_fields;
} class_plan;

/* A compiled function. It lives as long as its VM, since traces and reports identify code by its
 * address. All objects that it refers to are in the major heap. */
typedef struct function {
    code *code;
    value *constants;
    cache *caches;
    uint32_t n_registers;
    uint16_t arity;
    uint16_t n_captures;
    uint32_t n_code, n_constants, n_caches, n_inner, n_classes, n_statements;
    capture *captures;
    struct function **inner;
    class_plan *classes;
    place *places; /* one for each instruction */
    extent *statements;
    extent extent;
    string *name;       /* NULL: the top level of a file */
    string *class_name; /* of a method; NULL: not a method */
    const char *file;   /* lives as long as the VM */
    uint32_t id;        /* index in vm->functions */
} function;

#endif
