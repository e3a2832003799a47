//! The answer of a server in an HTTP response.

use bytestring::ByteString;
use hyper::Response;
use hyper::body::Incoming;

use super::body::{BodyError, Sender, read_body};
use super::events::{BodyEvents, data};
use super::media::{Media, media};
use crate::memory::{Counted, NoMemory};
use crate::message::{Id, Kind, Parts};
use crate::runtime::pool::JobPool;
use crate::runtime::read::Received;

/// The answer in a response, JSON or a stream of events, which is read no further: the whole message,
/// and its result unless it is an error. With an `id`, answers to other requests are skipped.
///
/// Fails if there is no memory for it in time.
pub(crate) async fn read_answer(
    response: Response<Incoming>,
    max: usize,
    id: Option<&Id>,
    pool: &JobPool,
) -> Result<Option<(Counted, Option<ByteString>)>, NoMemory> {
    let is_stream = matches!(media(response.headers()), Ok(Media::Events));
    let (body, memory) = (response.into_body(), pool.memory().of_own_requests());
    if !is_stream {
        return match read_body(body, Sender::Server, max, &memory).await {
            Ok(bytes) => Ok(answer(bytes, id, pool).await),
            Err(BodyError::NoMemory(error)) => Err(error),
            Err(_) => Ok(None),
        };
    }
    let mut events = BodyEvents::new(body, max, &memory);
    loop {
        let event = match events.next().await {
            Ok(Some(event)) => event,
            Err(BodyError::NoMemory(error)) => return Err(error),
            Ok(None) | Err(_) => return Ok(None),
        };
        let found = answer(data(&event, &memory), id, pool).await;
        if found.is_some() {
            return Ok(found);
        }
    }
}

/// The answer in `bytes`.
async fn answer(
    bytes: Counted,
    id: Option<&Id>,
    pool: &JobPool,
) -> Option<(Counted, Option<ByteString>)> {
    let mut received = Received::new(bytes.clone(), pool).await;
    let message = received.message().ok()?;
    let Parts::One(envelope) = &message.parts else { return None };
    let Kind::Response(found) = &envelope.kind else { return None };
    if id.is_some_and(|id| id != found) {
        return None;
    }
    let text = message.text;
    Some((bytes, envelope.result.map(|result| text.slice_ref(result.text(text)))))
}
