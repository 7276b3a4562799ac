/* budget_file.h: reads a file of budgets, a small part of TOML: comments, tables `[[budget]]`, and
 * in them `key = value`, where a value is a string (basic or literal, on one line) or a number. All
 * else is refused, with its line and column. */
#ifndef CLI_BUDGET_FILE_H
#define CLI_BUDGET_FILE_H

#include "base/intern.h"
#include "query/budget.h"

typedef VEC(budget_rule) budget_rules;

typedef struct budget_error {
    unsigned line, column; /* from 1; columns count bytes */
    char reason[160];
} budget_error;

/* Appends the rules of a text; their strings are `strings`'. `defaults` has the filter and the
 * measure of those that name none. */
bool budget_file_parse(const char *text, const budget_rule *defaults, intern_table *strings,
                       budget_rules *rules, budget_error *error);

/* The same of a file. Returns a status, after having said what is wrong. */
int budget_file_read(const char *path, const budget_rule *defaults, intern_table *strings,
                     budget_rules *rules);

#endif
