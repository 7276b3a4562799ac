/* debug_file.c: looks in the same places as gdb. */
#include "symbolize/debug_file.h"

#include <dlfcn.h>
#include <elfutils/libdwelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Opens a candidate. It must have the build id `wanted`, unless that is empty. */
static bool open_debug(elf_file *debug, int in, const char *path, const build_id *wanted) {
    if (elf_file_open(debug, in, path) != 0)
        return false;
    bool same = !wanted->size || build_id_equal(&debug->id, wanted);
    if (same && (elf_file_has_debug_info(debug) || elf_file_has_section(debug, ".symtab")))
        return true;
    elf_file_close(debug);
    return false;
}

bool debug_file_path(const build_id *id, const debug_file_options *options, char path[PATH_MAX]) {
    const char *root = options->root ? options->root : DEBUG_FILE_ROOT;
    char digits[BUILD_ID_TEXT];
    if (id->size < 2)
        return false;
    build_id_print(id, digits);
    return snprintf(path, PATH_MAX, "%s/.build-id/%.2s/%s.debug", root, digits, digits + 2) <
           PATH_MAX;
}

static bool find_by_build_id(elf_file *debug, const build_id *id,
                             const debug_file_options *options) {
    char path[PATH_MAX];
    return debug_file_path(id, options, path) && open_debug(debug, options->in, path, id);
}

/* ---- .gnu_debuglink ---------------------------------------------------------------------- */

static bool has_checksum(const elf_file *file, uint32_t expected) {
    size_t size;
    char *bytes = elf_rawfile(file->elf, &size);
    return bytes && crc32_z(0, (const unsigned char *)bytes, size) == expected;
}

static bool open_linked(elf_file *debug, int in, const char *path, const elf_file *module,
                        uint32_t checksum) {
    if (!open_debug(debug, in, path, &module->id))
        return false;
    if (module->id.size || has_checksum(debug, checksum))
        return true;
    elf_file_close(debug);
    return false;
}

/* Resolves symbolic links, but only in our own files. In another root, a link is resolved when the
 * file is opened. */
static bool find_real(int in, const char *path, char real[PATH_MAX]) {
    return in > 0 ? path[0] == '/' && snprintf(real, PATH_MAX, "%s", path) < PATH_MAX
                  : realpath(path, real) != NULL;
}

const char *debug_file_link(const elf_file *module, uint32_t *checksum) {
    const char *name = module->elf ? dwelf_elf_gnu_debuglink(module->elf, checksum) : NULL;
    return name && !strchr(name, '/') ? name : NULL;
}

static bool find_by_link(elf_file *debug, int in, const char *root, const char *module_path,
                         const elf_file *module) {
    uint32_t checksum;
    const char *name = debug_file_link(module, &checksum);
    char real[PATH_MAX], path[PATH_MAX];
    if (!name || !find_real(in, module_path, real))
        return false;
    int folder = (int)(strrchr(real, '/') - real);
    const struct {
        const char *before, *after;
    } places[] = {{"", "/"}, {"", "/.debug/"}, {root, "/"}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int n = snprintf(path, sizeof path, "%s%.*s%s%s", places[i].before, folder, real,
                         places[i].after, name);
        if (n < (int)sizeof path && strcmp(path, real) != 0 &&
            open_linked(debug, in, path, module, checksum))
            return true;
    }
    return false;
}

/* ---- debuginfod -------------------------------------------------------------------------- */

/* The client library is loaded on demand: few users need it, and it depends on half a web
 * browser. */
typedef struct debuginfod_client debuginfod_client;
typedef debuginfod_client *debuginfod_begin_fn(void);
typedef int debuginfod_find_fn(debuginfod_client *client, const unsigned char *id, int id_size,
                               char **path);
typedef void debuginfod_end_fn(debuginfod_client *client);

static int debuginfod_fetch(void *library, const build_id *id) {
    debuginfod_begin_fn *begin = (debuginfod_begin_fn *)dlsym(library, "debuginfod_begin");
    debuginfod_find_fn *find = (debuginfod_find_fn *)dlsym(library, "debuginfod_find_debuginfo");
    debuginfod_end_fn *end = (debuginfod_end_fn *)dlsym(library, "debuginfod_end");
    debuginfod_client *client = begin && find && end ? begin() : NULL;
    if (!client)
        return -1;
    int fd = find(client, id->bytes, (int)id->size, NULL);
    end(client);
    return fd;
}

static bool find_by_server(elf_file *debug, const build_id *id) {
    const char *servers = getenv("DEBUGINFOD_URLS");
    if (!servers || !*servers || !id->size)
        return false;
    void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
    int fd = library ? debuginfod_fetch(library, id) : -1;
    return fd >= 0 && elf_file_open_fd(debug, fd) == 0;
}

bool debug_file_find(elf_file *debug, const build_id *id, const char *path, const elf_file *module,
                     const debug_file_options *options) {
    const char *root = options->root ? options->root : DEBUG_FILE_ROOT;
    *debug = ELF_FILE_CLOSED;
    return find_by_build_id(debug, id, options) ||
           find_by_link(debug, options->in, root, path, module) ||
           (options->debuginfod && find_by_server(debug, id));
}
