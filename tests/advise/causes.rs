// The same for Rust as in causes.cc, as far as it has rules of its own. `causes NAME` runs one.

// std::hint::black_box is younger than the compilers that this has to work with.
fn keep<T>(value: &T) {
    unsafe { std::ptr::read_volatile(&(value as *const T)) };
}

#[inline(never)]
fn grow(mut v: Vec<u32>) {
    for i in 0..2000 {
        v.push(i);
    }
    keep(&v);
}

fn main() {
    let name = std::env::args().nth(1).unwrap();
    for _ in 0..500 {
        grow(if name == "grow" { Vec::new() } else { Vec::with_capacity(2000) });
    }
}
