//! Reading a bundle again: every reference leads to what it led to.

use std::collections::HashMap;

use crate::project::schema_map::SchemaMap;
use crate::project::uri;

use super::embed::{Bundle, is_silent};
use super::error::{BundleError, BundleErrorKind};
use super::search::Search;
use super::unit::Reader;

/// Fails if a reference does not lead to where its target went.
pub(super) fn check_references(search: &Search<'_>, bundle: &Bundle) -> Result<(), BundleError> {
    let dialect = search.units[0].dialect();
    let map = Reader::default().read(None, &bundle.schema, uri::NAMELESS, dialect)?;
    let mut links = Links { map, same: HashMap::new() };
    for followed in &search.followed {
        let (from, to) = (&search.units[followed.from], &search.units[followed.to]);
        let link = &from.map.links[followed.link];
        let target = &to.map.places[followed.target.place].pointer;
        if is_ignored(search, followed.to, target) {
            let reference = link.text.to_owned();
            let dialect = to.dialect();
            let kind = BundleErrorKind::IgnoredTarget { reference, dialect };
            return Err(from.error(followed.link, kind));
        }
        let mut holder = from.map.places[link.holder].pointer.clone();
        if is_ignored(search, followed.from, &holder) {
            continue;
        }
        if holder.is_empty() && link.keyword == "$ref" {
            holder.clone_from(&bundle.top_refs[followed.from]);
        }
        let holder = format!("{}{holder}", bundle.prefixes[followed.from]);
        let target = format!("{}{target}", bundle.prefixes[followed.to]);
        // What is no schema any more applies to nothing.
        let Some(holder) = links.map.place_at(&holder) else { continue };
        if !links.lead_to(holder, link.keyword, &target) {
            let kind = BundleErrorKind::LostReference { reference: link.text.to_owned() };
            return Err(from.error(followed.link, kind));
        }
    }
    Ok(())
}

/// The references of a bundle.
struct Links<'a> {
    map: SchemaMap<'a>,
    /// Pairs of places that are the same but for where they are.
    same: HashMap<(usize, usize), bool>,
}

impl Links<'_> {
    /// Whether the reference in `holder` leads to `target`, or to its copy in another document.
    fn lead_to(&mut self, holder: usize, keyword: &str, target: &str) -> bool {
        let mut links = self.map.links_of(holder);
        let link = links.find(|link| link.keyword == keyword);
        let found = link.and_then(|link| link.target);
        let expected = self.map.place_at(target);
        let (Some(found), Some(expected)) = (found, expected) else { return false };
        let places = &self.map.places;
        found.place == expected
            || *self.same.entry((found.place, expected)).or_insert_with(|| {
                places[found.place].schema == places[expected].schema
                    && self.map.base(places[found.place].resource)
                        == self.map.base(places[expected].resource)
            })
    }
}

/// Whether `pointer` is inside of a keyword that has no effect beside the `$ref` at the top of a document.
fn is_ignored(search: &Search<'_>, unit: usize, pointer: &str) -> bool {
    let keyword = pointer.split('/').nth(1);
    unit > 0 && search.units[unit].is_silenced() && keyword.is_some_and(is_silent)
}
