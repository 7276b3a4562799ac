/* shapes.c: the like of shapes.cc in C: static, inlined and recursive functions, the C library's.
 * Exits with 3. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *left, *right;
    char name[40];
};

static inline struct node *make_node(void) {
    return calloc(1, sizeof(struct node));
}

static struct node *build(int depth) {
    struct node *n = make_node();
    if (depth > 0) {
        n->left = build(depth - 1);
        n->right = build(depth - 1);
    }
    return n;
}

static size_t grow(size_t n) {
    char *text = NULL;
    for (size_t i = 64; i < n; i += 64)
        text = realloc(text, i);
    free(text);
    return n;
}

static size_t formatted(int n) {
    size_t sum = 0;
    for (int i = 0; i < n; i++) {
        char *text, *copy;
        sum += (size_t)asprintf(&text, "%d and a text that is somewhat longer than a word", i);
        copy = strdup(text);
        free(copy);
        free(text);
    }
    return sum;
}

int main(void) {
    struct node *tree = build(12);
    return tree && grow(20000) && formatted(2000) ? 3 : 1;
}
