//! The `Mcp-Param-*` headers of a call, compared with its arguments.

use toolbond_contract::Contract;
use toolbond_contract::headers::{PREFIX, decode, matches, param_headers};

use crate::json::strict::parse_described;

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
        let arguments = arguments.map(|text| parse_described(schema, text)).transpose();
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
                "#/params/arguments: duplicate key `region` at line 1 column 28",
            ),
        ] {
            assert_eq!(check(headers, arguments), Err(reason.to_owned()), "{arguments}");
        }
    }
}
