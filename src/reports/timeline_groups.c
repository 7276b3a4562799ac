/* timeline_groups.c: the names of a timeline's groups, and the filters that select them. */
#include <inttypes.h>
#include <string.h>

#include "profile/spans.h"
#include "reports/timeline.h"

static const char *name_of_life(document *d, uint32_t class) {
    const char *least = document_text(d, "%s", figure_duration(groups_life(class)).text);
    const char *most = document_text(d, "%s", figure_duration(groups_life(class + 1)).text);
    if (class == GROUPS_NEVER_FREED)
        return "never freed";
    if (class == 0)
        return document_text(d, "less than %s", most);
    return class + 1 == GROUPS_NEVER_FREED ? document_text(d, "%s and more", least)
                                           : document_text(d, "%s to %s", least, most);
}

/* Filters for the blocks that are in no scope, trace or span. */
static const struct {
    span_kind kind;
    const char *filter;
} nameless[N_GROUPS_BY] = {[GROUPS_BY_SCOPE] = {SPAN_SCOPE, "scope:/^$/"},
                           [GROUPS_BY_TRACE] = {SPAN_TRACE_ID, "-trace:*"},
                           [GROUPS_BY_SPAN] = {SPAN_SPAN_ID, "-span:*"}};

const char *timeline_group_name(document *d, groups_by by, const group *g) {
    if (by == GROUPS_BY_THREAD)
        return g->name ? g->name : document_text(d, "thread %" PRIu32, g->number);
    if (nameless[by].filter)
        return g->name ? g->name : spans_nameless[nameless[by].kind];
    return by == GROUPS_BY_LIFE ? name_of_life(d, g->number) : NULL;
}

/* Returns a filter for a name. Only a regular expression matches a name as a whole. */
static const char *filter_of_span(document *d, const char *term, const group *g) {
    char pattern[128], *to = pattern;
    const char *c = g->name;
    for (; *c && to < pattern + sizeof pattern - 2; c++) {
        if (strchr("\\^$.[|()*+?{/", *c))
            *to++ = '\\';
        *to++ = *c;
    }
    *to = '\0';
    return document_text(d, "%s:/^%s%s/", term, pattern, *c ? "" : "$");
}

/* Returns a filter for a thread without a name. At other times, threads with names may have had the
 * same domain. */
static const char *filter_of_unnamed(document *d, uint32_t domain) {
    return document_text(d, "domain:%" PRIu32 " thread:/^thread %" PRIu32 "$/", domain, domain);
}

/* Blocks that were never freed also have a lifetime, until the end, so they must be excluded by
 * `-survived`. */
const char *timeline_group_filter(document *d, groups_by by, const group *g) {
    const uint64_t least = groups_life(g->number), most = groups_life(g->number + 1);
    if (by == GROUPS_BY_THREAD)
        return g->name ? filter_of_span(d, "thread", g) : filter_of_unnamed(d, g->number);
    if (nameless[by].filter && !g->name)
        return nameless[by].filter;
    if (by == GROUPS_BY_SCOPE)
        return filter_of_span(d, "scope", g);
    if (by == GROUPS_BY_TRACE || by == GROUPS_BY_SPAN)
        return document_text(d, "%s:%s", groups_by_names[by], g->name);
    if (g->number == GROUPS_NEVER_FREED)
        return "survived";
    return g->number + 1 == GROUPS_NEVER_FREED
               ? document_text(d, "life:>=%" PRIu64 "us -survived", least)
               : document_text(d, "life:%" PRIu64 "us..%" PRIu64 "us -survived", least, most - 1);
}
