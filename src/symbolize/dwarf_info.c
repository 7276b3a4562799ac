/* dwarf_info.c: libdw reads the sections, but the index by address is our own. To find the
 * functions around an address, inlined ones included, libdw would walk a whole unit for every
 * address.
 *
 * A unit is indexed as a whole, in one walk over its entries. Functions can be anywhere in it (that
 * of a lambda is inside the function that contains it), so hardly anything can be skipped. */
#include "symbolize/dwarf_info.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/map64.h"
#include "symbolize/names.h"
#include "symbolize/span_map.h"

#define MAX_NESTING  512 /* of entries: a limit for damaged files, far above real ones */
#define MAX_SCOPES   32  /* in a qualified name */
#define NO_SCOPE     MAP64_NONE
#define NOT_A_PARENT UINT32_MAX

/* A function, or an inlined copy of one, that has code. */
typedef struct code_node {
    Dwarf_Die die;
    uint32_t parent; /* node into which it was inlined; NOT_A_PARENT: not inlined */
} code_node;

/* A namespace, class or function in which others are declared. */
typedef struct scope {
    Dwarf_Die die;
    uint32_t parent; /* NO_SCOPE: the unit */
} scope;

typedef struct unit {
    Dwarf_Die die;      /* entry of the unit; has the line table */
    Dwarf_Die code_die; /* root of its entries: another one if these are in a .dwo file */
    bool lost;          /* they are in a .dwo file that cannot be read */
    bool indexed;
    VEC(code_node) nodes;
    span_map code; /* values are indices of `nodes` */
    VEC(scope) scopes;
    map64 scope_of; /* from the offset of a function without linkage name to its scope */
} unit;

struct dwarf_info {
    Dwarf *dwarf;
    VEC(unit) units;
    span_map ranges;    /* values are indices of `units` */
    intern_table names; /* names that were composed here */
    unit *lost;         /* first lost unit that was asked about */
};

/* ---- indexing a unit --------------------------------------------------------------------- */

static const char *string_attribute(Dwarf_Die *die, unsigned name) {
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

static const char *linkage_name(Dwarf_Die *die) {
    const char *name = string_attribute(die, DW_AT_linkage_name);
    return name ? name : string_attribute(die, DW_AT_MIPS_linkage_name);
}

static uint32_t number_attribute(Dwarf_Die *die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) != 0 || value > UINT32_MAX)
        return 0;
    return (uint32_t)value;
}

/* Adds the address ranges of an entry. Returns 1 if it has any, 0 if not, -1 when out of memory.
 * Code discarded by the linker keeps an entry at address 0, or with lld at the very end. */
static int add_ranges(span_map *map, Dwarf_Die *die, uint32_t value) {
    Dwarf_Addr base, low, high;
    ptrdiff_t offset = 0;
    int found = 0;
    while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0) {
        if (low == 0 || low >= high)
            continue;
        if (!span_map_add(map, low, high, value))
            return -1;
        found = 1;
    }
    return found;
}

/* The position of the walk over a unit. */
typedef struct walk {
    unit *unit;
    uint32_t node;  /* innermost node around the entry */
    uint32_t scope; /* innermost scope around the entry */
    int depth;
} walk;

static bool walk_children(walk at, Dwarf_Die *parent);

static bool walk_code(walk at, Dwarf_Die *die, bool inlined) {
    uint32_t index = (uint32_t)at.unit->nodes.count;
    int has_code = add_ranges(&at.unit->code, die, index);
    if (has_code < 0)
        return false;
    if (has_code) {
        code_node node = {.die = *die, .parent = inlined ? at.node : NOT_A_PARENT};
        if (!vec_push(&at.unit->nodes, node))
            return false;
        at.node = index;
    }
    return walk_children(at, die);
}

static bool enter_scope(walk *at, Dwarf_Die *die) {
    uint32_t index = (uint32_t)at->unit->scopes.count;
    if (!vec_push(&at->unit->scopes, ((scope){.die = *die, .parent = at->scope})))
        return false;
    at->scope = index;
    return true;
}

static bool walk_function(walk at, Dwarf_Die *die) {
    if (at.scope != NO_SCOPE && !dwarf_hasattr(die, DW_AT_linkage_name)) {
        uint32_t *place = map64_put(&at.unit->scope_of, dwarf_dieoffset(die));
        if (!place)
            return false;
        *place = at.scope;
    }
    if (dwarf_hasattr(die, DW_AT_declaration))
        return true;
    return enter_scope(&at, die) && walk_code(at, die, false);
}

static bool walk_entry(walk at, Dwarf_Die *die) {
    switch (dwarf_tag(die)) {
    case DW_TAG_subprogram:
        return walk_function(at, die);
    case DW_TAG_inlined_subroutine:
        return walk_code(at, die, true);
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_enumeration_type: /* Rust's contain functions */
        return !dwarf_haschildren(die) || (enter_scope(&at, die) && walk_children(at, die));
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_common_block:
        return walk_children(at, die);
    default:
        return true;
    }
}

static bool walk_children(walk at, Dwarf_Die *parent) {
    Dwarf_Die die;
    if (++at.depth > MAX_NESTING || dwarf_child(parent, &die) != 0)
        return true;
    do {
        if (!walk_entry(at, &die))
            return false;
    } while (dwarf_siblingof(&die, &die) == 0);
    return true;
}

/* Fills all fields of a unit, without sealing `code`. */
static bool unit_walk(unit *u) {
    u->indexed = true;
    walk at = {.unit = u, .node = NOT_A_PARENT, .scope = NO_SCOPE};
    return walk_children(at, &u->code_die);
}

static bool unit_index(unit *u) {
    return u->indexed || (unit_walk(u) && span_map_seal(&u->code));
}

static void unit_free(unit *u) {
    vec_free(&u->nodes);
    vec_free(&u->scopes);
    span_map_free(&u->code);
    map64_free(&u->scope_of);
}

/* ---- the table of units ------------------------------------------------------------------ */

/* For a unit that does not state its address ranges: takes those of its functions. */
static bool add_ranges_of_functions(dwarf_info *info, unit *u, uint32_t index) {
    if (!unit_walk(u))
        return false;
    for (size_t i = 0; i < u->code.spans.count; i++) {
        const span *s = &u->code.spans.items[i];
        if (!span_map_add(&info->ranges, s->low, s->high, index))
            return false;
    }
    return span_map_seal(&u->code);
}

static bool add_unit(dwarf_info *info, uint8_t type, Dwarf_Die *die, Dwarf_Die *split) {
    uint32_t index = (uint32_t)info->units.count;
    unit new = {.die = *die,
                .code_die = split->cu ? *split : *die,
                .lost = type == DW_UT_skeleton && !split->cu};
    if (!vec_push(&info->units, new))
        return false;
    int has_ranges = add_ranges(&info->ranges, die, index);
    if (has_ranges)
        return has_ranges > 0;
    return add_ranges_of_functions(info, &info->units.items[index], index);
}

static bool read_units(dwarf_info *info) {
    Dwarf_CU *cu = NULL;
    Dwarf_Die die, split;
    uint8_t type;
    while (dwarf_get_units(info->dwarf, cu, &cu, NULL, &type, &die, &split) == 0) {
        bool code = type == DW_UT_compile || type == DW_UT_skeleton;
        if (code && dwarf_tag(&die) != DW_TAG_partial_unit && !add_unit(info, type, &die, &split))
            return false;
    }
    return span_map_seal(&info->ranges);
}

dwarf_info *dwarf_info_open(Elf *elf) {
    Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    if (!dwarf)
        return NULL;
    dwarf_info *info = calloc(1, sizeof *info);
    if (!info) {
        dwarf_end(dwarf);
        return NULL;
    }
    info->dwarf = dwarf;
    if (!read_units(info) || !info->units.count) {
        dwarf_info_close(info);
        return NULL;
    }
    return info;
}

void dwarf_info_close(dwarf_info *info) {
    if (!info)
        return;
    for (size_t i = 0; i < info->units.count; i++)
        unit_free(&info->units.items[i]);
    vec_free(&info->units);
    span_map_free(&info->ranges);
    intern_free(&info->names);
    dwarf_end(info->dwarf);
    free(info);
}

/* ---- names ------------------------------------------------------------------------------- */

/* Returns the declaration of an inlined or out-of-line function. */
static Dwarf_Die declaration_of(Dwarf_Die die) {
    static const unsigned links[] = {DW_AT_abstract_origin, DW_AT_specification};
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        Dwarf_Attribute attribute;
        Dwarf_Die target;
        if (dwarf_formref_die(dwarf_attr(&die, links[i], &attribute), &target))
            die = target;
    }
    return die;
}

/* Returns the name of a scope that needs no outer scopes before it: a function whose linkage name
 * includes them. Otherwise NULL. */
static const char *complete_scope_name(dwarf_info *info, Dwarf_Die *die) {
    const char *linkage = dwarf_tag(die) == DW_TAG_subprogram ? linkage_name(die) : NULL;
    return linkage ? name_demangle(&info->names, linkage) : NULL;
}

/* Returns the name of a scope. `inside` is the name of what is in it. */
static const char *scope_name(Dwarf_Die *die, const char *inside) {
    const char *name = dwarf_diename(die);
    if (name)
        return name;
    if (dwarf_tag(die) == DW_TAG_namespace)
        return "(anonymous namespace)";
    return strcmp(inside, "operator()") == 0 ? "{lambda}" : "{unnamed}";
}

/* Stores the names of the scopes around `name`, innermost first, and returns their number. */
static size_t scope_names(dwarf_info *info, const unit *u, uint32_t at, const char *name,
                          const char *parts[MAX_SCOPES]) {
    size_t n = 0;
    for (; at != NO_SCOPE && n < MAX_SCOPES; at = u->scopes.items[at].parent) {
        Dwarf_Die *die = &u->scopes.items[at].die;
        parts[n] = complete_scope_name(info, die);
        if (parts[n++])
            return n;
        parts[n - 1] = scope_name(die, n > 1 ? parts[n - 2] : name);
    }
    return n;
}

/* Returns "outer::inner::name", for a function without linkage name, which is local to its unit. */
static const char *qualified_name(dwarf_info *info, const unit *u, Dwarf_Die *die) {
    const char *name = dwarf_diename(die);
    Dwarf_Die declaration = declaration_of(*die);
    uint32_t at = map64_get(&u->scope_of, dwarf_dieoffset(&declaration));
    const char *parts[MAX_SCOPES];
    size_t n = name ? scope_names(info, u, at, name, parts) : 0;
    size_t size = name ? strlen(name) : 0;
    for (size_t i = 0; i < n; i++)
        size += strlen(parts[i]) + strlen("::");
    char *whole = n ? malloc(size) : NULL;
    if (!whole)
        return name;
    char *end = whole;
    while (n--)
        end = mempcpy(mempcpy(end, parts[n], strlen(parts[n])), "::", strlen("::"));
    memcpy(end, name, strlen(name));
    const char *kept = intern(&info->names, whole, size);
    free(whole);
    return kept ? kept : name;
}

/* ---- answering --------------------------------------------------------------------------- */

/* Finds the line and column of an address. */
static void find_line(unit *u, uint64_t address, dwarf_frame *frame) {
    Dwarf_Line *line = dwarf_getsrc_die(&u->die, address);
    int number;
    if (!line)
        return;
    frame->file = dwarf_linesrc(line, NULL, NULL);
    frame->line = dwarf_lineno(line, &number) == 0 ? (uint32_t)number : 0;
    frame->column = dwarf_linecol(line, &number) == 0 ? (uint32_t)number : 0;
}

/* Finds the line and column at which a node was inlined: the position in its caller. */
static void find_call(unit *u, code_node *node, dwarf_frame *caller) {
    uint32_t file = number_attribute(&node->die, DW_AT_call_file);
    Dwarf_Files *files;
    if (dwarf_getsrcfiles(&u->code_die, &files, NULL) == 0)
        caller->file = dwarf_filesrc(files, file, NULL, NULL);
    caller->line = number_attribute(&node->die, DW_AT_call_line);
    caller->column = number_attribute(&node->die, DW_AT_call_column);
}

/* Returns the start of a function's code, or 0 if it has none. */
static uint64_t find_entry(Dwarf_Die *die) {
    Dwarf_Addr entry, base, end;
    if (dwarf_entrypc(die, &entry) == 0 || dwarf_ranges(die, 0, &base, &entry, &end) > 0)
        return entry;
    return 0;
}

static void name_frame(dwarf_info *info, unit *u, code_node *node, dwarf_frame *frame) {
    frame->linkage_name = linkage_name(&node->die);
    frame->name =
        frame->linkage_name ? dwarf_diename(&node->die) : qualified_name(info, u, &node->die);
    if (node->parent == NOT_A_PARENT)
        frame->entry = find_entry(&node->die);
}

static dwarf_frame *start_frame(unit *u, dwarf_frame *frame) {
    *frame = (dwarf_frame){.folder = string_attribute(&u->die, DW_AT_comp_dir)};
    return frame;
}

/* Writes the chain of functions, innermost first, backwards from the end of `frames`. */
static size_t find_chain(dwarf_info *info, unit *u, uint64_t address, dwarf_frame *frames,
                         size_t max) {
    size_t n = 1;
    dwarf_frame *frame = start_frame(u, &frames[max - 1]);
    find_line(u, address, frame);
    uint32_t at = span_map_find(&u->code, address);
    if (at == SPAN_NONE)
        return frame->file ? 1 : 0;
    for (;;) {
        code_node *node = &u->nodes.items[at];
        name_frame(info, u, node, frame);
        if (node->parent == NOT_A_PARENT || n == max)
            return n;
        frame = start_frame(u, &frames[max - ++n]);
        find_call(u, node, frame);
        at = node->parent;
    }
}

size_t dwarf_info_find(dwarf_info *info, uint64_t address, dwarf_frame *frames, size_t max) {
    uint32_t index = span_map_find(&info->ranges, address);
    if (index == SPAN_NONE || !max)
        return 0;
    unit *u = &info->units.items[index];
    if (!unit_index(u))
        return 0;
    if (u->lost && !info->lost)
        info->lost = u;
    size_t n = find_chain(info, u, address, frames, max);
    memmove(frames, frames + max - n, n * sizeof *frames);
    return n;
}

const char *dwarf_info_lost(const dwarf_info *info, const char **folder) {
    if (!info->lost)
        return NULL;
    Dwarf_Die *die = &info->lost->die;
    const char *name = string_attribute(die, DW_AT_dwo_name);
    *folder = string_attribute(die, DW_AT_comp_dir);
    return name ? name : string_attribute(die, DW_AT_GNU_dwo_name);
}
