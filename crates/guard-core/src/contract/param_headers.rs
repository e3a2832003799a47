//! The `Mcp-Param-*` headers of a call, compared with its arguments.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use toolbond_contract::Contract;
use toolbond_contract::headers::{PREFIX, decode, matches, param_headers};

use crate::json::members::Name;

/// The `Mcp-Param-*` headers of a request: names in lower case, and values.
#[derive(Debug, Default)]
pub struct ParamHeaders(Vec<(String, Vec<u8>)>);

impl ParamHeaders {
    /// The headers of `all` whose names start with `Mcp-Param-`.
    pub fn new<'a>(all: impl Iterator<Item = (&'a str, &'a [u8])>) -> Self {
        let is_param = |name: &str| {
            name.get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX))
        };
        let own = all.filter(|(name, _)| is_param(name));
        Self(own.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect())
    }

    /// Compares the headers that `contract` asks for with `arguments`. Other headers are ignored.
    ///
    /// Fails with the reason if one of them is missing, is there twice, cannot be read, or says something else.
    pub fn check(&self, contract: &Contract, arguments: Option<&str>) -> Result<(), String> {
        let schema = contract.input().value();
        if param_headers(schema, None).is_empty() {
            return Ok(());
        }
        let arguments = arguments.map(|text| annotated(schema, text)).transpose();
        let arguments = arguments.map_err(|error| format!("#/params/arguments: {error}"))?;
        for asked in param_headers(schema, arguments.as_ref()) {
            let name = &asked.name;
            let mut values = self.0.iter().filter(|(own, _)| own.eq_ignore_ascii_case(name));
            match (values.next(), asked.value) {
                (None, Some(_)) => return Err(format!("{name} is missing")),
                (Some(_), None) => {
                    return Err(format!("{name} is there, but its argument is not"));
                }
                (Some((_, value)), Some(_)) if decode(value).is_none() => {
                    return Err(format!("{name} cannot be read"));
                }
                (Some((_, value)), Some(argument)) if !matches(value, argument) => {
                    return Err(format!("{name} differs from its argument"));
                }
                (None, None) | (Some(_), Some(_)) => {}
            }
            if values.next().is_some() {
                return Err(format!("{name} is there twice"));
            }
        }
        Ok(())
    }
}

/// The part of the arguments `text` that `schema` describes with `properties` alone.
pub fn annotated(schema: &Value, text: &str) -> serde_json::Result<Value> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Described(schema).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Reads the members that a schema describes, and skips over everything else: arguments can be large.
struct Described<'a>(&'a Value);

impl<'de> DeserializeSeed<'de> for Described<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Described<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("arguments")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let properties = self.0.get("properties").and_then(Value::as_object);
        let mut found = Map::new();
        while let Some(Name(name)) = map.next_key()? {
            match properties.and_then(|properties| properties.get(&*name)) {
                Some(schema) => {
                    let value = map.next_value_seed(Described(schema))?;
                    if found.insert(name.to_string(), value).is_some() {
                        let name: String = name.chars().take(60).collect();
                        return Err(A::Error::custom(format!("duplicate key `{name}`")));
                    }
                }
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Value::Object(found))
    }

    // An array has no header; it is kept apart from `null`, which says that there is no value.
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Array(Vec::new()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolbond_contract::Contract;

    use super::ParamHeaders;

    fn check(headers: &[(&str, &[u8])], arguments: &str) -> Result<(), String> {
        let contract = Contract::received(json!({ "name": "a", "inputSchema": {
            "type": "object",
            "properties": {
                "region": { "type": "string", "x-mcp-header": "Region" },
                "place": { "type": "object", "properties": {
                    "floor": { "type": "integer", "x-mcp-header": "Floor" },
                } },
                "query": { "type": "string" },
            },
        } }))
        .unwrap();
        ParamHeaders::new(headers.iter().copied()).check(&contract, Some(arguments))
    }

    #[test]
    fn headers_say_what_the_arguments_say() {
        let eu = [("mcp-param-region", &b"eu"[..])];
        for (headers, arguments) in [
            (&eu[..], r#"{"region":"eu"}"#),
            (&[("MCP-Param-REGION", b"=?base64?ZXU=?=")], r#"{"region":"eu"}"#),
            (&[("mcp-param-floor", b"3.0")], r#"{"place":{"floor":3},"query":"a"}"#),
            (&[("mcp-param-other", b"\xff")], r#"{"query":"a"}"#),
            (&[], r#"{"region":null,"place":{"floor":null}}"#),
            (&[], r#"{"place":[{"floor":3}]}"#),
        ] {
            assert_eq!(check(headers, arguments), Ok(()), "{headers:?} {arguments}");
        }
        for (headers, arguments, reason) in [
            (&[][..], r#"{"region":"eu"}"#, "Mcp-Param-Region is missing"),
            (&eu, r#"{"region":"us"}"#, "Mcp-Param-Region differs from its argument"),
            (&eu, r#"{"region":null}"#, "Mcp-Param-Region is there, but its argument is not"),
            (&eu, "{}", "Mcp-Param-Region is there, but its argument is not"),
            (
                &[("mcp-param-region", b"\xff")],
                r#"{"region":"eu"}"#,
                "Mcp-Param-Region cannot be read",
            ),
            (&[eu[0], eu[0]], r#"{"region":"eu"}"#, "Mcp-Param-Region is there twice"),
            (
                &[("mcp-param-floor", b"4")],
                r#"{"place":{"floor":3}}"#,
                "Mcp-Param-Floor differs from its argument",
            ),
            (
                &eu,
                r#"{"region":"us","\u0072egion":"eu"}"#,
                "#/params/arguments: duplicate key `region` at line 1 column 34",
            ),
        ] {
            assert_eq!(check(headers, arguments), Err(reason.to_owned()), "{arguments}");
        }
    }
}
