/* symbolize.c: opens modules, looks up addresses in their debug information and symbol tables, and
 * turns the results into locations. */
#include "symbolize/symbolize.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/map64.h"
#include "base/vec.h"
#include "symbolize/debug_part.h"
#include "symbolize/dwarf_info.h"
#include "symbolize/names.h"

#define MAX_CHAIN      (MEMTRACE_MAX_LOCATIONS - 1) /* leaves room for a type */
#define PROGRESS_EVERY 256                          /* answers */

struct symbolizer {
    symbolize_options options;
    VEC(symbolize_module) modules;
    VEC(symbolize_request) answers;
    map64 known;          /* from a hash of module and address to the index of an answer */
    intern_table strings; /* strings of all answers */
    arena locations;      /* locations of all answers */
};

/* A string made from one or two strings of the open module, which are identified by address. */
typedef struct cached_name {
    const char *first, *second;
    const char *name;
} cached_name;

typedef struct name_cache {
    map64 places; /* from a hash of the two addresses to the index in `names` */
    VEC(cached_name) names;
} name_cache;

/* A module while its addresses are looked up. */
typedef struct open_module {
    symbolize_module *module;
    elf_file file;   /* closed if it is missing or has been replaced */
    elf_file debug;  /* closed if not needed or not found */
    debug_part part; /* part of one of these, if that is enough */
    dwarf_info *dwarf;
    elf_symbols *symbols;
    name_cache functions, paths;
    /* Name of a function (address of the string) -> 1, or 2 if several functions have it. */
    map64 ocaml_names;
} open_module;

symbolizer *symbolizer_new(const symbolize_options *options) {
    symbolizer *s = calloc(1, sizeof *s);
    if (s)
        s->options = *options;
    return s;
}

void symbolizer_free(symbolizer *s) {
    if (!s)
        return;
    vec_free(&s->modules);
    vec_free(&s->answers);
    map64_free(&s->known);
    intern_free(&s->strings);
    arena_free(&s->locations);
    free(s);
}

uint32_t symbolizer_module(symbolizer *s, const char *path, const build_id *id) {
    for (size_t i = 0; i < s->modules.count; i++) {
        const symbolize_module *m = &s->modules.items[i];
        if (strcmp(m->path, path) == 0 && build_id_equal(&m->id, id))
            return (uint32_t)i;
    }
    symbolize_module module = {.path = intern(&s->strings, path, strlen(path)), .id = *id};
    if (!module.path || !vec_push(&s->modules, module))
        return UINT32_MAX;
    return (uint32_t)(s->modules.count - 1);
}

size_t symbolizer_n_modules(const symbolizer *s) {
    return s->modules.count;
}

const symbolize_module *symbolizer_module_at(const symbolizer *s, uint32_t module) {
    return &s->modules.items[module];
}

/* ---- opening and closing a module -------------------------------------------------------- */

/* Whether the file is the recorded one. Without a build id, only its age can prove otherwise. */
static bool is_recorded_file(const symbolizer *s, const open_module *open) {
    const build_id *id = &open->module->id;
    struct stat status;
    if (id->size || open->file.id.size)
        return build_id_equal(id, &open->file.id);
    if (!s->options.recorded_at || fstat(open->file.fd, &status) != 0)
        return true;
    uint64_t modified =
        (uint64_t)status.st_mtim.tv_sec * 1000000 + (uint64_t)status.st_mtim.tv_nsec / 1000;
    return modified <= s->options.recorded_at;
}

static void open_file(const symbolizer *s, open_module *open) {
    symbolize_module *m = open->module;
    int error = elf_file_open(&open->file, s->options.debug_files.in, m->path);
    if (error == ENOEXEC) {
        m->state = MODULE_UNREADABLE;
    } else if (error) {
        m->state = MODULE_MISSING;
        m->os_error = error;
    } else if (!is_recorded_file(s, open)) {
        m->state = MODULE_CHANGED;
        elf_file_close(&open->file);
    }
}

/* Reads the debug information about the `n` addresses in `requests`. */
static void read_debug_info(open_module *open, const elf_file *source,
                            symbolize_request *const *requests, size_t n) {
    uint64_t *addresses = malloc(n * sizeof *addresses);
    for (size_t i = 0; i < n && addresses; i++)
        addresses[i] = requests[i]->address;
    if (addresses && debug_part_make(&open->part, source, addresses, n))
        open->dwarf = dwarf_info_open(open->part.elf);
    free(addresses);
    if (open->dwarf)
        return;
    open->dwarf = dwarf_info_open(source->elf);
    if (open->dwarf && debug_part_lost(source)) {
        dwarf_info_close(open->dwarf);
        open->dwarf = NULL;
    }
}

/* Opens a module. `requests` are the `n` requests for it, sorted by address. */
static bool module_open(const symbolizer *s, open_module *open, symbolize_module *module,
                        symbolize_request *const *requests, size_t n) {
    *open = (open_module){.module = module, .file = ELF_FILE_CLOSED, .debug = ELF_FILE_CLOSED};
    open_file(s, open);
    bool own = open->file.elf && elf_file_has_debug_info(&open->file);
    if (!own)
        debug_file_find(&open->debug, &module->id, module->path, &open->file,
                        &s->options.debug_files);
    elf_file *source = own ? &open->file : &open->debug;
    if (source->elf)
        read_debug_info(open, source, requests, n);
    if (open->debug.elf)
        module->state = MODULE_READ; /* the debug file of the recorded module is enough */
    module->unreadable_debug_info = !open->dwarf && source->elf && elf_file_has_debug_info(source);
    open->symbols = elf_symbols_read(&open->file, &open->debug);
    return open->symbols != NULL;
}

static void name_cache_free(name_cache *cache) {
    map64_free(&cache->places);
    vec_free(&cache->names);
}

static void note_lost_dwo(symbolizer *s, open_module *open) {
    const char *folder, *name = open->dwarf ? dwarf_info_lost(open->dwarf, &folder) : NULL;
    if (name)
        open->module->lost_dwo = name_path(&s->strings, folder, name);
}

static void note_lost_debug_file(symbolizer *s, const open_module *open) {
    symbolize_module *m = open->module;
    uint32_t checksum;
    m->lacks_debug_file = !open->debug.elf && !elf_file_has_debug_info(&open->file);
    const char *link = m->lacks_debug_file ? debug_file_link(&open->file, &checksum) : NULL;
    m->debug_link = link ? intern(&s->strings, link, strlen(link)) : NULL;
}

static void module_close(open_module *open) {
    name_cache_free(&open->functions);
    map64_free(&open->ocaml_names);
    name_cache_free(&open->paths);
    elf_symbols_free(open->symbols);
    dwarf_info_close(open->dwarf);
    debug_part_free(&open->part);
    elf_file_close(&open->debug);
    elf_file_close(&open->file);
}

/* ---- names ------------------------------------------------------------------------------- */

typedef const char *make_name_fn(intern_table *strings, const char *first, const char *second);

/* Returns the name made from two strings of the open module, which is made only once. NULL when out
 * of memory. */
static const char *cached(symbolizer *s, name_cache *cache, make_name_fn *make, const char *first,
                          const char *second) {
    uint64_t key = hash_u64((uintptr_t)first) ^ (uintptr_t)second;
    uint32_t *place = vec_reserve(&cache->names, 1) ? map64_put(&cache->places, key) : NULL;
    if (!place)
        return NULL;
    if (*place != MAP64_NONE) {
        const cached_name *known = &cache->names.items[*place];
        bool same = known->first == first && known->second == second;
        return same ? known->name : make(&s->strings, first, second);
    }
    *place = (uint32_t)cache->names.count;
    cached_name entry = {
        .first = first, .second = second, .name = make(&s->strings, first, second)};
    cache->names.items[cache->names.count++] = entry;
    return entry.name;
}

static const char *make_function(intern_table *strings, const char *symbol, const char *unused) {
    (void)unused;
    return name_demangle(strings, symbol);
}

static const char *make_ocaml(intern_table *strings, const char *symbol, const char *numbered) {
    return name_ocaml(strings, symbol, numbered);
}

/* Finds the names that several OCaml functions of the module share, such as those of submodules. */
static bool find_namesakes(symbolizer *s, open_module *open) {
    for (size_t i = 0; i < elf_symbols_count(open->symbols); i++) {
        const char *symbol = elf_symbols_name(open->symbols, i);
        const char *name = name_is_ocaml(symbol) ? name_ocaml(&s->strings, symbol, false) : symbol;
        uint32_t *n =
            name && name != symbol ? map64_put(&open->ocaml_names, (uintptr_t)name) : NULL;
        if (!name || (name != symbol && !n))
            return false;
        if (n)
            *n = *n == MAP64_NONE ? 1 : 2;
    }
    return true;
}

/* Returns the name of an OCaml function, numbered if other functions have the same name. */
static const char *function_of_ocaml(symbolizer *s, open_module *open, const char *symbol) {
    if (!open->ocaml_names.slots && !find_namesakes(s, open))
        return NULL;
    const char *name = cached(s, &open->functions, make_ocaml, symbol, NULL);
    const bool shared = name && map64_get(&open->ocaml_names, (uintptr_t)name) == 2;
    return shared ? cached(s, &open->functions, make_ocaml, symbol, "numbered") : name;
}

static const char *function_of_symbol(symbolizer *s, open_module *open, const char *symbol) {
    if (name_is_ocaml(symbol))
        return function_of_ocaml(s, open, symbol);
    return cached(s, &open->functions, make_function, symbol, NULL);
}

/* Returns the symbol that names a function better than the debug information does, or NULL. A
 * function without a linkage name is local to its unit: its symbol includes the scope. A linkage
 * name that is not mangled has aliases: the symbol is the public one, `strdup` instead of
 * `__GI___strdup`. Assembler code only has symbols. */
static const char *better_symbol(const open_module *open, uint64_t address,
                                 const dwarf_frame *frame) {
    uint64_t start;
    if (frame->linkage_name && name_is_mangled(frame->linkage_name))
        return NULL;
    if (!frame->name)
        return elf_symbols_find(open->symbols, address, NULL);
    const char *symbol =
        frame->entry ? elf_symbols_find(open->symbols, frame->entry, &start) : NULL;
    bool same = symbol && frame->entry == start;
    return same && (frame->linkage_name || name_is_mangled(symbol)) ? symbol : NULL;
}

static const char *function_of_frame(symbolizer *s, open_module *open, uint64_t address,
                                     const dwarf_frame *frame) {
    const char *symbol = better_symbol(open, address, frame);
    if (symbol)
        return function_of_symbol(s, open, symbol);
    if (frame->linkage_name && name_is_mangled(frame->linkage_name))
        return function_of_symbol(s, open, frame->linkage_name);
    const char *name = frame->name ? frame->name : "?";
    if (name_is_ocaml(name)) /* the assembler names functions by their symbols */
        return function_of_symbol(s, open, name);
    return intern(&s->strings, name, strlen(name));
}

/* ---- answers ----------------------------------------------------------------------------- */

static uint32_t at_most(uint32_t value, uint32_t most) {
    return value < most ? value : most;
}

static bool locate_frame(symbolizer *s, open_module *open, uint64_t address,
                         const dwarf_frame *frame, memtrace_location *location) {
    *location = (memtrace_location){
        .function = function_of_frame(s, open, address, frame),
        .file = frame->file ? cached(s, &open->paths, name_path, frame->folder, frame->file)
                            : open->module->path,
        .line = at_most(frame->line, MEMTRACE_MAX_LINE),
        .start_char =
            frame->column ? (uint16_t)at_most(frame->column - 1, MEMTRACE_MAX_START_CHAR) : 0,
    };
    location->end_char = location->start_char;
    return location->function && location->file;
}

static bool answer_from_debug_info(symbolizer *s, open_module *open, symbolize_request *request) {
    dwarf_frame frames[MAX_CHAIN];
    size_t n = dwarf_info_find(open->dwarf, request->address, frames, MAX_CHAIN);
    if (!n)
        return true;
    memtrace_location *locations = arena_alloc(&s->locations, n * sizeof *locations);
    if (!locations)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!locate_frame(s, open, request->address, &frames[i], &locations[i]))
            return false;
    request->locations = locations;
    request->n_locations = (uint32_t)n;
    request->has_line = true;
    return true;
}

static bool answer_from_symbols(symbolizer *s, open_module *open, symbolize_request *request) {
    const char *symbol = elf_symbols_find(open->symbols, request->address, NULL);
    if (!symbol)
        return true;
    memtrace_location *location = arena_alloc(&s->locations, sizeof *location);
    const char *function = function_of_symbol(s, open, symbol);
    if (!location || !function)
        return false;
    *location = (memtrace_location){.function = function, .file = open->module->path};
    request->locations = location;
    request->n_locations = 1;
    return true;
}

static bool answer(symbolizer *s, open_module *open, symbolize_request *request) {
    symbolize_module *m = open->module;
    if (open->dwarf && !answer_from_debug_info(s, open, request))
        return false;
    if (!request->n_locations && !answer_from_symbols(s, open, request))
        return false;
    *(request->has_line ? &m->n_lines : request->n_locations ? &m->n_names : &m->n_unresolved) += 1;
    return true;
}

/* ---- the work ---------------------------------------------------------------------------- */

static int compare_requests(const void *left, const void *right) {
    const symbolize_request *a = *(symbolize_request *const *)left;
    const symbolize_request *b = *(symbolize_request *const *)right;
    if (a->module != b->module)
        return a->module < b->module ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

typedef struct request_list {
    symbolize_request **items; /* sorted by module, then by address */
    size_t count, done;
    bool stopped; /* stopped by the caller's progress function */
} request_list;

static void report_progress(const symbolizer *s, request_list *list) {
    if (s->options.progress && !s->options.progress(s->options.context, list->done, list->count))
        list->stopped = true;
}

/* Answers all requests about the module of the next one. */
static bool resolve_module(symbolizer *s, request_list *list) {
    uint32_t module = list->items[list->done]->module;
    size_t end = list->done;
    open_module open;
    while (end < list->count && list->items[end]->module == module)
        end++;
    bool ok = module_open(s, &open, &s->modules.items[module], list->items + list->done,
                          end - list->done);
    report_progress(s, list);
    while (ok && !list->stopped && list->done < end) {
        ok = answer(s, &open, list->items[list->done]);
        if (++list->done % PROGRESS_EVERY == 0)
            report_progress(s, list);
    }
    note_lost_dwo(s, &open);
    note_lost_debug_file(s, &open);
    module_close(&open);
    return ok;
}

static uint64_t key_of(const symbolize_request *r) {
    return hash_u64(hash_u64(r->address) + r->module);
}

/* Looks up an earlier answer. Returns whether there was one. */
static bool recall(const symbolizer *s, symbolize_request *r) {
    const uint32_t i = map64_get(&s->known, key_of(r));
    const symbolize_request *known = i == MAP64_NONE ? NULL : &s->answers.items[i];
    const bool same = known && known->module == r->module && known->address == r->address;
    r->locations = same ? known->locations : NULL;
    r->n_locations = same ? known->n_locations : 0;
    r->has_line = same && known->has_line;
    return same;
}

/* Stores an answer. Without memory, it is looked up again next time. */
static void keep(symbolizer *s, const symbolize_request *r) {
    uint32_t *i = vec_reserve(&s->answers, 1) ? map64_put(&s->known, key_of(r)) : NULL;
    if (!i || *i != MAP64_NONE)
        return;
    *i = (uint32_t)s->answers.count;
    s->answers.items[s->answers.count++] = *r;
}

bool symbolizer_resolve(symbolizer *s, symbolize_request *requests, size_t n) {
    request_list list = {.items = malloc(n * sizeof *list.items)};
    bool ok = list.items || !n;
    for (size_t i = 0; i < n && ok; i++)
        if (!recall(s, &requests[i]))
            list.items[list.count++] = &requests[i];
    if (ok && list.count)
        qsort(list.items, list.count, sizeof *list.items, compare_requests);
    while (ok && !list.stopped && list.done < list.count)
        ok = resolve_module(s, &list);
    for (size_t i = 0; ok && i < list.done; i++)
        keep(s, list.items[i]);
    free(list.items);
    return ok;
}
