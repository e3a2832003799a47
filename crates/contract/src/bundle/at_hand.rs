//! Looking up what references name, among what is at hand.

use serde_json::Value;
use toolbond_schema::{Pointer, metaschemas};

use crate::project::uri;

use super::document::Document;
use super::error::{BundleError, BundleErrorKind};
use super::search::Search;
use super::unit::{Unit, absolute};

impl<'a> Search<'a> {
    /// Reads the documents. What is wrong with one is told once a reference leads to it.
    pub(super) fn add_documents(&mut self, documents: &'a [Document]) -> Result<(), BundleError> {
        let first = self.units.len();
        let mut found_at = Vec::new();
        for document in documents {
            let (uri, base) = (absolute(&document.uri)?, absolute(&document.base)?);
            if let Some(known) = self.by_uri.get(&uri) {
                if *self.units[*known].value != *document.value {
                    let kind = BundleErrorKind::Conflict { uri: uri.clone() };
                    return Err(BundleError::new(Some(&uri), Pointer::root(), kind));
                }
                continue;
            }
            let unit = match self.read(&uri, &document.value, &base) {
                Ok(unit) => self.add(unit),
                Err(error) => {
                    self.unreadable.entry(base).or_insert_with(|| error.clone());
                    self.unreadable.insert(uri, error);
                    continue;
                }
            };
            self.by_uri.insert(uri, unit);
            found_at.push((base, unit));
        }
        for (base, unit) in found_at {
            self.by_uri.entry(base).or_insert(unit);
        }
        for unit in first..self.units.len() {
            for (uri, place) in &self.units[unit].map.resources {
                self.by_resource.entry(uri.clone()).or_insert((unit, *place));
            }
        }
        Ok(())
    }

    fn read(&mut self, uri: &str, value: &'a Value, base: &str) -> Result<Unit<'a>, BundleError> {
        let dialect = self.units[0].dialect();
        let map = self.reader.read(Some(uri), value, base, dialect)?;
        Ok(Unit::new(Some(uri.to_owned()), value, map))
    }

    /// Adds a document, unless it is there under another URI.
    fn add(&mut self, unit: Unit<'a>) -> usize {
        let at = self.units.len();
        let first = *self.by_resource.entry(unit.identity().to_owned()).or_insert((at, 0));
        if first.0 < at && self.units[first.0].value == unit.value {
            return first.0;
        }
        self.units.push(unit);
        at
    }

    /// Returns the unit and the place of the resource `uri`.
    pub(super) fn look_up(&mut self, uri: &str) -> Result<Option<(usize, usize)>, BundleError> {
        let map = &self.units[0].map;
        let in_schema = map.resources.get(uri).copied();
        if let Some(place) = in_schema.or((self.base.as_deref() == Some(uri)).then_some(0)) {
            if self.has_absolute_uri(place) {
                return Ok(Some((0, place)));
            }
            let copy = self.copy()?;
            let place = self.units[copy].map.resources.get(uri).copied();
            return Ok(Some((copy, place.unwrap_or(0))));
        }
        if let Some(unit) = self.by_uri.get(uri) {
            return Ok(Some((*unit, 0)));
        }
        if let Some(error) = self.unreadable.get(uri) {
            return Err(error.clone());
        }
        if let Some(found) = self.by_resource.get(uri) {
            return Ok(Some(*found));
        }
        let mut known = metaschemas().filter_map(|(known, value)| {
            Some((uri::absolute(known)?, value)).filter(|(known, _)| known == uri)
        });
        let Some((known, value)) = known.next() else { return Ok(None) };
        let unit = self.read(&known, value, &known)?;
        let at = self.add(unit);
        self.by_uri.insert(known, at);
        Ok(Some((at, 0)))
    }

    /// Whether a resource of the schema has the same URI without `base`.
    pub(super) fn has_absolute_uri(&self, place: usize) -> bool {
        let Some(unbased) = &self.unbased else { return true };
        let place = &self.units[0].map.places[place];
        let at = unbased.place_at(&place.pointer);
        at.is_some_and(|at| unbased.places[at].base == place.base)
    }

    /// Returns the unit that is the schema once more, with an `$id`.
    fn copy(&mut self) -> Result<usize, BundleError> {
        if let (None, Some(base)) = (self.copy, self.base.clone()) {
            let unit = self.read(&base, self.units[0].value, &base)?;
            self.units.push(unit);
            self.copy = Some(self.units.len() - 1);
        }
        Ok(self.copy.unwrap_or_default())
    }
}
