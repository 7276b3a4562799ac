/* mcp_source.c: annotates a source file with the JSON rows of `hotspots` by line. */
#include "cli/mcp/mcp_source.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"

/* Returns whether a file name in a trace, which may be relative to any folder, can mean this
 * file. */
static bool is_file(const char *path, const char *name) {
    while (strncmp(name, "./", 2) == 0)
        name += 2;
    return *name && path_ends(path, name, strlen(name));
}

/* Finds the row of a line; NULL: nothing is allocated there. For line 0, returns the first row of
 * the file, which is the largest. */
static json_t *row_of(json_t *rows, const char *path, long long line) {
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        const char *file = json_string_value(json_object_get(row, "file"));
        const long long at = json_integer_value(json_object_get(row, "line"));
        if (file && is_file(path, file) && (line == 0 || at == line))
            return row;
    }
    return NULL;
}

static void print_line(FILE *out, json_t *rows, const char *path, long long number,
                       const char *text) {
    json_t *row = row_of(rows, path, number);
    if (row)
        fprintf(out, "%6.1f%%", 100 * json_number_value(json_object_get(row, "share")));
    else
        fprintf(out, "%7s", "");
    fprintf(out, " %5lld  %.*s\n", number, (int)strcspn(text, "\r\n"), text);
}

static void print_lines(FILE *out, json_t *rows, const char *path, long long from, long long to) {
    FILE *in = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    if (!in) {
        fprintf(out, "cannot read %s\n", path);
        return;
    }
    for (long long n = 1; n <= to && getline(&text, &room, in) >= 0; n++)
        if (n >= from)
            print_line(out, rows, path, n, text);
    free(text);
    fclose(in);
}

char *mcp_source(const char *path, const char *report, long long line, long long around) {
    char *answer = NULL;
    size_t size = 0;
    const char *object = strchr(report, '{'); /* between messages of standard error */
    json_t *whole = object ? json_loads(object, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
    json_t *rows = json_object_get(whole, "hotspots");
    FILE *out = open_memstream(&answer, &size);
    if (!out) {
        json_decref(whole);
        return NULL;
    }
    if (!row_of(rows, path, 0))
        fputs("The trace has no allocations in this file.\n", out);
    if (line == 0)
        line = json_integer_value(json_object_get(row_of(rows, path, 0), "line"));
    fputs("  share  line  (share of all that is allocated)\n", out);
    print_lines(out, rows, path, line > around ? line - around : 1, line + around);
    json_decref(whole);
    return fclose(out) == 0 ? answer : NULL;
}
