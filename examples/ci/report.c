/* report.c: the program of docs/ci.md: reads the same text many times, and copies what it needs. */
#include <stdlib.h>
#include <string.h>

/* `-DROOM=2` is the change that a budget should notice. */
#ifndef ROOM
#define ROOM 1
#endif

static char *copy(const char *text, size_t size) {
    char *room = malloc(ROOM * (size + 1));
    if (room)
        memcpy(room, text, size + 1);
    return room;
}

static size_t *parse(const char *text, size_t *n) {
    size_t *starts = malloc(8 * sizeof *starts);
    for (*n = 0; starts && *n < 8 && *text; text += strcspn(text, " "), text += *text == ' ')
        starts[(*n)++] = strcspn(text, " ");
    return starts;
}

int main(void) {
    static const char text[] = "allocations are counted by word and reported by line";
    static char page[800];
    size_t n, words = 0;
    for (size_t i = 0; i + sizeof text < sizeof page; i += sizeof text - 1)
        memcpy(page + i, text, sizeof text);
    for (int i = 0; i < 8000; i++) {
        char *mine = copy(page, strlen(page));
        size_t *starts = mine ? parse(mine, &n) : NULL;
        words += starts ? n : 0;
        free(starts);
        free(mine);
    }
    return words != 8 * 8000;
}
