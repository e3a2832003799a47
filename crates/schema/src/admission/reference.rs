//! Following references, without ever fetching what they name.

use std::{
    collections::{HashMap, HashSet},
    error::Error,
};

use referencing::{Draft, Registry, Resolver, ResourceRef, Retrieve, Uri};
use serde_json::{Map, Value, json};

use super::dialect::dialect;
use crate::{Dialect, Options, Pointer, SchemaError, SchemaErrorKind};

/// The base of a schema that has no `$id`. The engine does not tell where keywords are under `json-schema:`, its own
/// base.
const BASE: &str = "toolbond:///";

/// Stands where a document would have to be fetched.
const ABSENT: &str = "toolbond: this document is absent";

/// Where a reference stands: what it is relative to, and the draft that says so.
#[derive(Clone)]
pub(crate) struct Scope<'a> {
    resolver: Resolver<'a>,
    draft: Draft,
}

impl<'a> Scope<'a> {
    /// The URI that pointers start from here.
    pub(crate) fn base(&self) -> String {
        self.resolver.base_uri().as_str().to_owned()
    }

    /// Bytes of that URI.
    pub(crate) fn base_length(&self) -> usize {
        self.resolver.base_uri().as_str().len()
    }

    /// The scope inside `schema`, which may set a base of its own.
    pub(crate) fn enter(&self, schema: &'a Value) -> Result<Self, SchemaErrorKind> {
        let draft = self.draft.detect(schema);
        let draft = if draft == Draft::Unknown { self.draft } else { draft };
        let resource = ResourceRef::new(schema, draft);
        match self.resolver.in_subresource(resource) {
            Ok(resolver) => Ok(Self { resolver, draft }),
            Err(_) => Err(SchemaErrorKind::DanglingReference {
                reference: resource.id().unwrap_or_default().to_owned(),
            }),
        }
    }

    /// Follows `reference` to a document that is at hand.
    pub(crate) fn look_up(
        &self,
        options: &Options,
        reference: &str,
    ) -> Result<Target<'a>, SchemaErrorKind> {
        let external = || SchemaErrorKind::ExternalReference { reference: reference.to_owned() };
        let Ok(resolved) = self.resolver.lookup(reference) else {
            let local = reference.starts_with('#');
            let dangling = SchemaErrorKind::DanglingReference { reference: reference.to_owned() };
            return Err(if local { dangling } else { external() });
        };
        let (value, next, draft) = resolved.into_inner();
        if value.get("$comment").and_then(Value::as_str) == Some(ABSENT) {
            return Err(external());
        }
        let base = next.base_uri();
        let is_known = !is_metaschema(base.as_str()) || options.has_document(base.as_str());
        let name = reference.rsplit_once('#').map_or("", |(_, fragment)| fragment);
        let named_in = (!name.is_empty() && !name.starts_with('/'))
            .then(|| next.lookup("").map_or(&Value::Null, |resolved| resolved.contents()));
        Ok(Target { value, scope: Some(Scope { resolver: next, draft }), is_known, named_in })
    }
}

/// What a reference leads to.
pub(crate) struct Target<'a> {
    pub(crate) value: &'a Value,
    /// For the references found there.
    pub(crate) scope: Option<Scope<'a>>,
    /// Whether it may be followed outside of the schema: not into a metaschema nobody handed in.
    pub(crate) is_known: bool,
    /// The resource that has to contain it, if the reference uses a name.
    pub(crate) named_in: Option<&'a Value>,
}

/// The subschemas of a schema that names its parts by nothing but anchors.
pub(crate) struct Anchors<'a> {
    schema: &'a Value,
    named: HashMap<&'a str, &'a Value>,
}

impl<'a> Anchors<'a> {
    /// The anchors of `schema`, whose subschemas are `values`.
    pub(crate) fn collect(schema: &'a Value, values: &[&'a Value]) -> Self {
        let mut anchors = Self { schema, named: HashMap::new() };
        anchors.add(values);
        anchors
    }

    /// Adds the anchors of further subschemas.
    pub(crate) fn add(&mut self, values: &[&'a Value]) {
        for value in values {
            let names = ["$anchor", "$dynamicAnchor"].into_iter();
            for name in names.filter_map(|keyword| value.get(keyword)?.as_str()) {
                self.named.insert(name, *value);
            }
        }
    }

    /// Follows `reference`, which starts with `#`.
    pub(crate) fn look_up(&self, reference: &str) -> Result<Target<'a>, SchemaErrorKind> {
        let fragment = reference.trim_start_matches('#');
        let value = if fragment.is_empty() || fragment.starts_with('/') {
            self.schema.pointer(fragment)
        } else {
            self.named.get(fragment).copied()
        };
        match value {
            Some(value) => Ok(Target { value, scope: None, is_known: true, named_in: None }),
            None => Err(SchemaErrorKind::DanglingReference { reference: reference.to_owned() }),
        }
    }
}

/// The documents that references of one schema can reach.
pub(crate) struct Documents<'a> {
    registry: Registry<'a>,
    base: Uri<String>,
    draft: Draft,
}

impl<'a> Documents<'a> {
    /// The documents, where `schema` needs more than its [`Anchors`].
    pub(crate) fn collect_if_needed(
        options: &'a Options,
        schema: &'a Value,
    ) -> Result<Option<Self>, SchemaError> {
        let draft = dialect(options, schema)?.unwrap_or_default().draft();
        let known_dialect = dialect(options, schema)?.is_some();
        let names = Names::collect(schema, draft);
        if known_dialect && !names.other_documents {
            return Ok(None);
        }
        // A reference is resolved against all identifiers around it.
        let (found, limit) = (names.copied_bytes, options.limits.copied_bytes);
        if found > limit {
            let kind = SchemaErrorKind::CopiedBytes { found, limit };
            return Err(SchemaError { pointer: Pointer::root(), kind });
        }
        Self::collect(options, schema, draft, &names).map(Some).map_err(|error| SchemaError {
            pointer: Pointer::root(),
            kind: SchemaErrorKind::DanglingReference { reference: error.to_string() },
        })
    }

    fn collect(
        options: &'a Options,
        schema: &'a Value,
        draft: Draft,
        names: &Names<'a>,
    ) -> Result<Self, referencing::Error> {
        let resource = ResourceRef::new(schema, draft);
        let base = referencing::uri::from_str(BASE)?;
        let base = match resource.id() {
            Some(id) => referencing::uri::resolve_against(&base.borrow(), id)?,
            None => base,
        };
        let documents = options.documents.iter();
        let at_hand =
            AtHand(documents.map(|(uri, text)| (bare(uri).to_owned(), text.clone())).collect());
        let mut registry = Registry::new().retriever(at_hand).draft(draft);
        // The registry prefers its own copy of a metaschema to one that is embedded, but not to a document.
        for (uri, schema) in &names.metaschemas {
            registry = registry.add(*uri, ResourceRef::new(schema, draft.detect(schema)))?;
        }
        let registry = registry.add(base.as_str(), resource)?.prepare()?;
        Ok(Self { registry, base, draft })
    }

    /// The documents as the engine takes them.
    pub(crate) fn registry(&self) -> &Registry<'a> {
        &self.registry
    }

    /// The URI of the schema.
    pub(crate) fn base(&self) -> &str {
        self.base.as_str()
    }

    /// The scope around the schema.
    pub(crate) fn scope(&self) -> Scope<'_> {
        Scope { resolver: self.registry.resolver(self.base.clone()), draft: self.draft }
    }
}

/// What a schema names.
#[derive(Default)]
struct Names<'a> {
    /// Whether anything looks like an identifier, an anchor of a name that is in use, or a reference other than a plain
    /// pointer or anchor.
    other_documents: bool,
    /// Bytes of the identifiers around each identifier and reference, all together.
    copied_bytes: usize,
    /// Embedded schemas that have the URI of a metaschema.
    metaschemas: HashMap<&'a str, &'a Value>,
    anchors: HashSet<&'a str>,
}

impl<'a> Names<'a> {
    fn collect(schema: &'a Value, draft: Draft) -> Self {
        let mut names = Self::default();
        let mut pending = vec![(schema, 0)];
        while let Some((value, around)) = pending.pop() {
            match value {
                Value::Array(items) => pending.extend(items.iter().map(|item| (item, around))),
                Value::Object(members) => {
                    let around = names.object(value, members, draft, around);
                    pending.extend(members.values().map(|value| (value, around)));
                }
                _ => {}
            }
        }
        names
    }

    /// Notes the names in an object, and returns the bytes of the identifiers around its members.
    fn object(
        &mut self,
        value: &'a Value,
        members: &'a Map<String, Value>,
        draft: Draft,
        mut around: usize,
    ) -> usize {
        for keyword in ["$id", "id"] {
            let Some(id) = members.get(keyword).and_then(Value::as_str) else { continue };
            if is_metaschema(id) {
                self.metaschemas.entry(bare(id)).or_insert(value);
            }
            if keyword == "$id" || draft == Draft::Draft4 {
                self.other_documents = true;
                around += id.len();
                self.copied_bytes = self.copied_bytes.saturating_add(around);
            }
        }
        // Which of two anchors of one name counts, only the registry of the engine says.
        for keyword in ["$anchor", "$dynamicAnchor"] {
            let Some(name) = members.get(keyword).and_then(Value::as_str) else { continue };
            self.other_documents |= !self.anchors.insert(name);
        }
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(reference) = members.get(keyword).and_then(Value::as_str) else { continue };
            self.other_documents |= !reference.starts_with('#') || reference.contains('%');
            self.copied_bytes = self.copied_bytes.saturating_add(around);
        }
        around
    }
}

fn is_metaschema(uri: &str) -> bool {
    let uri = uri.trim_end_matches('#');
    Dialect::ALL.iter().any(|dialect| {
        let base = dialect.uri().trim_end_matches('#').trim_end_matches("schema");
        uri.starts_with(base)
    })
}

pub(super) fn bare(uri: &str) -> &str {
    uri.trim_end_matches('#')
}

/// Answers every request from memory, if need be with a document that says it is not there.
struct AtHand(HashMap<String, Value>);

impl Retrieve for AtHand {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        let document = self.0.get(bare(uri.as_str())).cloned();
        Ok(document.unwrap_or_else(|| json!({ "$comment": ABSENT })))
    }
}
