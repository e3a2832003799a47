//! The repairs, in the order in which they are tried.

use super::repair::Repair;
use super::{
    boolean_text, enum_spelling, json_text, misspelt_property, null_property, number_text,
    single_value, undeclared_property,
};

/// All repairs.
pub(crate) static REPAIRS: &[Repair] = &[
    json_text::REPAIR,
    number_text::REPAIR,
    boolean_text::REPAIR,
    null_property::REPAIR,
    single_value::REPAIR,
    enum_spelling::REPAIR,
    misspelt_property::REPAIR,
    undeclared_property::REPAIR,
];
