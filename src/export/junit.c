/* junit.c: a rule is a test case: a failed rule is a failure, an undecided one counts as skipped.
 * Names are escaped for XML and made printable. */
#include "export/junit.h"

/* Writes text for an attribute. XML allows neither control characters nor invalid UTF-8. */
static void xml_text(output *o, const char *text) {
    while (*text) {
        output_piece piece = output_shown_next(&text);
        switch (*piece.bytes) {
        case '&':
            output_text(o, "&amp;");
            break;
        case '<':
            output_text(o, "&lt;");
            break;
        case '>':
            output_text(o, "&gt;");
            break;
        case '"':
            output_text(o, "&quot;");
            break;
        default:
            output_bytes(o, piece.bytes, piece.size);
        }
    }
}

/* Writes the name as in the table, with the unit, so that names of test cases are unique. */
static void put_name(output *o, const budget_rule *r) {
    const char *title = check_measure(r);
    xml_text(o, check_name(r));
    if (r->name)
        return;
    if (title)
        output_format(o, ", %s", title);
    if (r->filter) {
        output_text(o, ", ");
        xml_text(o, r->filter);
    }
    if (!title && r->unit != BUDGET_BYTES)
        output_format(o, ", %s", check_unit(r->unit));
}

static void put_case(output *o, const check_report *c, size_t i) {
    static const char *const tags[] = {[BUDGET_FAIL] = "failure", [BUDGET_UNDECIDED] = "skipped"};
    const budget_rule *r = &c->rules[i];
    const budget_result *result = &c->results[i];
    output_text(o, "  <testcase classname=\"allotrace\" name=\"");
    put_name(o, r);
    if (result->verdict == BUDGET_PASS) {
        output_text(o, result->is_unknown ? "\">\n    <system-out>nothing in the trace has this "
                                            "name</system-out>\n  </testcase>\n"
                                          : "\"/>\n");
        return;
    }
    output_format(o, "\">\n    <%s message=\"", tags[result->verdict]);
    if (result->verdict == BUDGET_UNDECIDED)
        output_format(o, "UNDECIDED (%s): ", check_undecided(result).text);
    xml_text(o, check_actual(c, i).text);
    output_text(o, "; expected ");
    xml_text(o, check_limit(r).text);
    output_text(o, "\"/>\n  </testcase>\n");
}

void junit_write(output *o, const check_report *c) {
    output_text(o, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    output_format(o, "<testsuite name=\"allotrace check\" tests=\"%zu\" failures=\"%zu\" ", c->n,
                  check_count(c, BUDGET_FAIL));
    output_format(o, "errors=\"0\" skipped=\"%zu\">\n", check_count(c, BUDGET_UNDECIDED));
    for (size_t i = 0; i < c->n; i++)
        put_case(o, c, i);
    output_text(o, "</testsuite>\n");
}
