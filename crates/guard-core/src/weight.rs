//! What compiled schemas take in memory, about.

use serde_json::Value;
use toolbond_schema::Schema;

/// What compiling `value` takes, about: measured as resident memory for lists of tools of seven shapes.
pub(crate) fn weigh(value: &Value) -> usize {
    const MEMBER: usize = 1400;
    const ITEM: usize = 600;
    match value {
        Value::Object(members) => {
            members.iter().map(|(name, value)| MEMBER + 4 * name.len() + weigh(value)).sum()
        }
        Value::Array(items) => items.iter().map(|item| ITEM + weigh(item)).sum(),
        Value::String(text) => 4 * text.len(),
        _ => 0,
    }
}

/// What a state of a pattern takes, about: measured in the same way.
pub(crate) const STATE: usize = 300;

/// What a compiled schema takes, about.
pub(crate) fn weigh_schema(schema: &Schema) -> usize {
    weigh(schema.source()) + STATE * schema.pattern_states()
}
