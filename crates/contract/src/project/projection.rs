//! Options for projecting and lifting.

/// How to project an output schema of type `["object", "null"]` to a legacy revision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Nullable {
    /// Put it into the envelope, like any other schema that allows values other than objects.
    #[default]
    Envelope,
    /// Change its type to `"object"`, as the C# SDK does. A `null` becomes `{"result": null}`, which the schema may
    /// refuse.
    Object,
}

/// What to do with `format` toward a legacy revision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Formats {
    /// Keep it. A draft-07 reader asserts it, as in any other schema.
    #[default]
    Kept,
    /// Drop it. In 2020-12 it is only an annotation, but a draft-07 reader would refuse values because of it.
    Dropped,
}

/// How to treat an envelope without a marker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unmarked {
    /// Lift it if it comes from a legacy revision, in which servers cannot send the value any other way. Keep it if it
    /// comes from a natural revision.
    #[default]
    ByRevision,
    /// The same, but from a natural revision also lift it if it has the title that the Python SDK gives to its
    /// envelopes in every revision: the name of the tool and `Output`, as in `countOutput`. This is for clients. A proxy
    /// leaves the decision to them.
    Recognised,
    /// Keep it: the author wrote it.
    Kept,
    /// Lift it.
    Lifted,
}

/// Options for projecting and lifting.
///
/// ```
/// use serde_json::json;
/// use toolbond_contract::{Projection, Revision, project::Nullable};
///
/// let tool = json!({
///     "name": "find",
///     "inputSchema": { "type": "object" },
///     "outputSchema": { "type": ["object", "null"] }
/// });
/// let projection = Projection::default().nullable(Nullable::Object);
/// let projected = projection.project_tool(&tool, &Revision::V2025_11_25)?;
/// assert_eq!(projected.tool["outputSchema"], json!({ "type": "object" }));
/// # Ok::<(), toolbond_contract::ProjectError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Projection {
    pub(crate) nullable: Nullable,
    pub(crate) formats: Formats,
    pub(crate) unmarked: Unmarked,
}

impl Projection {
    /// How to project nullable objects.
    #[must_use]
    pub const fn nullable(mut self, nullable: Nullable) -> Self {
        self.nullable = nullable;
        self
    }

    /// What to do with `format`.
    #[must_use]
    pub const fn formats(mut self, formats: Formats) -> Self {
        self.formats = formats;
        self
    }

    /// How to treat an envelope without a marker.
    #[must_use]
    pub const fn unmarked(mut self, unmarked: Unmarked) -> Self {
        self.unmarked = unmarked;
        self
    }
}
