//! One walk over a schema that finds its subschemas, references and patterns.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{
    dialect::known_dialect,
    keyword::{Holds, holds},
    reference::{Anchors, Documents, Scope, Target},
    size::written_bytes,
};
use crate::subschemas::Applied;
use crate::{Limits, Options, Pointer, SchemaError, SchemaErrorKind};

/// A subschema, by its number.
pub(crate) type Place = usize;

/// How one gets from a subschema to one inside it: the keyword, and the name or number there.
#[derive(Clone, Copy, Debug)]
struct Step<'a> {
    from: Place,
    /// Bytes of the pointer so far.
    length: usize,
    keyword: &'a str,
    member: Option<Member<'a>>,
}

#[derive(Clone, Copy, Debug)]
enum Member<'a> {
    Name(&'a str),
    Index(usize),
}

/// A reference that was found and is not yet followed.
struct Pending<'a> {
    from: Place,
    keyword: &'a str,
    reference: &'a str,
    scope: Option<Scope<'a>>,
}

/// A regular expression and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pattern<'a> {
    /// The subschema.
    pub(crate) place: Place,
    /// The pattern.
    pub(crate) source: &'a str,
    /// Whether it is a name in `patternProperties`.
    pub(crate) names: bool,
}

/// Everything admission needs to know about where a schema leads.
pub(crate) struct Survey<'a> {
    options: &'a Options,
    limits: &'a Limits,
    steps: Vec<Option<Step<'a>>>,
    values: Vec<&'a Value>,
    pending: Vec<Pending<'a>>,
    copied_bytes: usize,
    dynamic_references: Vec<(Place, &'a str)>,
    dynamic_anchors: Vec<(Place, &'a str)>,
    /// The most patterns in one `patternProperties`.
    pub(crate) name_patterns: usize,
    /// Patterns, in the order found.
    pub(crate) patterns: Vec<Pattern<'a>>,
    /// Which subschema applies which, and whether in place.
    pub(crate) edges: Vec<(Place, Place, bool)>,
    /// The resource that each subschema belongs to; the last number is unused.
    pub(crate) resource_of: Vec<usize>,
    resource_numbers: HashMap<String, usize>,
    contents: Contents,
    /// The `$ref`s that were followed, and where they lead.
    references: Vec<(Place, Place)>,
    /// Whether a reference uses an anchor.
    pub(crate) has_anchors: bool,
    /// Bytes of the largest schema under `not`, which an error copies.
    pub(crate) largest_not: usize,
    /// Whether numbers are divided.
    pub(crate) has_multiple_of: bool,
}

impl<'a> Survey<'a> {
    /// Surveys `schema` and every document it refers to.
    pub(crate) fn run(
        options: &'a Options,
        schema: &'a Value,
        documents: Option<&'a Documents<'a>>,
    ) -> Result<Self, SchemaError> {
        let mut survey = Self {
            options,
            limits: &options.limits,
            steps: Vec::new(),
            values: Vec::new(),
            pending: Vec::new(),
            copied_bytes: 0,
            dynamic_references: Vec::new(),
            dynamic_anchors: Vec::new(),
            name_patterns: 0,
            patterns: Vec::new(),
            edges: Vec::new(),
            resource_of: Vec::new(),
            resource_numbers: HashMap::new(),
            contents: Contents::default(),
            references: Vec::new(),
            has_anchors: false,
            largest_not: 0,
            has_multiple_of: false,
        };
        let scope = documents.map(Documents::scope);
        survey.subschema(schema, None, scope.as_ref())?;
        survey.check_count()?;
        survey.follow_references(schema)?;
        survey.check_count()?;
        survey.check_dynamic_anchors(scope.as_ref())?;
        survey.connect_dynamic_references();
        Ok(survey)
    }

    fn check_count(&self) -> Result<(), SchemaError> {
        let (found, limit) = (self.len(), self.limits.subschemas);
        if found > limit {
            let kind = SchemaErrorKind::Subschemas { found, limit };
            return Err(SchemaError { pointer: Pointer::root(), kind });
        }
        Ok(())
    }

    /// How many subschemas there are.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// The subschemas that have a `$ref`, and what each leads to.
    pub(crate) fn links(&self) -> impl Iterator<Item = (&'a Value, &'a Value)> {
        self.references.iter().map(|(from, to)| (self.values[*from], self.values[*to]))
    }

    /// The resources by their URIs.
    pub(crate) fn resources(&self) -> HashMap<&str, &'a Value> {
        let mut roots = vec![None; self.resource_numbers.len()];
        for (place, value) in self.values.iter().enumerate() {
            // A reference may lead into a resource, so not all resources start with their roots.
            let is_root = place == 0 || ["$id", "id"].iter().any(|id| value.get(id).is_some());
            if let Some(root) = roots.get_mut(self.resource_of[place]).filter(|_| is_root) {
                root.get_or_insert(*value);
            }
        }
        let known = self.resource_numbers.iter();
        known.filter_map(|(uri, number)| Some((uri.as_str(), roots[*number]?))).collect()
    }

    /// Where a subschema stands in its document.
    pub(crate) fn pointer(&self, place: Place) -> Pointer {
        let mut steps = Vec::new();
        let mut next = self.steps[place];
        while let Some(step) = next {
            steps.push(step);
            next = self.steps[step.from];
        }
        let mut pointer = Pointer::root();
        for step in steps.into_iter().rev() {
            pointer.push(step.keyword);
            match step.member {
                Some(Member::Name(name)) => pointer.push(name),
                Some(Member::Index(index)) => pointer.push(index),
                None => {}
            }
        }
        pointer
    }

    fn error(&self, place: Place, keyword: &str, kind: SchemaErrorKind) -> SchemaError {
        SchemaError { pointer: self.pointer(place).join(keyword), kind }
    }

    fn subschema(
        &mut self,
        value: &'a Value,
        step: Option<Step<'a>>,
        scope: Option<&Scope<'a>>,
    ) -> Result<Place, SchemaError> {
        let place = self.values.len();
        self.values.push(value);
        self.steps.push(step);
        let around = step.map_or(0, |step| self.resource_of[step.from]);
        self.resource_of.push(around);
        let Value::Object(members) = value else { return Ok(place) };
        let scope = scope.map(|scope| scope.enter(value)).transpose();
        let scope = scope.map_err(|kind| SchemaError { pointer: self.pointer(place), kind })?;
        if let Some(scope) = &scope {
            let next = self.resource_numbers.len();
            let number = *self.resource_numbers.entry(scope.base()).or_insert(next);
            self.resource_of[place] = number;
        }
        for (keyword, held) in members {
            self.keyword(place, keyword, held, scope.as_ref())?;
        }
        Ok(place)
    }

    fn keyword(
        &mut self,
        place: Place,
        keyword: &'a str,
        held: &'a Value,
        scope: Option<&Scope<'a>>,
    ) -> Result<(), SchemaError> {
        match keyword {
            "not" => {
                let bytes = written_bytes(held);
                self.largest_not = self.largest_not.max(bytes);
                self.copy(place, keyword, bytes)?;
            }
            "multipleOf" => self.has_multiple_of = true,
            _ => {}
        }
        match (holds(keyword), held) {
            (Holds::Schemas(applied), Value::Object(_) | Value::Bool(_)) => {
                self.inner(place, keyword, None, held, applied, scope)
            }
            (Holds::Schemas(applied), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    let member = Some(Member::Index(index));
                    self.inner(place, keyword, member, item, applied, scope)?;
                }
                Ok(())
            }
            (Holds::Members(applied), Value::Object(members)) => {
                self.members(place, keyword, members, applied, scope)
            }
            (Holds::PatternMembers, Value::Object(members)) => {
                self.name_patterns = self.name_patterns.max(members.len());
                self.patterns.extend(members.keys().map(|source| Pattern {
                    place,
                    source,
                    names: true,
                }));
                self.members(place, keyword, members, Applied::ToChild, scope)
            }
            (Holds::Pattern, Value::String(source)) => {
                self.patterns.push(Pattern { place, source, names: false });
                Ok(())
            }
            (Holds::Reference | Holds::DynamicReference, Value::String(reference)) => {
                let scope = scope.cloned();
                self.pending.push(Pending { from: place, keyword, reference, scope });
                Ok(())
            }
            (Holds::DynamicAnchor, held) => {
                self.dynamic_anchors.push((place, held.as_str().unwrap_or_default()));
                Ok(())
            }
            (Holds::Other, Value::String(uri)) if keyword == "$schema" => {
                known_dialect(self.options, uri)
                    .map(drop)
                    .map_err(|kind| self.error(place, keyword, kind))
            }
            _ => Ok(()),
        }
    }

    fn members(
        &mut self,
        place: Place,
        keyword: &'a str,
        members: &'a Map<String, Value>,
        applied: Applied,
        scope: Option<&Scope<'a>>,
    ) -> Result<(), SchemaError> {
        for (name, value) in members {
            let member = Some(Member::Name(name));
            self.inner(place, keyword, member, value, applied, scope)?;
        }
        Ok(())
    }

    fn inner(
        &mut self,
        from: Place,
        keyword: &'a str,
        member: Option<Member<'a>>,
        value: &'a Value,
        applied: Applied,
        scope: Option<&Scope<'a>>,
    ) -> Result<(), SchemaError> {
        // Anything else is for the metaschema to refuse, or a list of names in `dependencies`.
        if !matches!(value, Value::Object(_) | Value::Bool(_)) {
            return Ok(());
        }
        let name = match member {
            Some(Member::Name(name)) => 1 + name.len(),
            Some(Member::Index(_)) => 2,
            None => 0,
        };
        let before = self.steps[from].map_or(0, |step| step.length);
        let length = before + 1 + keyword.len() + name;
        self.copy(from, keyword, length + scope.map_or(0, Scope::base_length))?;
        let step = Some(Step { from, length, keyword, member });
        let to = self.subschema(value, step, scope)?;
        if applied != Applied::ByReference {
            self.edges.push((from, to, applied == Applied::InPlace));
        }
        Ok(())
    }

    fn copy(&mut self, place: Place, keyword: &str, bytes: usize) -> Result<(), SchemaError> {
        self.copied_bytes = self.copied_bytes.saturating_add(bytes);
        let (found, limit) = (self.copied_bytes, self.limits.copied_bytes);
        if found > limit {
            return Err(self.error(place, keyword, SchemaErrorKind::CopiedBytes { found, limit }));
        }
        Ok(())
    }

    fn follow_references(&mut self, schema: &'a Value) -> Result<(), SchemaError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let mut known: HashMap<*const Value, Place> =
            self.values.iter().enumerate().map(|(place, value)| (ptr(value), place)).collect();
        let mut anchors = Anchors::collect(schema, &self.values);
        while let Some(Pending { from, keyword, reference, scope }) = self.pending.pop() {
            let target = match &scope {
                Some(scope) => scope.look_up(self.options, reference),
                None => anchors.look_up(reference),
            };
            let Target { value, scope, is_known, named_in } =
                target.map_err(|kind| self.error(from, keyword, kind))?;
            if !named_in.is_none_or(|resource| self.contents.has(resource, value)) {
                let kind = SchemaErrorKind::DanglingReference { reference: reference.to_owned() };
                return Err(self.error(from, keyword, kind));
            }
            if !is_known && !known.contains_key(&ptr(value)) {
                let reference = reference.to_owned();
                let kind = SchemaErrorKind::ExternalReference { reference };
                return Err(self.error(from, keyword, kind));
            }
            let to = if let Some(place) = known.get(&ptr(value)) {
                *place
            } else {
                let first = self.values.len();
                let place = self.subschema(value, None, scope.as_ref())?;
                known.extend((first..self.len()).map(|place| (ptr(self.values[place]), place)));
                anchors.add(&self.values[first..]);
                place
            };
            self.edges.push((from, to, true));
            self.has_anchors |= reference != "#" && !reference.starts_with("#/");
            if keyword == "$ref" {
                self.references.push((from, to));
            }
            if holds(keyword) == Holds::DynamicReference {
                let anchor = reference.rsplit_once('#').map_or("", |(_, anchor)| anchor);
                self.dynamic_references.push((from, anchor));
            }
        }
        Ok(())
    }

    /// Refuses an anchor that a dynamic reference could mean and that is in another schema than its URI names.
    fn check_dynamic_anchors(&mut self, scope: Option<&Scope<'a>>) -> Result<(), SchemaError> {
        let Some(scope) = scope.filter(|_| !self.dynamic_references.is_empty()) else {
            return Ok(());
        };
        let mut uris = vec![""; self.resource_numbers.len()];
        for (uri, number) in &self.resource_numbers {
            uris[*number] = uri;
        }
        for &(place, name) in self.dynamic_anchors.iter().filter(|(_, name)| !name.is_empty()) {
            let uri = uris.get(self.resource_of[place]).copied().unwrap_or_default();
            let found = scope.look_up(self.options, &format!("{uri}#{name}"));
            let Ok(Target { value, named_in: Some(resource), .. }) = found else { continue };
            if !self.contents.has(resource, value) {
                let kind = SchemaErrorKind::DanglingReference { reference: format!("#{name}") };
                return Err(self.error(place, "$dynamicAnchor", kind));
            }
        }
        Ok(())
    }

    /// Which anchor a dynamic reference means depends on the way taken there: assume all of them.
    /// One extra place for each name keeps that linear.
    fn connect_dynamic_references(&mut self) {
        let mut hubs: HashMap<&str, Place> = HashMap::new();
        for (from, anchor) in std::mem::take(&mut self.dynamic_references) {
            let hub = *hubs.entry(anchor).or_insert_with(|| {
                self.values.push(&Value::Null);
                self.steps.push(self.steps[from]);
                self.resource_of.push(self.resource_of[from]);
                self.values.len() - 1
            });
            self.edges.push((from, hub, true));
        }
        for (place, anchor) in &self.dynamic_anchors {
            if let Some(hub) = hubs.get(anchor) {
                self.edges.push((*hub, *place, true));
            }
        }
    }
}

/// What is inside of the resources that references by name lead to.
///
/// If two schemas have the same `$id`, a name may be found in the one and the resource be the other. The engine panics
/// on that.
#[derive(Default)]
struct Contents(HashMap<*const Value, HashSet<*const Value>>);

impl Contents {
    fn has(&mut self, resource: &Value, value: &Value) -> bool {
        let inside = self.0.entry(ptr(resource)).or_insert_with(|| {
            let mut inside = HashSet::new();
            let mut pending = vec![resource];
            while let Some(value) = pending.pop() {
                match value {
                    Value::Array(items) => pending.extend(items),
                    Value::Object(members) => {
                        inside.insert(ptr(value));
                        pending.extend(members.values());
                    }
                    _ => {}
                }
            }
            inside
        });
        inside.contains(&ptr(value))
    }
}

fn ptr(value: &Value) -> *const Value {
    std::ptr::from_ref(value)
}
