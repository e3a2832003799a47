//! `header-annotation`.

use std::{collections::HashSet, fmt::Write as _};

use serde_json::{Map, Value};

use crate::{
    Finding,
    json_type::{kind, show},
    subschemas::{DEEPEST, Path, each},
};

declare_rule! {
    /// An `x-mcp-header` annotation breaks the rules of revision 2026-07-28.
    ///
    /// ## What it does
    ///
    /// With `"x-mcp-header": "{name}"` in the schema of an argument, a tool asks clients to repeat that
    /// argument in the HTTP header `Mcp-Param-{name}`. The rules are:
    ///
    /// - The name is a token of RFC 9110: letters, digits and ``!#$%&'*+-.^_`|~``.
    /// - No other argument of the tool has the same name, ignoring case.
    /// - The argument has the `type` `"string"`, `"integer"` or `"boolean"`, not `"number"`.
    /// - The path from the root of the input schema contains no keyword other than `properties`.
    ///
    /// ## Why is this bad
    ///
    /// Clients on Streamable HTTP must drop such a tool. Clients on other transports may ignore the
    /// annotation: with `toolbond lint --ignore-headers` this is a warning.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "ratio": { "type": "number", "x-mcp-header": "My Ratio" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "region": { "type": "string", "x-mcp-header": "Region" } } }
    /// ```
    pub HEADER_ANNOTATION = "header-annotation", Error
}

/// The annotation.
pub(crate) const KEY: &str = "x-mcp-header";

/// The most annotations reported for one schema; the last one counts the rest.
const REPORTED: usize = 16;

/// The bytes of pointers after which no more are reported: names can be long.
const POINTERS: usize = 1 << 16;

/// The annotations of `schema` that break a rule, as findings whose pointers start at its root.
pub(crate) fn check(schema: &Value) -> Vec<Finding> {
    let mut scan = Scan { seen: HashSet::new(), found: Vec::new(), written: 0, more: 0 };
    scan.visit(schema, &Path::default(), true);
    if scan.more > 0
        && let Some(last) = scan.found.last_mut()
    {
        // Writing to a `String` does not fail.
        _ = write!(last.message, ", and {} more wrong annotations", scan.more);
    }
    scan.found
}

struct Scan {
    /// The names used so far, in lower case.
    seen: HashSet<String>,
    found: Vec<Finding>,
    /// Bytes of pointers.
    written: usize,
    /// How many are found and not reported.
    more: usize,
}

impl Scan {
    /// `reachable`: through `properties` alone.
    fn visit(&mut self, schema: &Value, path: &Path<'_>, reachable: bool) {
        let Value::Object(schema) = schema else { return };
        if path.depth() > DEEPEST {
            return;
        }
        if let Some(name) = schema.get(KEY)
            && let Err(message) =
                header_name(name, schema, reachable && path.depth() > 0, &mut self.seen)
        {
            self.report(message, path);
        }
        each(schema, |step, inner| {
            let reachable = reachable && step.keyword == "properties";
            self.visit(inner, &path.step(step), reachable);
        });
    }

    fn report(&mut self, message: String, path: &Path<'_>) {
        if self.found.len() == REPORTED || self.written > POINTERS {
            self.more += 1;
            return;
        }
        let at = path.pointer().join(KEY);
        self.written += at.as_str().len();
        self.found.push(HEADER_ANNOTATION.finding(message).at(at));
    }
}

/// The header that the annotation `name` of `schema` asks for, or how it breaks a rule. `reachable`: through `properties`
/// alone; `seen`: the names used so far, in lower case.
pub(crate) fn header_name<'a>(
    name: &'a Value,
    schema: &Map<String, Value>,
    reachable: bool,
    seen: &mut HashSet<String>,
) -> Result<&'a str, String> {
    let Value::String(name) = name else {
        return Err(format!("expected a header name (a string), found {}", kind(name)));
    };
    if name.is_empty() || !name.bytes().all(is_token_byte) {
        let found = show(&Value::String(name.clone()));
        return Err(format!("expected a header name (a token of RFC 9110), found {found}"));
    }
    if !reachable {
        return Err("expected on a property reached through `properties` alone, found elsewhere"
            .to_owned());
    }
    let typed = schema.get("type");
    if !matches!(typed.and_then(Value::as_str), Some("string" | "integer" | "boolean")) {
        let found = typed.map_or_else(|| "no `type`".to_owned(), show);
        return Err(format!(
            "expected on a property of type string, integer or boolean, found {found}"
        ));
    }
    if !seen.insert(name.to_ascii_lowercase()) {
        let found = show(&Value::String(name.clone()));
        return Err(format!("expected a different name for each argument, found {found} again"));
    }
    Ok(name)
}

/// `tchar` of RFC 9110, section 5.6.2.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
