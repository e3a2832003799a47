//! Requests of the guard itself for the tool list of a server on HTTP.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use bytestring::ByteString;
use http_body_util::{BodyExt as _, Collected, Limited};
use hyper::header::{CONTENT_LENGTH, HeaderValue};
use hyper::{HeaderMap, Method, Response, Uri};
use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, sleep_until};

use crate::back::http::answer::read_answer;
use crate::back::http::set_message_headers;
use crate::back::remote::Remote;
use crate::http::respond::{full, remove_hop_by_hop};
use toolbond_guard_core::caller::of_list;
use toolbond_guard_core::conversation::{LIST_PATIENCE, MADE_ROOM};
use toolbond_guard_core::lock::lock;

/// Why there is no list for a client that signs.
const SIGNED: &str =
    "the client signs each request, so the guard cannot ask in its name; list the tools first";

/// The most bytes of a response that refuses the list.
const MAX_REFUSAL: usize = 64 << 10;

/// Why there is no list.
pub(super) struct NotListed {
    pub(super) reason: String,
    /// The response of a server that does not serve this client.
    pub(super) response: Option<Response<Bytes>>,
    /// Whether the server took the request, and may answer it elsewhere.
    pub(super) is_accepted: bool,
}

impl From<String> for NotListed {
    fn from(reason: String) -> Self {
        Self { reason, response: None, is_accepted: false }
    }
}

/// The most tool lists that are requested from one server at a time.
const MAX_LISTS: usize = 8;

/// The tool lists that are requested from one server. Where there are too many, further ones wait in line, and each of
/// those ends the one that the server has not answered for longest, after [`LIST_PATIENCE`].
struct ListsUnderWay {
    room: Semaphore,
    /// Since when the server is asked, and what ends that; oldest first.
    asked: Mutex<VecDeque<(Instant, Arc<Notify>)>>,
}

impl Default for ListsUnderWay {
    fn default() -> Self {
        Self { room: Semaphore::new(MAX_LISTS), asked: Mutex::default() }
    }
}

impl ListsUnderWay {
    /// Runs `list` once there is room for it.
    async fn run<T>(
        &self,
        list: impl Future<Output = Result<T, NotListed>>,
    ) -> Result<T, NotListed> {
        let mut room = pin!(self.room.acquire());
        let _room = tokio::select! {
            biased;
            room = &mut room => room,
            () = self.end_oldest() => room.await,
        };
        let asked = Listing { all: self, end: Arc::default() };
        lock(&self.asked).push_back((Instant::now(), Arc::clone(&asked.end)));
        tokio::select! {
            listed = list => listed,
            () = asked.end.notified() => Err(MADE_ROOM.to_owned().into()),
        }
    }

    /// Ends the list that was requested first, once that is [`LIST_PATIENCE`] ago.
    async fn end_oldest(&self) {
        loop {
            let oldest = lock(&self.asked).front().map(|(since, _)| *since);
            sleep_until(oldest.unwrap_or_else(Instant::now) + LIST_PATIENCE).await;
            let mut asked = lock(&self.asked);
            let is_late = |(since, _): &(Instant, _)| since.elapsed() >= LIST_PATIENCE;
            if asked.front().is_some_and(is_late)
                && let Some((_, end)) = asked.pop_front()
            {
                return end.notify_one();
            }
        }
    }
}

/// A list that is requested.
struct Listing<'a> {
    all: &'a ListsUnderWay,
    end: Arc<Notify>,
}

impl Drop for Listing<'_> {
    fn drop(&mut self) {
        lock(&self.all.asked).retain(|(_, end)| !Arc::ptr_eq(end, &self.end));
    }
}

/// Fetches tool lists from one server.
pub(super) struct ToolLists {
    pub(super) remote: Remote,
    under_way: ListsUnderWay,
}

impl ToolLists {
    pub(super) fn new(remote: Remote) -> Self {
        Self { remote, under_way: ListsUnderWay::default() }
    }

    /// [`ToolLists::request`], once there is room for it.
    pub(super) async fn fetch(
        &self,
        uri: &Uri,
        headers: HeaderMap,
        bytes: Bytes,
    ) -> Result<Option<ByteString>, NotListed> {
        self.under_way.run(self.request(uri, headers, bytes)).await
    }

    /// Sends the request `bytes` as a client that sends a request with `headers` to `uri` would: its result, or `None` where the
    /// server answers with an error. Fails with the response of a server that does not answer, such as one that wants to
    /// know who asks.
    async fn request(
        &self,
        uri: &Uri,
        headers: HeaderMap,
        bytes: Bytes,
    ) -> Result<Option<ByteString>, NotListed> {
        let Some(mut headers) = of_list(headers) else {
            return Err(SIGNED.to_owned().into());
        };
        if headers.contains_key("mcp-method") {
            headers.insert("mcp-method", HeaderValue::from_static("tools/list"));
        }
        set_message_headers(&mut headers);
        // What a gateway does to paths is not known here, so behind one the list is at the path of the server's URL.
        let settings = &self.remote.server.rules().settings;
        let (is_replica, max) = (settings.is_replica(), settings.max_message);
        let uri = if is_replica { self.remote.http.endpoint(uri.query())? } else { uri.clone() };
        let sent = self.remote.forward(Method::POST, &uri, headers, full(bytes)).await;
        let response = sent.map_err(|_| "could not reach the server".to_owned())?;
        let status = response.status();
        let (mut parts, body) = response.into_parts();
        if status.is_client_error() {
            remove_hop_by_hop(&mut parts.headers);
            parts.headers.remove(CONTENT_LENGTH);
            let body = Limited::new(body, MAX_REFUSAL).collect().await;
            let body = body.map(Collected::to_bytes).unwrap_or_default();
            let reason = format!("the server answered with {status}");
            let response = Some(Response::from_parts(parts, body));
            return Err(NotListed { reason, response, is_accepted: false });
        }
        let not_listed = || NotListed {
            reason: format!("the server answered with {status} and no message"),
            response: None,
            is_accepted: status.is_success(),
        };
        let answer =
            read_answer(Response::from_parts(parts, body), max, None, &self.remote.pool).await;
        answer.map(|it| Some(it.slice(it.part.result?))).ok_or_else(not_listed)
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::Arc;

    use tokio::task::yield_now;
    use tokio::time::{Instant, advance};

    use super::{LIST_PATIENCE, ListsUnderWay, MAX_LISTS, NotListed};

    async fn hang() -> Result<(), NotListed> {
        pending().await
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_that_the_server_does_not_answer_makes_room_for_one_that_waits() {
        let lists = Arc::new(ListsUnderWay::default());
        let mut hung = Vec::new();
        for _ in 0..MAX_LISTS {
            let lists = Arc::clone(&lists);
            hung.push(tokio::spawn(async move { lists.run(hang()).await }));
            yield_now().await;
            advance(LIST_PATIENCE / 100).await;
        }
        let start = Instant::now();
        let (one, two) =
            tokio::join!(lists.run(async { Ok(1) }), lists.run(async { Ok::<_, NotListed>(2) }));
        assert_eq!((one.ok(), two.ok()), (Some(1), Some(2)));
        assert!(start.elapsed() < LIST_PATIENCE);
        // The list that was requested first has made room for both, one after the other.
        let ended: Vec<_> = hung.iter().map(tokio::task::JoinHandle::is_finished).collect();
        assert!(ended[0] && !ended[1..].contains(&true));

        // Where there is room, nobody has to make some.
        advance(2 * LIST_PATIENCE).await;
        assert!(lists.run(async { Ok::<_, NotListed>(3) }).await.is_ok());
        assert_eq!(hung.iter().filter(|hung| hung.is_finished()).count(), 1);
        // What is given up leaves nothing behind.
        hung.iter().for_each(tokio::task::JoinHandle::abort);
        for hung in hung {
            let _ = hung.await;
        }
        assert!(super::lock(&lists.asked).is_empty());
        assert_eq!(lists.room.available_permits(), MAX_LISTS);
    }
}
