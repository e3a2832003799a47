//! Random schemas that are split over documents of several dialects.

use serde_json::{Map, Value, json};
use toolbond_contract::bundle::Document;
use toolbond_harness::generate::Rng;
use toolbond_schema::Dialect;

const NAMES: [&str; 2] = ["a", "b"];

/// A schema and the documents that it may refer to.
#[derive(Debug)]
pub(crate) struct World {
    /// The schema as it is bundled: without an `$id` where there is a base.
    pub(crate) schema: Value,
    /// The schema with its base as `$id`.
    pub(crate) named_schema: Value,
    pub(crate) base: Option<String>,
    pub(crate) documents: Vec<Document>,
    /// The documents by every URI that references use.
    pub(crate) by_uri: Vec<(String, Value)>,
}

impl World {
    pub(crate) fn new(rng: &mut Rng) -> Self {
        let plan = Plan((0..2 + rng.below(3)).map(|_| Page::new(rng)).collect());
        let mut pages = (0..plan.0.len()).map(|at| (at, plan.page(rng, at)));
        let named_schema = pages.next().map(|(_, page)| page).unwrap_or_default();
        let pages: Vec<_> = pages.collect();
        let base = rng.one_in(2).then(|| uri(0));
        let mut schema = named_schema.clone();
        if let (Some(_), Value::Object(members)) = (&base, &mut schema) {
            members.shift_remove(plan.id_keyword(0));
        }
        let by_uri = pages
            .iter()
            .flat_map(|(at, page)| [uri(*at), plan.identity(*at)].map(|uri| (uri, page.clone())));
        let by_uri = by_uri.collect();
        let documents = pages.into_iter().map(|(at, page)| Document::new(uri(at), page)).collect();
        Self { schema, named_schema, base, documents, by_uri }
    }
}

/// What references have to know of each page; the schema is the first one.
struct Plan(Vec<Page>);

struct Page {
    dialect: Option<Dialect>,
    id: Id,
    /// What the page is where it is nothing but a reference.
    top: Option<Reference>,
    definitions: Vec<Kind>,
}

#[derive(Clone, Copy)]
enum Id {
    Absent,
    Same,
    Relative,
    Elsewhere,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Anchor,
    /// With an `$id`, which its references are relative to.
    Resource,
    /// Under a keyword that no dialect knows.
    Component,
}

struct Reference {
    page: usize,
    /// A definition, or the top.
    part: Option<usize>,
    by_id: bool,
    is_relative: bool,
    sibling: Value,
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

impl Page {
    fn new(rng: &mut Rng) -> Self {
        let kinds = [Kind::Plain, Kind::Anchor, Kind::Resource, Kind::Component];
        Self {
            dialect: (!rng.one_in(3)).then(|| *rng.pick(&Dialect::ALL)),
            id: *rng.pick(&[Id::Absent, Id::Same, Id::Relative, Id::Elsewhere]),
            top: rng.one_in(2).then(|| Reference::new(rng)),
            definitions: (0..rng.below(3)).map(|_| *rng.pick(&kinds)).collect(),
        }
    }
}

impl Reference {
    fn new(rng: &mut Rng) -> Self {
        Self {
            page: rng.below(4),
            part: (!rng.one_in(3)).then(|| rng.below(3)),
            by_id: rng.one_in(2),
            is_relative: rng.one_in(2),
            sibling: match rng.below(8) {
                0 => json!({ "required": [rng.pick(&NAMES)] }),
                maximum @ 1..4 => json!({ "maximum": maximum }),
                _ => json!({}),
            },
        }
    }
}

impl Plan {
    fn dialect(&self, at: usize) -> Dialect {
        self.0[at].dialect.or(self.0[0].dialect).unwrap_or_default()
    }

    fn id_keyword(&self, at: usize) -> &'static str {
        if self.dialect(at) == Dialect::Draft4 { "id" } else { "$id" }
    }

    fn holder(&self, at: usize) -> &'static str {
        if self.dialect(at) >= Dialect::Draft201909 { "$defs" } else { "definitions" }
    }

    /// The URI that a page has by its `$id`, which has no effect beside `$ref` up to draft-07.
    fn identity(&self, at: usize) -> String {
        let context = Context { page: at, part: None, base: "", in_place: true };
        let leads_on = self.0[at].top.as_ref().is_some_and(|top| self.leads_on(top, context));
        let is_silenced = self.dialect(at) <= Dialect::Draft7 && leads_on;
        match self.0[at].id {
            Id::Elsewhere if at > 0 && !is_silenced => {
                format!("http://other.example/ids/{at}.json")
            }
            Id::Relative if at > 0 && !is_silenced => {
                format!("http://example.com/dir/ids/{at}.json")
            }
            _ => uri(at),
        }
    }

    fn page(&self, rng: &mut Rng, at: usize) -> Value {
        let page = &self.0[at];
        let key = self.id_keyword(at);
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
        schema.extend(id.map(|id| (key.to_owned(), id.into())));
        let base = self.identity(at);
        let context = Context { page: at, part: None, base: &base, in_place: true };
        let top = match &page.top {
            // A base in the place of an `$id` has an effect beside `$ref` too.
            Some(reference) if at > 0 => self.reference(reference, context),
            _ => apart(self.node(rng, 3, context)),
        };
        schema.extend(top.as_object().cloned().unwrap_or_default());
        for (number, kind) in page.definitions.iter().enumerate() {
            let resource = nested(&base, at, number);
            let base = if *kind == Kind::Resource { &resource } else { &base };
            let context = Context { page: at, part: Some(number), base, in_place: true };
            // Up to draft-07 a name has no effect beside `$ref`.
            let mut value = apart(self.node(rng, 3, context));
            let (key, name) = match kind {
                Kind::Resource => (key, format!("nested-{at}-{number}.json")),
                Kind::Anchor if self.holder(at) == "$defs" => ("$anchor", anchor(number)),
                Kind::Anchor => (key, format!("#{}", anchor(number))),
                Kind::Plain | Kind::Component => ("title", anchor(number)),
            };
            value[key] = name.into();
            let holder = if *kind == Kind::Component { "components" } else { self.holder(at) };
            schema.entry(holder).or_insert_with(|| json!({}))[anchor(number)] = value;
        }
        schema.into()
    }

    fn node(&self, rng: &mut Rng, depth: usize, context: Context<'_>) -> Value {
        let here = |rng: &mut Rng| self.node(rng, depth - 1, context);
        let inside =
            |rng: &mut Rng| self.node(rng, depth - 1, Context { in_place: false, ..context });
        match rng.below(if depth == 0 { 12 } else { 20 }) {
            0 => json!({}),
            1 => json!({ "type": rng.pick(&["object", "array", "integer", "string", "null"]) }),
            2 => json!({ "enum": [rng.below(3), 3] }),
            3 => json!({ "maximum": rng.below(4) }),
            4 => json!({ "required": [rng.pick(&NAMES)] }),
            // Data that looks like a reference.
            5 => json!({ "default": { "$ref": "nowhere.json" } }),
            6..=11 => self.reference(&Reference::new(rng), context),
            12..=13 => json!({ "properties": { *rng.pick(&NAMES): inside(rng) } }),
            14 => json!({ "properties": { "a": inside(rng), "b": inside(rng) } }),
            15..=16 => json!({ "items": inside(rng) }),
            17 => json!({ "allOf": [here(rng), here(rng)] }),
            18 => json!({ "anyOf": [here(rng), here(rng)] }),
            _ => json!({ "not": here(rng) }),
        }
    }

    fn reference(&self, reference: &Reference, context: Context<'_>) -> Value {
        let mut schema = reference.sibling.clone();
        schema["$ref"] = self.target(reference, context).into();
        if context.in_place && !self.leads_on(reference, context) {
            schema = json!({ "properties": { "a": schema } });
        }
        schema
    }

    /// Whether a reference leads to a later page or definition: no schema then applies to a value without end.
    fn leads_on(&self, reference: &Reference, context: Context<'_>) -> bool {
        let page = reference.page % self.0.len();
        let part = reference.part.filter(|part| *part < self.0[page].definitions.len());
        (page, part) > (context.page, context.part)
    }

    fn target(&self, reference: &Reference, Context { page: at, base, .. }: Context<'_>) -> String {
        let page = reference.page % self.0.len();
        let mut target =
            if reference.by_id || page == at { self.identity(page) } else { uri(page) };
        let definitions = &self.0[page].definitions;
        let fragment = match reference.part.and_then(|part| Some((part, definitions.get(part)?))) {
            None => String::new(),
            Some((part, Kind::Component)) => format!("#/components/{}", anchor(part)),
            Some((part, Kind::Anchor)) if reference.by_id => format!("#{}", anchor(part)),
            Some((part, Kind::Resource)) if reference.by_id && page == at => {
                target = nested(&target, page, part);
                String::new()
            }
            Some((part, _)) => format!("#/{}/{}", self.holder(page), anchor(part)),
        };
        let target = match target.strip_prefix(base) {
            Some("") if reference.is_relative => String::new(),
            _ if reference.is_relative => relative(base, &target),
            _ => target,
        };
        if target.is_empty() && fragment.is_empty() { "#".to_owned() } else { target + &fragment }
    }
}

/// A value that may have the members of the schemas.
pub(crate) fn instance(rng: &mut Rng, depth: usize) -> Value {
    match rng.below(if depth == 0 { 5 } else { 11 }) {
        0 | 1 => rng.below(5).into(),
        2 => json!("x"),
        3 => json!(null),
        4 => json!([]),
        5..=8 => (0..rng.below(3))
            .map(|_| ((*rng.pick(&NAMES)).to_owned(), instance(rng, depth - 1)))
            .collect(),
        _ => (0..rng.below(3)).map(|_| instance(rng, depth - 1)).collect(),
    }
}

/// `schema` where something stands beside it that has no effect beside `$ref`.
fn apart(schema: Value) -> Value {
    if schema.get("$ref").is_some() { json!({ "allOf": [schema] }) } else { schema }
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
