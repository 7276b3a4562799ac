// Names of functions where there is little room.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bareName, shortenTo, tellApart } from "../../../../viewer/names.js";

const forms = (name) => {
  const found = [];
  for (let room = name.length; room > 2; room--) {
    const form = shortenTo(name, room);
    assert.ok(form.length <= room, form);
    if (form !== found.at(-1)) found.push(form);
  }
  return found;
};

test("a name that fits is left alone", () => {
  for (const name of ["", "main", "void f<int>(int)", "libLLVM-14.so.1+0xf7f7ef"]) assert.equal(shortenTo(name, name.length), name);
});

test("arguments give way first, then those of templates, then qualifiers; the name itself is cut last", () => {
  assert.deepEqual(forms("void std::vector<int, std::allocator<int> >::_M_realloc_insert<int const&>(int*, int const&)").slice(0, 8), [
    "void std::vector<int, std::allocator<int> >::_M_realloc_insert<int const&>(int*, int const&)",
    "std::vector<int, std::allocator<int> >::_M_realloc_insert<int const&>(…)",
    "std::vector<…>::_M_realloc_insert<…>(…)",
    "std::vector<…>::_M_realloc_insert",
    "…vector<…>::_M_realloc_insert",
    "…_M_realloc_insert",
    "_M_realloc_inser…",
    "_M_realloc_inse…",
  ]);
});

test("what is the name and what is around it is told apart", () => {
  for (const [name, room, short] of [
    ["llvm::User::operator new(unsigned long)", 26, "llvm::User::operator new"],
    ["llvm::User::operator new(unsigned long)", 16, "…operator new"],
    ["Matrix::operator()(int, int) const", 22, "Matrix::operator()(…)"],
    ["std::ostream& std::operator<< <char>(std::ostream&, char const*)", 24, "std::operator<< <…>(…)"],
    ["std::ostream& std::operator<< <char>(std::ostream&, char const*)", 14, "…operator<<"],
    ["Foo::operator std::vector<int>() const", 12, "…vector"],
    ["Rational::operator/(Rational const&)", 14, "…operator/"],
    ["main::{lambda()#1}::operator()() const", 32, "main::{lambda()#1}::operator()()"],
    ["std::_MakeUniq<Node>::__single_object std::make_unique<Node>()", 23, "std::make_unique<…>()"],
    ["(anonymous namespace)::Pool<64ul>::take(unsigned long)", 40, "(anonymous namespace)::Pool<…>::take(…)"],
    ["main()::<lambda(std::pair<int, int>)>", 22, "main()::<lambda(…)>"],
    ["main()::<lambda(std::pair<int, int>)>", 14, "…<lambda(…)>"],
    ["std::function<void (int)> make<int>(int)", 11, "make<…>(…)"],
    ["<alloc::vec::Vec<T> as core::clone::Clone>::clone", 10, "…clone"],
    ["alloc::raw_vec::RawVec<T,A>::reserve::do_reserve_and_handle", 51, "…raw_vec::RawVec<…>::reserve::do_reserve_and_handle"],
    ["core::ops::function::FnOnce::call_once{{vtable.shim}}", 20, "…FnOnce::call_once"],
    ["main.(*Server).serve", 18, "…(*Server).serve"],
    ["github.com/user/project/pkg.Do[go.shape.int]", 12, "…pkg.Do"],
    ["Stdlib__Map.Make.bal", 10, "…Make.bal"],
    ["Stdlib__Map.Make.bal", 6, "…bal"],
    ["Lwt.Sequential_composition.bind.(fun)", 20, "…bind.(fun)"],
    ["Lwt.Sequential_composition.bind.(fun)", 36, "…Sequential_composition.bind.(fun)"],
    ["Lwt.Infix.>>=", 12, "…Infix.>>="],
    ["Module.Sub.compare.isra.0", 16, "…compare.isra.0"],
    ["long_function.constprop.0.cold", 25, "long_function.constprop.…"],
    ["/usr/lib/python3/site.py", 10, "…site.py"],
  ])
    assert.equal(shortenTo(name, room), short, `${name} in ${room}`);
});

test("an address keeps its digits, the module its beginning", () => {
  assert.equal(shortenTo("libLLVM-14.so.1+0xf7f7ef", 20), "libLLVM-14…+0xf7f7ef");
  assert.equal(shortenTo("/usr/lib/libLLVM-14.so.1+0xf7f7ef", 26), "…libLLVM-14.so.1+0xf7f7ef");
  assert.equal(shortenTo("libLLVM-14.so.1+0xf7f7ef", 10), "…+0xf7f7ef");
});

test("names that are no names, or endless, do no harm", () => {
  for (const name of ["<", ">", ")(", "((((", "operator", "operator<", "a::", "::", "…", " ", "f(", "x<y", "()", "<>", "a<b>>::c", "+0x1", "f(int", "𝒳::𝒴"])
    for (let room = 0; room < name.length + 2; room++) assert.ok(shortenTo(name, room).length <= Math.max(room, name.length));
  for (const piece of ["(", "a::", "<a", ")", "operator()", "a<b>::", "(a>"]) {
    const name = piece.repeat(200000);
    assert.ok(shortenTo(name, 40).length <= 40);
    assert.ok(shortenTo(`${name}+0x1`, 40).length <= 40);
  }
});

test("instances of a template are told apart by the first argument that differs", () => {
  const names = ["std::vector<std::__cxx11::basic_string<char, std::char_traits<char> >, std::allocator<char> >::_M_realloc_insert<char>(char)", "std::vector<std::variant<int, double>, std::allocator<int> >::_M_realloc_insert<int>(int)"];
  assert.deepEqual(names.map(bareName), ["_M_realloc_insert", "_M_realloc_insert"]);
  assert.deepEqual(tellApart(names), ["basic_string", "variant"]);
  assert.deepEqual(tellApart(["f(int, long)", "f(int, char)"]), ["long", "char"]);
  assert.deepEqual(tellApart(["a::f(int)", "b::f(int)"]), ["f", "f"].map(() => ""));
  assert.deepEqual(tellApart(["f", "f(int)"]), ["", ""]);
});
