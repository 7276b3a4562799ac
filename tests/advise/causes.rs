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

#[derive(Clone)]
struct Item {
    name: String,
    values: Vec<u32>,
}

#[inline(never)]
fn total(items: Vec<Item>) -> usize {
    items.iter().map(|i| i.name.len() + i.values.len()).sum()
}

#[inline(never)]
fn total_right(items: &[Item]) -> usize {
    items.iter().map(|i| i.name.len() + i.values.len()).sum()
}

#[inline(never)]
fn copies(right: bool) {
    let one = Item { name: "the name of an item".to_string(), values: vec![1; 100] };
    let items = vec![one];
    for _ in 0..2000 {
        keep(&if right { total_right(&items) } else { total(items.clone()) });
    }
}

#[inline(never)]
fn texts(right: bool) {
    let words = ["a word of a text", "and another one"];
    for i in 0..20000 {
        if right {
            keep(&words[i % 2]);
        } else {
            keep(&words[i % 2].to_string());
        }
    }
}

#[inline(never)]
fn grows(right: bool) {
    for _ in 0..500 {
        grow(if right { Vec::with_capacity(2000) } else { Vec::new() });
    }
}

fn main() {
    let name = std::env::args().nth(1).unwrap();
    let right = name.ends_with("_right");
    match name.trim_end_matches("_right") {
        "grow" => grows(right),
        "copies" => copies(right),
        _ => texts(right),
    }
}
