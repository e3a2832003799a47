//! The arguments of `#[tools(…)]` and `#[tool(…)]`.

use darling::{FromMeta, Result, ast::NestedMeta, util::SpannedValue};
use syn::{Lit, LitStr, Path};

/// `#[tools(…)]`.
#[derive(Debug, Default, FromMeta)]
#[darling(default)]
pub(crate) struct ServerAttributes {
    /// The name of the server. The default is the name of the package.
    pub(crate) name: Option<LitStr>,
    /// The version of the server. The default is the version of the package.
    pub(crate) version: Option<LitStr>,
    /// Instructions for the model about the server as a whole.
    pub(crate) instructions: Option<LitStr>,
    /// Whether the author implements `ServerHandler`.
    pub(crate) tools_only: bool,
    /// The path of the crate `toolbond`, for packages that rename it. The default is `::toolbond`.
    #[darling(rename = "crate")]
    pub(crate) krate: Option<Path>,
}

/// `#[tool(…)]`.
#[derive(Debug, Default, FromMeta)]
#[darling(default)]
pub(crate) struct ToolAttributes {
    /// The name of the tool. The default is the name of the method.
    pub(crate) name: Option<LitStr>,
    /// The title for people.
    pub(crate) title: Option<LitStr>,
    /// The description. The default is the doc comment.
    pub(crate) description: Option<LitStr>,
    /// The tool changes nothing.
    pub(crate) read_only: Option<bool>,
    /// The tool may destroy something.
    pub(crate) destructive: Option<bool>,
    /// Repeating a call has no further effect.
    pub(crate) idempotent: Option<bool>,
    /// The tool interacts with the outside world.
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
