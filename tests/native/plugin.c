/* plugin: a library that comes and goes; built twice, with different sizes of what it allocates. */
#include <stdlib.h>

__attribute__((visibility("default"))) void plugin_work(void);

static void *volatile hidden;

void plugin_work(void) {
    for (int i = 0; i < 5; i++) {
        hidden = malloc(PLUGIN_SIZE);
        free(hidden);
    }
}
