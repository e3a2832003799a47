//! Who a tool list is for.

use toolbond_contract::Revision;
use toolbond_targets::Target;

/// What decides the form of a tool for a client: the protocol revision that it speaks, the target that it gets views for,
/// and whether it gets output schemas.
#[derive(Clone, Debug)]
pub struct Audience {
    pub revision: Revision,
    pub target: Option<&'static Target>,
    pub validation: Validation,
    /// Whether its model is known to read only the text of results. That changes no tool either.
    pub reads_only_text: bool,
}

/// Whether a client validates results against the output schemas that it was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Validation {
    /// Nothing is known of it.
    #[default]
    Unknown,
    /// It does.
    Always,
    /// It does where it speaks 2026-07-28 or a later revision, as it does now.
    OnlyModern {
        /// Whether it does only because the guard translates: to its server it would speak an earlier revision.
        is_bridged: bool,
    },
}

impl Audience {
    /// Whether the client is known to validate results. That changes no tool, and tells no audiences apart.
    pub fn validates(&self) -> bool {
        self.validation != Validation::Unknown
    }

    /// Whether the client gets tools without output schemas under `repair`: it would refuse results that it takes from
    /// the server itself.
    pub fn omits_output(&self) -> bool {
        self.validation == Validation::OnlyModern { is_bridged: true }
    }

    fn key(&self) -> (&Revision, Option<&str>, bool) {
        (&self.revision, self.target.map(|target| target.name), self.omits_output())
    }
}

impl PartialEq for Audience {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Audience {}

impl std::hash::Hash for Audience {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

/// Full tools.
impl From<Revision> for Audience {
    fn from(revision: Revision) -> Self {
        Self { revision, target: None, validation: Validation::default(), reads_only_text: false }
    }
}
