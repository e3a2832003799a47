//! Who a tool list is for.

use toolbond_contract::Revision;
use toolbond_targets::Target;

/// What decides the form of a tool for a client: the protocol revision that it speaks, and the target that it gets views
/// for.
#[derive(Clone, Debug)]
pub struct Audience {
    pub revision: Revision,
    pub target: Option<&'static Target>,
    /// Whether the client is known to validate results. That changes no tool, and tells no audiences apart.
    pub validates: bool,
}

impl Audience {
    fn key(&self) -> (&Revision, Option<&str>) {
        (&self.revision, self.target.map(|target| target.name))
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
        Self { revision, target: None, validates: false }
    }
}
