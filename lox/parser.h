/* parser.h: shared by the files of the parser: parser.c (tokens, nodes, scopes), expressions.c and
 * compiler.c (functions, classes, statements). Names are resolved during parsing. Grammar, messages
 * and limits are those of the book. For limits that concern the book's own byte code, parser_spend
 * counts what the code would take there. */
#ifndef LOX_PARSER_H
#define LOX_PARSER_H

#include "ast.h"

typedef struct class_state {
    struct class_state *outer;
    string *name;
    bool has_superclass;
    string *fields[64]; /* those assigned through `this` */
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
    bool had_error, panicking, gave_up, echo;
    const char *file;
    function_compiler *compiler;
    class_state *class;
    int nesting;
    uint32_t statement; /* innermost statement, an index in compiler->function->statements */
    arena_chunk *chunks;
    int uncounted; /* number of enclosing array literals, whose constants are not counted */
} parser;

/* Report an error at the token just taken, and at the next one. */
void parser_error(parser *p, const char *message);
void parser_error_here(parser *p, const char *message);

/* Skips the rest of the file. */
void parser_give_up(parser *p);

/* Tokens. */
void parser_advance(parser *p);
bool parser_check(const parser *p, token_type type);
bool parser_match(parser *p, token_type type);
void parser_expect(parser *p, token_type type, const char *message);
bool token_is(const token *t, const char *text);
bool same_name(const token *a, const token *b);

/* Nodes. They end with the token just taken, whose line they get, and live until the file is
 * compiled. parser_extend moves the end of a node and keeps its line. */
node *parser_node(parser *p, node_kind kind, uint32_t start, node *a, node *b);
void parser_extend(parser *p, node *n);
string *parser_intern(parser *p, const char *text, size_t size);
string *parser_intern_token(parser *p, const token *t);

/* Count what the book's code would take: bytes, constants, the distance of jumps. */
void parser_spend(parser *p, int bytes);
void parser_spend_constant(parser *p);
void parser_check_jump(parser *p, int from);
void parser_check_loop(parser *p, int start);

/* Scopes. The token just taken is the name of a declared variable. scope_declare returns NULL at
 * the top level, where variables are global. */
void scope_begin(parser *p);
void scope_end(parser *p);
local *scope_add(parser *p, token name);
local *scope_add_hidden(parser *p, const char *name);
local *scope_declare(parser *p);
void scope_define(parser *p, local *l);

/* Makes a node that reads a variable. */
node *scope_variable(parser *p, const token *name, uint32_t start);

/* Expressions. `this` is a variable of methods. */
extern const token parser_this;
node *parse_expression(parser *p);
node *parse_variable(parser *p, bool can_assign);
bool parser_is_too_nested(parser *p);

#endif
