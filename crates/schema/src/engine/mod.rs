//! The validator behind a schema: the `jsonschema` crate, reading instances through a meter.

mod equality;
mod instance;
mod meter;
mod node;
mod pattern;
mod pattern_keyword;
mod raw;
mod stack;
mod width;

pub use instance::{
    ElementsRef, Instance, InstanceError, InstanceErrorKind, MembersRef, ValueRef,
    string_end_or_special,
};
pub(crate) use meter::{
    Allowance, NamePatterns, Stop, burn, holds, next_id, run, run_freely, run_to_end,
};
pub(crate) use node::{Metered, MeteredJson};
pub(crate) use pattern::{HardPattern, HardPatterns};
pub(crate) use pattern_keyword::keyword as hard_pattern_keyword;
pub(crate) use raw::Raw;
pub(crate) use stack::{FEW_LEVELS, StackNeed, nesting, with_stack};
pub(crate) use width::{activity, states};

/// A compiled schema that reads instances through the meter.
pub(crate) type Validator = jsonschema::Validator<MeteredJson>;
