/* target_fixed.c: a program for fixed addresses that takes the address of malloc, as python3 and
 * node do in Debian: an entry of its procedure linkage table then stands for malloc everywhere. */
#include <stdlib.h>

static void *(*volatile allocate)(size_t);

int main(void) {
    allocate = malloc; /* as a constant in the code, which is what makes the entry stand for it */
    for (int i = 0; i < 10; i++)
        free(allocate(5701));
    return 0;
}
