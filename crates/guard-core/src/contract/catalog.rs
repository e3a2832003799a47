//! The tools that a server lists, by who the list is for.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ahash::AHashMap;
use toolbond_contract::{Contract, Form};
use toolbond_targets::{UsedNames, View};

use crate::audience::Audience;
use crate::caller::Caller;
use crate::learned::Learned;
use crate::lock::lock;
use crate::tool_cache::{Holder, JudgedTool, tick};

/// A listed tool.
#[derive(Clone, Debug)]
pub enum Tool {
    /// Clients may call it.
    Offered {
        /// Its contract, in the shape that the server sent.
        contract: Contract,
        /// Where its memory is counted.
        judged: Arc<JudgedTool>,
        /// How its results reach the client.
        form: Form,
        /// How to restore a call, where clients get it in the form of a target.
        view: Option<Arc<View>>,
        /// What the caller holds of its output schema.
        held: HeldOutput,
    },
    /// Clients may not call it, for this reason.
    Withheld(Arc<str>),
}

impl Tool {
    /// Whether clients get another output schema than its author's.
    pub fn is_broken(&self) -> bool {
        matches!(self, Self::Offered { held, .. } if held.learned.is_some())
    }

    /// Whether its author marks it as one that may be called again with the same arguments: it changes nothing, or
    /// nothing more.
    pub fn is_repeatable(&self) -> bool {
        let Self::Offered { contract, .. } = self else { return false };
        let annotations = &contract.value()["annotations"];
        ["readOnlyHint", "idempotentHint"].iter().any(|hint| annotations[*hint] == true)
    }
}

/// Whose tool list it is, and the form that it gets tools in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ListKey {
    pub caller: Caller,
    pub audience: Audience,
}

impl ListKey {
    /// Returns the same key without the headers of its caller.
    pub fn kept(&self) -> Self {
        Self { caller: self.caller.kept(), audience: self.audience.clone() }
    }
}

/// What a caller holds of the output schema of a tool.
#[derive(Clone, Debug, Default)]
pub struct HeldOutput {
    /// What was learned of the schema before it was handed out; `None` is the author's schema.
    pub learned: Option<Arc<Learned>>,
    /// Whether the caller has listed the tool, and not only the guard.
    pub is_listed: bool,
    /// Whether the caller is known to validate results.
    pub is_validated: bool,
    /// Whether the model of the caller is known to read only the text of results.
    pub is_read_as_text: bool,
}

impl HeldOutput {
    /// Whether the caller may have the schema as its author wrote it.
    pub fn is_author(&self) -> bool {
        self.is_listed && self.learned.is_none()
    }
}

/// What the catalog says about a name.
#[derive(Debug)]
pub enum Lookup {
    /// The server lists this tool.
    Found(Tool),
    /// The server lists no such tool.
    Absent,
    /// The guard has not seen the whole list since it last changed.
    Unseen,
}

/// The tools of one server, for each caller and audience that has asked.
#[derive(Debug, Default)]
pub struct Catalog {
    lists: AHashMap<ListKey, Arc<Shelved>>,
    /// How often the list has changed.
    changes: u64,
    /// The newest settings that it was used under.
    generation: u64,
}

/// A list, which is forgotten where others need its memory. It is then as if it had never been seen.
#[derive(Debug, Default)]
struct Shelved {
    list: Mutex<Option<List>>,
    last_use: AtomicU64,
}

impl Holder for Shelved {
    fn last_use(&self) -> Option<u64> {
        lock(&self.list).as_ref().map(|_| self.last_use.load(Ordering::Relaxed))
    }

    fn let_go(&self) {
        lock(&self.list).take();
    }
}

#[derive(Debug, Default)]
struct List {
    tools: AHashMap<String, (Tool, Option<u64>)>,
    /// The tools that clients get as views, by the name of the view: the own name, unless two tools have that name.
    views: AHashMap<String, (Option<String>, Option<u64>)>,
    /// What the caller was handed, by the name that the server has for the tool. It outlasts lists of the guard itself.
    handed: AHashMap<String, HeldOutput>,
    complete: bool,
    /// When its first page was requested.
    requested: Option<Instant>,
    /// Whether the server may have changed it since then.
    stale: bool,
    /// The bytes of its pages.
    bytes: usize,
    /// Why tools that are not in it cannot be called, where it was cut off.
    rest: Option<&'static str>,
}

/// The most tools of one list, and the most bytes of its pages.
const TOOLS: usize = 10_000;
const BYTES: usize = 16 << 20;

/// Why tools beyond that cannot be called.
const FULL: &str = "the server lists more tools than the guard keeps";

/// Why tools that are not on the first pages of an endless list cannot be called.
const ENDLESS: &str = "it is not on the first pages of the server's tool list, which has no end";

/// Why a view cannot be called whose name another one has.
const AMBIGUOUS: &str = "two tools have this name; list the tools again";

/// The most lists. Requests name their revision and their headers, so there can be any number.
const LISTS: usize = 16;

impl Catalog {
    /// The catalog under the settings of `generation`. Newer settings make all lists unseen.
    pub fn under(&mut self, generation: u64) -> &mut Self {
        if generation > self.generation {
            self.generation = generation;
            self.invalidate();
        }
        self
    }

    /// What `read` makes of the list of `key`, changed or not.
    fn read<R>(&self, key: &ListKey, read: impl FnOnce(&mut List) -> R) -> Option<R> {
        let shelved = self.lists.get(key)?;
        shelved.last_use.store(tick(), Ordering::Relaxed);
        lock(&shelved.list).as_mut().map(read)
    }

    /// Finds the tool that the caller of `key` calls `name`.
    pub fn find(&self, key: &ListKey, name: &str) -> Lookup {
        let found = self.read(key, |list| match (list.get(name), list.rest) {
            _ if list.stale => Lookup::Unseen,
            (Some(tool), _) => Lookup::Found(tool),
            (None, Some(rest)) => Lookup::Found(Tool::Withheld(rest.into())),
            (None, None) if list.complete => Lookup::Absent,
            (None, None) => Lookup::Unseen,
        });
        found.unwrap_or(Lookup::Unseen)
    }

    /// The name that the server has for the tool that the caller of `key` calls `name`.
    pub fn own_name<'a>(&self, key: &ListKey, name: &'a str) -> Cow<'a, str> {
        let own = self.read(key, |list| list.views.get(name)?.0.clone());
        own.flatten().map_or(Cow::Borrowed(name), Cow::Owned)
    }

    /// Whether there is a list of `key`, changed or not.
    pub fn has_list(&self, key: &ListKey) -> bool {
        self.read(key, |_| ()).is_some()
    }

    /// Finds the tool that the caller of `key` calls `name` in the last list, although that may have changed.
    pub fn find_stale(&self, key: &ListKey, name: &str) -> Option<Tool> {
        self.read(key, |list| list.get(name))?
    }

    /// The names on the other pages of the list that `request` is for.
    pub fn names_before(&self, key: &ListKey, request: PageRequest) -> UsedNames {
        if request.is_first() {
            return UsedNames::default();
        }
        let names = self.read(key, |list| {
            let mut used = UsedNames::default();
            let tools = list.tools.iter().filter(|(_, (_, page))| *page != request.page);
            used.tools = tools.map(|(name, _)| name.clone()).collect();
            let views = list.views.iter().filter(|(_, (_, page))| *page != request.page);
            used.views = views.map(|(name, _)| name.clone()).collect();
            used
        });
        names.unwrap_or_default()
    }

    /// A page that is requested now.
    pub fn request_page(&self, cursor: Option<&str>, now: Instant) -> PageRequest {
        let page = cursor.map(|cursor| {
            let mut hasher = DefaultHasher::new();
            cursor.hash(&mut hasher);
            hasher.finish()
        });
        PageRequest { page, since: self.changes, at: now, is_own: false }
    }

    /// Whether the list has not changed since `request`.
    pub fn is_unchanged_since(&self, request: PageRequest) -> bool {
        request.since == self.changes
    }

    /// Takes the list as it is, although it changed while it was fetched.
    pub fn accept_stale(&mut self, key: &ListKey) {
        self.read(key, |list| {
            list.complete |= list.stale;
            list.stale = false;
        });
    }

    /// Stops at the pages seen so far: the list has no end.
    pub fn cut_off(&mut self, key: &ListKey) {
        self.read(key, |list| list.rest = list.rest.or(Some(ENDLESS)));
    }

    /// Adds a page of the list of `key`. The first page starts the list anew. A page that was judged under older
    /// settings is ignored.
    pub fn add_page(
        &mut self,
        key: &ListKey,
        page: Page,
        tools: impl IntoIterator<Item = (String, Tool)>,
    ) {
        if page.generation < self.generation {
            return;
        }
        self.under(page.generation);
        let key = key.kept();
        if !self.lists.contains_key(&key) {
            if !page.request.is_first() {
                // The pages before it were forgotten.
                return;
            }
            if self.lists.len() >= LISTS {
                self.lists.clear();
            }
        }
        let shelved = self.lists.entry(key).or_default();
        shelved.last_use.store(tick(), Ordering::Relaxed);
        let mut place = lock(&shelved.list);
        if page.request.is_first() {
            let stale = page.request.since < self.changes;
            let handed = place.take().map(|list| list.handed).unwrap_or_default();
            let requested = Some(page.request.at);
            *place = Some(List { handed, requested, stale, ..List::default() });
        }
        // The pages before it may have been forgotten.
        let Some(list) = &mut *place else { return };
        list.bytes = list.bytes.saturating_add(page.bytes);
        if list.bytes > BYTES {
            list.rest = Some(FULL);
        }
        for (name, tool) in tools {
            if list.tools.len() >= TOOLS {
                list.rest = Some(FULL);
            }
            if list.rest.is_some() {
                break;
            }
            if let Tool::Offered { view: Some(view), .. } = &tool {
                list.add_view(view.view_name(), &name, page.request.page);
            }
            if !page.request.is_own {
                list.hand_out(&name, &tool);
            }
            // Of two pages with the same tool, the first counts.
            let entry = list.tools.entry(name).or_insert_with(|| (tool.clone(), page.request.page));
            if entry.1 == page.request.page {
                entry.0 = tool;
            }
        }
        list.complete = page.last && !list.stale;
        let counted = list.tools.values().find_map(|(tool, _)| match tool {
            Tool::Offered { judged, .. } => Some(Arc::clone(judged.shelf())),
            Tool::Withheld(_) => None,
        });
        drop(place);
        if let Some(counted) = counted {
            counted.add(&(Arc::clone(shelved) as _));
        }
    }

    /// Whether the list of `key` was requested more than `age` before `time`.
    pub fn is_older(&self, key: &ListKey, age: Duration, time: Instant) -> bool {
        let requested = self.read(key, |list| list.requested);
        requested.flatten().is_some_and(|requested| requested + age < time)
    }

    /// Makes the list of `key` unseen.
    pub fn expire(&mut self, key: &ListKey) {
        self.read(key, List::expire);
    }

    /// Marks all lists as changed.
    pub fn invalidate(&mut self) {
        self.changes += 1;
        for shelved in self.lists.values() {
            if let Some(list) = &mut *lock(&shelved.list) {
                list.expire();
            }
        }
    }
}

impl List {
    fn expire(&mut self) {
        self.stale = true;
        self.complete = false;
    }

    /// The tool that clients call `name`. One that has another name as a view is itself under its own name, which
    /// clients may remember.
    fn get(&self, name: &str) -> Option<Tool> {
        let (own, is_view) = match self.views.get(name) {
            Some((Some(own), _)) => (own.as_str(), true),
            Some((None, _)) => return Some(Tool::Withheld(AMBIGUOUS.into())),
            None => (name, false),
        };
        let mut tool = self.tools.get(own)?.0.clone();
        if let Tool::Offered { view, held, .. } = &mut tool {
            *view = view.take().filter(|_| is_view);
            *held = self.handed.get(own).cloned().unwrap_or_default();
        }
        Some(tool)
    }

    /// Remembers what the caller gets of the output schema of `tool`.
    fn hand_out(&mut self, name: &str, tool: &Tool) {
        let Tool::Offered { held, .. } = tool else {
            self.handed.remove(name);
            return;
        };
        if self.handed.len() < TOOLS || self.handed.contains_key(name) {
            let held = HeldOutput { is_listed: true, ..held.clone() };
            self.handed.insert(name.to_owned(), held);
        }
    }

    /// Adds the view `name` of the tool `own`. Pages that are checked at the same time may give one name twice.
    fn add_view(&mut self, name: &str, own: &str, page: Option<u64>) {
        let entry = self.views.entry(name.to_owned()).or_insert((Some(own.to_owned()), page));
        if entry.0.as_deref() != Some(own) {
            entry.0 = (entry.1 == page).then(|| own.to_owned());
        }
    }
}

/// When and how a page was requested.
#[derive(Clone, Copy, Debug)]
pub struct PageRequest {
    /// The hash of its cursor; the first page has none.
    page: Option<u64>,
    /// How often the list had changed by then.
    since: u64,
    at: Instant,
    /// Whether the guard requested it for itself.
    is_own: bool,
}

impl PageRequest {
    /// The same, requested by the guard for itself.
    pub fn own(self) -> Self {
        Self { is_own: true, ..self }
    }

    fn is_first(self) -> bool {
        self.page.is_none()
    }
}

/// A page that was received.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    pub request: PageRequest,
    /// Whether there is no next page.
    pub last: bool,
    /// The bytes of its tools.
    pub bytes: usize,
    /// The settings that it was judged under.
    pub generation: u64,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use toolbond_contract::{Form, JudgeOptions, Revision};

    use super::{Caller, Catalog, HeldOutput, ListKey, Lookup, Page, PageRequest, Tool};
    use crate::tool_cache::{Shelf, judge};

    fn of(revision: Revision) -> ListKey {
        ListKey { caller: Caller::default(), audience: revision.into() }
    }

    fn r() -> ListKey {
        of(Revision::V2025_11_25)
    }

    fn tool(name: &str) -> (String, Tool) {
        (name.to_owned(), Tool::Withheld("".into()))
    }

    fn page(first: bool, last: bool) -> Page {
        Page {
            request: PageRequest {
                page: (!first).then_some(7),
                since: 0,
                at: crate::testing::now(),
                is_own: false,
            },
            last,
            bytes: 100,
            generation: 0,
        }
    }

    #[test]
    fn is_complete_after_the_last_page() {
        let mut catalog = Catalog::default();
        assert!(matches!(catalog.find(&r(), "a"), Lookup::Unseen));
        catalog.add_page(&r(), page(true, false), [tool("a")]);
        assert!(matches!(catalog.find(&r(), "a"), Lookup::Found(_)));
        assert!(matches!(catalog.find(&r(), "b"), Lookup::Unseen));
        catalog.add_page(&r(), page(false, true), [tool("b")]);
        assert!(matches!(catalog.find(&r(), "c"), Lookup::Absent));
        assert!(matches!(catalog.find(&of(Revision::V2026_07_28), "a"), Lookup::Unseen));
    }

    #[test]
    fn a_change_makes_it_unseen_until_the_first_page_comes_again() {
        let mut catalog = Catalog::default();
        catalog.add_page(&r(), page(true, true), [tool("a")]);
        catalog.invalidate();
        assert!(matches!(catalog.find(&r(), "a"), Lookup::Unseen));
        catalog.add_page(&r(), page(false, true), [tool("b")]);
        assert!(matches!(catalog.find(&r(), "b"), Lookup::Unseen));
        // What was asked for before the change may be what it was before.
        catalog.add_page(&r(), page(true, true), [tool("a")]);
        assert!(matches!(catalog.find(&r(), "a"), Lookup::Unseen));
        catalog.add_page(
            &r(),
            Page { request: catalog.request_page(None, crate::testing::now()), ..page(true, true) },
            [tool("c")],
        );
        assert!(matches!(catalog.find(&r(), "c"), Lookup::Found(_)));
        assert!(matches!(catalog.find(&r(), "a"), Lookup::Absent));
    }

    #[test]
    fn new_rules_make_it_unseen_and_old_pages_come_too_late() {
        let mut catalog = Catalog::default();
        catalog.add_page(&r(), page(true, true), [tool("a")]);
        assert!(matches!(catalog.under(1).find(&r(), "a"), Lookup::Unseen));
        catalog.add_page(&r(), page(true, true), [tool("a")]);
        assert!(matches!(catalog.under(1).find(&r(), "a"), Lookup::Unseen));
        let request = catalog.request_page(None, crate::testing::now());
        catalog.add_page(&r(), Page { generation: 1, request, ..page(true, true) }, [tool("a")]);
        assert!(matches!(catalog.under(1).find(&r(), "a"), Lookup::Found(_)));
    }

    #[test]
    fn keeps_a_bounded_number_of_tools() {
        let mut catalog = Catalog::default();
        catalog.add_page(&r(), page(true, false), [tool("a")]);
        for n in 0..2 * super::TOOLS {
            catalog.add_page(&r(), page(false, false), [tool(&n.to_string())]);
        }
        assert_eq!(catalog.read(&r(), |list| list.tools.len()).unwrap(), super::TOOLS);
        let beyond = (2 * super::TOOLS - 1).to_string();
        let reason = match catalog.find(&r(), &beyond) {
            Lookup::Found(Tool::Withheld(reason)) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(&*reason, super::FULL);

        catalog.add_page(&r(), Page { bytes: super::BYTES, ..page(true, false) }, [tool("a")]);
        assert!(matches!(catalog.find(&r(), "b"), Lookup::Unseen));
        catalog.add_page(&r(), Page { bytes: 1, ..page(false, true) }, [tool("b")]);
        assert_eq!(catalog.read(&r(), |list| list.tools.len()).unwrap(), 1);
    }

    #[test]
    fn keeps_a_bounded_number_of_lists() {
        let mut catalog = Catalog::default();
        for n in 0..100 {
            let key = of(Revision::from(format!("r{n}").as_str()));
            catalog.add_page(&key, page(true, true), [tool("a")]);
        }
        assert!(catalog.lists.len() <= super::LISTS);
    }

    #[test]
    fn the_list_that_was_used_longest_ago_makes_room() {
        let shelf = Arc::new(Shelf::new(20_000));
        let tool = |bytes: usize| {
            let tool = json!({ "name": "a", "description": "x".repeat(bytes), "inputSchema": { "type": "object" } });
            let judged = judge(vec![tool], &JudgeOptions::default(), &shelf).pop().unwrap();
            let contract = judged.contract.clone().unwrap();
            let (judged, form) = (Arc::new(judged), Form::Natural);
            (
                "a".to_owned(),
                Tool::Offered { contract, judged, form, view: None, held: HeldOutput::default() },
            )
        };
        let mut catalogs: [Catalog; 3] = Default::default();
        let is_found = |catalog: &Catalog| matches!(catalog.find(&r(), "a"), Lookup::Found(_));
        catalogs[0].add_page(&r(), page(true, true), [tool(500)]);
        catalogs[1].add_page(&r(), page(true, true), [tool(500)]);
        assert!(is_found(&catalogs[0]));
        catalogs[2].add_page(&r(), page(true, true), [tool(500)]);
        assert_eq!(catalogs.each_ref().map(is_found), [true, false, true]);
        let used = shelf.used();
        assert!((10_000..=20_000).contains(&used), "{used}");
        // It is as if it had never been seen.
        catalogs[1].add_page(&r(), page(false, true), [tool(500)]);
        assert_eq!(catalogs.each_ref().map(is_found), [true, false, true]);
        catalogs[1].add_page(&r(), page(true, true), [tool(500)]);
        assert_eq!(catalogs.each_ref().map(is_found), [false, true, true]);
        // One that is larger than the room is kept alone.
        catalogs[1].add_page(&r(), page(true, true), [tool(10_000)]);
        assert_eq!(catalogs.each_ref().map(is_found), [false, true, false]);
        // What a call still uses is counted.
        let open = catalogs[1].find(&r(), "a");
        drop(catalogs);
        assert!(shelf.used() > 20_000);
        drop(open);
        assert_eq!(shelf.used(), 0);
    }

    #[test]
    fn is_empty_to_another_caller() {
        let caller = Caller::new(
            &[("x-tenant", "b")].map(header).into_iter().collect(),
            &"/".parse().unwrap(),
        );
        let other = ListKey { caller, ..r() };
        let mut catalog = Catalog::default();
        catalog.add_page(&r(), page(true, true), [tool("a")]);
        assert!(matches!(catalog.find(&other, "a"), Lookup::Unseen));
        assert!(catalog.find_stale(&other, "a").is_none());
        catalog.add_page(&other, page(true, true), [tool("b")]);
        assert!(matches!(catalog.find(&other, "b"), Lookup::Found(_)));
        assert!(matches!(catalog.find(&r(), "a"), Lookup::Found(_)));
    }

    fn header(
        (name, value): (&str, &str),
    ) -> (http::header::HeaderName, http::header::HeaderValue) {
        (name.parse().unwrap(), value.parse().unwrap())
    }
}
