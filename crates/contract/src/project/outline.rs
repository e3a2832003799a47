//! The schemas inside a schema, and what each reference between them leads to.

use std::collections::HashMap;

use serde_json::{Map, Value};
use toolpact_schema::Dialect;

use super::error::{ProjectError, ProjectErrorKind};
use super::keyword::{self, Holds};
use super::uri;

/// The schemas inside a schema, found by the keywords of their dialect and by reference.
#[derive(Debug)]
pub(crate) struct Outline<'a> {
    document: &'a Value,
    /// The schemas, the root first.
    pub(crate) places: Vec<Place<'a>>,
    /// The references between them.
    pub(crate) links: Vec<Link<'a>>,
    by_pointer: HashMap<String, usize>,
    resources: HashMap<String, usize>,
    anchors: HashMap<(usize, &'a str), usize>,
    /// Whether a schema is reached by reference only: through data, or as the holder of others.
    pub(crate) tangled: bool,
}

/// One schema inside a schema.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    /// Where it stands.
    pub(crate) pointer: String,
    /// What stands there.
    pub(crate) schema: &'a Value,
    /// The place whose `$id` (or being the root) makes the base of its references.
    pub(crate) resource: usize,
    /// The dialect it is read by.
    pub(crate) dialect: Dialect,
    /// Whether it names a base of its own.
    pub(crate) is_named: bool,
    /// Whether it stands in data.
    pub(crate) in_data: bool,
    /// The schemas directly inside: keyword and place.
    pub(crate) children: Vec<(&'a str, usize)>,
    base: String,
}

/// One reference.
#[derive(Debug)]
pub(crate) struct Link<'a> {
    /// The schema it stands in.
    pub(crate) holder: usize,
    /// `$ref`, `$dynamicRef` or `$recursiveRef`.
    pub(crate) keyword: &'static str,
    /// The reference as written.
    pub(crate) text: &'a str,
    /// What it leads to within the document.
    pub(crate) target: Option<Target>,
}

/// What a reference leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The schema.
    pub(crate) place: usize,
    /// The resource that the reference names, whose root its pointer starts from.
    pub(crate) resource: usize,
    /// Whether it is found by name, so that it can move without the reference changing.
    pub(crate) by_name: bool,
}

struct Pending<'a> {
    pointer: String,
    schema: &'a Value,
    parent: Option<(usize, &'a str)>,
    in_data: bool,
}

impl<'a> Outline<'a> {
    /// Finds the schemas of `document`; refused where a dialect is not known.
    pub(crate) fn of(document: &'a Value) -> Result<Self, ProjectError> {
        let mut outline = Self {
            document,
            places: Vec::new(),
            links: Vec::new(),
            by_pointer: HashMap::new(),
            resources: HashMap::new(),
            anchors: HashMap::new(),
            tangled: false,
        };
        outline.walk(Pending {
            pointer: String::new(),
            schema: document,
            parent: None,
            in_data: false,
        })?;
        outline.resolve()?;
        Ok(outline)
    }

    /// The place at `pointer`.
    pub(crate) fn place_at(&self, pointer: &str) -> Option<usize> {
        self.by_pointer.get(pointer).copied()
    }

    /// What stands at `pointer`, `null` where nothing does.
    pub(crate) fn value_at(&self, pointer: &str) -> &'a Value {
        static NOTHING: Value = Value::Null;
        self.document.pointer(pointer).unwrap_or(&NOTHING)
    }

    /// The references that stand in `place`.
    pub(crate) fn links_of(&self, place: usize) -> impl Iterator<Item = &Link<'a>> {
        // Links are noted as places are walked, so those of one place stand together, in order.
        let start = self.links.partition_point(|link| link.holder < place);
        self.links[start..].iter().take_while(move |link| link.holder == place)
    }

    /// How many schemas name a base of their own, or are the root.
    pub(crate) fn resource_count(&self) -> usize {
        self.places.iter().enumerate().filter(|(at, place)| *at == 0 || place.is_named).count()
    }

    /// A reference in its absolute form, without its fragment.
    pub(crate) fn absolute(&self, link: &Link<'_>) -> Option<String> {
        uri::resolve(&self.base(link.holder), link.text)
    }

    fn base(&self, place: usize) -> String {
        self.places[self.places[place].resource].base.clone()
    }

    fn walk(&mut self, start: Pending<'a>) -> Result<(), ProjectError> {
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
        let (resource, outer) = around.map_or((at, Dialect::default()), |parent| {
            (self.places[parent].resource, self.places[parent].dialect)
        });
        let schema = pending.schema.as_object();
        let dialect = match schema.and_then(|schema| own_dialect(schema, at == 0)) {
            None => outer,
            Some(uri) => Dialect::from_uri(uri).ok_or_else(|| {
                let kind = ProjectErrorKind::UnsupportedDialect { uri: uri.to_owned() };
                ProjectError::new(format!("{}/$schema", pending.pointer).as_str(), kind)
            })?,
        };
        let outer_base =
            if at == 0 { uri::NAMELESS.to_owned() } else { self.places[resource].base.clone() };
        let (name, fragment) = schema.and_then(|schema| id(dialect, schema)).unwrap_or_default();
        let base = if name.is_empty() { None } else { uri::resolve(&outer_base, name) };
        let is_named = base.is_some();
        let resource = if is_named { at } else { resource };
        self.places.push(Place {
            pointer: pending.pointer.clone(),
            schema: pending.schema,
            resource,
            dialect,
            is_named,
            in_data: pending.in_data || around.is_some_and(|parent| self.places[parent].in_data),
            children: Vec::new(),
            base: base.unwrap_or(outer_base),
        });
        self.by_pointer.insert(pending.pointer.clone(), at);
        if is_named || at == 0 {
            self.resources.entry(self.places[at].base.clone()).or_insert(at);
        }
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

    fn note_links(&mut self, at: usize, schema: &'a Map<String, Value>) {
        let dialect = self.places[at].dialect;
        for (keyword, known) in [
            ("$ref", true),
            ("$dynamicRef", dialect == Dialect::Draft202012),
            ("$recursiveRef", dialect == Dialect::Draft201909),
        ] {
            if let (Some(Value::String(text)), true) = (schema.get(keyword), known) {
                self.links.push(Link { holder: at, keyword, text, target: None });
            }
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
            let Some(holds) = keyword::holds(place.dialect, keyword) else { continue };
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
            match (holds, value) {
                (Holds::List | Holds::OneOrList, Value::Array(list)) => {
                    for (number, schema) in list.iter().enumerate() {
                        child(Some(&number.to_string()), schema);
                    }
                }
                (Holds::Named, Value::Object(map)) => {
                    map.iter().for_each(|(name, schema)| child(Some(name), schema));
                }
                (Holds::NamedOrNames, Value::Object(map)) => {
                    let schemas = map.iter().filter(|(_, schema)| !schema.is_array());
                    schemas.for_each(|(name, schema)| child(Some(name), schema));
                }
                (Holds::One | Holds::OneOrList, schema) => child(None, schema),
                _ => {}
            }
        }
        stack[start..].reverse();
    }

    /// Follows every reference; what is not a schema yet becomes one.
    fn resolve(&mut self) -> Result<(), ProjectError> {
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
            let several = keyword::holds(dialect, &token).is_some_and(|holds| {
                holds != Holds::One || !self.places[place].pointer.ends_with(&format!("/{token}"))
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
        let Some(named) = uri::resolve(&self.base(holder), text) else { return Ok(None) };
        let Some(&resource) = self.resources.get(&named) else { return Ok(None) };
        let (_, fragment) = uri::split(text);
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

    /// The nearest place above `pointer`, and the keyword through which it leads there.
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

/// `$schema`, where it has a say: at the root of the document or of a resource within.
fn own_dialect(schema: &Map<String, Value>, is_root: bool) -> Option<&str> {
    let is_resource =
        is_root || ["$id", "id"].iter().any(|key| schema.get(*key).is_some_and(Value::is_string));
    is_resource.then(|| schema.get("$schema")?.as_str()).flatten()
}

/// The parts of `$id` (`id` in draft-04) before and after `#`; ignored beside `$ref` up to draft-07.
fn id(dialect: Dialect, schema: &Map<String, Value>) -> Option<(&str, &str)> {
    if dialect <= Dialect::Draft7 && schema.get("$ref").is_some_and(Value::is_string) {
        return None;
    }
    let key = if dialect == Dialect::Draft4 { "id" } else { "$id" };
    Some(uri::split(schema.get(key)?.as_str()?))
}
