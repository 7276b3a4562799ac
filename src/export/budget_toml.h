/* budget_toml.h: writes rules as a budget file, which cli/budget_file.h reads. */
#ifndef EXPORT_BUDGET_TOML_H
#define EXPORT_BUDGET_TOML_H

#include "render/output.h"
#include "reports/check.h"

/* Sets each maximum so that its current result passes with 10% to spare. */
void budget_toml_write(output *o, const check_report *c);

#endif
