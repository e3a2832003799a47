//! A handler behind the contract of its tools, and what its clones share.

use std::sync::{Arc, OnceLock};

use rmcp::ServerHandler;

use super::cache::ToolCache;
use crate::{ServerOptions, views::ViewNames};

/// Puts `handler` behind the contract of its tools, with the default [`ServerOptions`].
///
/// The result is an `rmcp` handler again:
///
/// - `tools/list`: each tool is checked on its own. A tool that can be repaired is repaired, and one that cannot be used
///   is left out and reported. Output schemas get the form that the protocol revision of the client allows.
/// - `tools/call`: invalid arguments are answered with a tool error that says what is wrong, and the handler is not
///   called. A tool error replaces a result that breaks its output schema. Structured content also gets a text block and
///   the form for the client's revision. A handler that panics fails only its own call.
/// - All other requests go to the handler unchanged, as do `input_required` and task results.
///
/// # Tools that change
///
/// Tools may change at run time and differ between callers. Each call is checked against the tool that the same caller
/// would see: the handler's [`get_tool`](ServerHandler::get_tool) is asked first, then its list. A tool from `get_tool`
/// is reused for a second, unless the server declares that its tools change (`tools.listChanged`).
///
/// # Clones
///
/// Clones share their compiled contracts. Over HTTP every request gets its own handler, so wrap once and clone:
///
/// ```
/// # use rmcp::ServerHandler;
/// # #[derive(Clone)] struct Weather;
/// # impl ServerHandler for Weather {}
/// let server = toolbond::enforce(Weather);
/// let factory = move || Ok::<_, std::io::Error>(server.clone());
/// # factory().unwrap();
/// ```
pub fn enforce<H: ServerHandler>(handler: H) -> Enforced<H> {
    enforce_with(handler, ServerOptions::default())
}

/// [`enforce`] with other options.
pub fn enforce_with<H: ServerHandler>(handler: H, options: ServerOptions) -> Enforced<H> {
    let shared = Shared {
        options,
        cache: ToolCache::default(),
        view_names: ViewNames::default(),
        has_fixed_tools: OnceLock::new(),
        open_calls: Arc::default(),
    };
    Enforced { handler, shared: Arc::new(shared) }
}

/// A handler behind the contract of its tools; see [`enforce`].
#[derive(Debug)]
#[must_use]
pub struct Enforced<H> {
    pub(super) handler: H,
    pub(super) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) options: ServerOptions,
    pub(super) cache: ToolCache,
    pub(super) view_names: ViewNames,
    /// Whether the tools stay the same: the server does not declare `tools.listChanged`.
    pub(super) has_fixed_tools: OnceLock<bool>,
    /// Cloned by every open call, so that its count tells how many there are.
    pub(super) open_calls: Arc<()>,
}

impl<H> Enforced<H> {
    /// The handler inside.
    pub const fn handler(&self) -> &H {
        &self.handler
    }

    /// The handler inside, without its contract.
    pub fn into_inner(self) -> H {
        self.handler
    }

    /// Waits until no call is open.
    #[cfg(feature = "serve")]
    pub(crate) async fn wait_until_idle(&self) {
        while Arc::strong_count(&self.shared.open_calls) > 1 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }
}

/// Clones share their compiled contracts.
impl<H: Clone> Clone for Enforced<H> {
    fn clone(&self) -> Self {
        Self { handler: self.handler.clone(), shared: Arc::clone(&self.shared) }
    }
}
