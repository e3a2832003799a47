//! Names of embedded documents under `$defs`.

use std::collections::{HashMap, HashSet};

use crate::keyword;

/// The most characters of a name, a number that makes it unique aside.
const MAX_LENGTH: usize = 40;

/// Names that are taken, and how often each stem was used.
pub(super) struct Names {
    taken: HashSet<String>,
    uses: HashMap<String, usize>,
}

impl Names {
    pub(super) fn new(taken: impl Iterator<Item = String>) -> Self {
        Self { taken: taken.collect(), uses: HashMap::new() }
    }

    /// Returns a name for the document `uri` that nothing else has.
    pub(super) fn name(&mut self, uri: &str) -> String {
        let stem = stem(uri);
        let uses = self.uses.entry(stem.clone()).or_insert(0);
        loop {
            *uses += 1;
            let name = if *uses == 1 { stem.clone() } else { format!("{stem}-{uses}") };
            // A reference may lead to `$defs` itself, and then its names are keywords.
            if !is_keyword(&name) && self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// Whether some dialect, or an object of JavaScript, reads a member of this name in its own way.
fn is_keyword(name: &str) -> bool {
    keyword::is_known(name) || matches!(name, "__proto__" | "constructor" | "prototype")
}

/// The last part of `uri` that has letters or digits, without what follows a dot.
fn stem(uri: &str) -> String {
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, path)| path);
    let is_part = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mut parts = path.rsplit(['/', ':']).filter_map(|part| {
        let part = part.trim_start_matches('.').split('.').next().unwrap_or_default();
        let part: String = part.chars().filter(is_part).take(MAX_LENGTH).collect();
        part.contains(|c: char| c.is_ascii_alphanumeric()).then_some(part)
    });
    parts.next().unwrap_or_else(|| "document".to_owned())
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn names_are_short_and_unique() {
        let mut names = Names::new(["item", "item-2"].map(str::to_owned).into_iter());
        for (uri, name) in [
            ("https://example.com/schemas/address.schema.json", "address"),
            ("https://example.com/other/address", "address-2"),
            ("https://example.com/item.json", "item-3"),
            ("https://example.com/item.json?v=2", "item-4"),
            ("https://json-schema.org/draft/2020-12/meta/core", "core"),
            ("https://example.com/address-2", "address-2-2"),
            ("https://example.com/", "example"),
            ("urn:uuid:deadbeef-1234", "deadbeef-1234"),
            ("https://example.com/v1/%20/", "20"),
            ("tag:/", "tag"),
            ("x:", "x"),
            ("https://example.com/not.json", "not-2"),
            ("https://example.com/__proto__.json", "__proto__-2"),
        ] {
            assert_eq!(names.name(uri), name, "{uri}");
        }
        assert_eq!(names.name(&format!("x:{}", "y".repeat(1000))).len(), 40);
    }
}
