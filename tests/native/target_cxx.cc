// target_cxx: operators new and delete in all their forms, and what happens when there is no
// memory.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>

static void *kept(void *block) {
    void *volatile hidden = block;
    return hidden;
}

constexpr std::align_val_t wide{128};

static void forms() {
    for (int i = 0; i < 10; i++) {
        ::operator delete(kept(::operator new(20001)));
        ::operator delete[](kept(::operator new[](20101)));
        ::operator delete(kept(::operator new(20201, std::nothrow)), std::nothrow);
        ::operator delete[](kept(::operator new[](20301, std::nothrow)), std::nothrow);
        ::operator delete(kept(::operator new(20401, wide)), wide);
        ::operator delete[](kept(::operator new[](20501, wide)), wide);
        ::operator delete(kept(::operator new(20601, wide, std::nothrow)), wide, std::nothrow);
        ::operator delete[](kept(::operator new[](20701, wide, std::nothrow)), wide, std::nothrow);
        ::operator delete (kept(::operator new(20801)), std::size_t{20801});
        ::operator delete[](kept(::operator new[](20901)), std::size_t{20901});
        ::operator delete (kept(::operator new(21001, wide)), std::size_t{21001}, wide);
        ::operator delete[](kept(::operator new[](21101, wide)), std::size_t{21101}, wide);
    }
    if (reinterpret_cast<std::uintptr_t>(kept(::operator new(21201, wide))) % 128)
        std::puts("not aligned");
    ::operator delete(nullptr);
    if (!kept(::operator new(0)))
        std::puts("no block of size 0");
}

static int handler_calls;

static void handler() {
    if (++handler_calls == 3)
        std::set_new_handler(nullptr);
}

static void failures() {
    volatile std::size_t huge = PTRDIFF_MAX;
    for (int i = 0; i < 100; i++)
        try {
            kept(::operator new(huge));
            std::puts("got it all");
        } catch (const std::bad_alloc &) {
        }
    if (kept(::operator new(huge, std::nothrow)) || kept(::operator new[](huge, std::nothrow)))
        std::puts("got it all");
    std::set_new_handler(handler);
    try {
        kept(::operator new[](huge));
    } catch (const std::bad_alloc &e) {
        std::printf("%s after %d calls\n", e.what(), handler_calls);
    }
    try {
        kept(::operator new(huge, wide));
    } catch (const std::bad_alloc &e) {
        std::printf("%s\n", e.what());
    }
    std::puts("failures done");
}

int main(int argc, char **argv) {
    if (argc > 1 && !std::strcmp(argv[1], "forms"))
        forms();
    else if (argc > 1 && !std::strcmp(argv[1], "failures"))
        failures();
    else
        return 98;
    return 0;
}
