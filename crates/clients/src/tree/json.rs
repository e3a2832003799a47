//! JSON with comments and trailing commas.

use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::node::{Kind, Member, Node};
use super::syntax::{ParseError, Syntax};

pub(super) fn parse(text: &str) -> Result<Node, ParseError> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| {
        let message = error.kind().to_string();
        let message = message.chars().next().into_iter().flat_map(char::to_lowercase);
        let message = message.chain(error.kind().to_string().chars().skip(1)).collect();
        ParseError::at(Syntax::Json, text, error.range().start, message)
    })?;
    Ok(match parsed.value {
        Some(value) => node(&value),
        None => Node { range: text.len()..text.len(), kind: Kind::Table(Vec::new()) },
    })
}

fn node(value: &ast::Value<'_>) -> Node {
    let kind = match value {
        ast::Value::StringLit(text) => Kind::Text(text.value.clone().into_owned()),
        ast::Value::Array(array) => Kind::List(array.elements.iter().map(node).collect()),
        ast::Value::Object(object) => Kind::Table(object.properties.iter().map(member).collect()),
        ast::Value::NumberLit(number) => Kind::Other(Value::from(number.value)),
        ast::Value::BooleanLit(boolean) => Kind::Other(Value::from(boolean.value)),
        ast::Value::NullKeyword(_) => Kind::Other(Value::Null),
    };
    Node { range: value.start()..value.end(), kind }
}

fn member(member: &ast::ObjectProp<'_>) -> Member {
    Member {
        name: member.name.as_str().to_owned(),
        key: member.name.start()..member.name.end(),
        value: node(&member.value),
    }
}
