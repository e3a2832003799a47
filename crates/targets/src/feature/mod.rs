//! Features of schemas that some targets refuse or lose, by subject. The doc comment of a feature is its page.

pub(crate) mod annotations;
pub(crate) mod arrays;
pub(crate) mod numbers;
pub(crate) mod objects;
pub(crate) mod output;
pub(crate) mod references;
pub(crate) mod root;
pub(crate) mod strings;
pub(crate) mod types;
pub(crate) mod unions;
pub(crate) mod values;

use std::fmt;

use serde_json::Value;
use toolbond_contract::Rule;

use crate::node::Node;

/// Something in a schema that targets treat differently.
pub(crate) struct Feature {
    /// The rule that findings name.
    pub(crate) rule: &'static Rule,
    /// The schema that it is looked for in.
    pub(crate) side: Side,
    /// Says what is there, if the node has the feature.
    pub(crate) check: fn(&Node<'_>) -> Option<Hit>,
    /// The keywords that a view leaves out if the target has a rule about this feature. Empty where leaving out a keyword
    /// is not enough.
    pub(crate) keywords: &'static [&'static str],
}

/// The schema that a feature is looked for in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Input,
    Output,
}

impl fmt::Debug for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Feature").field(&self.rule.id).finish()
    }
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

    /// A hit for the first of `keywords` that `node` has.
    pub(crate) fn keyword(node: &Node<'_>, keywords: &[&'static str]) -> Option<Self> {
        let keyword = keywords.iter().find(|keyword| node.has(keyword))?;
        Some(Self::at(keyword, format!("has `{keyword}`")))
    }
}

/// Declares a feature. The doc comment is its page. A feature without a check is one of keywords.
macro_rules! declare_feature {
    (@ $(#[doc = $line:literal])+ $name:ident = $id:literal, $side:ident, $check:expr, $keywords:expr) => {
        $(#[doc = $line])+
        pub(crate) static $name: $crate::feature::Feature = $crate::feature::Feature {
            rule: &const {
                toolbond_contract::Rule::new(
                    $id, toolbond_contract::Severity::Info, concat!($($line, "\n"),+),
                )
            },
            side: $crate::feature::Side::$side,
            check: $check,
            keywords: $keywords,
        };
    };
    ($(#[doc = $line:literal])+ $name:ident = $id:literal, keywords [$($keyword:literal),+]) => {
        $crate::feature::declare_feature! {
            @ $(#[doc = $line])+ $name = $id, Input,
            |node| $crate::feature::Hit::keyword(node, &[$($keyword),+]), &[$($keyword),+]
        }
    };
    ($(#[doc = $line:literal])+ $name:ident = $id:literal, keywords [$($keyword:literal),+], $check:expr) => {
        $crate::feature::declare_feature! { @ $(#[doc = $line])+ $name = $id, Input, $check, &[$($keyword),+] }
    };
    ($(#[doc = $line:literal])+ $name:ident = $id:literal, Output, $check:expr) => {
        $crate::feature::declare_feature! { @ $(#[doc = $line])+ $name = $id, Output, $check, &[] }
    };
    ($(#[doc = $line:literal])+ $name:ident = $id:literal, $check:expr) => {
        $crate::feature::declare_feature! { @ $(#[doc = $line])+ $name = $id, Input, $check, &[] }
    };
}
pub(crate) use declare_feature;

/// All features.
pub(crate) static FEATURES: &[&Feature] = &[
    &annotations::CONTENT,
    &annotations::DEFAULT,
    &annotations::EXAMPLES,
    &annotations::SCHEMA_KEYWORD,
    &arrays::ARRAY_BOUND,
    &arrays::ARRAY_LENGTH,
    &arrays::ARRAY_WITHOUT_ITEMS,
    &arrays::CONTAINS,
    &arrays::OLD_TUPLE,
    &arrays::TUPLE,
    &arrays::TUPLE_REST,
    &arrays::UNIQUE_ITEMS,
    &numbers::EXCLUSIVE_RANGE,
    &numbers::MULTIPLE_OF,
    &numbers::NUMBER_RANGE,
    &objects::CLOSED_OBJECT,
    &objects::DEPENDENT_REQUIRED,
    &objects::EMPTY_OBJECT,
    &objects::EXPLICITLY_OPEN,
    &objects::MAP,
    &objects::NAME_CONSTRAINT,
    &objects::NESTED_OPTIONAL,
    &objects::OPEN_OBJECT,
    &objects::OPTIONAL_NULLABLE,
    &objects::OPTIONAL_PROPERTY,
    &objects::PATTERN_PROPERTIES,
    &objects::PROPERTY_COUNT,
    &objects::PROPERTY_KEY,
    &objects::PROPERTY_NAMES,
    &objects::RESERVED_KEY,
    &objects::UNDECLARED_REQUIRED,
    &objects::UNEVALUATED,
    &output::OUTPUT_BOOLEAN_PROPERTY,
    &output::OUTPUT_DIALECT,
    &output::OUTPUT_DRAFT_04,
    &output::OUTPUT_ROOT_TYPE,
    &output::OUTPUT_TUPLE,
    &references::ANCHOR,
    &references::CONSTRAINED_REF,
    &references::DEFINITIONS,
    &references::DYNAMIC_REF,
    &references::ESCAPED_REF,
    &references::NESTED_ID,
    &references::RECURSIVE_REF,
    &references::REF_CHAIN,
    &references::REF_ELSEWHERE,
    &references::REF_SIBLINGS,
    &references::ROOT_RECURSION,
    &root::EMPTY_ROOT,
    &root::ONLY_COMBINERS,
    &root::ROOT_ALL_OF,
    &root::ROOT_ANY_OF,
    &root::ROOT_CONDITION,
    &root::ROOT_ENUM,
    &root::ROOT_ONE_OF,
    &root::ROOT_REF,
    &strings::CUSTOM_FORMAT,
    &strings::FORMAT,
    &strings::LONG_REPETITION,
    &strings::MAX_LENGTH,
    &strings::LOOK_AROUND,
    &strings::PATTERN,
    &strings::STRING_LENGTH,
    &strings::UNANCHORED_PATTERN,
    &strings::UNKNOWN_FORMAT,
    &types::BOOLEAN_ITEMS,
    &types::BOOLEAN_SCHEMA,
    &types::NULLABLE_TYPE,
    &types::TYPE_LIST,
    &types::UNTYPED,
    &types::UNTYPED_BRANCH,
    &types::UNTYPED_ITEMS,
    &unions::ALL_OF,
    &unions::CLOSED_UNION,
    &unions::CONDITION,
    &unions::MERGED_OBJECTS,
    &unions::NOT,
    &unions::ONE_OF,
    &unions::OVERLAPPING_ONE_OF,
    &unions::SINGLE_ALL_OF,
    &unions::UNION_SIBLINGS,
    &values::CONST,
    &values::CONST_NOT_STRING,
    &values::CONST_OBJECT,
    &values::CONST_UNTYPED,
    &values::CONST_UNTYPED_VALUE,
    &values::ENUM_EMPTY_STRING,
    &values::ENUM_MIXED,
    &values::ENUM_NOT_STRING,
    &values::ENUM_NULL,
    &values::ENUM_OBJECT,
    &values::ENUM_UNTYPED,
];

/// The rules of the features.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    FEATURES.iter().map(|feature| feature.rule)
}

/// The number of members or elements of `value`, and 0 for everything else.
fn len(value: Option<&Value>) -> usize {
    match value {
        Some(Value::Array(list)) => list.len(),
        Some(Value::Object(map)) => map.len(),
        _ => 0,
    }
}
