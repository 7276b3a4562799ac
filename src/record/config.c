/* config.c: parses numbers and paths by hand, because the C library's functions may allocate, take
 * locks or depend on the locale. Makes a relative path absolute at once. */
#include "record/config.h"

#include <stddef.h>
#include <string.h>

#include "base/hot.h"
#include "contract/settings.h"
#include "contract/trace_name.h"
#include "platform/syscall.h"
#include "record/text.h"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

HOT_CODE bool config_parse_whole(const char *s, uint64_t *number) {
    uint64_t n = 0;
    if (!*s)
        return false;
    for (; *s; s++)
        if (!is_digit(*s) || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(*s - '0'), &n))
            return false;
    *number = n;
    return true;
}

/* A double holds 15 digits exactly, and powers of ten up to 10^22. So every number that somebody
 * would type is rounded only once. */
#define MAX_DIGITS   15
#define MAX_EXPONENT 22

static bool parse_exponent(const char *s, int *exponent) {
    bool negative = *s == '-';
    uint64_t n;
    if (*s == '-' || *s == '+')
        s++;
    if (!config_parse_whole(s, &n) || n > MAX_EXPONENT)
        return false;
    *exponent = negative ? -(int)n : (int)n;
    return true;
}

HOT_CODE bool config_parse_number(const char *s, double *number) {
    double value = 0, power = 1;
    int digits = 0, exponent = 0, fraction = 0;
    bool point = false, seen = false;
    for (; is_digit(*s) || (*s == '.' && !point); s++) {
        if (*s == '.') {
            point = true;
            continue;
        }
        seen = true;
        digits += digits > 0 || *s != '0';
        if (digits > MAX_DIGITS)
            return false;
        value = value * 10 + (*s - '0');
        fraction += point;
    }
    if (!seen || ((*s == 'e' || *s == 'E') ? !parse_exponent(s + 1, &exponent) : *s != '\0'))
        return false;
    exponent -= fraction;
    for (int i = exponent < 0 ? -exponent : exponent; i > 0; i--)
        power *= 10;
    *number = exponent < 0 ? value / power : value * power;
    return true;
}

/* Adds the working directory with a slash at its end and each % doubled. Adds nothing if the
 * directory is unknown. */
static void add_directory(text *t) {
    char directory[PATH_MAX];
    long size = syscall4(SYS_getcwd, (long)directory, sizeof directory, 0, 0);
    if (syscall_failed(size) || directory[0] != '/')
        return;
    t->next += trace_name_pattern(directory, t->next, (size_t)(t->end - t->next) + 1);
    text_add(t, "/");
}

HOT_CODE static bool set_file(config *c, const char *file) {
    text t = text_in(c->file, sizeof c->file);
    if (file[0] != '/')
        add_directory(&t); /* the program may change its directory */
    text_add(&t, file);
    c->per_process = trace_name_is_per_process(file);
    return (!*file || trace_name_is_pattern(file)) && t.next < t.end;
}

bool config_file_for(const config *c, uint64_t pid, char *path, size_t size) {
    return trace_name_for(c->file, pid, path, size);
}

bool config_chooses(const config *c, uint64_t pid) {
    return c->per_process || !c->process || c->process == pid;
}

static bool set_heaps(enum config_heaps *heaps, const char *value, bool may_be_alone) {
    static const char *const words[] = {
        [CONFIG_HEAP] = "heap", [CONFIG_MALLOC] = "malloc", [CONFIG_BOTH] = "both"};
    for (int i = may_be_alone ? CONFIG_HEAP : CONFIG_MALLOC; i <= CONFIG_BOTH; i++)
        if (strcmp(value, words[i]) == 0)
            *heaps = (enum config_heaps)i;
    return *heaps != 0;
}

static bool set_switch(bool *on, const char *value) {
    *on = *value == '1';
    return !*value || ((*value == '0' || *value == '1') && !value[1]);
}

static void set_context(config *c, const char *value) {
    c->context = "";
    if (!*value)
        return;
    text t = text_in(c->context_text, sizeof c->context_text);
    text_add(&t, value);
    c->context = c->context_text;
}

/* Parses one setting. The text is empty only for settings that may be empty. */
HOT_CODE static bool config_set(config *c, enum setting setting, const char *value) {
    uint64_t n;
    switch (setting) {
    case SETTING_FILE:
        return set_file(c, value);
    case SETTING_RATE:
        return config_parse_number(value, &c->rate) && c->rate > 0 && c->rate <= 1;
    case SETTING_CONTEXT:
        set_context(c, value);
        return true;
    case SETTING_DEPTH:
        if (!config_parse_whole(value, &n) || n < 1 || n > CONFIG_MAX_DEPTH)
            return false;
        c->depth = (uint32_t)n;
        return true;
    case SETTING_PROCESS:
        return !*value || config_parse_whole(value, &c->process);
    case SETTING_ROOM:
        return set_switch(&c->room, value);
    case SETTING_SPACE:
        return !*value || config_parse_whole(value, &c->space);
    case SETTING_MMAP:
        return set_switch(&c->mmap, value);
    case SETTING_RESCUE: {
        text t = text_in(c->rescue, sizeof c->rescue);
        text_add(&t, value);
        return t.next < t.end;
    }
#define SET_HEAPS(id, name, depth, whose, alone, ...)                                              \
    case SETTING_##id:                                                                             \
        return set_heaps(&c->heaps[RUNTIME_##id], value, alone);
        RUNTIMES(SET_HEAPS)
#undef SET_HEAPS
    case SETTING_HANDOVER: /* environment.h reads it */
        return true;
    case SETTING_SEED:
        c->seeded = *value != '\0';
        return !c->seeded || config_parse_whole(value, &c->seed);
    case N_SETTINGS:
        break;
    }
    return false;
}

HOT_CODE enum config_status config_read(config *c, char *get(const char *name), int *bad_setting) {
    const char *file = get(setting_infos[SETTING_FILE].name);
    memset(c, 0, offsetof(config, file));
    if (!file || !*file)
        return CONFIG_OFF;
    for (int i = 0; i < N_SETTINGS; i++) {
        const char *value = get(setting_infos[i].name);
        if (!config_set(c, (enum setting)i, value && *value ? value : setting_infos[i].value)) {
            *bad_setting = i;
            return CONFIG_BAD;
        }
    }
    const char *depth = get(setting_infos[SETTING_DEPTH].name);
#define SET_DEPTH(id, name, frames, ...)                                                           \
    c->runtime_depths[RUNTIME_##id] = depth && *depth ? c->depth : (frames);
    RUNTIMES(SET_DEPTH)
#undef SET_DEPTH
    return CONFIG_ON;
}
