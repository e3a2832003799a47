//! A schema as the violations of its instances refer to it.

use jsonschema::{ValidationError, error::ValidationErrorKind};
use serde_json::Value;

use crate::{Pointer, admission::Locations};

/// A schema, and what the names in it mean.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) root: &'a Value,
    /// `None` if all pointers and references start from the root.
    pub(crate) locations: Option<&'a Locations>,
    /// The documents that were handed in, by their URIs.
    pub(crate) documents: &'a [(String, Value)],
}

/// The place of a keyword.
pub(crate) struct Place<'e> {
    resource: Resource<'e>,
    /// The way to the keyword from the root of its resource.
    pointer: &'e str,
}

enum Resource<'e> {
    /// In the schema, at this pointer.
    Inside(&'e str),
    /// Elsewhere, under this URI.
    Outside(&'e str),
}

impl<'a> Source<'a> {
    /// For a schema that refers to its parts by nothing but pointers.
    pub(crate) fn plain(root: &'a Value) -> Self {
        Self { root, locations: None, documents: &[] }
    }

    /// The place of the keyword that `error` is about.
    pub(crate) fn place<'e>(&'e self, error: &'e ValidationError<'_>) -> Place<'e> {
        let error = match error.kind() {
            // Its path is that of the keyword inside, its URI is not.
            ValidationErrorKind::PropertyNames { error } => error,
            _ => error,
        };
        let path = error.schema_path().as_str();
        let uri = error.absolute_keyword_location().map(referencing::Uri::as_str);
        let (Some(locations), Some(uri)) = (self.locations, uri) else {
            return Place { resource: Resource::Inside(""), pointer: path };
        };
        // The path starts from the resource that a reference names, the fragment from the innermost one.
        let (uri, fragment) = uri.split_once('#').unwrap_or((uri, ""));
        let pointer = last_tokens(path, fragment.matches('/').count());
        let resource = match locations.resource(uri) {
            Some(root) => Resource::Inside(root.as_str()),
            None => Resource::Outside(uri),
        };
        Place { resource, pointer }
    }

    /// The subschema that has the keyword at `place`.
    pub(crate) fn subschema(&self, place: &Place<'_>) -> Option<&'a Value> {
        let (parent, _) = place.pointer.rsplit_once('/')?;
        follow(self.resource(place)?, parent)
    }

    /// The value of the keyword at `place`.
    pub(crate) fn value(&self, place: &Place<'_>) -> Option<&'a Value> {
        follow(self.resource(place)?, place.pointer)
    }

    fn resource(&self, place: &Place<'_>) -> Option<&'a Value> {
        match place.resource {
            Resource::Inside(pointer) => follow(self.root, pointer),
            Resource::Outside(uri) => {
                let is_same = |(known, _): &&(String, Value)| known.trim_end_matches('#') == uri;
                self.documents.iter().find(is_same).map(|(_, document)| document)
            }
        }
    }

    /// What the `$ref` of `subschema` leads to in the schema.
    pub(crate) fn target(&self, subschema: &Value) -> Option<&'a Value> {
        let reference = subschema.get("$ref")?.as_str()?;
        let pointer = match self.locations {
            Some(locations) => locations.target(subschema)?.as_str(),
            None => reference.strip_prefix('#')?,
        };
        follow(self.root, pointer)
    }
}

impl Place<'_> {
    /// The pointer in the schema or, if the keyword is not in the schema, in the document.
    pub(crate) fn pointer(&self) -> Pointer {
        match self.resource {
            Resource::Inside(root) if !root.is_empty() => {
                Pointer::from(root).concat(&Pointer::from(self.pointer))
            }
            _ => Pointer::from(self.pointer),
        }
    }

    /// The URI of the document, if the keyword is not in the schema.
    pub(crate) fn document(&self) -> Option<String> {
        match self.resource {
            Resource::Inside(_) => None,
            Resource::Outside(uri) => Some(uri.to_owned()),
        }
    }
}

/// What `pointer` leads to in `value`, like [`Value::pointer`], but without copies of the tokens.
pub(crate) fn follow<'a>(value: &'a Value, pointer: &str) -> Option<&'a Value> {
    let mut tokens = pointer.split('/');
    if pointer.contains('~') || tokens.next() != Some("") {
        return value.pointer(pointer);
    }
    tokens.try_fold(value, |value, token| match (value, token.as_bytes()) {
        (Value::Object(members), _) => members.get(token),
        (Value::Array(items), b"0" | [b'1'..=b'9', ..]) => items.get(token.parse::<usize>().ok()?),
        _ => None,
    })
}

/// The last `count` tokens of a JSON Pointer.
fn last_tokens(pointer: &str, count: usize) -> &str {
    let start = count.checked_sub(1).map(|before| pointer.rmatch_indices('/').nth(before));
    match start {
        Some(start) => start.map_or(pointer, |(at, _)| &pointer[at..]),
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::follow;

    #[test]
    fn follows_pointers_as_serde_json_does() {
        let value = json!({ "a": [1, { "": 2 }], "b/c~d": 3, "01": 4 });
        for pointer in [
            "", "/", "a", "#/a", "/a/0", "/a/1/", "/a/01", "/a/+1", "/a/-", "/a/2", "/a/",
            "/a/0/x", "/b~1c~0d", "/b/c~d", "/01", "/x",
        ] {
            assert_eq!(follow(&value, pointer), value.pointer(pointer), "{pointer}");
        }
    }
}
