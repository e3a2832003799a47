//! TOML.

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::node::{Kind, Member, Node};
use super::syntax::{ParseError, Syntax};

pub(super) fn parse(text: &str) -> Result<Node, ParseError> {
    let table = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        let message = error.message().lines().next().unwrap_or_default().to_owned();
        ParseError::at(Syntax::Toml, text, offset, message)
    })?;
    Ok(Node { range: table.span(), kind: members(table.get_ref()) })
}

fn members(table: &DeTable<'_>) -> Kind {
    let mut members: Vec<Member> = table
        .iter()
        .map(|(key, value)| Member {
            name: key.get_ref().clone().into_owned(),
            key: key.span(),
            value: node(value),
        })
        .collect();
    // A table of this parser is sorted by name.
    members.sort_by_key(|member| member.key.start);
    Kind::Table(members)
}

fn node(value: &Spanned<DeValue<'_>>) -> Node {
    let kind = match value.get_ref() {
        DeValue::String(text) => Kind::Text(text.clone().into_owned()),
        DeValue::Array(items) => Kind::List(items.iter().map(node).collect()),
        DeValue::Table(table) => members(table),
        DeValue::Boolean(value) => Kind::Other(Value::from(*value)),
        DeValue::Integer(number) => Kind::Other(Value::from(number.as_str())),
        DeValue::Float(number) => Kind::Other(Value::from(number.as_str())),
        DeValue::Datetime(date) => Kind::Other(Value::from(date.to_string())),
    };
    Node { range: value.span(), kind }
}
