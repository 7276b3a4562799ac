// shapes.rs: the like of shapes.cc in Rust: boxes, vectors, strings, closures, traits. Exits with 3.
use std::collections::BTreeMap;

struct Tree {
    children: Vec<Box<Tree>>,
    name: String,
}

fn build(depth: u32) -> Box<Tree> {
    let children = if depth == 0 { vec![] } else { vec![build(depth - 1), build(depth - 1)] };
    Box::new(Tree { children, name: format!("tree of depth {depth}, with a name") })
}

trait Shape {
    fn draw(&self) -> Vec<u8>;
}

struct Square(usize);

impl Shape for Square {
    fn draw(&self) -> Vec<u8> {
        vec![b'#'; self.0 * self.0]
    }
}

fn grow(n: u64) -> Vec<u64> {
    let mut v = Vec::new();
    for i in 0..n {
        v.push(i);
    }
    v
}

fn main() {
    let tree = build(10);
    let shapes: Vec<Box<dyn Shape>> = (1..60).map(|n| Box::new(Square(n)) as Box<dyn Shape>).collect();
    let drawn: usize = shapes.iter().map(|s| s.draw().len()).sum();
    let names: BTreeMap<usize, String> = (0..2000).map(|i| (i, format!("name number {i}"))).collect();
    let total = drawn + names.len() + grow(100_000).len() + tree.children.len() + tree.name.len();
    std::process::exit(if total > 0 { 3 } else { 1 });
}
