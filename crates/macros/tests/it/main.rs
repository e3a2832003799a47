//! Mistakes as the compiler shows them.

#[test]
fn mistakes_point_at_their_place() {
    trybuild::TestCases::new().compile_fail("tests/it/mistakes/*.rs");
}
