//! Arrays and tuples.

use serde_json::{Map, Value, json};

use super::{Builder, Built, Place};
use crate::feature::arrays;
use crate::view::notes::Notes;
use crate::view::plan::Plan;

impl Builder<'_> {
    /// Rewrites the keywords of arrays.
    pub(super) fn array(
        &mut self,
        schema: &mut Map<String, Value>,
        place: &Place,
        notes: &mut Notes,
    ) -> Plan {
        let is_tuple = schema.contains_key("prefixItems");
        if is_tuple && !self.form.refuses(&arrays::TUPLE) {
            let clean = ["prefixItems", "items"].iter().all(|keyword| match schema.get(*keyword) {
                Some(Value::Array(all)) => {
                    all.iter().all(|it| self.form.accepts_unchanged(it, false))
                }
                Some(inner) => inner.is_boolean() || self.form.accepts_unchanged(inner, false),
                None => true,
            });
            if clean {
                return Plan::Keep;
            }
        }
        let items = match (schema.shift_remove("prefixItems"), schema.shift_remove("items")) {
            (Some(Value::Array(mut places)), rest) => {
                notes.changed("a tuple, written as a list");
                notes.say(&format!("{} elements, each of its own kind", places.len()));
                match rest {
                    Some(Value::Bool(false)) => {}
                    Some(rest @ Value::Object(_)) => places.push(rest),
                    _ => places.push(json!({})),
                }
                Some(json!({ "anyOf": places }))
            }
            (_, Some(Value::Bool(true))) => Some(json!({})),
            (_, Some(Value::Bool(false))) => {
                schema.insert("maxItems".to_owned(), 0.into());
                Some(json!({}))
            }
            (_, items) => items,
        };
        let items = items.or_else(|| self.form.needs_items().then(|| json!({})));
        let Some(items) = items else { return Plan::Keep };
        let Built { schema: items, plan } = self.build(&items, &place.inside());
        schema.insert("items".to_owned(), items);
        match plan {
            Plan::Keep => Plan::Keep,
            plan => Plan::Items(Box::new(plan)),
        }
    }
}
