/* leaks.h: which sites grow, as text, JSON and CSV. */
#ifndef PRESENT_LEAKS_H
#define PRESENT_LEAKS_H

#include "analyse/leaks.h"
#include "present/report.h"

typedef struct leaks_view {
    uint64_t top; /* at most so many sites; 0: no limit */
    bool by_function;
} leaks_view;

void leaks_text(output *o, const report *r, const leaks *l, const leaks_view *view);
void leaks_json(output *o, const report *r, const leaks *l, const leaks_view *view);
void leaks_csv(output *o, const leaks *l, const leaks_view *view);

/* Whether a shown site is a bare address that symbolizing may turn into a name. */
bool leaks_unsymbolized(const leaks *l, const leaks_view *view);

#endif
