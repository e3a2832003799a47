//! How a JSON text is laid out, for what is added to it.

use serde_json::Value;

/// How a JSON text is laid out.
pub(crate) struct Layout {
    /// One more level, if values go over several lines.
    step: Option<String>,
    /// Whether there is a space after a colon.
    pub(crate) is_spaced: bool,
}

impl Layout {
    /// The layout of `text`.
    pub(crate) fn of(text: &str) -> Self {
        let indents = text.lines().skip(1).filter(|line| !line.trim().is_empty()).map(indent);
        // The text of a tool starts at its brace, so the last line has the indent of the tool.
        let outer = indents.clone().last().unwrap_or_default();
        let step =
            indents.filter_map(|indent| indent.strip_prefix(outer)).filter(|step| !step.is_empty());
        Self {
            step: step.min_by_key(|step| step.len()).map(str::to_owned),
            is_spaced: text.contains("\": ") || !text.contains("\":"),
        }
    }

    pub(crate) const fn colon(&self) -> &'static str {
        if self.is_spaced { ": " } else { ":" }
    }

    pub(crate) const fn comma(&self) -> &'static str {
        if self.is_spaced { ", " } else { "," }
    }

    /// Writes `value` at `offset` of `text`.
    pub(crate) fn render_at(&self, text: &str, offset: usize, value: &Value) -> String {
        let line = text[..offset].rfind('\n').map_or("", |end| &text[end + 1..]);
        self.render(value, indent(line))
    }

    /// Writes `value` in a line that starts with `indent`.
    fn render(&self, value: &Value, indent: &str) -> String {
        let member = |name: &str, value: &Value, indent: &str| {
            let name = Value::from(name);
            format!("{name}{}{}", self.colon(), self.render(value, indent))
        };
        match (value, &self.step) {
            (Value::Object(members), Some(step)) if !members.is_empty() => {
                let inner = format!("{indent}{step}");
                let lines: Vec<_> = members
                    .iter()
                    .map(|(name, value)| format!("{inner}{}", member(name, value, &inner)))
                    .collect();
                format!("{{\n{}\n{indent}}}", lines.join(",\n"))
            }
            (Value::Array(items), Some(step))
                if items.iter().any(|item| item.is_object() || item.is_array()) =>
            {
                let inner = format!("{indent}{step}");
                let lines: Vec<_> = items
                    .iter()
                    .map(|item| format!("{inner}{}", self.render(item, &inner)))
                    .collect();
                format!("[\n{}\n{indent}]", lines.join(",\n"))
            }
            (Value::Object(members), _) if !members.is_empty() => {
                let members: Vec<_> =
                    members.iter().map(|(name, value)| member(name, value, indent)).collect();
                let (open, close) = if self.is_spaced { ("{ ", " }") } else { ("{", "}") };
                format!("{open}{}{close}", members.join(self.comma()))
            }
            (Value::Array(items), _) if !items.is_empty() => {
                let items: Vec<_> = items.iter().map(|item| self.render(item, indent)).collect();
                format!("[{}]", items.join(self.comma()))
            }
            (value, _) => value.to_string(),
        }
    }
}

/// The white space that `line` starts with.
fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
