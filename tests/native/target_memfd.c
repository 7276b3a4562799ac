/* A program that wishes ill to whoever attaches to it: its C library's memfd_create gives the file
 * that its argument names, open for reading. Only for x86-64. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int n_arguments, char **arguments) {
    unsigned char code[] = {0xb8, 0, 0, 0, 0, 0xc3}; /* mov $FD, %eax; ret */
    const int fd = n_arguments == 2 ? open(arguments[1], O_RDONLY) : -1;
    char *function = dlsym(RTLD_DEFAULT, "memfd_create");
    const uintptr_t page = (uintptr_t)function & ~(uintptr_t)4095;
    memcpy(code + 1, &fd, 4);
    if (fd < 0 || mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return 1;
    memcpy(function, code, sizeof code);
    puts("ready");
    fflush(stdout);
    for (;;) {
        free(malloc(1000));
        usleep(1000);
    }
}
