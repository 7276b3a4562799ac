/* file_kind.c: recognizes kinds of files by their first bytes, after decompression. Only regular
 * files are examined, since data from a pipe cannot be read again. */
#include "cli/file_kind.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/shell.h"
#include "cli/message.h"
#include "trace/input.h"

enum { LOOKED_AT = 4096 /* bytes */ };

typedef struct beginning {
    const char *path;
    char *word; /* the path quoted for a shell; may be NULL */
    char bytes[LOOKED_AT + 1];
    size_t n;
    bool executable, compressed;
} beginning;

static bool begins_with(const beginning *b, const char *text, size_t size) {
    return b->n >= size && memcmp(b->bytes, text, size) == 0;
}

static bool has(const beginning *b, const char *text) {
    return memmem(b->bytes, b->n, text, strlen(text)) != NULL;
}

/* Shows the command in the form that `run` needs: a name without a folder would be searched in
 * $PATH. */
static void say_program(const beginning *b, const char *kind) {
    message_error("%s: %s, not a trace; to record it: allotrace run -- %s%s", b->path, kind,
                  strchr(b->path, '/') ? "" : "./", b->word ? b->word : b->path);
}

static void say_import(const beginning *b, const char *kind) {
    message_error("%s: %s, not a trace; to make one of it: allotrace import -o imported.ctf %s",
                  b->path, kind, b->word ? b->word : b->path);
}

static bool is_elf(const beginning *b) {
    Elf64_Half type; /* at the same offset in 32-bit files */
    if (b->compressed || !begins_with(b, ELFMAG, SELFMAG) || b->n < EI_NIDENT + sizeof type)
        return false;
    memcpy(&type, b->bytes + EI_NIDENT, sizeof type);
    if (type == ET_CORE)
        message_error("%s: a core dump, not a trace", b->path);
    else if (b->executable && (type == ET_EXEC || type == ET_DYN))
        say_program(b, "a program");
    else
        message_error("%s: a library or object file, not a trace", b->path);
    return true;
}

static bool is_script(const beginning *b) {
    const bool is = !b->compressed && begins_with(b, "#!", 2);
    if (is)
        say_program(b, "a script");
    return is;
}

static bool is_page(const beginning *b) {
    const char *text = b->bytes + strspn(b->bytes, " \t\r\n");
    if (strncasecmp(text, "<!doctype html", strlen("<!doctype html")) != 0 &&
        strncasecmp(text, "<html", strlen("<html")) != 0)
        return false;
    if (has(b, "<title>allotrace</title>"))
        message_error("%s: a page that `allotrace export --to html` made, not a trace; open it in "
                      "a browser",
                      b->path);
    else
        message_error("%s: an HTML page, not a trace", b->path);
    return true;
}

static bool is_json(const beginning *b) {
    const char *text = b->bytes + strspn(b->bytes, " \t\r\n");
    if (*text == '{' && has(b, "\"callFrame\""))
        say_import(b, "a heap profile of V8");
    else if (*text == '{' || (*text == '[' && strchr("{[\"\r\n \t", text[1])))
        message_error("%s: JSON, not a trace", b->path);
    else
        return false;
    return true;
}

static bool is_profile(const beginning *b) {
    /* pprof begins with field 1, as Go writes it, or with its string table, whose first string is
     * empty. */
    const bool pprof = b->compressed && (begins_with(b, "\n", 1) || begins_with(b, "2\0", 2));
    if (begins_with(b, "heap_v2/", strlen("heap_v2/")))
        say_import(b, "a heap dump of jemalloc");
    else if (b->compressed && begins_with(b, "v ", strlen("v ")))
        say_import(b, "a recording of heaptrack");
    else if (pprof)
        say_import(b, "perhaps a profile of pprof");
    else
        return false;
    return true;
}

static bool is_other(const beginning *b) {
    static const struct {
        const char *bytes, *what;
    } kinds[] = {
        {"alrt.idx", "the index of a trace; name the trace itself"},
        {"SQLite format 3", "an SQLite database, not a trace"},
        {"PAR1", "a Parquet file, not a trace"},
        {"\x28\xB5\x2F\xFD", "compressed twice; decompress it once"},
        {"\x1F\x8B", "compressed twice; decompress it once"},
    };
    const char *what = b->compressed ? "compressed, but what is in it is not a trace" : NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (begins_with(b, kinds[i].bytes, strlen(kinds[i].bytes)))
            what = kinds[i].what;
    if (what)
        message_error("%s: %s", b->path, what);
    return what;
}

static bool look(beginning *b) {
    input in;
    struct stat st;
    memtrace_error error;
    const int fd = open(b->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return false;
    }
    b->executable = st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH);
    const bool open = input_open(&in, fd, NULL, 0, &error) == MEMTRACE_OK;
    if (open) {
        const size_t n = input_peek(&in, LOOKED_AT);
        b->n = n < LOOKED_AT ? n : LOOKED_AT;
        b->compressed = input_is_compressed(&in);
        memcpy(b->bytes, in.next, b->n);
    }
    input_close(&in);
    return open;
}

bool file_kind_say(const char *path) {
    static bool (*const kinds[])(const beginning *) = {is_elf,  is_script,  is_page,
                                                       is_json, is_profile, is_other};
    beginning b = {.path = path};
    bool said = false;
    if (strcmp(path, "-") == 0 || !look(&b))
        return false;
    b.word = shell_word(path);
    for (size_t i = 0; !said && i < sizeof kinds / sizeof *kinds; i++)
        said = kinds[i](&b);
    free(b.word);
    return said;
}
