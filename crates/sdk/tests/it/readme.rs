//! The README shows an example that is compiled.

#[test]
fn the_readme_shows_the_example() {
    let readme = include_str!("../../../../README.md");
    let example = include_str!("../../examples/weather.rs");
    let (_, code) = example.split_once('\n').expect("a first line that says how to run it");
    assert!(readme.contains(code), "the README shows another server than examples/weather.rs");
    assert!(code.lines().filter(|line| !line.trim().is_empty()).count() <= 25);
}
