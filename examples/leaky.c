/* leaky.c: a program with a leak, for `allotrace leaks` (docs/leaks.md shows what it finds).
 *
 *     cc -g -O1 -o leaky examples/leaky.c
 *     allotrace run --rate 1e-3 -o leaky.ctf -- ./leaky
 *     allotrace leaks leaky.ctf
 *
 * It loads a configuration, which it needs to the end, keeps the last 64 texts in a cache, and
 * notes every fourth step in a list, from which nothing is ever taken away. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 400000, SETTINGS = 2000, SETTING = 240, CACHED = 64, TEXT = 2000 };

struct note {
    struct note *next;
    unsigned step;
    char reason[32];
};

static char *settings[SETTINGS], *cache[CACHED];
static struct note *notes;

static void *allocate(size_t size) {
    void *block = malloc(size);
    if (!block)
        abort();
    return block;
}

static void load_settings(void) {
    for (unsigned i = 0; i < SETTINGS; i++)
        settings[i] = memset(allocate(SETTING), (int)i, SETTING);
}

static unsigned use_cache(unsigned step) {
    char **text = &cache[step % CACHED];
    free(*text);
    *text = memset(allocate(TEXT), settings[step % SETTINGS][0], TEXT);
    unsigned sum = 0;
    for (unsigned i = 0; i < TEXT; i++)
        sum = sum * 31 + (unsigned char)(*text)[i];
    return sum;
}

static void note_step(unsigned step) {
    struct note *note = allocate(sizeof *note);
    *note = (struct note){.next = notes, .step = step, .reason = "for later"};
    notes = note;
}

int main(void) {
    unsigned sum = 0;
    load_settings();
    for (unsigned step = 0; step < STEPS; step++) {
        sum += use_cache(step);
        if (step % 4 == 0)
            note_step(step);
    }
    printf("%u\n", sum);
    return 0;
}
