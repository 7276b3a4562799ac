// A program for each rule of advice about native code, in which it applies, and one that does the
// same as the advice says, in which it must not. `causes NAME` runs one.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#define NEVER_INLINE __attribute__((noinline))

static volatile long sink;

template <typename T> static void keep(T *p) {
    asm volatile("" : : "r"(p) : "memory");
}

// Something that is allocated anyway, so that no trace is empty: blocks that stay, of many sizes.
static void *others[2000];

static void other() {
    for (size_t i = 0; i < 2000; i++)
        others[i] = malloc(100 + i % 50 * 8);
}

// ---- growth

NEVER_INLINE static void append(size_t step, size_t first) {
    size_t capacity = first, used = 0;
    char *bytes = (char *)malloc(capacity);
    for (int i = 0; i < 1000; i++, used += 16) {
        if (used + 16 > capacity)
            bytes = (char *)realloc(bytes, capacity += step);
        memcpy(bytes + used, "0123456789abcdef", 16);
    }
    keep(bytes);
    free(bytes);
}

// Many sizes and realloc, but nothing grows.
NEVER_INLINE static void fit(size_t size) {
    char *bytes = (char *)realloc(nullptr, size);
    keep(bytes);
    free(bytes);
}

NEVER_INLINE static void push(bool reserve) {
    std::vector<int> v;
    if (reserve)
        v.reserve(2000);
    for (int i = 0; i < 2000; i++)
        v.push_back(i);
    keep(v.data());
}

NEVER_INLINE static void lengthen(bool reserve) {
    std::string s;
    if (reserve)
        s.reserve(2000);
    for (int i = 0; i < 2000; i++)
        s += 'x';
    keep(s.data());
}

// ---- copies

static const std::string text(100, 'x');
static const std::vector<int> numbers(100);

NEVER_INLINE static size_t string_by_value(std::string s) {
    return s.size();
}
NEVER_INLINE static size_t string_by_view(std::string_view s) {
    return s.size();
}
NEVER_INLINE static size_t string_by_reference(const std::string &s) {
    return s.size();
}
NEVER_INLINE static size_t vector_by_value(std::vector<int> v) {
    return v.size();
}
NEVER_INLINE static size_t vector_by_reference(const std::vector<int> &v) {
    return v.size();
}

// Its copy constructor is the compiler's; who copies is the caller.
struct record {
    std::vector<int> numbers = std::vector<int>(100);
};
static const record one;

NEVER_INLINE static size_t record_by_value(record r) {
    return r.numbers.size();
}
NEVER_INLINE static size_t record_by_reference(const record &r) {
    return r.numbers.size();
}
NEVER_INLINE static void pass_record(bool by_value) {
    sink += by_value ? record_by_value(one) : record_by_reference(one);
}

NEVER_INLINE static void join() {
    std::string s = text + "/" + text;
    keep(s.data());
}

NEVER_INLINE static void join_once(std::string &s) {
    s.clear();
    s.append(text).append("/").append(text);
    keep(s.data());
}

NEVER_INLINE static void duplicate() {
    char *s = strdup("some text that is copied");
    keep(s);
    free(s);
}

// ---- blocks

NEVER_INLINE static void measure(const char *s) {
    char *copy = (char *)malloc(200);
    memcpy(copy, s, strlen(s) + 1);
    keep(copy);
    free(copy);
}

struct node {
    node *next;
    long value;
};

NEVER_INLINE static node *add(node *next, long value) {
    node *n = (node *)malloc(sizeof *n);
    *n = {next, value};
    return n;
}

NEVER_INLINE static node *measured(node *next, long value) {
    char *text = (char *)malloc(40);
    snprintf(text, 40, "%ld", value);
    node *n = (node *)malloc(32);
    *n = {next, (long)strlen(text)};
    free(text);
    return n;
}

NEVER_INLINE static void insert() {
    std::map<int, int> m;
    for (int i = 0; i < 1000; i++)
        m[i] = i;
    keep(&m);
}

NEVER_INLINE static void insert_flat() {
    std::vector<std::pair<int, int>> m;
    m.reserve(1000);
    for (int i = 0; i < 1000; i++)
        m.emplace_back(i, i);
    keep(m.data());
}

static void times(int n, const std::function<void(int)> &f) {
    for (int i = 0; i < n; i++)
        f(i);
}

int main(int, char **arguments) {
    const std::string name = arguments[1];
    std::string line;
    line.reserve(1000);
    node *list = nullptr, *nodes = (node *)calloc(100000, sizeof *nodes);
    const std::map<std::string, std::function<void()>> causes = {
        {"steps", [] { times(100, [](int) { append(64, 64); }); }},
        {"steps_right", [] { times(2000, [](int) { append(0, 16000); }); }},
        {"fits", [] { times(50000, [](int i) { fit(16 + i % 100 * 16); }); }},
        {"pushes", [] { times(300, [](int) { push(false); }); }},
        {"pushes_right", [] { times(300, [](int) { push(true); }); }},
        {"lengthens", [] { times(500, [](int) { lengthen(false); }); }},
        {"lengthens_right", [] { times(500, [](int) { lengthen(true); }); }},
        {"strings", [] { times(50000, [](int) { sink += string_by_value(text); }); }},
        {"strings_right", [] { times(50000, [](int) { sink += string_by_reference(text); }); }},
        {"literals",
         [] {
             times(50000, [](int) { sink += string_by_reference("more than fifteen characters"); });
         }},
        {"literals_right",
         [] { times(50000, [](int) { sink += string_by_view("more than fifteen characters"); }); }},
        {"vectors", [] { times(20000, [](int) { sink += vector_by_value(numbers); }); }},
        {"records", [] { times(20000, [](int) { pass_record(true); }); }},
        {"records_right", [] { times(20000, [](int) { pass_record(false); }); }},
        {"vectors_right", [] { times(20000, [](int) { sink += vector_by_reference(numbers); }); }},
        {"joins", [] { times(20000, [](int) { join(); }); }},
        {"joins_right", [&] { times(20000, [&](int) { join_once(line); }); }},
        {"duplicates", [] { times(100000, [](int) { duplicate(); }); }},
        {"temporaries", [] { times(100000, [](int) { measure("text"); }); }},
        {"mixed", [&] { times(100000, [&](int i) { list = measured(list, i); }); }},
        {"nodes", [&] { times(100000, [&](int i) { list = add(list, i); }); }},
        {"nodes_right", [&] { times(100000, [&](int i) {
                                  nodes[i] = {list, i};
                              }); }},
        {"maps", [] { times(100, [](int) { insert(); }); }},
        {"maps_right", [] { times(100, [](int) { insert_flat(); }); }},
    };
    other();
    causes.at(name)();
    keep(list);
    free(nodes);
    return 0;
}
