/* target_top.c: does what it reads, a letter each, from the file of its first argument. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 500, SIZE = 2000 };

static void *kept[64 * BLOCKS];
static size_t n_kept;

static void keep_blocks(void) {
    for (int i = 0; i < BLOCKS && n_kept < sizeof kept / sizeof *kept; i++)
        kept[n_kept++] = malloc(SIZE);
}

static void drop_blocks(void) {
    while (n_kept > 0)
        free(kept[--n_kept]);
}

static void churn_blocks(void) {
    for (int i = 0; i < BLOCKS; i++) {
        char *block = malloc(SIZE);
        memset(block, 1, SIZE);
        free(block);
    }
}

static void obey(int letter) {
    if (letter == 'k')
        keep_blocks();
    else if (letter == 'd')
        drop_blocks();
    else if (letter == 'c')
        churn_blocks();
    else if (letter == 'p')
        puts("printed by the program");
    else if (letter == 'r')
        printf("read %d\n", getchar());
}

int main(int argc, char **argv) {
    FILE *in = argc > 1 ? fopen(argv[1], "r") : NULL;
    int letter;
    if (!in)
        return 1;
    setvbuf(in, NULL, _IONBF, 0);
    while ((letter = fgetc(in)) != EOF && letter != 'q') {
        obey(letter);
        fflush(stdout);
    }
    return 7;
}
