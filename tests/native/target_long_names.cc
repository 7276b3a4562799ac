/* Functions whose names are longer than the format can say, and differ in a place that it cuts.
 * Each allocates a size of its own: 1,000,000 and eight times its number. */
#include <cstdlib>
#include <utility>

#define NOINLINE __attribute__((noinline))
#define INLINE   __attribute__((always_inline)) static inline

/* The name of a type that doubles with each level, while the symbol grows by some bytes. */
template <class A, class B> struct both {};
template <int N, class T> struct doubled : doubled<N - 1, both<T, T>> {};
template <class T> struct doubled<0, T> { using type = T; };
struct leaf {};
template <int N> struct tag {};
template <int N>
using large = both<both<typename doubled<9, leaf>::type, tag<N>>, typename doubled<9, leaf>::type>;

#define TAKE(number)                                                                               \
    do {                                                                                           \
        void *volatile block = malloc(1000000 + 8 * (number));                                     \
        asm volatile("" : : "r"(block) : "memory");                                                \
    } while (0)

/* The name is long, the symbol is not. */
template <class T> struct by_type {
    NOINLINE static void by_type_take(int n) { TAKE(n); }
};
template <int... I> void all_by_type(std::integer_sequence<int, I...>) {
    (by_type<large<I>>::by_type_take(100 + I), ...);
}

/* Both are. */
template <int... I> struct by_list {
    NOINLINE static void by_list_take(int n) { TAKE(n); }
};
template <int... I> void all_by_list(std::integer_sequence<int, I...>) {
    by_list<I..., 1, I...>::by_list_take(200);
    by_list<I..., 2, I...>::by_list_take(201);
    by_list<I..., 3, I...>::by_list_take(202);
}

/* Inlined ones. */
template <class T> struct inlined {
    INLINE void inlined_take(int n) { TAKE(n); }
};
template <int... I> NOINLINE void all_inlined(std::integer_sequence<int, I...>) {
    (inlined<large<I>>::inlined_take(300 + I), ...);
}

/* More of them into one than a packet holds. */
template <class T, int N> struct chain {
    INLINE void chain_take(int n) {
        if constexpr (N > 0)
            chain<T, N - 1>::chain_take(n);
        else
            TAKE(n);
    }
};
template <class T> struct outer {
    NOINLINE static void outer_take(int n) { chain<T, 20>::chain_take(n); }
};

int main() {
    all_by_type(std::make_integer_sequence<int, 10>());
    all_by_list(std::make_integer_sequence<int, 450>());
    all_inlined(std::make_integer_sequence<int, 5>());
    outer<large<1>>::outer_take(400);
    outer<large<2>>::outer_take(401);
}
