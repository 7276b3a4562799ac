// Splits lines at commas. A line is passed by value, a field is copied into the vector, and the
// vector grows step by step. cc_after.cc passes a reference, reserves, and moves.
#include <cstdio>
#include <string>
#include <vector>

using Fields = std::vector<std::string>;

__attribute__((noinline)) static void add(Fields &fields, std::string line, size_t from,
                                          size_t to) {
    fields.push_back(line.substr(from, to - from));
}

__attribute__((noinline)) static Fields split(std::string line) {
    Fields fields;
    size_t from = 0;
    for (size_t to; (to = line.find(',', from)) != std::string::npos; from = to + 1)
        add(fields, line, from, to);
    add(fields, line, from, line.size());
    return fields;
}

int main() {
    const std::string line =
        "a first field that is long,a second field that is long,3,a fourth field that is long";
    size_t n = 0;
    for (int i = 0; i < 20000; i++)
        n += split(line).size();
    std::printf("%zu fields\n", n);
}
