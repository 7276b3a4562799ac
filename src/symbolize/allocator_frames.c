/* allocator_frames.c: the first matching row of ALLOCATOR_FRAMES decides. A row matches the whole
 * name, its beginning, or a part of it. */
#include "symbolize/allocator_frames.h"

#include <stddef.h>
#include <string.h>

typedef enum match_how { MATCH_NAME, MATCH_PREFIX, MATCH_PART } match_how;

static const struct {
    allocator_frame_kind kind;
    match_how how;
    const char *text, *type;
} frames[] = {
#define FRAME_ENTRY(kind_, how_, text_, type_)                                                     \
    {.kind = ALLOCATOR_##kind_, .how = MATCH_##how_, .text = text_, .type = type_},
    ALLOCATOR_FRAMES(FRAME_ENTRY)
#undef FRAME_ENTRY
};

static bool matches(const char *function, match_how how, const char *text) {
    size_t size = strlen(text);
    switch (how) {
    case MATCH_NAME:
        return strncmp(function, text, size) == 0 &&
               (function[size] == '\0' || function[size] == '(');
    case MATCH_PREFIX:
        return strncmp(function, text, size) == 0;
    case MATCH_PART:
        return strstr(function, text) != NULL;
    }
    return false;
}

allocator_frame_kind allocator_frame(const char *function, const char **type) {
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        if (!matches(function, frames[i].how, frames[i].text))
            continue;
        if (frames[i].type)
            *type = frames[i].type;
        return frames[i].kind;
    }
    return ALLOCATOR_NONE;
}
