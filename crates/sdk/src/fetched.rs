//! The documents that the schemas of tools refer to. Without the feature `fetch` there are none.

use rmcp::model::Tool;
use serde_json::Value;
use toolbond_contract::Finding;
#[cfg(feature = "fetch")]
use {
    std::sync::Arc,
    toolbond_fetch::{
        Attempt, Bundle, LockError, MAX_LIST_BYTES, Policy, ToolBundles, explain, wait_a_little,
    },
};

/// The documents that the schemas of tools refer to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Documents {
    #[cfg(feature = "fetch")]
    bundles: Option<Arc<ToolBundles>>,
}

/// A tool with what its schemas refer to, as far as that is there.
pub(crate) struct Bundled {
    pub(crate) tool: Value,
    #[cfg(feature = "fetch")]
    bundle: Option<Bundle>,
}

/// Adds `bytes`, those of a tool with its documents, to `used`, those of the tools before it. Returns whether a list may
/// have them all.
pub(crate) fn fits_list(used: &mut usize, bytes: usize) -> bool {
    *used = used.saturating_add(bytes);
    #[cfg(feature = "fetch")]
    if bytes > 0 {
        return *used <= MAX_LIST_BYTES;
    }
    true
}

#[cfg(not(feature = "fetch"))]
#[expect(clippy::unused_self, reason = "the same as with the feature")]
impl Documents {
    #[expect(clippy::unused_async, reason = "the same as with the feature")]
    pub(crate) async fn wait_for(&self, _: &[Tool]) {}

    pub(crate) fn bundle(&self, tool: Value, _: &mut usize) -> Bundled {
        Bundled { tool }
    }
}

#[cfg(not(feature = "fetch"))]
#[expect(clippy::unused_self, reason = "the same as with the feature")]
impl Bundled {
    pub(crate) fn may_change(&self) -> bool {
        false
    }

    pub(crate) fn added_bytes(&self) -> usize {
        0
    }

    pub(crate) fn explain(&self, _: &mut [Finding]) {}
}

#[cfg(feature = "fetch")]
impl Documents {
    /// Documents that `policy` allows. Each request is logged.
    pub(crate) fn new(policy: Policy) -> Result<Self, LockError> {
        let log = |attempt: &Attempt| match attempt.error {
            None => tracing::info!(target: "toolbond", "{attempt}"),
            Some(_) => tracing::warn!(target: "toolbond", "{attempt}"),
        };
        let log_lock = |error: &LockError| tracing::error!(target: "toolbond", "{error}");
        let sources = policy.sources().collect::<Vec<_>>().join(", ");
        let bundles = ToolBundles::new(policy, log, log_lock)?;
        tracing::info!(target: "toolbond", "fetching is on for schemas that refer to other documents: {sources}");
        Ok(Self { bundles: Some(Arc::new(bundles)) })
    }

    /// Starts to fetch what `tools` refer to, and waits for it at most a second.
    pub(crate) async fn wait_for(&self, tools: &[Tool]) {
        let Some(bundles) = &self.bundles else { return };
        let bundle = |tool: &Tool| {
            let tool = serde_json::to_value(tool).ok()?;
            bundles.get(&tool.to_string(), &tool)
        };
        let pending = |bundle: Bundle| match bundle {
            Bundle::Pending(pending) => Some(pending),
            _ => None,
        };
        let pending: Vec<_> = tools.iter().filter_map(bundle).filter_map(pending).collect();
        wait_a_little(&pending).await;
    }

    /// Returns `tool` with what its schemas refer to. `used` are the bytes of the tools before it in its list.
    pub(crate) fn bundle(&self, tool: Value, used: &mut usize) -> Bundled {
        let bundle = self.bundles.as_ref().and_then(|it| it.get(&tool.to_string(), &tool));
        let bundle = bundle.map(|bundle| bundle.within_list(used));
        let tool = match &bundle {
            Some(Bundle::Ready(bundled, _)) => Value::clone(bundled),
            _ => tool,
        };
        Bundled { tool, bundle }
    }
}

#[cfg(feature = "fetch")]
impl Bundled {
    /// Whether more of it may be there later.
    pub(crate) fn may_change(&self) -> bool {
        self.bundle.as_ref().is_some_and(Bundle::may_change)
    }

    /// The bytes of the tool, if documents were added to it.
    pub(crate) fn added_bytes(&self) -> usize {
        self.bundle.as_ref().map_or(0, Bundle::bytes)
    }

    /// Says in the findings about the tool why something is not there.
    pub(crate) fn explain(&self, findings: &mut [Finding]) {
        if let Some(bundle) = &self.bundle {
            let allow = |prefix: &str| format!("allow it with `Policy::allow(\"{prefix}\")`");
            explain(findings, &self.tool, Some(bundle), allow);
        }
    }
}
