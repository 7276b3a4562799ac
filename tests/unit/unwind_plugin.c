/* unwind_plugin.c: a library that tests load and unload, built twice with different frames. */
__attribute__((visibility("default"))) int plugin_call(int (*callback)(void));

int plugin_call(int (*callback)(void)) {
    char local[PLUGIN_FRAME_SIZE];
    __asm__ volatile("" : : "r"(local) : "memory"); /* it has to be there */
    return callback() + PLUGIN_FRAME_SIZE;
}
