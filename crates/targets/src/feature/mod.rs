//! Features of schemas that some targets refuse or lose: one feature, one file, and its doc comment is its page.

use toolpact_contract::Rule;

use crate::node::Node;

/// Something in a schema that targets treat differently.
#[derive(Debug)]
pub(crate) struct Feature {
    /// The rule that findings name.
    pub(crate) rule: &'static Rule,
    /// Says what is there, if the node has the feature.
    pub(crate) check: fn(&Node<'_>) -> Option<Hit>,
}

/// A feature that was found.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    /// The keyword of the node that it is about, if one.
    pub(crate) keyword: Option<&'static str>,
    /// What was found, in one line.
    pub(crate) message: String,
}

impl Hit {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { keyword: None, message: message.into() }
    }

    pub(crate) fn at(keyword: &'static str, message: impl Into<String>) -> Self {
        Self { keyword: Some(keyword), message: message.into() }
    }
}

/// All features.
pub(crate) static FEATURES: &[&Feature] = &[];

/// The rules of the features.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    FEATURES.iter().map(|feature| feature.rule)
}
