//! A map of the schemas inside a schema and of the references between them.

use std::collections::HashMap;

use serde_json::{Map, Value};
use toolbond_schema::{Dialect, Subschemas};

use super::bounds;
use super::error::{ProjectError, ProjectErrorKind};
use super::uri;

/// The schemas inside a schema, found by the keywords of their dialect and by reference.
#[derive(Debug)]
pub(crate) struct SchemaMap<'a> {
    pub(super) document: &'a Value,
    /// The schemas, the root first.
    pub(crate) places: Vec<Place<'a>>,
    /// The references between them.
    pub(crate) links: Vec<Link<'a>>,
    pub(super) by_pointer: HashMap<String, usize>,
    pub(crate) resources: HashMap<String, usize>,
    /// The first resource of the same name, if there is an earlier one.
    pub(super) earlier: HashMap<usize, usize>,
    pub(crate) anchors: HashMap<(usize, &'a str), usize>,
    /// The bytes of all URIs that were made so far.
    pub(crate) uri_bytes: usize,
    /// The bytes of all pointers that references were followed by.
    pub(super) pointer_bytes: usize,
    /// How many references were followed.
    pub(super) followed: usize,
    /// Whether a schema is reached by reference only: through data, or as the holder of others.
    pub(crate) tangled: bool,
    reading: Reading,
}

/// How a document is read.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    /// The base of a document without `$id`.
    pub(crate) base: String,
    /// The dialect of a document without `$schema`.
    pub(crate) dialect: Dialect,
    /// What is read as schemas and references.
    pub(crate) keywords: Keywords,
}

/// The keywords that hold schemas and references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keywords {
    /// Those of the dialect.
    Dialect,
    /// Those of the dialect, and `$defs`.
    DialectAndDefs,
    /// Those of all dialects, and `$schema` wherever it is: what admission reads.
    AnyDialect,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            base: uri::NAMELESS.to_owned(),
            dialect: Dialect::default(),
            keywords: Keywords::Dialect,
        }
    }
}

/// One schema inside a schema.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    /// Its JSON Pointer.
    pub(crate) pointer: String,
    /// The schema.
    pub(crate) schema: &'a Value,
    /// The place that sets the base of its references: the root, or a schema with `$id`.
    pub(crate) resource: usize,
    /// Its dialect.
    pub(crate) dialect: Dialect,
    /// Whether it has a base of its own.
    pub(crate) is_named: bool,
    /// Whether it is inside data, such as a `default`.
    pub(crate) in_data: bool,
    /// The schemas directly inside: keyword and place.
    pub(crate) children: Vec<(&'a str, usize)>,
    /// The base, if it is the root or has one of its own.
    pub(crate) base: Option<String>,
}

/// One reference.
#[derive(Debug)]
pub(crate) struct Link<'a> {
    /// The schema that contains it.
    pub(crate) holder: usize,
    /// `$ref`, `$dynamicRef` or `$recursiveRef`.
    pub(crate) keyword: &'static str,
    /// The reference as written.
    pub(crate) text: &'a str,
    /// Its target within the document.
    pub(crate) target: Option<Target>,
}

/// The target of a reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The schema.
    pub(crate) place: usize,
    /// The resource from whose root the pointer of the reference starts.
    pub(crate) resource: usize,
    /// Whether the reference uses a name, which stays the same if the target moves.
    pub(crate) by_name: bool,
}

/// A schema that is not registered yet.
pub(super) struct Pending<'a> {
    pub(super) pointer: String,
    pub(super) schema: &'a Value,
    pub(super) parent: Option<(usize, &'a str)>,
    pub(super) in_data: bool,
}

impl<'a> SchemaMap<'a> {
    /// Finds the schemas of `document`. Fails if a dialect is unknown.
    pub(crate) fn build(document: &'a Value) -> Result<Self, ProjectError> {
        Self::build_as(document, Reading::default())
    }

    /// Does what [`build`](Self::build) does, and also finds the schemas in `$defs` of dialects that do not know it.
    pub(crate) fn build_with_defs(document: &'a Value) -> Result<Self, ProjectError> {
        let keywords = Keywords::DialectAndDefs;
        Self::build_as(document, Reading { keywords, ..Reading::default() })
    }

    /// Finds the schemas of `document`, which is read as `reading` says.
    pub(crate) fn build_as(document: &'a Value, reading: Reading) -> Result<Self, ProjectError> {
        let mut map = Self {
            document,
            places: Vec::new(),
            links: Vec::new(),
            by_pointer: HashMap::new(),
            resources: HashMap::new(),
            earlier: HashMap::new(),
            anchors: HashMap::new(),
            uri_bytes: 0,
            pointer_bytes: 0,
            followed: 0,
            tangled: false,
            reading,
        };
        map.walk(Pending {
            pointer: String::new(),
            schema: document,
            parent: None,
            in_data: false,
        })?;
        map.resolve()?;
        Ok(map)
    }

    /// Returns the place at `pointer`.
    pub(crate) fn place_at(&self, pointer: &str) -> Option<usize> {
        self.by_pointer.get(pointer).copied()
    }

    /// Returns the references in `place`.
    pub(crate) fn links_of(&self, place: usize) -> impl Iterator<Item = &Link<'a>> {
        // Links are noted as places are walked, so those of one place stand together, in order.
        let start = self.links.partition_point(|link| link.holder < place);
        self.links[start..].iter().take_while(move |link| link.holder == place)
    }

    /// Returns the base of the document if it has no `$id`.
    pub(super) fn outer_base(&self) -> &str {
        &self.reading.base
    }

    /// Counts the root and the schemas that have a base of their own.
    pub(crate) fn resource_count(&self) -> usize {
        self.places.iter().enumerate().filter(|(at, place)| *at == 0 || place.is_named).count()
    }

    pub(super) fn walk(&mut self, start: Pending<'a>) -> Result<(), ProjectError> {
        let mut stack = vec![start];
        while let Some(pending) = stack.pop() {
            let at = self.places.len();
            if let Some((parent, keyword)) = pending.parent {
                let known = self.by_pointer.get(&pending.pointer).copied();
                self.places[parent].children.push((keyword, known.unwrap_or(at)));
            }
            if self.by_pointer.contains_key(&pending.pointer) {
                continue;
            }
            self.add(&pending)?;
            if let Value::Object(schema) = pending.schema {
                self.note_links(at, schema);
                self.push_children(at, schema, &mut stack);
            }
        }
        Ok(())
    }

    /// Registers a place: its dialect, its resource, its names.
    fn add(&mut self, pending: &Pending<'a>) -> Result<(), ProjectError> {
        let at = self.places.len();
        let around = pending.parent.map(|(parent, _)| parent);
        let (resource, outer) = around.map_or((at, self.reading.dialect), |parent| {
            (self.places[parent].resource, self.places[parent].dialect)
        });
        let schema = pending.schema.as_object();
        let is_read = at == 0 || self.reading.keywords == Keywords::AnyDialect;
        let dialect = match schema.and_then(|schema| own_dialect(schema, is_read)) {
            None => outer,
            Some(uri) => Dialect::from_uri(uri).ok_or_else(|| {
                let kind = ProjectErrorKind::UnsupportedDialect { uri: uri.to_owned() };
                ProjectError::new(format!("{}/$schema", pending.pointer).as_str(), kind)
            })?,
        };
        let (name, fragment) = schema.and_then(|schema| id(dialect, schema)).unwrap_or_default();
        let named = if name.is_empty() { None } else { self.make_uri(resource, name)? };
        let is_named = named.is_some();
        let resource = if is_named { at } else { resource };
        let base = named.or_else(|| (at == 0).then(|| self.reading.base.clone()));
        if let Some(base) = &base {
            let first = *self.resources.entry(base.clone()).or_insert(at);
            if first != at {
                self.earlier.insert(at, first);
            }
        }
        self.places.push(Place {
            pointer: pending.pointer.clone(),
            schema: pending.schema,
            resource,
            dialect,
            is_named,
            in_data: pending.in_data || around.is_some_and(|parent| self.places[parent].in_data),
            children: Vec::new(),
            base,
        });
        self.by_pointer.insert(pending.pointer.clone(), at);
        if !fragment.is_empty() && dialect <= Dialect::Draft7 {
            self.anchors.entry((resource, fragment)).or_insert(at);
        }
        for (keyword, since) in
            [("$anchor", Dialect::Draft201909), ("$dynamicAnchor", Dialect::Draft202012)]
        {
            if let Some(name) = schema.and_then(|schema| schema.get(keyword)?.as_str())
                && dialect >= since
            {
                self.anchors.entry((resource, name)).or_insert(at);
            }
        }
        Ok(())
    }

    /// Resolves `reference` within `resource` and counts the bytes: a long base is part of every relative reference.
    pub(crate) fn make_uri(
        &mut self,
        resource: usize,
        reference: &str,
    ) -> Result<Option<String>, ProjectError> {
        let base = self.base(resource);
        self.uri_bytes = self.uri_bytes.saturating_add(base.len()).saturating_add(reference.len());
        bounds::check_uris(self.uri_bytes)?;
        Ok(uri::resolve(self.base(resource), reference))
    }

    fn note_links(&mut self, at: usize, schema: &'a Map<String, Value>) {
        let dialect = self.places[at].dialect;
        let any = self.reading.keywords == Keywords::AnyDialect;
        for (keyword, known) in [
            ("$ref", true),
            ("$dynamicRef", any || dialect == Dialect::Draft202012),
            ("$recursiveRef", any || dialect == Dialect::Draft201909),
        ] {
            if let (Some(Value::String(text)), true) = (schema.get(keyword), known) {
                self.links.push(Link { holder: at, keyword, text, target: None });
            }
        }
    }

    fn subschemas_under(&self, keyword: &str, dialect: Dialect) -> Option<Subschemas> {
        match self.reading.keywords {
            Keywords::AnyDialect => Subschemas::under(keyword),
            Keywords::DialectAndDefs if keyword == "$defs" => Some(Subschemas::Named),
            _ => Subschemas::under_in(keyword, dialect),
        }
    }

    fn push_children(
        &self,
        at: usize,
        schema: &'a Map<String, Value>,
        stack: &mut Vec<Pending<'a>>,
    ) {
        let place = &self.places[at];
        let start = stack.len();
        for (keyword, value) in schema {
            let Some(subschemas) = self.subschemas_under(keyword, place.dialect) else { continue };
            let mut pointer = place.pointer.clone();
            uri::push(&mut pointer, keyword);
            let mut child = |token: Option<&str>, schema: &'a Value| {
                let mut pointer = pointer.clone();
                if let Some(token) = token {
                    uri::push(&mut pointer, token);
                }
                let parent = Some((at, keyword.as_str()));
                stack.push(Pending { pointer, schema, parent, in_data: false });
            };
            match (subschemas, value) {
                (Subschemas::List | Subschemas::OneOrList, Value::Array(list)) => {
                    for (number, schema) in list.iter().enumerate() {
                        child(Some(&number.to_string()), schema);
                    }
                }
                (Subschemas::Named, Value::Object(map)) => {
                    map.iter().for_each(|(name, schema)| child(Some(name), schema));
                }
                (Subschemas::NamedOrNames, Value::Object(map)) => {
                    let schemas = map.iter().filter(|(_, schema)| !schema.is_array());
                    schemas.for_each(|(name, schema)| child(Some(name), schema));
                }
                (Subschemas::One | Subschemas::OneOrList, schema) => child(None, schema),
                _ => {}
            }
        }
        stack[start..].reverse();
    }
}

/// Returns `$schema` if it `is_read` here, or at the root of an embedded resource.
fn own_dialect(schema: &Map<String, Value>, is_read: bool) -> Option<&str> {
    let is_resource =
        is_read || ["$id", "id"].iter().any(|key| schema.get(*key).is_some_and(Value::is_string));
    is_resource.then(|| schema.get("$schema")?.as_str()).flatten()
}

/// Returns the parts of `$id` (`id` in draft-04) before and after `#`. Up to draft-07, `$id` has no effect beside `$ref`.
fn id(dialect: Dialect, schema: &Map<String, Value>) -> Option<(&str, &str)> {
    if dialect <= Dialect::Draft7 && schema.get("$ref").is_some_and(Value::is_string) {
        return None;
    }
    let key = if dialect == Dialect::Draft4 { "id" } else { "$id" };
    Some(uri::split(schema.get(key)?.as_str()?))
}
