/* junit.h: writes verdicts as JUnit XML, which CI systems read. */
#ifndef EXPORT_JUNIT_H
#define EXPORT_JUNIT_H

#include "render/output.h"
#include "reports/check.h"

void junit_write(output *o, const check_report *c);

#endif
