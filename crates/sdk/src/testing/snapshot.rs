//! The advertised tool list, to be compared with the one before.

use std::fmt::Write as _;

use rmcp::ServerHandler;
use serde_json::Value;
use toolpact_contract::Revision;

use super::{TestError, connect};

/// The tools of `server` as a client of `revision` sees them.
///
/// # Errors
///
/// As [`connect`] and [`Session::request`](super::Session::request).
pub async fn advertised<H: ServerHandler>(
    server: H,
    revision: Revision,
) -> Result<Vec<Value>, TestError> {
    connect(server, revision).await?.tools().await
}

/// The tool list of `server` as text to keep in a repository: indented JSON, one block for each of
/// the revisions 2025-11-25 and 2026-07-28. A change of a tool, wanted or not, is a change of this text.
///
/// # Errors
///
/// As [`advertised`].
pub async fn snapshot<H: ServerHandler + Clone>(server: H) -> Result<String, TestError> {
    let mut text = String::new();
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let tools = Value::Array(advertised(server.clone(), revision.clone()).await?);
        // Writing to a `String` does not fail; `#` asks for the indented form.
        _ = writeln!(text, "// {revision}\n{tools:#}");
    }
    Ok(text)
}
