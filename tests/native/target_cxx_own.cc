// target_cxx_own: a program that replaces operator new, and counts its calls.
#include <cstdio>
#include <cstdlib>
#include <new>

static int calls;
static void *volatile hidden;

#pragma GCC visibility push(default)
void *operator new(std::size_t size) {
    calls++;
    if (void *block = std::malloc(size))
        return block;
    throw std::bad_alloc();
}

void operator delete(void *block) noexcept {
    calls++;
    std::free(block);
}

void operator delete(void *block, std::size_t) noexcept {
    calls++;
    std::free(block);
}

#pragma GCC visibility pop

int main() {
    for (int i = 0; i < 10; i++) {
        hidden = ::operator new(22001);
        ::operator delete(hidden);
        hidden = ::operator new[](22101); // the library's, which calls ours
        ::operator delete[](hidden);
    }
    std::printf("%d calls\n", calls);
}
