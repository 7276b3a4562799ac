/* symbolize.c: src/symbolize as a program like addr2line, to compare its answers and its speed with
 * others.
 *
 * usage: symbolize FILE < ADDRESSES
 *
 * Prints what `addr2line -a -i -f -C -e FILE` prints: for each hexadecimal address a line with the
 * address, then two lines for each function, innermost first. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "symbolize/symbolize.h"

typedef VEC(symbolize_request) request_list;

static void read_addresses(request_list *requests, uint32_t module) {
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        symbolize_request request = {.module = module, .address = strtoull(line, NULL, 16)};
        if (!vec_push(requests, request))
            abort();
    }
}

static void print_answer(const symbolize_request *request) {
    printf("0x%016" PRIx64 "\n", request->address);
    for (uint32_t i = request->n_locations; i-- > 0;) {
        const memtrace_location *l = &request->locations[i];
        if (request->has_line)
            printf("%s\n%s:%" PRIu32 "\n", l->function, l->file, l->line);
        else
            printf("%s\n??:0\n", l->function);
    }
    if (!request->n_locations)
        puts("??\n??:0");
}

int main(int argc, char **argv) {
    elf_file file;
    if (argc != 2 || elf_file_open(&file, 0, argv[1]) != 0)
        return 1;
    symbolizer *s = symbolizer_new(&(symbolize_options){0});
    request_list requests = {0};
    read_addresses(&requests, symbolizer_module(s, argv[1], &file.id));
    elf_file_close(&file);
    if (!symbolizer_resolve(s, requests.items, requests.count))
        return 1;
    for (size_t i = 0; i < requests.count; i++)
        print_answer(&requests.items[i]);
    vec_free(&requests);
    symbolizer_free(s);
    return 0;
}
