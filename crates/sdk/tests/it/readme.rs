//! The README and the guide for Rust show programs that are compiled.

/// `examples/weather.rs` without its first line, which says how to run it.
fn weather() -> &'static str {
    include_str!("../../examples/weather.rs").split_once('\n').expect("a first line").1
}

#[test]
fn the_readme_shows_the_example() {
    let readme = include_str!("../../../../README.md");
    assert!(readme.contains(weather()), "the README shows another server than examples/weather.rs");
    let guide = include_str!("../../../../docs/rust-servers.md");
    assert!(guide.contains(weather()), "the guide shows another server than examples/weather.rs");
    assert!(weather().lines().filter(|line| !line.trim().is_empty()).count() <= 15);
}

#[test]
fn the_guide_shows_what_it_takes_to_adopt() {
    let guide = include_str!("../../../../docs/rust-servers.md");
    let added: Vec<&str> = include_str!("../../examples/adopt.rs")
        .lines()
        .filter_map(|line| Some(line.split_once(" // +")?.0))
        .collect();
    assert!((1..=3).contains(&added.len()));
    for line in added {
        assert!(guide.contains(&format!("\n+{line}\n")), "{line}");
    }
}
