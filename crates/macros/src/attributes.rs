//! The arguments of `#[tools(…)]` and `#[tool(…)]`.

use proc_macro2::TokenStream;
use syn::{Error, LitStr, Meta, Path, Result};

use crate::members::{Members, all, text};

/// `#[tools(…)]`.
#[derive(Default)]
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
    pub(crate) krate: Option<Path>,
}

impl ServerAttributes {
    pub(crate) fn parse(tokens: TokenStream, mistakes: &mut Vec<Error>) -> Self {
        let mut members = Members::parse(tokens);
        let attributes = Self {
            name: members.text("name"),
            version: members.text("version"),
            instructions: members.text("instructions"),
            tools_only: members.flag("tools_only").unwrap_or_default(),
            krate: members.path("crate"),
        };
        mistakes.extend(members.finish());
        attributes
    }
}

/// `#[tool(…)]`.
#[derive(Default)]
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
    pub(crate) icons: Vec<Icon>,
    /// `_meta`, a JSON object as text.
    pub(crate) meta: Option<LitStr>,
}

impl ToolAttributes {
    pub(crate) fn parse(tokens: TokenStream, mistakes: &mut Vec<Error>) -> Self {
        let mut members = Members::parse(tokens);
        let attributes = Self {
            name: members.text("name"),
            title: members.text("title"),
            description: members.text("description"),
            read_only: members.flag("read_only"),
            destructive: members.flag("destructive"),
            idempotent: members.flag("idempotent"),
            open_world: members.flag("open_world"),
            icons: members.each("icon", Icon::parse),
            meta: members.text("meta"),
        };
        mistakes.extend(members.finish());
        attributes
    }
}

/// `icon = "URI"`, or `icon(src = "URI", mime_type = "…", sizes = "48x48 96x96")`.
pub(crate) struct Icon {
    pub(crate) src: LitStr,
    pub(crate) mime_type: Option<LitStr>,
    pub(crate) sizes: Option<LitStr>,
}

impl Icon {
    fn parse(meta: &Meta) -> Result<Self> {
        let Meta::List(list) = meta else {
            return Ok(Self { src: text(meta)?, mime_type: None, sizes: None });
        };
        let mut members = Members::parse(list.tokens.clone());
        let src = members.text("src");
        let (mime_type, sizes) = (members.text("mime_type"), members.text("sizes"));
        if let Some(mistake) = all(members.finish()) {
            return Err(mistake);
        }
        let src = src.ok_or_else(|| Error::new_spanned(meta, "expected `src = \"…\"` in it"))?;
        Ok(Self { src, mime_type, sizes })
    }
}
