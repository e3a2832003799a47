//! The arguments of `#[tools(…)]` and `#[tool(…)]`.

use darling::{FromMeta, Result, ast::NestedMeta, util::SpannedValue};
use syn::{Lit, LitStr};

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
    /// Icons.
    #[darling(multiple)]
    pub(crate) icon: Vec<Icon>,
    /// `_meta`, a JSON object as text.
    pub(crate) meta: Option<SpannedValue<LitStr>>,
}

/// `icon = "URI"`, or `icon(src = "URI", mime_type = "…", sizes = "48x48 96x96")`.
#[derive(Debug)]
pub(crate) struct Icon {
    pub(crate) src: LitStr,
    pub(crate) mime_type: Option<LitStr>,
    pub(crate) sizes: Option<LitStr>,
}

#[derive(FromMeta)]
struct IconMembers {
    src: LitStr,
    mime_type: Option<LitStr>,
    sizes: Option<LitStr>,
}

impl FromMeta for Icon {
    fn from_value(value: &Lit) -> Result<Self> {
        Ok(Self { src: LitStr::from_value(value)?, mime_type: None, sizes: None })
    }

    fn from_list(items: &[NestedMeta]) -> Result<Self> {
        let IconMembers { src, mime_type, sizes } = IconMembers::from_list(items)?;
        Ok(Self { src, mime_type, sizes })
    }
}
