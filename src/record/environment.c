/* environment.c: implements environment.h. The library is recognized by its file name in
 * LD_PRELOAD, which `run` has set. The other checks predict what config_chooses will return. */
#include "record/environment.h"

#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/hot.h"
#include "contract/settings.h"
#include "contract/trace_name.h"
#include "platform/syscall.h"
#include "record/config.h"
#include "record/recorder.h"

#define PRELOAD "LD_PRELOAD="
#define OURS    "/liballotrace-preload.so"

enum { MOST_ENTRIES = 1000 }; /* bound for an array on a stack that may be small */

HOT_CODE const char *environment_value(char *const envp[], const char *name) {
    const size_t n = strlen(name);
    for (; envp && *envp; envp++)
        if (strncmp(*envp, name, n) == 0 && (*envp)[n] == '=')
            return *envp + n + 1;
    return NULL;
}

/* Returns the length of our name in LD_PRELOAD, where it is first; 0: it is not there. */
HOT_CODE static size_t own_size(const char *preload) {
    const size_t n = strcspn(preload, ": "), own = sizeof OURS - 1;
    return n >= own && memcmp(preload + n - own, OURS, own) == 0 ? n : 0;
}

/* Returns whether each process has its own trace. Also true for an invalid name, so that the
 * recorder is loaded and reports it. */
HOT_CODE static bool names_each_process(const char *file) {
    return trace_name_is_per_process(file) || !trace_name_is_pattern(file);
}

/* Returns whether the recorder would find in the program that the trace belongs to another
 * process. */
HOT_CODE static bool is_left_out(char *const envp[], bool becomes) {
    const char *file = environment_value(envp, setting_infos[SETTING_FILE].name);
    const char *process = environment_value(envp, setting_infos[SETTING_PROCESS].name);
    uint64_t chosen;
    return file && *file && process && config_parse_whole(process, &chosen) &&
           !names_each_process(file) &&
           !(becomes && chosen == (uint64_t)syscall4(SYS_getpid, 0, 0, 0, 0));
}

HOT_CODE size_t environment_room(char *const envp[], bool becomes) {
    const char *preload = environment_value(envp, "LD_PRELOAD");
    size_t n = 0;
    if (!preload || !own_size(preload) || sizeof PRELOAD + strlen(preload) > ENVIRONMENT_TEXT ||
        !is_left_out(envp, becomes))
        return 0;
    while (n < MOST_ENTRIES && envp[n])
        n++;
    return envp[n] ? 0 : n;
}

HOT_CODE const char *environment_handover(char *const envp[]) {
    const char *name = environment_value(envp, setting_infos[SETTING_HANDOVER].name);
    const char *preload = name && *name ? environment_value(envp, "LD_PRELOAD") : NULL;
    const char *file = environment_value(envp, setting_infos[SETTING_FILE].name);
    return preload && own_size(preload) && file && *file ? name : NULL;
}

/* Writes the LD_PRELOAD entry with only the libraries of others. Returns NULL if there are none. */
HOT_CODE static char *others(const char *entry, char text[ENVIRONMENT_TEXT]) {
    const char *preload = entry + strlen(PRELOAD), *rest = preload + own_size(preload);
    if (!*rest)
        return NULL;
    memcpy(text, PRELOAD, strlen(PRELOAD));
    memcpy(text + strlen(PRELOAD), rest + 1, strlen(rest));
    return text;
}

HOT_CODE char **environment_without_us(char *const envp[], char **entries,
                                       char text[ENVIRONMENT_TEXT]) {
    size_t n = 0;
    for (; *envp; envp++) {
        char *entry = strncmp(*envp, PRELOAD, strlen(PRELOAD)) == 0 ? others(*envp, text) : *envp;
        if (entry)
            entries[n++] = entry;
    }
    entries[n] = NULL;
    recorder_leave_out();
    return entries;
}
