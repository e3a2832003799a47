//! Resolving the references in a schema.

use toolpact_schema::Subschemas;

use super::error::ProjectError;
use super::keyword;
use super::schema_map::{Link, Pending, SchemaMap, Target};
use super::uri;

impl SchemaMap<'_> {
    /// Returns a reference in its absolute form, without its fragment.
    pub(crate) fn absolute(&self, link: &Link<'_>) -> Option<String> {
        uri::resolve(self.base(self.places[link.holder].resource), link.text)
    }

    /// Returns the base of the references in `resource`.
    pub(super) fn base(&self, resource: usize) -> &str {
        let named = self.places.get(resource).and_then(|place| place.base.as_deref());
        named.unwrap_or(uri::NAMELESS)
    }

    /// Resolves every reference. Targets that were not known to be schemas become schemas.
    pub(super) fn resolve(&mut self) -> Result<(), ProjectError> {
        let mut extras = Vec::new();
        let mut next = 0;
        while next < self.links.len() {
            let found = self.follow(next, &mut extras)?;
            self.links[next].target = found;
            next += 1;
        }
        for place in extras {
            let (ancestor, token) = self.nearest(&self.places[place].pointer);
            let dialect = self.places[ancestor].dialect;
            let several = Subschemas::under_in(&token, dialect).is_some_and(|subschemas| {
                subschemas != Subschemas::One
                    || !self.places[place].pointer.ends_with(&format!("/{token}"))
            });
            self.tangled |= several || self.places[place].in_data;
        }
        Ok(())
    }

    fn follow(
        &mut self,
        link: usize,
        extras: &mut Vec<usize>,
    ) -> Result<Option<Target>, ProjectError> {
        let Link { holder, text, .. } = self.links[link];
        let (before, fragment) = uri::split(text);
        let Some(resource) = self.named(self.places[holder].resource, before)? else {
            return Ok(None);
        };
        let Some(fragment) = uri::decode(fragment) else { return Ok(None) };
        if !fragment.is_empty() && !fragment.starts_with('/') {
            let place = self.anchors.get(&(resource, fragment.as_str())).copied();
            return Ok(place.map(|place| Target { place, resource, by_name: true }));
        }
        let pointer = format!("{}{fragment}", self.places[resource].pointer);
        let place = if let Some(place) = self.place_at(&pointer) {
            place
        } else {
            let Some(schema) = self.document.pointer(&pointer) else { return Ok(None) };
            let (ancestor, token) = self.nearest(&pointer);
            let place = self.places.len();
            extras.push(place);
            let in_data = keyword::is_data(&token);
            self.walk(Pending { pointer, schema, parent: Some((ancestor, "")), in_data })?;
            place
        };
        Ok(Some(Target { place, resource, by_name: false }))
    }

    /// Returns the resource that `reference`, without its fragment, names within `resource`.
    fn named(&mut self, resource: usize, reference: &str) -> Result<Option<usize>, ProjectError> {
        if reference.is_empty() {
            return Ok(Some(self.earlier.get(&resource).copied().unwrap_or(resource)));
        }
        let named = self.make_uri(resource, reference)?;
        Ok(named.and_then(|named| self.resources.get(&named).copied()))
    }

    /// Returns the nearest place above `pointer`, and the keyword that leads from it to `pointer`.
    fn nearest(&self, pointer: &str) -> (usize, String) {
        let mut above = pointer;
        while let Some(cut) = above.rfind('/') {
            let token = pointer[cut + 1..].split('/').next().unwrap_or_default();
            above = &above[..cut];
            if let Some(&place) = self.by_pointer.get(above) {
                return (place, token.replace("~1", "/").replace("~0", "~"));
            }
        }
        (0, String::new())
    }
}
