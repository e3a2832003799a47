//! Snapshots of the tool list.

use std::{borrow::Borrow, fmt::Write as _};

use rmcp::ServerHandler;
use serde_json::Value;
use toolbond_contract::Revision;

use super::{TestError, connect};

/// Returns the tools of `server` as a client of `revision` sees them.
///
/// # Errors
///
/// The same as [`connect`] and [`TestClient::request`](super::TestClient::request).
pub async fn list_tools<H: ServerHandler>(
    server: H,
    revision: impl Borrow<Revision>,
) -> Result<Vec<Value>, TestError> {
    connect(server, revision).await?.tools().await
}

/// Returns the tool list of `server` as text for a snapshot test: indented JSON, one block for each of the revisions
/// 2025-11-25 and 2026-07-28. Every change of a tool changes this text.
///
/// # Errors
///
/// The same as [`list_tools`].
pub async fn snapshot<H: ServerHandler + Clone>(server: H) -> Result<String, TestError> {
    let mut text = String::new();
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let tools = Value::Array(list_tools(server.clone(), &revision).await?);
        // Writing to a `String` does not fail. `#` selects the indented form.
        _ = writeln!(text, "// {revision}\n{tools:#}");
    }
    Ok(text)
}
