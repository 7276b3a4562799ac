/* malloc_pairs: a program that does nothing but malloc and free: builds and frees binary trees. The
 * worst case for whatever is done at each allocation. */
#include <stdio.h>
#include <stdlib.h>

typedef struct node {
    struct node *left, *right;
} node;

static node *build(int depth) {
    node *n = malloc(sizeof *n);
    if (!n)
        abort();
    n->left = depth ? build(depth - 1) : NULL;
    n->right = depth ? build(depth - 1) : NULL;
    return n;
}

static void destroy(node *n) {
    if (!n)
        return;
    destroy(n->left);
    destroy(n->right);
    free(n);
}

int main(int argc, char **argv) {
    long trees = argc > 1 ? strtol(argv[1], NULL, 10) : 300;
    for (long i = 0; i < trees; i++)
        destroy(build(15));
    printf("%ld million pairs\n", trees * ((1L << 16) - 1) / 1000000);
    return 0;
}
