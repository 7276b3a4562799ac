/* budget_file.h: reads a file of budgets: TOML (toml.h) with tables `[[budget]]`. */
#ifndef CLI_BUDGET_FILE_H
#define CLI_BUDGET_FILE_H

#include "base/intern.h"
#include "cli/toml.h"
#include "query/budget.h"

typedef VEC(budget_rule) budget_rules;

/* Appends the rules of a text; their strings are `strings`'. `defaults` has the filter and the
 * measure of those that name none. */
bool budget_file_parse(const char *text, const budget_rule *defaults, intern_table *strings,
                       budget_rules *rules, toml_error *error);

/* The same of a file. Returns a status, after having said what is wrong. */
int budget_file_read(const char *path, const budget_rule *defaults, intern_table *strings,
                     budget_rules *rules);

#endif
