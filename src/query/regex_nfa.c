/* regex_nfa.c: parses an expression to a tree and unrolls that to the steps of an NFA. A match
 * follows all alternatives at once. */
#include "query/regex_nfa.h"

#include <ctype.h>
#include <regex.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum {
    MAX_DEPTH = 100, /* of nested groups */
    MAX_NODES = 4 * NFA_MAX,
    MAX_UNROLLED = 1 << 16, /* nodes, including those that make no step */
    ENDLESS = UINT16_MAX,
    NONE = UINT32_MAX
};

typedef enum node_kind {
    NODE_EMPTY,
    NODE_BYTES,
    NODE_EDGE,
    NODE_BOTH, /* one after the other */
    NODE_EITHER,
    NODE_REPEAT
} node_kind;

typedef enum edge {
    EDGE_TEXT_BEGIN,
    EDGE_TEXT_END,
    EDGE_WORD_BEGIN,
    EDGE_WORD_END,
    EDGE_WORD,
    EDGE_NO_WORD
} edge;

typedef struct byte_set {
    uint64_t bits[4];
} byte_set;

typedef struct node {
    node_kind kind;
    edge edge;
    uint32_t left, right; /* nodes; for NODE_BYTES, `left` is a set */
    uint16_t least, most; /* for NODE_REPEAT */
} node;

typedef enum step_kind { STEP_BYTES, STEP_EDGE, STEP_SPLIT, STEP_GO, STEP_FOUND } step_kind;

typedef struct step {
    step_kind kind;
    edge edge;
    uint32_t to, or_to; /* for STEP_BYTES, `to` is a set, and the next step follows */
} step;

struct regex_nfa {
    VEC(step) steps;
    VEC(byte_set) sets;
    byte_set first; /* bytes with which a match may begin */
    bool may_be_empty;
};

typedef struct compiler {
    regex_nfa *nfa;
    VEC(node) nodes;
    const char *at;
    unsigned depth, n_unrolled;
    int error;
} compiler;

static uint32_t fail(compiler *c, int error) {
    if (!c->error)
        c->error = error;
    return NONE;
}

/* ---- sets of bytes ----------------------------------------------------------------------- */

static bool set_has(const byte_set *s, unsigned char byte) {
    return s->bits[byte >> 6] >> (byte & 63) & 1;
}

static void set_add(byte_set *s, unsigned char byte) {
    s->bits[byte >> 6] |= UINT64_C(1) << (byte & 63);
}

static void set_invert(byte_set *s) {
    for (int i = 0; i < 4; i++)
        s->bits[i] = ~s->bits[i];
}

static int is_word(int byte) {
    return isalnum(byte) || byte == '_';
}

static void set_add_class(byte_set *s, int (*has)(int)) {
    for (int byte = 1; byte < 256; byte++)
        if (has(byte))
            set_add(s, (unsigned char)byte);
}

/* ---- parsing ----------------------------------------------------------------------------- */

static uint32_t new_node(compiler *c, node n) {
    if (c->nodes.count >= MAX_NODES)
        return fail(c, REG_ESIZE);
    if (!vec_push(&c->nodes, n))
        return fail(c, REG_ESPACE);
    return (uint32_t)c->nodes.count - 1;
}

static uint32_t new_set(compiler *c, byte_set s) {
    if (!vec_push(&c->nfa->sets, s))
        return fail(c, REG_ESPACE);
    return new_node(c, (node){.kind = NODE_BYTES, .left = (uint32_t)c->nfa->sets.count - 1});
}

static uint32_t new_edge(compiler *c, edge e) {
    return new_node(c, (node){.kind = NODE_EDGE, .edge = e});
}

static uint32_t new_byte(compiler *c, char byte) {
    byte_set s = {{0}};
    set_add(&s, (unsigned char)byte);
    return new_set(c, s);
}

static uint32_t new_class(compiler *c, int (*has)(int), bool inverted) {
    byte_set s = {{0}};
    set_add_class(&s, has);
    if (inverted)
        set_invert(&s);
    return new_set(c, s);
}

/* Parses what follows a backslash. */
static uint32_t parse_escape(compiler *c) {
    const char byte = *c->at++;
    switch (byte) {
    case '\0':
        return fail(c, REG_EESCAPE);
    case 'w':
    case 'W':
        return new_class(c, is_word, byte == 'W');
    case 's':
    case 'S':
        return new_class(c, isspace, byte == 'S');
    case 'b':
        return new_edge(c, EDGE_WORD);
    case 'B':
        return new_edge(c, EDGE_NO_WORD);
    case '<':
        return new_edge(c, EDGE_WORD_BEGIN);
    case '>':
        return new_edge(c, EDGE_WORD_END);
    case '`':
        return new_edge(c, EDGE_TEXT_BEGIN);
    case '\'':
        return new_edge(c, EDGE_TEXT_END);
    default:
        return byte >= '1' && byte <= '9' ? fail(c, REG_ESUBREG) : new_byte(c, byte);
    }
}

static bool add_named_class(compiler *c, byte_set *s, const char *name, size_t size) {
    static const struct {
        const char *name;
        int (*has)(int);
    } classes[] = {{"alpha", isalpha}, {"digit", isdigit}, {"alnum", isalnum},
                   {"upper", isupper}, {"lower", islower}, {"space", isspace},
                   {"blank", isblank}, {"punct", ispunct}, {"print", isprint},
                   {"graph", isgraph}, {"cntrl", iscntrl}, {"xdigit", isxdigit}};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strlen(classes[i].name) == size && memcmp(classes[i].name, name, size) == 0) {
            set_add_class(s, classes[i].has);
            return true;
        }
    fail(c, REG_ECTYPE);
    return false;
}

/* Parses `[:name:]`, `[=x=]` or `[.x.]`, with `at` at the first bracket. The last two set `*byte`
 * to x, the first to -1. */
static bool parse_inner(compiler *c, byte_set *s, int *byte) {
    const char kind = c->at[1], *name = c->at + 2, *end = name;
    while (*end && !(end[0] == kind && end[1] == ']' && end > name))
        end++;
    *byte = -1;
    if (!*end)
        return fail(c, REG_EBRACK), false;
    c->at = end + 2;
    if (kind == ':')
        return add_named_class(c, s, name, (size_t)(end - name));
    if (end - name != 1)
        return fail(c, REG_ECOLLATE), false;
    *byte = (unsigned char)*name;
    return true;
}

static bool parse_bracket_byte(compiler *c, byte_set *s, int *byte) {
    if (c->at[0] == '[' && c->at[1] && strchr(":=.", c->at[1]))
        return parse_inner(c, s, byte);
    *byte = (unsigned char)*c->at++;
    return true;
}

/* Parses one byte, range or class of a bracket expression. */
static bool parse_member(compiler *c, byte_set *s) {
    int low, high;
    if (!parse_bracket_byte(c, s, &low))
        return false;
    high = low;
    if (low >= 0 && c->at[0] == '-' && c->at[1] && c->at[1] != ']') {
        c->at++;
        if (!parse_bracket_byte(c, s, &high))
            return false;
        if (high < low)
            return fail(c, REG_ERANGE), false;
    }
    for (int byte = low; byte >= 0 && byte <= high; byte++)
        set_add(s, (unsigned char)byte);
    return true;
}

/* Parses a bracket expression after its first bracket. */
static uint32_t parse_bracket(compiler *c) {
    byte_set s = {{0}};
    const bool inverted = *c->at == '^';
    c->at += inverted;
    for (bool first = true; first || *c->at != ']'; first = false)
        if (!*c->at)
            return fail(c, REG_EBRACK);
        else if (!parse_member(c, &s))
            return NONE;
    c->at++;
    if (inverted)
        set_invert(&s);
    return new_set(c, s);
}

static uint32_t parse_either(compiler *c);

/* Parses a group after its parenthesis. */
static uint32_t parse_group(compiler *c) {
    if (++c->depth > MAX_DEPTH)
        return fail(c, REG_ESIZE);
    const uint32_t inner = parse_either(c);
    c->depth--;
    if (c->error)
        return NONE;
    return *c->at++ == ')' ? inner : fail(c, REG_EPAREN);
}

static uint32_t parse_atom(compiler *c) {
    byte_set any = {{0}};
    const char byte = *c->at++;
    switch (byte) {
    case '(':
        return parse_group(c);
    case '[':
        return parse_bracket(c);
    case '\\':
        return parse_escape(c);
    case '.':
        set_invert(&any);
        return new_set(c, any);
    case '^':
        return new_edge(c, EDGE_TEXT_BEGIN);
    case '$':
        return new_edge(c, EDGE_TEXT_END);
    case '*':
    case '+':
    case '?':
    case '{':
        return fail(c, REG_BADRPT);
    default:
        return new_byte(c, byte);
    }
}

static unsigned parse_count(compiler *c) {
    unsigned count = 0;
    for (; isdigit((unsigned char)*c->at); c->at++)
        if (count < ENDLESS)
            count = count * 10 + (unsigned)(*c->at - '0');
    return count;
}

/* Parses `{least,most}` after the brace; either number may be missing. */
static bool parse_counts(compiler *c, unsigned *least, unsigned *most) {
    const bool has_least = isdigit((unsigned char)*c->at);
    *least = *most = parse_count(c);
    const bool has_comma = *c->at == ',';
    if (has_comma) {
        c->at++;
        *most = isdigit((unsigned char)*c->at) ? parse_count(c) : ENDLESS;
    }
    if (!*c->at)
        return fail(c, REG_EBRACE), false;
    if (*c->at++ != '}' || (!has_least && !has_comma) || *least > *most)
        return fail(c, REG_BADBR), false;
    if (*least > NFA_MAX || (*most > NFA_MAX && *most != ENDLESS))
        return fail(c, REG_ESIZE), false;
    return true;
}

static uint32_t parse_repeated(compiler *c) {
    uint32_t made = parse_atom(c);
    while (!c->error && *c->at && strchr("*+?{", *c->at)) {
        const char sign = *c->at++;
        unsigned least = sign == '+', most = sign == '?' ? 1 : ENDLESS;
        if (sign == '{' && !parse_counts(c, &least, &most))
            return NONE;
        made = new_node(c, (node){.kind = NODE_REPEAT,
                                  .left = made,
                                  .least = (uint16_t)least,
                                  .most = (uint16_t)most});
    }
    return made;
}

/* A closing parenthesis without a group is an ordinary byte. */
static bool ends_branch(const compiler *c) {
    return !*c->at || *c->at == '|' || (*c->at == ')' && c->depth > 0);
}

static uint32_t parse_branch(compiler *c) {
    uint32_t made = NONE;
    while (!c->error && !ends_branch(c)) {
        const uint32_t next = parse_repeated(c);
        made = made == NONE ? next
                            : new_node(c, (node){.kind = NODE_BOTH, .left = made, .right = next});
    }
    return made == NONE && !c->error ? new_node(c, (node){.kind = NODE_EMPTY}) : made;
}

static uint32_t parse_either(compiler *c) {
    uint32_t made = parse_branch(c);
    while (!c->error && *c->at == '|') {
        c->at++;
        const uint32_t next = parse_branch(c);
        made = new_node(c, (node){.kind = NODE_EITHER, .left = made, .right = next});
    }
    return made;
}

/* ---- unrolling --------------------------------------------------------------------------- */

static uint32_t put(compiler *c, step s) {
    if (c->nfa->steps.count >= NFA_MAX)
        return fail(c, REG_ESIZE);
    if (!vec_push(&c->nfa->steps, s))
        return fail(c, REG_ESPACE);
    return (uint32_t)c->nfa->steps.count - 1;
}

static uint32_t here(const compiler *c) {
    return (uint32_t)c->nfa->steps.count;
}

static void unroll(compiler *c, uint32_t index);

static void unroll_either(compiler *c, const node *n) {
    const uint32_t split = put(c, (step){.kind = STEP_SPLIT, .to = here(c) + 1});
    unroll(c, n->left);
    const uint32_t over = put(c, (step){.kind = STEP_GO});
    if (c->error)
        return;
    c->nfa->steps.items[split].or_to = here(c);
    unroll(c, n->right);
    if (!c->error)
        c->nfa->steps.items[over].to = here(c);
}

/* Any number of times. */
static void unroll_endless(compiler *c, uint32_t inner) {
    const uint32_t split = put(c, (step){.kind = STEP_SPLIT, .to = here(c) + 1});
    unroll(c, inner);
    put(c, (step){.kind = STEP_GO, .to = split});
    if (!c->error)
        c->nfa->steps.items[split].or_to = here(c);
}

/* At most `n` times, each nested in the one before. */
static void unroll_optional(compiler *c, uint32_t inner, unsigned n) {
    if (n == 0 || c->error)
        return;
    const uint32_t first = here(c);
    for (unsigned i = 0; i < n && !c->error; i++) {
        put(c, (step){.kind = STEP_SPLIT, .to = here(c) + 1, .or_to = NONE});
        unroll(c, inner);
    }
    for (uint32_t i = first; i < here(c); i++)
        if (c->nfa->steps.items[i].kind == STEP_SPLIT && c->nfa->steps.items[i].or_to == NONE)
            c->nfa->steps.items[i].or_to = here(c);
}

static void unroll_repeat(compiler *c, const node *n) {
    for (unsigned i = 0; i < n->least && !c->error; i++)
        unroll(c, n->left);
    if (n->most == ENDLESS)
        unroll_endless(c, n->left);
    else
        unroll_optional(c, n->left, n->most - n->least);
}

static void unroll(compiler *c, uint32_t index) {
    if (!c->error && ++c->n_unrolled > MAX_UNROLLED)
        fail(c, REG_ESIZE);
    if (c->error)
        return;
    const node *n = &c->nodes.items[index];
    switch (n->kind) {
    case NODE_EMPTY:
        return;
    case NODE_BYTES:
        put(c, (step){.kind = STEP_BYTES, .to = n->left});
        return;
    case NODE_EDGE:
        put(c, (step){.kind = STEP_EDGE, .edge = n->edge});
        return;
    case NODE_BOTH:
        unroll(c, n->left);
        unroll(c, n->right);
        return;
    case NODE_EITHER:
        unroll_either(c, n);
        return;
    case NODE_REPEAT:
        unroll_repeat(c, n);
        return;
    }
}

/* Finds the bytes with which a match may begin: those of all steps reached from the first one
 * without reading. Edges are taken to match. */
static void find_first(regex_nfa *nfa) {
    bool seen[NFA_MAX] = {false};
    uint32_t stack[2 * NFA_MAX], n = 0;
    stack[n++] = 0;
    while (n > 0) {
        const uint32_t i = stack[--n];
        const step *s = &nfa->steps.items[i];
        if (seen[i])
            continue;
        seen[i] = true;
        nfa->may_be_empty |= s->kind == STEP_FOUND;
        for (int j = 0; j < 4 && s->kind == STEP_BYTES; j++)
            nfa->first.bits[j] |= nfa->sets.items[s->to].bits[j];
        if (s->kind == STEP_EDGE)
            stack[n++] = i + 1;
        if (s->kind == STEP_SPLIT || s->kind == STEP_GO)
            stack[n++] = s->to;
        if (s->kind == STEP_SPLIT)
            stack[n++] = s->or_to;
    }
}

int regex_nfa_compile(regex_nfa **nfa, const char *pattern) {
    compiler c = {.nfa = calloc(1, sizeof(regex_nfa)), .at = pattern};
    *nfa = NULL;
    if (!c.nfa)
        return REG_ESPACE;
    const uint32_t whole = parse_either(&c);
    if (!c.error)
        unroll(&c, whole);
    if (!c.error)
        put(&c, (step){.kind = STEP_FOUND});
    vec_free(&c.nodes);
    if (c.error) {
        regex_nfa_free(c.nfa);
        return c.error;
    }
    find_first(c.nfa);
    *nfa = c.nfa;
    return 0;
}

void regex_nfa_free(regex_nfa *nfa) {
    if (!nfa)
        return;
    vec_free(&nfa->steps);
    vec_free(&nfa->sets);
    free(nfa);
}

/* ---- matching ---------------------------------------------------------------------------- */

/* Steps that read a byte, each at most once. */
typedef struct step_list {
    size_t n;
    uint16_t items[NFA_MAX];
} step_list;

/* The state of a match. At each byte, a step is pushed at most twice, by the steps that lead to
 * it. */
typedef struct walk {
    const regex_nfa *nfa;
    const char *text, *at;
    uint32_t seen[NFA_MAX]; /* the last round in which a step was met */
    uint32_t round;
    uint16_t stack[2 * NFA_MAX];
} walk;

static bool is_at(const walk *w, edge e) {
    const bool before = w->at > w->text && is_word((unsigned char)w->at[-1]);
    const bool after = is_word((unsigned char)*w->at);
    switch (e) {
    case EDGE_TEXT_BEGIN:
        return w->at == w->text;
    case EDGE_TEXT_END:
        return !*w->at;
    case EDGE_WORD_BEGIN:
        return !before && after;
    case EDGE_WORD_END:
        return before && !after;
    case EDGE_WORD:
        return before != after;
    case EDGE_NO_WORD:
        return before == after;
    }
    return false;
}

/* Adds all steps reached from a step without reading. Returns true if the end is among them. */
static bool follow(walk *w, step_list *list, uint32_t from) {
    size_t n = 0;
    w->stack[n++] = (uint16_t)from;
    while (n > 0) {
        const uint16_t i = w->stack[--n];
        const step *s = &w->nfa->steps.items[i];
        if (w->seen[i] == w->round)
            continue;
        w->seen[i] = w->round;
        if (s->kind == STEP_FOUND)
            return true;
        if (s->kind == STEP_BYTES)
            list->items[list->n++] = i;
        else if (s->kind == STEP_EDGE && is_at(w, s->edge))
            w->stack[n++] = (uint16_t)(i + 1);
        else if (s->kind != STEP_EDGE)
            w->stack[n++] = (uint16_t)s->to;
        if (s->kind == STEP_SPLIT)
            w->stack[n++] = (uint16_t)s->or_to;
    }
    return false;
}

bool regex_nfa_match(const regex_nfa *nfa, const char *text) {
    step_list lists[2], *now = &lists[0], *next = &lists[1];
    walk w;
    now->n = 0;
    w.nfa = nfa;
    w.text = w.at = text;
    w.round = 1;
    memset(w.seen, 0, nfa->steps.count * sizeof *w.seen);
    for (;; w.at++) {
        while (now->n == 0 && !nfa->may_be_empty && *w.at &&
               !set_has(&nfa->first, (unsigned char)*w.at))
            w.at++;
        if (follow(&w, now, 0)) /* a match may begin anywhere */
            return true;
        if (!*w.at)
            return false;
        const unsigned char byte = (unsigned char)*w.at;
        w.round++;
        w.at++;
        next->n = 0;
        for (size_t i = 0; i < now->n; i++)
            if (set_has(&nfa->sets.items[nfa->steps.items[now->items[i]].to], byte) &&
                follow(&w, next, now->items[i] + 1U))
                return true;
        w.at--;
        step_list *swap = now;
        now = next;
        next = swap;
    }
}
