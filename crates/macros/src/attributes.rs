//! The arguments of `#[tools(…)]` and `#[tool(…)]`.

use darling::{FromMeta, util::SpannedValue};
use syn::LitStr;

/// `#[tools(…)]`.
#[derive(Debug, Default, FromMeta)]
#[darling(default)]
pub(crate) struct ServerAttributes {
    /// The name of the server; that of the package unless set.
    pub(crate) name: Option<LitStr>,
    /// The version of the server; that of the package unless set.
    pub(crate) version: Option<LitStr>,
    /// What a model should know about the server as a whole.
    pub(crate) instructions: Option<LitStr>,
    /// Leaves `ServerHandler` to the author.
    pub(crate) tools_only: bool,
}

/// `#[tool(…)]`.
#[derive(Debug, Default, FromMeta)]
#[darling(default)]
pub(crate) struct ToolAttributes {
    /// The name of the tool; that of the method unless set.
    pub(crate) name: Option<LitStr>,
    /// The title for people.
    pub(crate) title: Option<LitStr>,
    /// The description; the doc comment unless set.
    pub(crate) description: Option<LitStr>,
    /// The tool changes nothing.
    pub(crate) read_only: Option<bool>,
    /// The tool may destroy something.
    pub(crate) destructive: Option<bool>,
    /// Calling it again changes nothing more.
    pub(crate) idempotent: Option<bool>,
    /// The tool reaches beyond the server.
    pub(crate) open_world: Option<bool>,
    /// An icon by its URI.
    #[darling(multiple)]
    pub(crate) icon: Vec<LitStr>,
    /// `_meta`, a JSON object as text.
    pub(crate) meta: Option<SpannedValue<LitStr>>,
}
