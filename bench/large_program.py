#!/usr/bin/python3
"""Writes a large C++ program for the symbolization benchmark: UNITS files of FUNCTIONS functions
each, full of templates, lambdas and inlining, into the folder OUT.

usage: large_program.py OUT [UNITS [FUNCTIONS]]"""
import pathlib
import sys

HEAD = """#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>
namespace unit%(u)d {
template <class T> struct holder {
    std::vector<T> items;
    template <class F> auto apply(F f) { for (auto &i : items) i = f(i); return items.size(); }
    void add(T v) { items.push_back(std::move(v)); }
};
namespace { struct local%(u)d { std::map<int, std::string> names;
    std::string &name(int i) { return names[i]; } }; }
"""

FUNCTION = """
template <int N> struct tag%(f)d { static long make(long x) { holder<long> h; h.add(x); h.add(N);
    return (long)h.apply([x](long y) { return y * N + x; }) + h.items[0]; } };
long f%(f)d(long x) {
    holder<std::string> h; local%(u)d l;
    for (long i = 0; i < x %% 7; i++) h.add(l.name((int)i) + std::to_string(i));
    std::function<long(long)> g = [&](long y) { auto p = std::make_unique<std::string>(h.items.empty()
        ? std::string(40, 'x') : h.items[0]); return (long)p->size() + y; };
    std::sort(h.items.begin(), h.items.end(), [](auto &a, auto &b) { return a.size() < b.size(); });
    return g(x) + tag%(f)d<%(f)d>::make(x);
}
"""


def main(out, units=40, functions=60):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    for u in range(units):
        body = HEAD % {"u": u} + "".join(FUNCTION % {"u": u, "f": f} for f in range(functions))
        calls = " + ".join(f"f{f}(x + {f})" for f in range(functions))
        (out / f"unit{u}.cc").write_text(body + f"long all(long x) {{ return {calls}; }}\n}}\n")
    declare = "".join(f"namespace unit{u} {{ long all(long); }}\n" for u in range(units))
    calls = " + ".join(f"unit{u}::all(argc)" for u in range(units))
    (out / "main.cc").write_text(declare + f"int main(int argc, char **) {{ return ({calls}) == 0; }}\n")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
