//! Where the resources of a schema are, and where its references lead.

use std::collections::HashMap;

use serde_json::Value;

use super::{
    reference::{Documents, bare},
    survey::Survey,
};
use crate::{Options, Pointer};

/// The places that a schema gives names to with `$id`, anchors and references.
///
/// What is in other documents is left out, and so is what has long pointers:
/// [`Limits::copied_bytes`](crate::Limits::copied_bytes) bounds all of them together.
#[derive(Debug, Default)]
pub(crate) struct Locations {
    /// The pointer of each resource, by its URI without `#`.
    resources: HashMap<String, usize>,
    /// The pointer of the target of each `$ref`, by the address of the subschema that has it.
    targets: HashMap<usize, usize>,
    /// Resources and targets.
    pointers: Vec<Pointer>,
}

impl Locations {
    /// Surveys `schema` again, which was admitted with `options`. The addresses are those of its subschemas.
    pub(crate) fn collect(options: &Options, schema: &Value) -> Self {
        let Ok(documents) = Documents::collect_if_needed(options, schema) else {
            return Self::default();
        };
        let Ok(survey) = Survey::run(options, schema, documents.as_ref()) else {
            return Self::default();
        };
        let resources = survey.resources();
        let links: Vec<_> = survey.links().collect();
        let ends = links.iter().map(|(_, to)| *to).chain(resources.values().copied());
        let mut search = Search {
            wanted: ends.map(|value| (address(value), None)).collect(),
            pointers: Vec::new(),
            left: options.limits.copied_bytes,
        };
        search.visit(schema, &mut Pointer::root());
        let found = |value: &Value| search.wanted.get(&address(value)).copied().flatten();
        let resources = resources.into_iter();
        let resources =
            resources.filter_map(|(uri, root)| Some((bare(uri).to_owned(), found(root)?)));
        let targets = links.iter().filter_map(|(from, to)| Some((address(from), found(to)?)));
        Self {
            resources: resources.collect(),
            targets: targets.collect(),
            pointers: search.pointers,
        }
    }

    /// Where the resource `uri` is.
    pub(crate) fn resource(&self, uri: &str) -> Option<&Pointer> {
        self.pointers.get(*self.resources.get(uri)?)
    }

    /// Where the `$ref` of `subschema` leads.
    pub(crate) fn target(&self, subschema: &Value) -> Option<&Pointer> {
        self.pointers.get(*self.targets.get(&address(subschema))?)
    }
}

/// Finds the pointers of values.
struct Search {
    /// The values by their addresses, and the number of the pointer of each.
    wanted: HashMap<usize, Option<usize>>,
    pointers: Vec<Pointer>,
    /// Bytes that pointers may still take.
    left: usize,
}

impl Search {
    fn visit(&mut self, value: &Value, pointer: &mut Pointer) {
        if let Some(number) = self.wanted.get_mut(&address(value))
            && let Some(left) = self.left.checked_sub(pointer.as_str().len())
        {
            self.left = left;
            *number = Some(self.pointers.len());
            self.pointers.push(pointer.clone());
        }
        let length = pointer.as_str().len();
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    pointer.push(index);
                    self.visit(item, pointer);
                    pointer.truncate(length);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    pointer.push(name);
                    self.visit(member, pointer);
                    pointer.truncate(length);
                }
            }
            _ => {}
        }
    }
}

fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Search, address};
    use crate::Pointer;

    #[test]
    fn pointers_take_no_more_than_their_bytes() {
        let value = json!({ "a": {}, "a long name": {}, "b": [{}] });
        let wanted = [&value["a"], &value["a long name"], &value["b"][0]];
        let wanted = wanted.map(|value| (address(value), None)).into_iter().collect();
        let mut search = Search { wanted, pointers: Vec::new(), left: 8 };
        search.visit(&value, &mut Pointer::root());
        assert_eq!(search.pointers, ["/a", "/b/0"].map(Pointer::from));
        assert_eq!(search.left, 2);
    }
}
