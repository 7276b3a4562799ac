/* target_jit: makes a function at run time that calls malloc, and says so in a map for perf, after
 * what used to be there; with an argument it tells nobody. Calls it 100 times. Exits with 77 where
 * it cannot be done. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void *function(void);

#if defined __x86_64__
/* push %rbp; mov %rsp,%rbp; mov $0x1389,%edi; movabs $malloc,%rax; call *%rax; pop %rbp; ret */
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xbf, 0x89, 0x13, 0,
                                     0,    0x48, 0xb8, 0,    0,    0,    0,    0,
                                     0,    0,    0,    0xff, 0xd0, 0x5d, 0xc3};
enum { ADDRESS_AT = 11 };
#else
static const unsigned char code[] = {0};
enum { ADDRESS_AT = 0 };
#endif

static void *call_it(function *made) {
    void *block = made();
    return block ? (char *)block + 1 : NULL; /* no tail call */
}

int main(int argc, char **argv) {
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *(*callee)(size_t) = malloc;
    char name[64], *page;
    function *made;
    if (sizeof code == 1)
        return 77;
    page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page + 64, code, sizeof code);
    memcpy(page + 64 + ADDRESS_AT, &callee, sizeof callee);
    if (mprotect(page, size, PROT_READ | PROT_EXEC) != 0)
        return 77;
    snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)getpid());
    (void)argv;
    FILE *map = fopen(argc > 1 ? "/dev/null" : name, "w");
    if (!map)
        return 77;
    fprintf(map, "%lx 100 what was there before\nnonsense\n", (unsigned long)page);
    fprintf(map, "%lx %lx made at run time\n", (unsigned long)page + 64, sizeof code);
    fclose(map);
    page += 64;
    memcpy(&made, &page, sizeof made);
    for (int i = 0; i < 100; i++)
        free((char *)call_it(made) - 1);
    puts(name);
}
