//! Rewriting the `Mcp-Param-*` headers of a request whose arguments were repaired.

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use toolbond_contract::headers::matches;

use toolbond_guard_core::contract::header_changes::HeaderChange;

/// Applies `changes` to the headers of a request.
///
/// A header that was not that of the client's own argument stays: the server has to see and refuse it.
pub(super) fn rewrite(headers: &mut HeaderMap, changes: Vec<HeaderChange>) {
    for HeaderChange { name, from, to } in changes {
        let Ok(name) = HeaderName::try_from(name) else { continue };
        let found: Vec<_> = headers.get_all(&name).iter().collect();
        let is_right = match (&found[..], &from) {
            ([], None) => true,
            ([header], Some(value)) => matches(header.as_bytes(), value),
            _ => false,
        };
        match to.map(HeaderValue::try_from) {
            _ if !is_right => {}
            Some(Ok(value)) => drop(headers.insert(name, value)),
            None | Some(Err(_)) => drop(headers.remove(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use hyper::HeaderMap;
    use serde_json::{Value, json};

    use super::rewrite;
    use toolbond_guard_core::contract::header_changes::header_changes;

    /// The headers that leave, by name.
    fn rewritten(headers: &[(&str, &str)], before: &Value, after: &Value) -> Vec<(String, String)> {
        let schema = json!({ "type": "object", "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "place": { "properties": { "floor": { "type": "integer", "x-mcp-header": "Floor" } } },
        } });
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name.parse::<hyper::header::HeaderName>().unwrap(), value.parse().unwrap());
        }
        rewrite(&mut map, header_changes(&schema, Some(before), after));
        let text = |value: &hyper::header::HeaderValue| value.to_str().unwrap().to_owned();
        map.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
    }

    fn pairs(headers: &[(&str, &str)]) -> Vec<(String, String)> {
        headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn headers_follow_the_arguments() {
        for (headers, before, after, expected) in [
            (
                &[("mcp-param-region", "=?base64?IEVV?=")][..],
                json!({ "region": " EU" }),
                json!({ "region": "eu" }),
                &[("mcp-param-region", "eu")][..],
            ),
            (
                &[],
                json!({ "place": "{\"floor\":3}" }),
                json!({ "place": { "floor": 3 } }),
                &[("mcp-param-floor", "3")],
            ),
            (
                &[("mcp-param-floor", "3.0")],
                json!({ "place": { "floor": "3.0" } }),
                json!({ "place": { "floor": 3 } }),
                &[("mcp-param-floor", "3")],
            ),
            (
                &[("mcp-param-region", "eu"), ("x-other", "1")],
                json!({ "region": "eu" }),
                json!({}),
                &[("x-other", "1")],
            ),
        ] {
            assert_eq!(rewritten(headers, &before, &after), pairs(expected), "{before}");
        }
    }

    #[test]
    fn headers_that_contradict_the_body_stay() {
        let (before, after) = (json!({ "region": "EU" }), json!({ "region": "eu" }));
        for headers in [
            &[("mcp-param-region", "us")][..],
            &[("mcp-param-region", "EU"), ("mcp-param-region", "EU")],
            &[],
        ] {
            assert_eq!(rewritten(headers, &before, &after), pairs(headers));
        }
        let kept = [("mcp-param-region", "us")];
        let (before, after) = (json!({ "region": "eu", "x": 1 }), json!({ "region": "eu" }));
        assert_eq!(rewritten(&kept, &before, &after), pairs(&kept));
    }
}
