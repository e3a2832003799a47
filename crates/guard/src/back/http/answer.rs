//! The answer of a server in an HTTP response.

use bytes::Bytes;
use hyper::Response;
use hyper::body::Body;

use crate::http::body::read_body;
use crate::http::charset::response_in_utf8;
use crate::http::events::{BodyEvents, data};
use crate::http::media::{Media, media};
use crate::http::respond::BoxError;
use crate::memory::Sender;
use crate::runtime::pool::JobPool;
use crate::runtime::read::Received;
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::message::{Frame, Id, Kind};

/// The answer to the guard in a response, JSON or a stream of events, which is read no further. With an `id`, answers to
/// other requests are skipped.
pub(crate) async fn read_answer<B>(
    response: Response<B>,
    max: usize,
    id: Option<&Id>,
    pool: &JobPool,
) -> Option<Frame>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    let response = response_in_utf8(response);
    let is_stream = matches!(media(response.headers()), Ok(Media::Events));
    let (body, memory) = (response.into_body(), pool.memory());
    if !is_stream {
        let bytes = read_body(body, Sender::Asked, max, pool).await.ok()?;
        return answer(bytes, id, pool).await;
    }
    let mut events = BodyEvents::new(body, Sender::Asked, max, memory);
    while let Some(event) = events.next().await.ok()? {
        let found = answer(data(&event, memory), id, pool).await;
        if found.is_some() {
            return found;
        }
    }
    None
}

/// The answer in `bytes`.
async fn answer(bytes: Counted, id: Option<&Id>, pool: &JobPool) -> Option<Frame> {
    let frame = Received::of_client(bytes, pool).await.frame()?;
    let Kind::Response(found) = &frame.part.kind else { return None };
    id.is_none_or(|id| id == found).then_some(frame)
}
