//! The attribute `#[tools]` of toolpact.
