// rs_before.rs with the fix: names are borrowed, and none is cloned.
struct Person {
    name: String,
}

#[inline(never)]
fn longest(people: &[Person]) -> &str {
    let mut best = "";
    for person in people {
        if person.name.len() > best.len() {
            best = &person.name;
        }
    }
    best
}

fn main() {
    let people: Vec<Person> = (0..1000).map(|i| Person { name: format!("person number {i}") }).collect();
    let mut n = 0;
    for _ in 0..100 {
        n += longest(&people).len();
    }
    println!("{n} letters");
}
