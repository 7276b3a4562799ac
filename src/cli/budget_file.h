/* budget_file.h: reads a budget file: TOML (toml.h) with tables `[[budget]]`. */
#ifndef CLI_BUDGET_FILE_H
#define CLI_BUDGET_FILE_H

#include "base/intern.h"
#include "cli/toml.h"
#include "query/budget.h"

typedef VEC(budget_rule) budget_rules;

/* Appends the rules in a text. Their strings belong to `strings`. `defaults` provides the filter
 * and measure of rules without one. Returns false with the cause in `error`. */
bool budget_file_parse(const char *text, const budget_rule *defaults, intern_table *strings,
                       budget_rules *rules, toml_error *error);

/* Like budget_file_parse, for a file. Returns an exit status, after reporting errors. */
int budget_file_read(const char *path, const budget_rule *defaults, intern_table *strings,
                     budget_rules *rules);

#endif
