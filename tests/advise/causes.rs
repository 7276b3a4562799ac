// The same for Rust as in causes.cc, as far as it has rules of its own. `causes NAME` runs one.
use std::hint::black_box;

#[inline(never)]
fn grow(mut v: Vec<u32>) {
    for i in 0..2000 {
        v.push(i);
    }
    black_box(&v);
}

fn main() {
    let name = std::env::args().nth(1).unwrap();
    for _ in 0..500 {
        grow(if name == "grow" { Vec::new() } else { Vec::with_capacity(2000) });
    }
}
