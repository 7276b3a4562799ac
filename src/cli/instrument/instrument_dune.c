/* instrument_dune.c: finds the place for the library in a dune file: the field `libraries` of the
 * stanza that builds the module. Parses lists, atoms, strings and comments. */
#include <stdint.h>
#include <string.h>

#include "base/vec.h"
#include "cli/instrument/instrument_edit.h"

#define LIBRARY "memtrace"

typedef struct node {
    size_t at, end; /* byte offsets */
    size_t line;
    size_t next;  /* index of the first node after this one and its children */
    bool is_list; /* otherwise an atom or a string */
} node;

/* The nodes of a file in preorder: each list comes before its elements. */
typedef struct tree {
    const char *text;
    size_t size, at, line;
    VEC(node) nodes;
    const char *problem;
} tree;

static void step(tree *t) {
    t->line += t->text[t->at++] == '\n';
}

static bool at_text(const tree *t, const char *s) {
    const size_t n = strlen(s);
    return t->size - t->at >= n && memcmp(t->text + t->at, s, n) == 0;
}

static void skip_block_comment(tree *t) {
    size_t depth = 0;
    do {
        depth += at_text(t, "#|");
        depth -= at_text(t, "|#");
        if (at_text(t, "#|") || at_text(t, "|#"))
            step(t);
        step(t);
    } while (depth > 0 && t->at < t->size);
}

static void skip_blank(tree *t) {
    while (t->at < t->size) {
        if (strchr(" \t\r\n\f", t->text[t->at]))
            step(t);
        else if (t->text[t->at] == ';')
            while (t->at < t->size && t->text[t->at] != '\n')
                step(t);
        else if (at_text(t, "#|"))
            skip_block_comment(t);
        else
            return;
    }
}

static void skip_atom(tree *t) {
    if (t->text[t->at] != '"') {
        while (t->at < t->size && !strchr(" \t\r\n\f();\"", t->text[t->at]))
            step(t);
        return;
    }
    for (step(t); t->at < t->size && t->text[t->at] != '"'; step(t))
        if (t->text[t->at] == '\\' && t->at + 1 < t->size)
            step(t);
    if (t->at == t->size)
        t->problem = "a string is not closed";
    else
        step(t);
}

/* Parses the text to its end. */
static void parse(tree *t) {
    VEC(size_t) open = {0};
    for (skip_blank(t); t->at < t->size && !t->problem; skip_blank(t)) {
        const bool is_list = t->text[t->at] == '(';
        if (t->text[t->at] == ')') {
            if (open.count == 0) {
                t->problem = "a closing parenthesis has no match";
                break;
            }
            step(t);
            node *list = &t->nodes.items[open.items[--open.count]];
            list->end = t->at;
            list->next = t->nodes.count;
            continue;
        }
        const size_t index = t->nodes.count;
        node n = {.at = t->at, .line = t->line, .is_list = is_list, .next = index + 1};
        if (!vec_push(&t->nodes, n) || (is_list && !vec_push(&open, index)))
            t->problem = "not enough memory";
        if (is_list)
            step(t);
        else
            skip_atom(t);
        t->nodes.items[index].end = t->at;
    }
    if (open.count && !t->problem)
        t->problem = "a parenthesis is not closed";
    vec_free(&open);
}

static bool is_atom(const tree *t, size_t i, const char *text) {
    const node *n = &t->nodes.items[i];
    size_t at = n->at, size = n->end - n->at;
    if (size >= 2 && t->text[at] == '"') {
        at++;
        size -= 2;
    }
    return !n->is_list && size == strlen(text) && memcmp(t->text + at, text, size) == 0;
}

/* Iterates over the elements of a list. */
#define EACH_IN(t, list, i)                                                                        \
    size_t i = (list) + 1;                                                                         \
    i < (t)->nodes.items[list].next;                                                               \
    i = (t)->nodes.items[i].next

static bool has_atom(const tree *t, size_t list, const char *text) {
    for (EACH_IN(t, list, i))
        if (is_atom(t, i, text))
            return true;
    return false;
}

static bool is_list_of(const tree *t, size_t i, const char *name) {
    return t->nodes.items[i].is_list && t->nodes.items[i].next > i + 1 && is_atom(t, i + 1, name);
}

/* Returns the field with that name in a stanza; 0: there is none. */
static size_t field(const tree *t, size_t stanza, const char *name) {
    for (EACH_IN(t, stanza, i))
        if (is_list_of(t, i, name))
            return i;
    return 0;
}

static size_t name_field(const tree *t, size_t stanza) {
    const size_t name = field(t, stanza, "name");
    return name ? name : field(t, stanza, "names");
}

static bool builds(const tree *t, size_t stanza, const char *module) {
    static const char *const kinds[] = {"executable", "executables", "test", "tests"};
    const size_t name = t->nodes.items[stanza].is_list ? name_field(t, stanza) : 0;
    for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++)
        if (is_list_of(t, stanza, kinds[i]))
            return has_atom(t, name, module);
    return false;
}

/* Inserts text after node `i`, on a line of its own if that node begins a line. */
static edit insert_after(const tree *t, size_t i, const char *text) {
    const node *n = &t->nodes.items[i];
    size_t start = n->at;
    while (start > 0 && t->text[start - 1] != '\n')
        start--;
    const size_t indent = strspn(t->text + start, " \t");
    const bool alone = start > 0 && start + indent == n->at && indent < 80;
    const bool is_dos = start > 1 && t->text[start - 2] == '\r';
    edit e = {.verdict = EDIT_NEEDED, .at = n->end};
    snprintf(e.insert, sizeof e.insert, "%s%.*s%s",
             !alone   ? " "
             : is_dos ? "\r\n"
                      : "\n",
             alone ? (int)indent : 0, t->text + start, text);
    return e;
}

static edit edit_stanza(const tree *t, size_t stanza) {
    const size_t libraries = field(t, stanza, "libraries"), modes = field(t, stanza, "modes"),
                 preprocess = field(t, stanza, "preprocess");
    const size_t line = t->nodes.items[stanza].line;
    if (modes && has_atom(t, modes, "js") && t->nodes.items[modes].next == modes + 3)
        return edit_refuse(line, "it is compiled to JavaScript, which has no Gc.Memprof");
    if (preprocess && preprocess + 2 < t->nodes.items[preprocess].next &&
        is_list_of(t, preprocess + 2, "action"))
        return edit_refuse(
            t->nodes.items[preprocess].line,
            "it uses a custom preprocessor, which may transform the source in any way");
    if (!libraries)
        return insert_after(t, name_field(t, stanza), "(libraries " LIBRARY ")");
    size_t last = libraries + 1;
    for (EACH_IN(t, libraries, i))
        last = i;
    return has_atom(t, libraries, LIBRARY) ? (edit){.verdict = EDIT_PRESENT}
                                           : insert_after(t, last, LIBRARY);
}

static edit edit_tree(const tree *t, const char *module) {
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < t->nodes.count; i = t->nodes.items[i].next) {
        if (!builds(t, i, module))
            continue;
        if (found != SIZE_MAX)
            return edit_refuse(t->nodes.items[i].line, "two stanzas build `%s`", module);
        found = i;
    }
    if (found == SIZE_MAX)
        return edit_refuse(0, "no executable or test named `%s` is built here", module);
    return edit_stanza(t, found);
}

edit edit_dune(const char *text, size_t size, const char *module) {
    tree t = {.text = text, .size = size, .line = 1};
    if (size >= 2 && memcmp(text, "(*", 2) == 0)
        return edit_refuse(1, "dune files written in OCaml are not supported");
    parse(&t);
    edit e =
        t.problem ? edit_refuse(t.line, "not a dune file: %s", t.problem) : edit_tree(&t, module);
    vec_free(&t.nodes);
    return e;
}
