//! Following the references of a schema into the documents at hand.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::Value;
use toolbond_schema::{Dialect, Pointer};

use crate::project::schema_map::{Link, SchemaMap, Target};
use crate::project::uri;

use super::document::{Document, MAX_BYTES, MAX_DOCUMENTS, Missing};
use super::error::{BundleError, BundleErrorKind};
use super::unit::{Reader, Unit, absolute};

/// The documents that a schema leads to, and its references to them.
pub(super) struct Search<'a> {
    /// The schema and the documents, the schema first.
    pub(super) units: Vec<Unit<'a>>,
    /// Those that the schema leads to, in order of discovery, the schema first.
    pub(super) reached: Vec<usize>,
    /// The references that were followed.
    pub(super) followed: Vec<Followed>,
    /// The documents that are not at hand.
    pub(super) missing: Vec<Missing>,
    /// The schema without `base`, if that makes a difference.
    pub(super) unbased: Option<SchemaMap<'a>>,
    pub(super) base: Option<String>,
    /// The schema once more, for references by its `base`.
    pub(super) copy: Option<usize>,
    /// Documents by the URI they were asked for or found at.
    pub(super) by_uri: HashMap<String, usize>,
    /// Documents by the URIs of what they contain, and where that is.
    pub(super) by_resource: HashMap<String, (usize, usize)>,
    pub(super) unreadable: HashMap<String, BundleError>,
    missing_uris: HashSet<String>,
    queue: VecDeque<usize>,
    pub(super) reader: Reader,
    bytes: usize,
}

/// A reference and where it leads.
pub(super) struct Followed {
    /// The unit of the reference.
    pub(super) from: usize,
    /// Its number there.
    pub(super) link: usize,
    /// The unit that it leads to.
    pub(super) to: usize,
    /// The place there.
    pub(super) target: Target,
    /// What it has to be written as, if that is not what it was.
    pub(super) text: Option<String>,
}

impl<'a> Search<'a> {
    pub(super) fn run(
        schema: &'a Value,
        base: Option<&str>,
        documents: &'a [Document],
    ) -> Result<Self, BundleError> {
        let mut search = Self::start(schema, base)?;
        if !search.is_closed() {
            search.add_documents(documents)?;
            search.reach(0)?;
            while let Some(unit) = search.queue.pop_front() {
                while search.units[unit].followed < search.units[unit].map.links.len() {
                    let link = search.units[unit].followed;
                    search.units[unit].followed += 1;
                    search.follow(unit, link)?;
                }
            }
            search.check_conflicts()?;
        }
        Ok(search)
    }

    fn start(schema: &'a Value, base: Option<&str>) -> Result<Self, BundleError> {
        let mut reader = Reader::default();
        let base = base.map(absolute).transpose()?;
        let mut map = reader.read(None, schema, uri::NAMELESS, Dialect::default())?;
        let mut unbased = None;
        if let (Some(base), true) = (&base, map.base(0).starts_with(uri::NAMELESS)) {
            unbased = Some(map);
            map = reader.read(None, schema, base, Dialect::default())?;
        }
        Ok(Self {
            units: vec![Unit::new(None, schema, map)],
            reached: Vec::new(),
            followed: Vec::new(),
            missing: Vec::new(),
            unbased,
            base,
            copy: None,
            by_uri: HashMap::new(),
            by_resource: HashMap::new(),
            unreadable: HashMap::new(),
            missing_uris: HashSet::new(),
            queue: VecDeque::new(),
            reader,
            bytes: 0,
        })
    }

    /// Whether the schema, as it stands, has every target of its references.
    fn is_closed(&self) -> bool {
        let map = self.unbased.as_ref().unwrap_or(&self.units[0].map);
        map.links.iter().all(|link| link.target.is_some() || link.text.starts_with('#'))
    }

    /// Whether there is nothing to change.
    pub(super) fn is_complete(&self) -> bool {
        self.reached.len() <= 1 && self.followed.iter().all(|followed| followed.text.is_none())
    }

    /// Makes `unit` a part of the bundle.
    fn reach(&mut self, at: usize) -> Result<(), BundleError> {
        let unit = &mut self.units[at];
        if unit.followed < unit.map.links.len() {
            self.queue.push_back(at);
        }
        if unit.is_reached {
            return Ok(());
        }
        unit.is_reached = true;
        self.reached.push(at);
        self.bytes = self.bytes.saturating_add(unit.value.to_string().len());
        let kind = if self.bytes > MAX_BYTES {
            BundleErrorKind::Bytes { found: self.bytes, limit: MAX_BYTES }
        } else if self.reached.len() > 1 + MAX_DOCUMENTS {
            BundleErrorKind::Documents { limit: MAX_DOCUMENTS }
        } else {
            return Ok(());
        };
        Err(BundleError::new(unit.uri.as_deref(), Pointer::root(), kind))
    }

    fn follow(&mut self, from: usize, link: usize) -> Result<(), BundleError> {
        let Link { holder, text, target: own, .. } = self.units[from].map.links[link];
        let (before, fragment) = uri::split(text);
        let dangling = || BundleErrorKind::DanglingReference { reference: text.to_owned() };
        if from == 0 && (before.is_empty() || self.is_resolved(link)) {
            return Ok(());
        }
        let unit = &mut self.units[from];
        let resource = unit.map.places[holder].resource;
        if let Some(target) = own.filter(|target| from > 0 || target.resource == resource) {
            let text = match from {
                0 => Some(join("", fragment)),
                _ => unit.loses_name(target).then(|| join(before, "")),
            };
            return self.note(Followed { from, link, to: from, target, text });
        }
        if before.is_empty() {
            return Err(unit.error(link, dangling()));
        }
        let named = unit.map.make_uri(resource, text);
        let Some(named) = named.map_err(BundleError::in_document(unit.uri.as_deref()))? else {
            return Err(unit.error(link, BundleErrorKind::InvalidUri { uri: text.to_owned() }));
        };
        let counted = self.reader.count_uris(named.len());
        counted.map_err(BundleError::in_document(unit.uri.as_deref()))?;
        if own.is_none() && unit.map.resources.contains_key(&named) {
            return Err(unit.error(link, dangling()));
        }
        if named.starts_with(uri::NAMELESS) {
            let kind = BundleErrorKind::RelativeReference { reference: text.to_owned() };
            return Err(unit.error(link, kind));
        }
        if self.missing_uris.contains(&named) {
            return Ok(());
        }
        let Some((to, resource)) = self.look_up(&named)? else {
            self.note_missing(named, from, link);
            return Ok(());
        };
        let unit = &mut self.units[to];
        let found = unit.map.find(resource, fragment);
        let found = found.map_err(BundleError::in_document(unit.uri.as_deref()))?;
        let Some(target) = found else {
            return Err(self.units[from].error(link, dangling()));
        };
        self.reach(to)?;
        let loses_name = to > 0 && self.units[to].loses_name(target);
        let canonical = self.units[to].map.base(resource);
        let is_same = self.reads_as(from, link).as_deref() == Some(canonical) && !has_dots(before);
        let text = (!is_same || loses_name).then(|| {
            let before = if is_same { before } else { canonical };
            join(before, if loses_name { "" } else { fragment })
        });
        self.note(Followed { from, link, to, target, text })
    }

    /// Returns the URI that a reference resolves to in the bundle, where the schema has no base but its `$id`. Not every
    /// reader normalizes it.
    fn reads_as(&self, from: usize, link: usize) -> Option<String> {
        let map = &self.units[from].map;
        let Link { holder, text, .. } = map.links[link];
        let (map, holder) = match (&self.unbased, from) {
            (Some(unbased), 0) => (unbased, unbased.place_at(&map.places[holder].pointer)?),
            _ => (map, holder),
        };
        uri::resolve_as_written(map.base(map.places[holder].resource), text)
    }

    /// Whether the schema, as it stands, has the target of its reference `link`.
    fn is_resolved(&self, link: usize) -> bool {
        let map = &self.units[0].map;
        let link = &map.links[link];
        let Some(unbased) = &self.unbased else { return link.target.is_some() };
        let holder = unbased.place_at(&map.places[link.holder].pointer);
        let mut links = holder.into_iter().flat_map(|holder| unbased.links_of(holder));
        links.any(|other| other.keyword == link.keyword && other.target.is_some())
    }

    fn note(&mut self, followed: Followed) -> Result<(), BundleError> {
        if let Some(text) = &followed.text {
            let unit = &self.units[followed.from];
            let holder = &unit.map.places[unit.map.links[followed.link].holder];
            if holder.in_data {
                return Err(unit.error(followed.link, BundleErrorKind::DataAsSchema));
            }
            let counted = self.reader.count_uris(text.len());
            counted.map_err(BundleError::in_document(unit.uri.as_deref()))?;
        }
        self.followed.push(followed);
        Ok(())
    }

    fn note_missing(&mut self, uri: String, from: usize, link: usize) {
        self.missing_uris.insert(uri.clone());
        let unit = &self.units[from];
        let link = &unit.map.links[link];
        let pointer = format!("{}/{}", unit.map.places[link.holder].pointer, link.keyword);
        self.missing.push(Missing {
            uri,
            reference: link.text.to_owned(),
            from: unit.uri.clone(),
            pointer: pointer.as_str().into(),
        });
    }

    /// Refuses two different schemas of the same URI in two documents.
    fn check_conflicts(&self) -> Result<(), BundleError> {
        let mut known: HashMap<&str, (usize, usize)> = HashMap::new();
        for &at in &self.reached {
            let map = &self.units[at].map;
            for (number, place) in map.places.iter().enumerate() {
                let Some(uri) = place.base.as_deref() else { continue };
                if map.resources.get(uri) != Some(&number)
                    || (at == 0 && !self.has_absolute_uri(number))
                {
                    continue;
                }
                let (other, first) = *known.entry(uri).or_insert((at, number));
                if self.units[other].map.places[first].schema != place.schema {
                    let kind = BundleErrorKind::Conflict { uri: uri.to_owned() };
                    let document = self.units[at].uri.as_deref();
                    return Err(BundleError::new(document, place.pointer.as_str(), kind));
                }
            }
        }
        Ok(())
    }
}

fn join(before: &str, fragment: &str) -> String {
    match (before, fragment) {
        ("", "") => "#".to_owned(),
        (before, "") => before.to_owned(),
        (before, fragment) => format!("{before}#{fragment}"),
    }
}

/// Whether `reference` is absolute and has dot segments, which some readers leave there.
fn has_dots(reference: &str) -> bool {
    let is_absolute = reference.contains("://") || reference.starts_with("//");
    is_absolute
        && reference
            .split('/')
            .any(|part| matches!(&*part.replace("%2e", ".").replace("%2E", "."), "." | ".."))
}
