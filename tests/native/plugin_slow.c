/* plugin_slow: a library that takes a while to load: when its entries for malloc and free are
 * filled in, plugin_pause has the loader wait before it goes on to the last one, in the same page.
 */
#include <stdlib.h>

__attribute__((visibility("default"))) void plugin_work(void);
void plugin_pause(void);

void plugin_work(void) {
    void *(*volatile make)(size_t) = malloc; /* entries of addresses come before those of calls */
    void (*volatile unmake)(void *) = free;
    void *volatile block = make(PLUGIN_SIZE);
    if (!block)
        plugin_pause();
    unmake(block);
}
