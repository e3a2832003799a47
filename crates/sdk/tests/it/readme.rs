//! The README shows an example that is compiled.

#[test]
fn the_readme_shows_the_example() {
    let readme = include_str!("../../../../README.md");
    let example = include_str!("../../examples/weather.rs");
    let (_, code) = example.split_once('\n').expect("a first line that says how to run it");
    assert!(readme.contains(code), "the README shows another server than examples/weather.rs");
    assert!(code.lines().filter(|line| !line.trim().is_empty()).count() <= 25);
}

#[test]
fn the_readme_shows_what_it_takes_to_adopt() {
    let readme = include_str!("../../../../README.md");
    let added: Vec<&str> = include_str!("../../examples/adopt.rs")
        .lines()
        .filter_map(|line| Some(line.split_once(" // +")?.0))
        .collect();
    assert!((1..=3).contains(&added.len()));
    for line in added {
        assert!(readme.contains(&format!("\n+{line}\n")), "{line}");
    }
}
