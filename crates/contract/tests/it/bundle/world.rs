//! Random schemas that are split over documents of several dialects.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolbond_contract::bundle::Document;
use toolbond_schema::Dialect;

/// A schema and the documents that it may refer to; the schema is the first of them.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pages: Vec<Page>,
    /// Whether the schema has no `$id`, and is told its base.
    pub(crate) has_base: bool,
}

#[derive(Clone, Debug)]
struct Page {
    dialect: Option<Dialect>,
    id: Id,
    top: Node,
    definitions: Vec<Definition>,
}

#[derive(Clone, Copy, Debug)]
enum Id {
    Absent,
    Same,
    Relative,
    Elsewhere,
}

#[derive(Clone, Debug)]
struct Definition {
    kind: Kind,
    node: Node,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Anchor,
    /// With an `$id`, which its references are relative to.
    Resource,
    /// Under a keyword that no dialect knows.
    Component,
}

#[derive(Clone, Debug)]
enum Node {
    Any,
    Type(&'static str),
    Enum(Vec<i32>),
    Maximum(i32),
    Required(&'static str),
    Properties(Vec<(&'static str, Node)>),
    Items(Box<Node>),
    AllOf(Vec<Node>),
    AnyOf(Vec<Node>),
    Not(Box<Node>),
    /// Data that looks like a reference.
    Data,
    Reference(Reference),
}

#[derive(Clone, Debug)]
struct Reference {
    page: usize,
    /// A definition, or the top.
    part: Option<usize>,
    by_id: bool,
    is_relative: bool,
    sibling: Option<Box<Node>>,
}

pub(crate) fn world() -> impl Strategy<Value = World> {
    let pages = prop::collection::vec(page(), 2..5);
    (pages, any::<bool>()).prop_map(|(pages, has_base)| World { pages, has_base })
}

fn page() -> impl Strategy<Value = Page> {
    let dialect = prop::option::weighted(0.6, prop::sample::select(Dialect::ALL.to_vec()));
    let id = prop::sample::select(vec![Id::Absent, Id::Same, Id::Relative, Id::Elsewhere]);
    let kinds = vec![Kind::Plain, Kind::Anchor, Kind::Resource, Kind::Component];
    let definition =
        (prop::sample::select(kinds), node()).prop_map(|(kind, node)| Definition { kind, node });
    let definitions = prop::collection::vec(definition, 0..3);
    let top = prop_oneof![node(), reference().prop_map(Node::Reference)];
    (dialect, id, top, definitions).prop_map(|(dialect, id, top, definitions)| Page {
        dialect,
        id,
        top,
        definitions,
    })
}

fn node() -> impl Strategy<Value = Node> {
    let types = vec!["object", "array", "integer", "string", "null"];
    let leaf = prop_oneof![
        Just(Node::Any),
        prop::sample::select(types).prop_map(Node::Type),
        prop::collection::vec(0..4, 1..3).prop_map(Node::Enum),
        (0..4).prop_map(Node::Maximum),
        name().prop_map(Node::Required),
        Just(Node::Data),
    ];
    let leaf = prop_oneof![1 => leaf, 1 => reference().prop_map(Node::Reference)];
    leaf.prop_recursive(3, 10, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            3 => prop::collection::vec((name(), inner.clone()), 1..3).prop_map(Node::Properties),
            2 => inner.clone().prop_map(|node| Node::Items(Box::new(node))),
            1 => list.clone().prop_map(Node::AllOf),
            1 => list.prop_map(Node::AnyOf),
            1 => inner.prop_map(|node| Node::Not(Box::new(node))),
        ]
    })
}

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b"])
}

fn reference() -> impl Strategy<Value = Reference> {
    let sibling = (0..4, name()).prop_map(|(maximum, name)| match maximum {
        0 => Node::Required(name),
        maximum => Node::Maximum(maximum),
    });
    let sibling = prop::option::weighted(0.5, sibling.prop_map(Box::new));
    (0..4_usize, prop::option::of(0..3_usize), any::<bool>(), any::<bool>(), sibling).prop_map(
        |(page, part, by_id, is_relative, sibling)| Reference {
            page,
            part,
            by_id,
            is_relative,
            sibling,
        },
    )
}

pub(crate) fn instance() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        (0..5).prop_map(Value::from),
        Just(json!("x")),
        Just(json!(null)),
        Just(json!([])),
    ];
    leaf.prop_recursive(4, 12, 3, |inner| {
        let members = prop::collection::vec((name(), inner.clone()), 0..3);
        prop_oneof![
            2 => members.prop_map(|members| {
                members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            }),
            1 => prop::collection::vec(inner, 0..3).prop_map(Value::from),
        ]
    })
}

/// Where a schema is written.
#[derive(Clone, Copy)]
struct Context<'a> {
    page: usize,
    /// The definition, or the top.
    part: Option<usize>,
    base: &'a str,
    /// Whether it applies to what the page or definition applies to.
    in_place: bool,
}

impl World {
    /// The schema as it is bundled.
    pub(crate) fn schema(&self) -> Value {
        self.page(0, self.has_base)
    }

    /// The schema with its base as `$id`.
    pub(crate) fn named_schema(&self) -> Value {
        self.page(0, false)
    }

    pub(crate) fn base(&self) -> Option<String> {
        self.has_base.then(|| uri(0))
    }

    pub(crate) fn documents(&self) -> Vec<Document> {
        (1..self.pages.len()).map(|at| Document::new(uri(at), self.page(at, false))).collect()
    }

    /// The documents by every URI that references use.
    pub(crate) fn by_uri(&self) -> Vec<(String, Value)> {
        let uris = (1..self.pages.len()).flat_map(|at| [(uri(at), at), (self.identity(at), at)]);
        uris.map(|(uri, at)| (uri, self.page(at, false))).collect()
    }

    fn dialect(&self, at: usize) -> Dialect {
        let dialect = self.pages[at].dialect.or(self.pages[0].dialect);
        dialect.unwrap_or_default()
    }

    /// Whether only `$ref` has an effect at the top.
    fn is_silenced(&self, at: usize) -> bool {
        let Node::Reference(reference) = &self.pages[at].top else { return false };
        let context = Context { page: at, part: None, base: "", in_place: true };
        at > 0 && self.dialect(at) <= Dialect::Draft7 && self.leads_on(reference, context)
    }

    /// The top of a page; a base in the place of an `$id` has an effect beside `$ref` too.
    fn top(&self, at: usize) -> Node {
        match &self.pages[at].top {
            top @ Node::Reference(_) if at == 0 => Node::AllOf(vec![top.clone()]),
            top => top.clone(),
        }
    }

    /// The URI that a page has by its `$id`.
    fn identity(&self, at: usize) -> String {
        match self.pages[at].id {
            Id::Elsewhere if at > 0 && !self.is_silenced(at) => {
                format!("http://other.example/ids/{at}.json")
            }
            Id::Relative if at > 0 && !self.is_silenced(at) => {
                format!("http://example.com/dir/ids/{at}.json")
            }
            _ => uri(at),
        }
    }

    fn page(&self, at: usize, is_nameless: bool) -> Value {
        let page = &self.pages[at];
        let dialect = self.dialect(at);
        let key = if dialect == Dialect::Draft4 { "id" } else { "$id" };
        let mut schema = Map::new();
        if let Some(dialect) = page.dialect {
            schema.insert("$schema".to_owned(), dialect.uri().into());
        }
        let id = match page.id {
            Id::Absent if at > 0 => None,
            Id::Relative if at > 0 => Some(format!("ids/{at}.json")),
            Id::Elsewhere if at > 0 => Some(format!("http://other.example/ids/{at}.json")),
            _ => Some(uri(at)),
        };
        if let (Some(id), false) = (id, is_nameless) {
            schema.insert(key.to_owned(), id.into());
        }
        let base = self.identity(at);
        let context = Context { page: at, part: None, base: &base, in_place: true };
        if let Value::Object(keywords) = self.node(&self.top(at), context) {
            schema.extend(keywords);
        }
        let holder = if dialect >= Dialect::Draft201909 { "$defs" } else { "definitions" };
        for (number, definition) in page.definitions.iter().enumerate() {
            let resource = nested(&base, at, number);
            let base = if definition.kind == Kind::Resource { &resource } else { &base };
            let context = Context { page: at, part: Some(number), base, in_place: true };
            let mut value = match self.node(&definition.node, context) {
                // Up to draft-07 a name has no effect beside `$ref`.
                value if value.get("$ref").is_some() => json!({ "allOf": [value] }),
                value => value,
            };
            let (key, name) = match definition.kind {
                Kind::Resource => (key, format!("nested-{at}-{number}.json")),
                Kind::Anchor if dialect >= Dialect::Draft201909 => ("$anchor", anchor(number)),
                Kind::Anchor => (key, format!("#{}", anchor(number))),
                Kind::Plain | Kind::Component => ("title", anchor(number)),
            };
            value[key] = name.into();
            let holder = if definition.kind == Kind::Component { "components" } else { holder };
            schema.entry(holder).or_insert_with(|| json!({}))[anchor(number)] = value;
        }
        schema.into()
    }

    fn node(&self, node: &Node, context: Context<'_>) -> Value {
        let inside = Context { in_place: false, ..context };
        let all =
            |list: &[Node]| -> Value { list.iter().map(|node| self.node(node, context)).collect() };
        match node {
            Node::Any => json!({}),
            Node::Type(name) => json!({ "type": name }),
            Node::Enum(list) => json!({ "enum": list }),
            Node::Maximum(maximum) => json!({ "maximum": maximum }),
            Node::Required(name) => json!({ "required": [name] }),
            Node::Properties(properties) => {
                let properties = properties.iter();
                let properties: Map<_, _> = properties
                    .map(|(name, node)| ((*name).to_owned(), self.node(node, inside)))
                    .collect();
                json!({ "properties": properties })
            }
            Node::Items(node) => json!({ "items": self.node(node, inside) }),
            Node::AllOf(list) => json!({ "allOf": all(list) }),
            Node::AnyOf(list) => json!({ "anyOf": all(list) }),
            Node::Not(node) => json!({ "not": self.node(node, context) }),
            Node::Data => json!({ "default": { "$ref": "nowhere.json" } }),
            Node::Reference(reference) => {
                let mut schema = match &reference.sibling {
                    Some(node) => self.node(node, context),
                    None => json!({}),
                };
                schema["$ref"] = self.reference(reference, context).into();
                if context.in_place && !self.leads_on(reference, context) {
                    schema = json!({ "properties": { "a": schema } });
                }
                schema
            }
        }
    }

    /// Whether a reference leads to a later page or definition: no schema then applies to a value without end.
    fn leads_on(&self, reference: &Reference, context: Context<'_>) -> bool {
        let page = reference.page % self.pages.len();
        let part = reference.part.filter(|part| *part < self.pages[page].definitions.len());
        (page, part) > (context.page, context.part)
    }

    fn reference(
        &self,
        reference: &Reference,
        Context { page: at, base, .. }: Context<'_>,
    ) -> String {
        let page = reference.page % self.pages.len();
        let mut target =
            if reference.by_id || page == at { self.identity(page) } else { uri(page) };
        let definitions = &self.pages[page].definitions;
        let holder =
            if self.dialect(page) >= Dialect::Draft201909 { "$defs" } else { "definitions" };
        let fragment = match reference.part.and_then(|part| Some((part, definitions.get(part)?))) {
            None => String::new(),
            Some((part, definition)) => match definition.kind {
                Kind::Component => format!("#/components/{}", anchor(part)),
                Kind::Anchor if reference.by_id => format!("#{}", anchor(part)),
                Kind::Resource if reference.by_id && page == at => {
                    target = nested(&target, page, part);
                    String::new()
                }
                _ => format!("#/{holder}/{}", anchor(part)),
            },
        };
        let target = match target.strip_prefix(base) {
            Some("") if reference.is_relative => String::new(),
            _ if reference.is_relative => relative(base, &target),
            _ => target,
        };
        if target.is_empty() && fragment.is_empty() { "#".to_owned() } else { target + &fragment }
    }
}

/// The URI of a page.
fn uri(at: usize) -> String {
    format!("http://example.com/dir/page{at}.json")
}

fn nested(base: &str, at: usize, number: usize) -> String {
    let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
    format!("{folder}/nested-{at}-{number}.json")
}

fn anchor(number: usize) -> String {
    format!("part{number}")
}

/// `target` as a reference from `base`.
fn relative(base: &str, target: &str) -> String {
    let host = |uri: &str| uri.split('/').nth(2).map(str::to_owned);
    if host(base) != host(target) {
        return target.to_owned();
    }
    let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
    match target.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')) {
        Some(rest) => rest.to_owned(),
        None => target.splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap_or_default(),
    }
}
