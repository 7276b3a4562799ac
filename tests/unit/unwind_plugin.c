/* unwind_plugin.c: a library that tests load and unload, built twice with different frames. */
__attribute__((visibility("default"))) int plugin_call(int (*callback)(void));

int plugin_call(int (*callback)(void)) {
    volatile char local[PLUGIN_FRAME_SIZE];
    local[0] = (char)callback();
    return local[0] + PLUGIN_FRAME_SIZE;
}
