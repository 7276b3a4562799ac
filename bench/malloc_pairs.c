/* malloc_pairs: a program that only calls malloc and free: it builds and frees binary trees, in one
 * thread or several. The worst case for any work done at each allocation.
 *
 *     malloc_pairs [TREES [THREADS]] */
#include <pthread.h>
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

static long trees = 300, threads = 1;

static void *work(void *unused) {
    for (long i = 0; i < trees / threads; i++)
        destroy(build(15));
    return unused;
}

int main(int argc, char **argv) {
    enum { MOST = 64 };
    pthread_t others[MOST];
    trees = argc > 1 ? strtol(argv[1], NULL, 10) : trees;
    threads = argc > 2 ? strtol(argv[2], NULL, 10) : threads;
    if (threads < 1 || threads > MOST)
        return 2;
    for (long i = 1; i < threads; i++)
        if (pthread_create(&others[i], NULL, work, NULL) != 0)
            abort();
    work(NULL);
    for (long i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
    printf("%ld million pairs\n", trees * ((1L << 16) - 1) / 1000000);
    return 0;
}
