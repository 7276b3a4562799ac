/* Counts how often each word occurs in a text. Each word is copied before it is looked up, and
 * almost every copy is freed at once. c_after.c looks up first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024, WORDS = 200000 };

struct word {
    struct word *next;
    unsigned count;
    char *text;
};

static struct word *buckets[BUCKETS];

static unsigned hash(const char *text) {
    unsigned h = 5381;
    while (*text)
        h = 33 * h + (unsigned char)*text++;
    return h % BUCKETS;
}

static struct word *find(const char *text) {
    struct word *w = buckets[hash(text)];
    while (w && strcmp(w->text, text) != 0)
        w = w->next;
    return w;
}

static void add(char *text) {
    struct word *w = malloc(sizeof *w);
    struct word **bucket = &buckets[hash(text)];
    *w = (struct word){*bucket, 1, text};
    *bucket = w;
}

static void count(const char *text) {
    char *copy = strdup(text);
    struct word *w = find(copy);
    if (w) {
        w->count++;
        free(copy);
    } else {
        add(copy);
    }
}

int main(void) {
    char text[16];
    unsigned n = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        snprintf(text, sizeof text, "word-%u", i * i % 997);
        count(text);
    }
    for (int i = 0; i < BUCKETS; i++)
        for (const struct word *w = buckets[i]; w; w = w->next)
            n++;
    printf("%u different words\n", n);
}
