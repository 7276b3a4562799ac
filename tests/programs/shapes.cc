// shapes.cc: allocates in every shape that symbolizing has to name: templates, lambdas, member
// functions of local classes, inlined containers, arrays, functions of the C library. Exits with 3.
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace shapes {

struct Node {
    std::unique_ptr<Node> left, right;
    std::string name;
};

static std::unique_ptr<Node> build(int depth) {
    auto node = std::make_unique<Node>();
    node->name = std::string(40, 'x');
    if (depth > 0) {
        node->left = build(depth - 1);
        node->right = build(depth - 1);
    }
    return node;
}

template <class T> std::vector<T> fill(int n) {
    std::vector<T> v;
    for (int i = 0; i < n; i++)
        v.push_back(T(i));
    return v;
}

namespace {
struct Hidden {
    char *room(int n) { return new char[n]; }
};
} // namespace

static std::size_t local_classes(int n) {
    struct Local {
        std::map<int, std::string> names;
        void add(int i) { names[i] = std::to_string(i) + std::string(30, 'y'); }
    } local;
    Hidden hidden;
    auto make = [&](int size) { return hidden.room(size); };
    std::function<char *(int)> indirect = [=](int size) { return new char[2 * size]; };
    for (int i = 0; i < n; i++) {
        local.add(i);
        delete[] make(100 + i);
        delete[] indirect(100 + i);
    }
    return local.names.size();
}

static std::size_t c_library(int n) {
    std::size_t sum = 0;
    for (int i = 0; i < n; i++) {
        char *copy = strdup("a string that is somewhat longer than a word");
        sum += strlen(copy);
        free(copy);
    }
    return sum;
}

} // namespace shapes

int main() {
    auto tree = shapes::build(12);
    std::size_t sum = shapes::fill<long>(100000).size();
    sum += shapes::local_classes(2000) + shapes::c_library(2000);
    return tree && sum ? 3 : 1;
}
