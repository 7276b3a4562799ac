/* target_unmovable: a program with an allocator of its own, which begins with a jump of which there
 * is no long form. */
#include <stddef.h>
#include <stdio.h>

static char heap[1 << 16];
char *unmovable_next = heap;

__asm__(
    ".text\n.globl _rjem_malloc\n.type _rjem_malloc, @function\n"
    "_rjem_malloc: jrcxz 1f\n1: movq unmovable_next(%rip), %rax\n"
    "addq %rax, %rdi\nmovq %rdi, unmovable_next(%rip)\nret\n.size _rjem_malloc, . - _rjem_malloc\n"
    ".globl _rjem_free\n.type _rjem_free, @function\n"
    "_rjem_free: movb $1, (%rdi)\nmovb $2, 1(%rdi)\nret\n.size _rjem_free, . - _rjem_free\n");
void *_rjem_malloc(size_t size);
void _rjem_free(void *block);

int main(void) {
    char *block = _rjem_malloc(100);
    _rjem_free(block);
    printf("%d %d\n", block == heap, block[0] + block[1]);
}
