//! References that a view keeps.

use serde_json::{Map, Value};

use super::flatten::strip_definitions;
use super::{Builder, Built, Place, free_name};
use crate::view::notes::Notes;
use crate::view::plan::{DEFINITION, Plan};

impl Builder<'_> {
    /// A reference to the definition at `pointer`, which [`Self::build_definitions`] builds later.
    pub(super) fn reference(&mut self, pointer: &str, annotations: Map<String, Value>) -> Built {
        let known = self.definitions.iter().position(|(known, ..)| known == pointer);
        let number = known.unwrap_or_else(|| {
            let last = pointer.rsplit('/').next().unwrap_or_default();
            let plain: String = last
                .chars()
                .filter(|c| c.is_ascii_alphanumeric() || "_.-".contains(*c))
                .take(60)
                .collect();
            let plain = if plain.is_empty() { "root".to_owned() } else { plain };
            let is_taken =
                |wanted: &str| self.definitions.iter().any(|(_, name, _)| name == wanted);
            let name = free_name(&plain, is_taken);
            self.definitions.push((pointer.to_owned(), name, None));
            self.definitions.len() - 1
        });
        let mut schema = annotations;
        schema.insert(
            "$ref".to_owned(),
            format!("{DEFINITION}{}", self.definitions[number].1).into(),
        );
        self.finish(schema, Plan::Definition(number), false, Notes::default())
    }

    /// Builds the definitions one after the other: each may refer to the next, and the stack ends before a long chain of
    /// them does.
    pub(super) fn build_definitions(&mut self) {
        let mut number = 0;
        while let Some((pointer, ..)) = self.definitions.get(number) {
            let target = self.source.pointer(pointer).cloned().unwrap_or_default();
            let place = Place { is_root: false, depth: 1, followed: vec![pointer.clone()] };
            let built = self.build(&without_definitions(target), &place);
            self.definitions[number].2 = Some(built);
            number += 1;
        }
    }
}

pub(super) fn without_definitions(schema: Value) -> Value {
    match schema {
        Value::Object(schema) => Value::Object(strip_definitions(schema)),
        other => other,
    }
}
