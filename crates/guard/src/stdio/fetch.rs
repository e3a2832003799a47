//! The tool list, asked for by the guard itself.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;
use toolpact_contract::Revision;

use super::open::Asked;
use super::session::Session;
use crate::catalog::Look;
use crate::inspector::lock;
use crate::list::next_cursor;
use crate::message::Message;
use crate::{Event, Inspector};

/// The most pages that the guard asks for.
const PAGES: usize = 1000;

impl Session {
    /// Asks for all pages, unless somebody else has by the time it is this one's turn.
    ///
    /// A server that does not answer, or answers with an error, leaves the tool unknown: its calls
    /// pass unjudged, and that is said.
    pub(crate) async fn fetch(
        self: &Arc<Self>,
        tool: &str,
        meta: Option<&str>,
        revision: &Revision,
    ) {
        let asked = Instant::now();
        let mut last_failed = self.fetching.lock().await;
        // Who waited while it failed does not wait for the same again.
        let in_vain = last_failed.is_some_and(|at| at > asked);
        if in_vain || !matches!(self.inspector.look(revision, tool), Look::Unseen) {
            return;
        }
        let wait = self.inspector.settings().list_timeout;
        let failed = match timeout(wait, self.fetch_pages(meta, revision)).await {
            Ok(Ok(())) => return,
            Ok(Err(reason)) => reason,
            Err(_) => format!("no answer within {} s", wait.as_secs()),
        };
        *last_failed = Some(Instant::now());
        self.say(Event::error(format!(
            "server: its tool list could not be had, calls are not judged: {failed}"
        )));
    }

    async fn fetch_pages(
        self: &Arc<Self>,
        meta: Option<&str>,
        revision: &Revision,
    ) -> Result<(), String> {
        let mut cursor: Option<String> = None;
        for _ in 0..PAGES {
            let page = self.page(cursor.as_deref(), meta).await?;
            let first = cursor.is_none();
            let (inspector, revision) = (Arc::clone(&self.inspector), revision.clone());
            let next = self
                .work(move || take_page(&inspector, &page, first, &revision))
                .await
                .ok_or("judging it failed")??;
            match next {
                None => return Ok(()),
                Some(same) if cursor.as_ref() == Some(&same) => {
                    return Err("its cursor leads to itself".to_owned());
                }
                next => cursor = next,
            }
        }
        Err(format!("more than {PAGES} pages"))
    }

    /// Asks for one page: the text of the answer.
    async fn page(&self, cursor: Option<&str>, meta: Option<&str>) -> Result<Vec<u8>, String> {
        let id = self.own_id();
        let (sender, receiver) = oneshot::channel();
        if lock(&self.open).add(id.clone(), Asked::Own(sender)).is_err() {
            return Err("no id is free".to_owned());
        }
        let params = params(cursor, meta);
        let request = json!({ "jsonrpc": "2.0", "id": id.to_string(), "method": "tools/list" });
        let Value::Object(mut request) = request else { return Err(String::new()) };
        if let Ok(id) = serde_json::from_str(&id.to_string()) {
            request.insert("id".to_owned(), id);
        }
        if !params.is_empty() {
            request.insert("params".to_owned(), params.into());
        }
        let line = format!("{}\n", Value::Object(request));
        if self.server(line.into_bytes()).await.is_err() {
            return Err("the server is gone".to_owned());
        }
        receiver.await.map_err(|_| "the server is gone".to_owned())
    }
}

/// The parameters of the request: what the call says of its client, but for its progress.
pub(crate) fn params(cursor: Option<&str>, meta: Option<&str>) -> Map<String, Value> {
    let mut params = Map::new();
    if let Some(cursor) = cursor.and_then(|cursor| serde_json::from_str(cursor).ok()) {
        params.insert("cursor".to_owned(), cursor);
    }
    let meta = meta.and_then(|meta| serde_json::from_str::<Map<String, Value>>(meta).ok());
    if let Some(mut meta) = meta {
        meta.retain(|key, _| {
            key.starts_with("io.modelcontextprotocol/")
                && key != "io.modelcontextprotocol/related-task"
        });
        if !meta.is_empty() {
            params.insert("_meta".to_owned(), meta.into());
        }
    }
    params
}

/// Takes a page into the catalog, and gives the cursor to the next one.
fn take_page(
    inspector: &Inspector,
    page: &[u8],
    first: bool,
    revision: &Revision,
) -> Result<Option<String>, String> {
    let message = Message::read(page).map_err(|error| error.to_string())?;
    let Some(result) = message.result else {
        return Err("the server answered with an error".to_owned());
    };
    let next = next_cursor(result);
    // What the client would get is of no interest here: it did not ask.
    let _ = inspector.list(result, first, revision);
    Ok(next)
}
