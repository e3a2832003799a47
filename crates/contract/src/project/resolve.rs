//! Resolving the references in a schema.

use toolbond_schema::Subschemas;

use super::bounds;
use super::error::ProjectError;
use super::schema_map::{Link, Pending, SchemaMap, Target};
use super::uri;
use crate::keyword;

impl SchemaMap<'_> {
    /// Returns a reference in its absolute form, without its fragment.
    pub(crate) fn absolute(&self, link: &Link<'_>) -> Option<String> {
        uri::resolve(self.base(self.places[link.holder].resource), link.text)
    }

    /// Returns the base of the references in `resource`.
    pub(crate) fn base(&self, resource: usize) -> &str {
        let named = self.places.get(resource).and_then(|place| place.base.as_deref());
        named.unwrap_or_else(|| self.outer_base())
    }

    /// Finds what `fragment` leads to in `resource`, as a reference from another document does.
    pub(crate) fn find(
        &mut self,
        resource: usize,
        fragment: &str,
    ) -> Result<Option<Target>, ProjectError> {
        let mut extras = Vec::new();
        let found = self.locate(resource, fragment, &mut extras)?;
        self.resolve_further(extras)?;
        Ok(found)
    }

    /// Resolves every reference. Targets that were not known to be schemas become schemas.
    pub(super) fn resolve(&mut self) -> Result<(), ProjectError> {
        self.resolve_further(Vec::new())
    }

    /// Resolves the references that were not followed yet. `extras` are places that are reached by reference only.
    fn resolve_further(&mut self, mut extras: Vec<usize>) -> Result<(), ProjectError> {
        while self.followed < self.links.len() {
            let found = self.follow(self.followed, &mut extras)?;
            self.links[self.followed].target = found;
            self.followed += 1;
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
        match self.named(self.places[holder].resource, before)? {
            Some(resource) => self.locate(resource, fragment, extras),
            None => Ok(None),
        }
    }

    fn locate(
        &mut self,
        resource: usize,
        fragment: &str,
        extras: &mut Vec<usize>,
    ) -> Result<Option<Target>, ProjectError> {
        let Some(fragment) = uri::decode(fragment) else { return Ok(None) };
        if fragment.is_empty() {
            return Ok(Some(Target { place: resource, resource, by_name: false }));
        }
        if !fragment.starts_with('/') {
            let place = self.anchors.get(&(resource, fragment.as_str())).copied();
            return Ok(place.map(|place| Target { place, resource, by_name: true }));
        }
        let pointer = format!("{}{fragment}", self.places[resource].pointer);
        self.pointer_bytes = self.pointer_bytes.saturating_add(pointer.len());
        bounds::check_total(self.pointer_bytes, "")?;
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
