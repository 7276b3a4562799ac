/* instrument_ml.c: finds the place for the call in a main module: before all other work, or, in a
 * program that becomes a daemon, after the fork, since the child of a fork is not traced.
 *
 * This is not a parser: it decides by words, brackets and the starts of lines. In case of doubt it
 * refuses, since it must neither break a program nor silently have the wrong process traced. */
#include <stdint.h>
#include <string.h>

#include "cli/instrument/instrument_edit.h"
#include "cli/instrument/ocaml_tokens.h"

#define CALL "Memtrace.trace_if_requested ()"
#define NONE SIZE_MAX

static const ocaml_token *token(const ocaml_tokens *t, size_t i) {
    return &t->all.items[i];
}

static bool is(const ocaml_tokens *t, size_t i, const char *text) {
    return ocaml_token_is(t, i, text);
}

static bool is_one_of(const ocaml_tokens *t, size_t i, const char *const *words) {
    while (*words && !is(t, i, *words))
        words++;
    return *words != NULL;
}

static size_t find(const ocaml_tokens *t, size_t from, size_t to, const char *word) {
    for (size_t i = from; i < to; i++)
        if (ocaml_token_ends(t, i, word))
            return i;
    return NONE;
}

/* ---- obstacles to an edit -------------------------------------------------------------------- */

static edit look_for_obstacles(const ocaml_tokens *t) {
    for (size_t i = 0; i < t->all.count; i++) {
        const size_t line = token(t, i)->line;
        if (ocaml_token_ends(t, i, "trace_if_requested") || ocaml_token_ends(t, i, "start_tracing"))
            return (edit){.verdict = EDIT_PRESENT};
        if (is(t, i, "#") && token(t, i)->column == 0)
            return edit_refuse(line, "preprocessor and toplevel directives are not supported");
        if (ocaml_token_ends(t, i, "Memprof.start"))
            return edit_refuse(
                line, "it starts Gc.Memprof itself, and a program can have only one profile");
        if (is(t, i, "module") && is(t, i + 1, "Memtrace"))
            return edit_refuse(line, "it has its own module Memtrace");
    }
    return t->all.count ? (edit){.verdict = EDIT_NEEDED} : edit_refuse(0, "it is empty");
}

/* ---- items ------------------------------------------------------------------------------- */

static const char *const item_words[] = {
    "let", "open", "module", "type", "exception", "class", "external", "include", ";;", "[", NULL};

/* Top-level items begin in the first column, as all formatters put them. */
static bool begins_item(const ocaml_tokens *t, size_t i) {
    return token(t, i)->column == 0 && is_one_of(t, i, item_words);
}

static size_t item_begin(const ocaml_tokens *t, size_t i) {
    while (i > 0 && !begins_item(t, i))
        i--;
    return i;
}

static size_t item_end(const ocaml_tokens *t, size_t i) {
    for (i++; i < t->all.count && !begins_item(t, i);)
        i++;
    return i;
}

/* ---- before everything ------------------------------------------------------------------- */

static size_t skip_brackets(const ocaml_tokens *t, size_t i) {
    size_t depth = 0;
    for (; i < t->all.count; i++) {
        depth += is(t, i, "[");
        if (is(t, i, "]") && --depth == 0)
            return i + 1;
    }
    return i;
}

/* Returns the first token after `open`s and the attributes of the file. */
static size_t skip_opens(const ocaml_tokens *t) {
    size_t i = 0;
    for (;;) {
        if (is(t, i, "open"))
            i += is(t, i + 1, "!") ? 3 : 2;
        else if (is(t, i, "[") && is(t, i + 1, "@") && is(t, i + 2, "@") && is(t, i + 3, "@"))
            i = skip_brackets(t, i);
        else if (is(t, i, ";;"))
            i++;
        else
            return i;
    }
}

static size_t line_start(const char *text, size_t at) {
    while (at > 0 && text[at - 1] != '\n')
        at--;
    return at;
}

static bool is_blank_line(const char *text, size_t from, size_t to) {
    while (from < to && strchr(" \t\r\n", text[from]))
        from++;
    return from == to;
}

/* Returns the start of the item at token `i`, or of the comment directly above it, unless that is
 * the comment at the head of the file. `least`: end of the token before. */
static size_t item_with_comment(const ocaml_tokens *t, size_t i, size_t least) {
    const size_t own = line_start(t->text, token(t, i)->at);
    size_t at = own;
    while (at > least) {
        const size_t above = line_start(t->text, at - 1);
        if (above < least || is_blank_line(t->text, above, at))
            return at;
        if (above == 0)
            return own;
        at = above;
    }
    return own;
}

static const char *newline_of(const char *text) {
    const char *end = strchr(text, '\n');
    return end && end > text && end[-1] == '\r' ? "\r\n" : "\n";
}

static edit edit_at_top(const ocaml_tokens *t) {
    const size_t first = skip_opens(t);
    const char *newline = newline_of(t->text);
    edit e = {.verdict = EDIT_NEEDED};
    if (first >= t->all.count)
        return edit_refuse(0, "it does nothing");
    const size_t before = first == 0 ? 0 : token(t, first - 1)->at + token(t, first - 1)->size;
    if (memchr(t->text + before, '\n', token(t, first)->at - before) == NULL && first > 0)
        return edit_refuse(token(t, first)->line, "the first item shares its line with an `open`");
    e.at = item_with_comment(t, first, before);
    snprintf(e.insert, sizeof e.insert, "let () = " CALL "%s%s%s",
             is_one_of(t, first, item_words) ? "" : ";;", newline, newline);
    return e;
}

/* ---- after a fork ------------------------------------------------------------------------ */

static const char *const opening[] = {"(",   "[",      "{",  "begin", "struct",
                                      "sig", "object", "do", NULL};
static const char *const closing[] = {")", "]", "}", "end", "done", NULL};

/* Returns the opening bracket around token `i`, or NONE. */
static size_t around(const ocaml_tokens *t, size_t i, size_t from) {
    size_t depth = 0;
    while (i-- > from) {
        if (is_one_of(t, i, closing))
            depth++;
        else if (is_one_of(t, i, opening) && depth-- == 0)
            return i;
    }
    return NONE;
}

static size_t closing_of(const ocaml_tokens *t, size_t open, size_t to) {
    size_t depth = 0;
    for (size_t i = open; i < to; i++) {
        if (is_one_of(t, i, opening))
            depth++;
        else if (is_one_of(t, i, closing) && --depth == 0)
            return i;
    }
    return to;
}

static bool is_branch(const ocaml_tokens *t, size_t open) {
    return open != NONE && open > 0 && (is(t, open - 1, "then") || is(t, open - 1, "else"));
}

/* Returns the `;` after the statement that contains token `i`, or NONE. If the statement is in a
 * bracketed branch of an `if`, uses the statement of the `if`, since a branch is not always
 * executed. */
static size_t statement_end(const ocaml_tokens *t, size_t i, size_t from, size_t to) {
    static const char *const others[] = {"in", "|", "with", "and", ";;", NULL};
    for (size_t open = around(t, i, from); is_branch(t, open); open = around(t, open, from))
        i = closing_of(t, open, to);
    for (i++; i < to; i++) {
        if (is(t, i, ";"))
            return i;
        if (is_one_of(t, i, opening))
            i = closing_of(t, i, to);
        else if (is_one_of(t, i, closing) || is_one_of(t, i, others))
            return NONE;
    }
    return NONE;
}

static edit refuse_fork(const ocaml_tokens *t, size_t i) {
    return edit_refuse(token(t, i)->line,
                       "it becomes a daemon here, in a way that is not supported; put `" CALL
                       "` after the fork, in the child");
}

static edit insert_after(const ocaml_tokens *t, size_t i, const char *text) {
    edit e = {.verdict = EDIT_NEEDED, .at = token(t, i)->at + token(t, i)->size};
    snprintf(e.insert, sizeof e.insert, "%s", text);
    return e;
}

/* Inserts a statement after the one that token `semicolon` ends, laid out like the next one. */
static edit insert_statement(const ocaml_tokens *t, size_t semicolon, size_t to) {
    if (semicolon + 1 >= to || token(t, semicolon + 1)->line == token(t, semicolon)->line)
        return insert_after(t, semicolon, " " CALL ";");
    const size_t start = line_start(t->text, token(t, semicolon + 1)->at);
    const size_t indent = strspn(t->text + start, " \t");
    edit e = insert_after(t, semicolon, "");
    snprintf(e.insert, sizeof e.insert, "%s%.*s" CALL ";", newline_of(t->text),
             (int)(indent < 60 ? indent : 60), t->text + start);
    return e;
}

/* Inserts the call after the statement that contains token `i`, in the item that begins at
 * `from`. */
static edit edit_after(const ocaml_tokens *t, size_t i, size_t from) {
    const size_t to = item_end(t, from), semicolon = statement_end(t, i, from, to);
    const char *newline = newline_of(t->text);
    if (semicolon != NONE)
        return insert_statement(t, semicolon, to);
    /* let () = daemonize () */
    if (i != from + 4 || !is(t, from + 1, "(") || !is(t, from + 2, ")") || to > i + 3)
        return refuse_fork(t, i);
    edit e = insert_after(t, to - 1, "");
    snprintf(e.insert, sizeof e.insert, "%s%slet () = " CALL, newline, newline);
    return e;
}

/* match Unix.fork () with 0 -> …: inserts the call into that branch. */
static edit edit_match(const ocaml_tokens *t, size_t fork, size_t to) {
    size_t i = find(t, fork, to, "with");
    if (i == NONE)
        return refuse_fork(t, fork);
    i += is(t, i + 1, "|") ? 2 : 1;
    for (; i + 2 < to; i++)
        if (is(t, i, "0") && is(t, i + 1, "-") && is(t, i + 2, ">"))
            return insert_after(t, i + 2, " " CALL ";");
    return refuse_fork(t, fork);
}

/* Returns the name of the function that the item defines. NONE: the item is `let () =` or similar,
 * or not a `let`. */
static size_t function_of(const ocaml_tokens *t, size_t from) {
    size_t name = is(t, from + 1, "rec") ? from + 2 : from + 1;
    if (!is(t, from, "let") || name + 1 >= t->all.count || token(t, name)->kind != OCAML_WORD)
        return NONE;
    return is(t, name, "_") || is(t, name + 1, "=") || is(t, name + 1, ":") ? NONE : name;
}

/* Returns the only call, from another item, of the function defined at `name`. NONE: there is no
 * call, or more than one. */
static size_t only_call(const ocaml_tokens *t, size_t name) {
    char word[64];
    size_t found = NONE;
    snprintf(word, sizeof word, "%.*s", (int)token(t, name)->size, t->text + token(t, name)->at);
    for (size_t i = item_end(t, item_begin(t, name)); i < t->all.count; i++) {
        if (!is(t, i, word))
            continue;
        if (found != NONE)
            return NONE;
        found = i;
    }
    return found;
}

/* Returns whether the call at `i` is executed whenever the code around it is. */
static bool is_unconditional(const ocaml_tokens *t, size_t i, size_t from) {
    static const char *const before[] = {"=", ";", "begin", "(", "in", NULL};
    return i > 0 && is_one_of(t, i - 1, before) && !is_branch(t, around(t, i, from));
}

/* Recognizes `if fork () <> 0 then exit 0`, after which only the child continues. */
static bool parent_leaves(const ocaml_tokens *t, size_t fork, size_t to) {
    size_t i = fork + 3;
    if (fork == 0 || !is(t, fork - 1, "if") || !is(t, fork + 1, "(") || !is(t, fork + 2, ")"))
        return false;
    if ((is(t, i, "<") && is(t, i + 1, ">")) || (is(t, i, "!") && is(t, i + 1, "=")))
        i += 2;
    else if (is(t, i, ">"))
        i++;
    else
        return false;
    if (!is(t, i, "0") || !is(t, i + 1, "then"))
        return false;
    for (; i < to && !is(t, i, ";") && !is(t, i, "else"); i++)
        if (ocaml_token_ends(t, i, "exit") || ocaml_token_ends(t, i, "_exit"))
            return true;
    return false;
}

/* Inserts the call after the last `fork` of a function; or, if the function is called only in some
 * cases, after its call. */
static edit edit_daemon(const ocaml_tokens *t, size_t fork) {
    const size_t from = item_begin(t, fork), to = item_end(t, from), name = function_of(t, from);
    if (fork > 0 && is(t, fork - 1, "match"))
        return edit_match(t, fork, to);
    if (!parent_leaves(t, fork, to))
        return refuse_fork(t, fork);
    if (name == NONE)
        return edit_after(t, fork, from);
    const size_t call = only_call(t, name);
    if (call == NONE || !is(t, call + 1, "(") || !is(t, call + 2, ")"))
        return refuse_fork(t, fork);
    edit e = edit_refuse(0, "%s", "");
    if (is_unconditional(t, call, item_begin(t, call)))
        e = edit_after(t, fork, from);
    return e.verdict == EDIT_NEEDED ? e : edit_after(t, call, item_begin(t, call));
}

/* Inserts the call after the only use of a library's `daemonize`. */
static edit edit_daemonize(const ocaml_tokens *t, size_t i) {
    const size_t again = find(t, i + 1, t->all.count, "daemonize");
    return again == NONE ? edit_after(t, i, item_begin(t, i)) : refuse_fork(t, again);
}

/* Decides by which of the forks the program becomes a daemon, if it does. */
static edit edit_forking(const ocaml_tokens *t, size_t first) {
    const size_t from = item_begin(t, first), to = item_end(t, from);
    size_t last = first;
    for (size_t i = first; (i = find(t, i + 1, t->all.count, "fork")) != NONE; last = i)
        if (i >= to)
            return edit_refuse(token(t, i)->line, "it forks in several places; put `" CALL
                                                  "` in the process to be traced");
    const bool is_daemon = find(t, 0, t->all.count, "setsid") != NONE;
    const bool leaves = find(t, from, to, "exit") != NONE || find(t, from, to, "_exit") != NONE;
    if (is_daemon || leaves)
        return edit_daemon(t, last);
    edit e = edit_at_top(t);
    if (e.verdict == EDIT_NEEDED)
        snprintf(e.reason, sizeof e.reason, "line %zu: it forks; only the parent is traced",
                 token(t, first)->line);
    return e;
}

edit edit_ml(const char *text, size_t size) {
    ocaml_tokens t;
    const char *problem;
    size_t line = 1;
    if (!ocaml_tokens_scan(&t, text, size, &problem, &line)) {
        ocaml_tokens_free(&t);
        return edit_refuse(line, "not OCaml source: %s", problem);
    }
    edit e = look_for_obstacles(&t);
    if (e.verdict == EDIT_NEEDED) {
        const size_t fork = find(&t, 0, t.all.count, "fork"),
                     daemonize = find(&t, 0, t.all.count, "daemonize");
        if (fork != NONE)
            e = edit_forking(&t, fork);
        else if (daemonize != NONE)
            e = edit_daemonize(&t, daemonize);
        else
            e = edit_at_top(&t);
    }
    ocaml_tokens_free(&t);
    return e;
}
