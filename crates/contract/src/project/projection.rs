//! How tools and results are projected and lifted, where that is a matter of choice.

/// What becomes of an output schema of type `["object", "null"]` toward a legacy revision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Nullable {
    /// It goes into the envelope like any other that is not an object.
    #[default]
    Envelope,
    /// Its type becomes `"object"`, as the C# SDK writes it. A `null` then travels as
    /// `{"result": null}`, which such a schema may refuse.
    Object,
}

/// What becomes of `format` toward a legacy revision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Formats {
    /// It is kept. A draft-07 reader asserts it, in a projected schema as in any other.
    #[default]
    Kept,
    /// It is dropped, so that what is an annotation in 2020-12 refuses nothing.
    Dropped,
}

/// What an envelope without a marker means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unmarked {
    /// From a legacy revision, where a server had no other way to send what is inside, it is an
    /// envelope; from a natural one it is what its author wrote.
    #[default]
    ByRevision,
    /// The same, and from a natural revision it is an envelope, too, where its title is the one that
    /// the Python SDK gives to those that it makes in every revision: the name of the tool and
    /// `Output`, as in `countOutput`. For readers of values; a relay leaves it to them.
    Recognised,
    /// It is what its author wrote.
    Kept,
    /// It is an envelope.
    Lifted,
}

/// The choices of projecting and lifting.
///
/// ```
/// use serde_json::json;
/// use toolpact_contract::{Nullable, Projection, Revision};
///
/// let tool = json!({
///     "name": "find",
///     "inputSchema": { "type": "object" },
///     "outputSchema": { "type": ["object", "null"] }
/// });
/// let projection = Projection::default().nullable(Nullable::Object);
/// let projected = projection.project_tool(&tool, &Revision::V2025_11_25)?;
/// assert_eq!(projected.tool["outputSchema"], json!({ "type": "object" }));
/// # Ok::<(), toolpact_contract::ProjectError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Projection {
    pub(crate) nullable: Nullable,
    pub(crate) formats: Formats,
    pub(crate) unmarked: Unmarked,
}

impl Projection {
    /// What becomes of nullable objects.
    #[must_use]
    pub const fn nullable(mut self, nullable: Nullable) -> Self {
        self.nullable = nullable;
        self
    }

    /// What becomes of `format`.
    #[must_use]
    pub const fn formats(mut self, formats: Formats) -> Self {
        self.formats = formats;
        self
    }

    /// What an envelope without a marker means.
    #[must_use]
    pub const fn unmarked(mut self, unmarked: Unmarked) -> Self {
        self.unmarked = unmarked;
        self
    }
}
