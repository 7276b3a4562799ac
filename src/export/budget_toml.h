/* budget_toml.h: rules as a file of budgets, which cli/budget_file.h reads. */
#ifndef EXPORT_BUDGET_TOML_H
#define EXPORT_BUDGET_TOML_H

#include "render/output.h"
#include "reports/check.h"

/* With maxima that the results pass with a tenth to spare. */
void budget_toml_write(output *o, const check_report *c);

#endif
