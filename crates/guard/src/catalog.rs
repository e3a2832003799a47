//! The tools of a server, as its lists told them.

use std::collections::HashMap;
use std::sync::Arc;

use toolpact_contract::{Contract, Form, Revision};

/// What is known of a tool.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    /// It is in the list, and this is its contract.
    Kept {
        /// In the shape that the server sent it.
        contract: Contract,
        /// How its results travel to the client.
        form: Form,
    },
    /// It is in the list of the server and not in that of the client: why.
    Dropped(Arc<str>),
}

/// What a look at the catalog comes to.
#[derive(Debug)]
pub(crate) enum Look {
    /// The tool is known.
    Known(Known),
    /// All pages were seen, and it is in none.
    Absent,
    /// Not all pages were seen since the list last changed.
    Unseen,
}

/// The tools of one server, for each revision it was asked in.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    lists: HashMap<Revision, List>,
    /// How often what is known has become old.
    changes: u64,
    /// The newest rules that it was asked under.
    generation: u64,
}

#[derive(Debug, Default)]
struct List {
    tools: HashMap<String, Known>,
    complete: bool,
    /// The server may have changed it after its first page was asked for.
    stale: bool,
    /// The bytes of its pages.
    bytes: usize,
    /// Why tools that are not in it cannot be called, where there are more than are kept.
    rest: Option<&'static str>,
}

/// The most tools of one list that are kept, and the most bytes of its pages: a server may list
/// tools without end.
const TOOLS: usize = 10_000;
const BYTES: usize = 16 << 20;

/// Why a tool beyond that cannot be called.
const FULL: &str = "the server lists more tools than the guard keeps";

/// Why a tool that is not on the pages of a list that does not end cannot be called.
const ENDLESS: &str =
    "it is not on the pages that were read of the server's list, which has no end";

/// The revisions that are kept apart. Requests name theirs, so that there can be any number.
const REVISIONS: usize = 8;

impl Catalog {
    /// The catalog under the rules of `generation`: where they are newer than those before, the
    /// tools have to be judged again.
    pub(crate) fn under(&mut self, generation: u64) -> &mut Self {
        if generation > self.generation {
            self.generation = generation;
            self.changed();
        }
        self
    }

    /// What is known of the tool `name`.
    pub(crate) fn look(&self, revision: &Revision, name: &str) -> Look {
        let Some(list) = self.lists.get(revision).filter(|list| !list.stale) else {
            return Look::Unseen;
        };
        match (list.tools.get(name), list.rest) {
            (Some(known), _) => Look::Known(known.clone()),
            (None, Some(rest)) => Look::Known(Known::Dropped(rest.into())),
            (None, None) if list.complete => Look::Absent,
            (None, None) => Look::Unseen,
        }
    }

    /// A page that is asked for now.
    pub(crate) fn asks(&self, first: bool) -> Place {
        Place { first, since: self.changes }
    }

    /// Whether nothing became old since `place` was asked for.
    pub(crate) fn is_since(&self, place: Place) -> bool {
        place.since == self.changes
    }

    /// The list, as far as it came, has to do, however often it changed meanwhile.
    pub(crate) fn settle(&mut self, revision: &Revision) {
        if let Some(list) = self.lists.get_mut(revision) {
            list.complete |= list.stale;
            list.stale = false;
        }
    }

    /// The list has no end: what was not on its pages up to now is not looked for again.
    pub(crate) fn cut(&mut self, revision: &Revision) {
        if let Some(list) = self.lists.get_mut(revision) {
            list.rest = list.rest.or(Some(ENDLESS));
        }
    }

    /// Takes a page in. The first one starts the list anew. One that was judged by rules that are
    /// not in force any more is passed over.
    pub(crate) fn take(
        &mut self,
        revision: &Revision,
        page: Page,
        tools: impl IntoIterator<Item = (String, Known)>,
    ) {
        if page.generation < self.generation {
            return;
        }
        self.under(page.generation);
        if !self.lists.contains_key(revision) && self.lists.len() >= REVISIONS {
            self.lists.clear();
        }
        let list = self.lists.entry(revision.clone()).or_default();
        if page.place.first {
            *list = List { stale: page.place.since < self.changes, ..List::default() };
        }
        list.bytes = list.bytes.saturating_add(page.bytes);
        if list.bytes > BYTES {
            list.rest = Some(FULL);
        }
        for (name, known) in tools {
            if list.tools.len() >= TOOLS {
                list.rest = Some(FULL);
            }
            if list.rest.is_some() {
                break;
            }
            list.tools.insert(name, known);
        }
        list.complete = page.last && !list.stale;
    }

    /// The server said that its tools changed.
    pub(crate) fn changed(&mut self) {
        self.changes += 1;
        for list in self.lists.values_mut() {
            list.stale = true;
            list.complete = false;
        }
    }
}

/// How a page was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Without a cursor.
    first: bool,
    /// When, in changes.
    since: u64,
}

/// A page that came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    pub(crate) place: Place,
    /// It has no cursor to a next one.
    pub(crate) last: bool,
    /// The bytes of its tools.
    pub(crate) bytes: usize,
    /// The rules that it was judged by.
    pub(crate) generation: u64,
}

#[cfg(test)]
mod tests {
    use toolpact_contract::Revision;

    use super::{Catalog, Known, Look, Page, Place};

    const R: Revision = Revision::V2025_11_25;

    fn tool(name: &str) -> (String, Known) {
        (name.to_owned(), Known::Dropped("".into()))
    }

    fn page(first: bool, last: bool) -> Page {
        Page { place: Place { first, since: 0 }, last, bytes: 100, generation: 0 }
    }

    #[test]
    fn is_complete_after_the_last_page() {
        let mut catalog = Catalog::default();
        assert!(matches!(catalog.look(&R, "a"), Look::Unseen));
        catalog.take(&R, page(true, false), [tool("a")]);
        assert!(matches!(catalog.look(&R, "a"), Look::Known(_)));
        assert!(matches!(catalog.look(&R, "b"), Look::Unseen));
        catalog.take(&R, page(false, true), [tool("b")]);
        assert!(matches!(catalog.look(&R, "c"), Look::Absent));
        assert!(matches!(catalog.look(&Revision::V2026_07_28, "a"), Look::Unseen));
    }

    #[test]
    fn a_change_makes_it_unseen_until_the_first_page_comes_again() {
        let mut catalog = Catalog::default();
        catalog.take(&R, page(true, true), [tool("a")]);
        catalog.changed();
        assert!(matches!(catalog.look(&R, "a"), Look::Unseen));
        catalog.take(&R, page(false, true), [tool("b")]);
        assert!(matches!(catalog.look(&R, "b"), Look::Unseen));
        // What was asked for before the change may be what it was before.
        catalog.take(&R, page(true, true), [tool("a")]);
        assert!(matches!(catalog.look(&R, "a"), Look::Unseen));
        catalog.take(&R, Page { place: catalog.asks(true), ..page(true, true) }, [tool("c")]);
        assert!(matches!(catalog.look(&R, "c"), Look::Known(_)));
        assert!(matches!(catalog.look(&R, "a"), Look::Absent));
    }

    #[test]
    fn new_rules_make_it_unseen_and_old_pages_come_too_late() {
        let mut catalog = Catalog::default();
        catalog.take(&R, page(true, true), [tool("a")]);
        assert!(matches!(catalog.under(1).look(&R, "a"), Look::Unseen));
        catalog.take(&R, page(true, true), [tool("a")]);
        assert!(matches!(catalog.under(1).look(&R, "a"), Look::Unseen));
        let place = catalog.asks(true);
        catalog.take(&R, Page { generation: 1, place, ..page(true, true) }, [tool("a")]);
        assert!(matches!(catalog.under(1).look(&R, "a"), Look::Known(_)));
    }

    #[test]
    fn keeps_a_bounded_number_of_tools() {
        let mut catalog = Catalog::default();
        catalog.take(&R, page(true, false), [tool("a")]);
        for n in 0..2 * super::TOOLS {
            catalog.take(&R, page(false, false), [tool(&n.to_string())]);
        }
        assert_eq!(catalog.lists[&R].tools.len(), super::TOOLS);
        let beyond = (2 * super::TOOLS - 1).to_string();
        let reason = match catalog.look(&R, &beyond) {
            Look::Known(Known::Dropped(reason)) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(&*reason, super::FULL);

        catalog.take(&R, Page { bytes: super::BYTES, ..page(true, false) }, [tool("a")]);
        assert!(matches!(catalog.look(&R, "b"), Look::Unseen));
        catalog.take(&R, Page { bytes: 1, ..page(false, true) }, [tool("b")]);
        assert_eq!(catalog.lists[&R].tools.len(), 1);
    }

    #[test]
    fn keeps_a_bounded_number_of_revisions() {
        let mut catalog = Catalog::default();
        for n in 0..100 {
            let revision = Revision::from(format!("r{n}").as_str());
            catalog.take(&revision, page(true, true), [tool("a")]);
        }
        assert!(catalog.lists.len() <= super::REVISIONS);
    }
}
