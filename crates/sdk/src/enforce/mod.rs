//! Holding a server to the contract of its own tools.

mod call;
mod entry;
mod handler;
mod list;
mod malformed;
mod nulls;
mod options;
mod send;
mod store;

use std::sync::{Arc, OnceLock};

use rmcp::ServerHandler;

pub use options::Options;
use store::Store;

/// Holds `handler` to the contract of its tools, with the default [`Options`].
///
/// - `tools/list`: each tool is judged alone. What can be mended is, what cannot be used is left out
///   and reported, and output schemas are written as the request's protocol revision can carry them.
/// - `tools/call`: wrong arguments are answered with a tool error that says what is wrong, and the
///   handler is not called. A result that breaks its output schema is withheld. Structured content
///   is mirrored as text and projected to the request's revision. A handler that panics fails its call.
/// - Anything else, `input_required` and task results included, passes through.
///
/// A call is held to the tool that its own request would be listed: the handler's
/// [`get_tool`](ServerHandler::get_tool) is asked, and its list where that knows none. So tools may come,
/// go and change at run time, and differ between callers. One exception keeps this cheap: a tool that `get_tool` gave is
/// not asked for again within a second, unless the server declares that its tools change (`tools.listChanged`).
/// Compiled contracts are kept and found again by
/// content; clones share them. Over HTTP, where every request gets a handler of its own, wrap once and clone:
///
/// ```
/// # use rmcp::ServerHandler;
/// # #[derive(Clone)] struct Weather;
/// # impl ServerHandler for Weather {}
/// let server = toolpact::enforce(Weather);
/// let factory = move || Ok::<_, std::io::Error>(server.clone());
/// # factory().unwrap();
/// ```
pub fn enforce<H: ServerHandler>(handler: H) -> Enforced<H> {
    enforce_with(handler, Options::default())
}

/// [`enforce`] with other options.
pub fn enforce_with<H: ServerHandler>(handler: H, options: Options) -> Enforced<H> {
    let shared = Shared {
        store: Store::default(),
        options,
        is_fixed: OnceLock::new(),
        active: Arc::default(),
    };
    Enforced { handler, shared: Arc::new(shared) }
}

/// A handler behind the contract of its tools; see [`enforce`].
#[derive(Debug)]
#[must_use]
pub struct Enforced<H> {
    handler: H,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    options: Options,
    store: Store,
    /// Whether the server does not declare that its tools change.
    is_fixed: OnceLock<bool>,
    /// Shared by the calls that are under way.
    active: Arc<()>,
}

impl<H> Enforced<H> {
    /// The handler inside.
    pub const fn handler(&self) -> &H {
        &self.handler
    }

    /// Waits until no call is under way.
    #[cfg(feature = "serve")]
    pub(crate) async fn idle(&self) {
        while Arc::strong_count(&self.shared.active) > 1 {
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
