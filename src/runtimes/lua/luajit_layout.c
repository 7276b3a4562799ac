/* luajit_layout.c: a release does not tell which one it is (many call themselves 2.1.0-beta3). So
 * the layout is used with which the pointers between the structures are consistent. */
#include "runtimes/lua/luajit_layout.h"

#include "runtimes/peek.h"

static const struct luajit_layout layouts[] = {
    {.current = 368, .jit = {728, 736, 744}}, /* 2.1.0-beta3, and OpenResty's of 2024 and 2025 */
    {.current = 376, .jit = {744, 752, 760}}, /* 2.1, from the middle of 2023 on */
};

static bool is_state(uintptr_t state, uintptr_t global) {
    uintptr_t words[4], its_global;
    uint8_t tag;
    if (state % sizeof state || !peek_bytes(state + JIT_TAG, &tag, 1) || tag != JIT_THREAD ||
        !peek_bytes(state + STATE_GLOBAL, &its_global, sizeof its_global) || its_global != global ||
        !peek_bytes(state + STATE_BASE, words, sizeof words))
        return false;
    const uintptr_t base = words[0], top = words[1], last = words[2], stack = words[3];
    return stack < base && base <= top && base <= last && (base | top | last | stack) % 8 == 0;
}

const struct luajit_layout *luajit_layout_of(uintptr_t state) {
    uintptr_t global, main, current;
    if (!peek_bytes(state + STATE_GLOBAL, &global, sizeof global) || global % sizeof global ||
        !is_state(state, global) || !peek_bytes(global + GLOBAL_MAIN, &main, sizeof main) ||
        !is_state(main, global))
        return NULL;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (peek_bytes(global + layouts[i].current, &current, sizeof current) &&
            is_state(current, global))
            return &layouts[i];
    return NULL;
}
