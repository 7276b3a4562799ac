// Finds the longest name. Each name is cloned to be compared. rs_after.rs borrows them.
#[derive(Clone)]
struct Person {
    name: String,
}

#[inline(never)]
fn longest(people: &[Person]) -> String {
    let mut best = String::new();
    for person in people.iter().cloned() {
        if person.name.len() > best.len() {
            best = person.name;
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
