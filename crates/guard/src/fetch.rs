//! The tool list of a server, asked for by the guard itself.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout};
use toolpact_contract::Revision;

use crate::catalog::{Known, Look, Place};
use crate::inspector::lock;
use crate::list::next_cursor;
use crate::message::Message;
use crate::{Event, Id, Inspector};

/// How ids of the guard's own requests start.
pub(crate) const OWN: &str = "toolpact-guard/";

/// The most pages that are asked for.
pub(crate) const PAGES: usize = 1000;

/// How often a list is asked for that changes while it is.
const TRIES: usize = 3;

/// Who can ask a server for its tools.
pub(crate) trait Asks: Sync {
    /// The answer to `tools/list` with these parameters, a message.
    fn page(
        &self,
        params: Map<String, Value>,
    ) -> impl Future<Output = Result<Vec<u8>, String>> + Send;
}

/// A list that could not be had.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed {
    /// Until when it is not asked for again, unless it changes.
    until: Instant,
    place: Place,
}

/// From one page of a list to the next.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    /// The cursor to the page that is to be asked for, as JSON; none to the first.
    pub(crate) cursor: Option<String>,
    seen: usize,
}

/// A list has no end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Endless;

impl Pages {
    /// A page came, with the cursor to the `next` one: whether that is to be asked for.
    pub(crate) fn turn(&mut self, next: Option<String>) -> Result<bool, Endless> {
        self.seen += 1;
        match next {
            None => Ok(false),
            next if next == self.cursor || self.seen >= PAGES => Err(Endless),
            next => {
                self.cursor = next;
                Ok(true)
            }
        }
    }
}

impl Inspector {
    /// What is known of the tool `name`; asks the server where its list was not seen yet.
    ///
    /// A server that does not answer, or answers with an error, leaves the tool unknown: its calls
    /// pass unjudged, and that is said.
    pub(crate) async fn known(
        self: &Arc<Self>,
        name: &str,
        meta: Option<&str>,
        revision: &Revision,
        server: &impl Asks,
    ) -> Option<Known> {
        if let Look::Unseen = self.look(revision, name) {
            let asked = Instant::now();
            let mut failed = self.fetching.lock().await;
            // Who waited while it failed does not wait for the same again.
            let in_vain = failed.is_some_and(|failed| {
                failed.until > asked && lock(&self.catalog).is_since(failed.place)
            });
            if !in_vain && matches!(self.look(revision, name), Look::Unseen) {
                let wait = self.settings().list_timeout;
                let place = lock(&self.catalog).asks(true);
                let (reason, until) = match timeout(wait, self.fetch(meta, revision, server)).await
                {
                    Ok(Ok(())) => (None, Instant::now()),
                    Ok(Err(reason)) => (Some(reason), Instant::now()),
                    // One that does not come is not waited for at every call.
                    Err(_) => {
                        let reason = format!("no answer within {} s", wait.as_secs());
                        (Some(reason), Instant::now() + wait)
                    }
                };
                if let Some(reason) = reason {
                    *failed = Some(Failed { until, place });
                    self.say(Event::error(format!(
                        "server: its tool list could not be had, calls are not judged: {reason}"
                    )));
                }
            }
        }
        match self.look(revision, name) {
            Look::Known(known) => Some(known),
            _ => None,
        }
    }

    /// Asks for all pages, anew where the list changed meanwhile.
    async fn fetch(
        self: &Arc<Self>,
        meta: Option<&str>,
        revision: &Revision,
        server: &impl Asks,
    ) -> Result<(), String> {
        for _ in 0..TRIES {
            let place = lock(&self.catalog).asks(true);
            self.fetch_once(place, meta, revision, server).await?;
            if lock(&self.catalog).is_since(place) {
                return Ok(());
            }
        }
        lock(&self.catalog).settle(revision);
        self.say(Event::warning(format!(
            "server: its tool list changed each of {TRIES} times that it was asked for; the last is in force"
        )));
        Ok(())
    }

    async fn fetch_once(
        self: &Arc<Self>,
        first: Place,
        meta: Option<&str>,
        revision: &Revision,
        server: &impl Asks,
    ) -> Result<(), String> {
        let mut pages = Pages::default();
        let mut place = first;
        loop {
            let page = server.page(params(pages.cursor.as_deref(), meta)).await?;
            let (inspector, revision_of_page) = (Arc::clone(self), revision.clone());
            let take = move || take_page(&inspector, &page, place, &revision_of_page);
            let next = self.ward.workers.work(take).await.ok_or("judging it failed")??;
            match pages.turn(next) {
                Ok(true) => place = lock(&self.catalog).asks(false),
                Ok(false) => return Ok(()),
                Err(Endless) => {
                    lock(&self.catalog).cut(revision);
                    self.say(Event::error(
                        "server: its tool list has no end; calls of tools that are not on its first pages are refused",
                    ));
                    return Ok(());
                }
            }
        }
    }
}

/// Takes a page into the catalog, and gives the cursor to the next one.
fn take_page(
    inspector: &Inspector,
    page: &[u8],
    place: Place,
    revision: &Revision,
) -> Result<Option<String>, String> {
    let message = Message::read(page).map_err(|error| error.to_string())?;
    let Some(result) = message.result else {
        return Err("the server answered with an error".to_owned());
    };
    let next = next_cursor(result);
    // What the client would get is of no interest here: it did not ask.
    let _ = inspector.list(result, place, revision);
    Ok(next)
}

/// The request for a page.
pub(crate) fn asking(id: &Id, params: Map<String, Value>) -> String {
    let mut request = json!({ "jsonrpc": "2.0", "id": null, "method": "tools/list" });
    request["id"] = match id {
        Id::Integer(id) => (*id).into(),
        Id::Number(id) | Id::String(id) => id.as_str().into(),
    };
    if !params.is_empty() {
        request["params"] = params.into();
    }
    request.to_string()
}

/// The parameters of the request: what the call says of its client, but for its progress.
fn params(cursor: Option<&str>, meta: Option<&str>) -> Map<String, Value> {
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
