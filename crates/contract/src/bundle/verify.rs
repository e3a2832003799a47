//! Reading a bundle again: every reference leads to what it led to.

use crate::project::schema_map::SchemaMap;

use super::embed::{Bundle, is_silent};
use super::error::{BundleError, BundleErrorKind};
use super::search::Search;
use super::unit::Reader;

/// Fails if a reference does not lead to where its target went.
pub(super) fn check_references(search: &Search<'_>, bundle: &Bundle) -> Result<(), BundleError> {
    let dialect = search.units[0].dialect();
    let after =
        Reader::default().read(None, &bundle.schema, crate::project::uri::NAMELESS, dialect)?;
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
        let Some(holder) = after.place_at(&holder) else { continue };
        if !leads_to(&after, holder, link.keyword, &target) {
            let kind = BundleErrorKind::LostReference { reference: link.text.to_owned() };
            return Err(from.error(followed.link, kind));
        }
    }
    Ok(())
}

fn leads_to(map: &SchemaMap<'_>, holder: usize, keyword: &str, target: &str) -> bool {
    map.links_of(holder).any(|link| {
        let found = link.target.map(|target| map.places[target.place].pointer.as_str());
        link.keyword == keyword && found == Some(target)
    })
}

/// Whether `pointer` is inside of a keyword that has no effect beside the `$ref` at the top of a document.
fn is_ignored(search: &Search<'_>, unit: usize, pointer: &str) -> bool {
    let keyword = pointer.split('/').nth(1);
    unit > 0 && search.units[unit].is_silenced() && keyword.is_some_and(is_silent)
}
