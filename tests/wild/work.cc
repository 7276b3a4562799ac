// What C++ programs do: containers, exceptions across frames, threads, shared pointers, plug-ins.
#include <cstdio>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static int thrower(int n) {
    std::string text(n % 100 + 20, 'x');
    if (n % 3 == 0)
        throw std::runtime_error(text);
    return (int)text.size();
}

static long work(int n) {
    std::map<int, std::string> table;
    long sum = 0;
    for (int i = 0; i < n; i++) {
        try {
            sum += thrower(i);
            table[i] = std::to_string(i);
        } catch (const std::exception &e) {
            sum += (long)std::string(e.what()).size();
        }
    }
    return sum + (long)table.size();
}

struct alignas(128) Wide {
    char bytes[128];
};

int main() {
    std::vector<std::thread> threads;
    long sums[4];
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&sums, i] { sums[i] = work(2000 * (i + 1)); });
    for (auto &t : threads)
        t.join();
    for (long s : sums)
        std::printf("%ld\n", s);
    auto wide = std::make_unique<Wide[]>(10);
    std::printf("%d\n", (int)((unsigned long)wide.get() % 128));
    auto shared = std::make_shared<std::string>(1000, 'y');
    std::printf("%zu\n", shared->size());
    try {
        volatile size_t huge = (size_t)1 << 60;
        std::unique_ptr<char[]> block(new char[huge]);
        std::puts("what?");
    } catch (const std::bad_alloc &) {
        std::puts("bad_alloc");
    }
    volatile size_t huge = (size_t)1 << 60;
    std::printf("%d\n", ::operator new(huge, std::nothrow) == nullptr);
#ifndef STATIC
    void *z = dlopen("libz.so.1", RTLD_NOW);
    std::printf("%d\n", z != nullptr);
    if (z)
        dlclose(z);
#endif
}
