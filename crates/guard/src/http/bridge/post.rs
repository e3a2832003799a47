//! Requests of a client to one process: answered as JSON where nothing comes before the answer, else
//! as a stream of events.

use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::channel::{Channel, Sender};
use hyper::body::Bytes;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Response, StatusCode};
use tokio::sync::oneshot;
use tokio::time::{interval, sleep};

use super::lane::{Inbox, lane};
use super::talk::Talk;
use crate::Id;
use crate::http::answer::{carry, join};
use crate::http::events::with_data;
use crate::http::proxy::{Body, json, plain};
use crate::message::{Kind, Message, code, error};

/// How long a client waits for the head of an answer; one that takes longer comes as a stream, which
/// can be kept alive.
const HEAD: Duration = Duration::from_secs(5);

/// How often a stream shows that it is alive.
const ALIVE: Duration = Duration::from_secs(15);

/// The events on their way out of a stream, beside those in its inbox.
const FRAMES: usize = 4;

type Answers = Pin<Box<dyn Future<Output = Vec<Vec<u8>>> + Send>>;

/// Requests that were sent; those that are not answered when it is dropped are given up.
struct Ticket {
    talk: Arc<Talk>,
    keys: Vec<Id>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.talk.leave(&self.keys);
    }
}

impl Talk {
    /// Sends messages on, and answers with what is said to them.
    pub(super) async fn post(
        self: &Arc<Self>,
        headers: &HeaderMap,
        messages: &[(&str, Message<'_>)],
        is_batch: bool,
    ) -> Response<Body> {
        let (events, mut inbox) = lane(self.is_shared());
        let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
        let takes_streams = accept.is_some_and(|accept| accept.contains("text/event-stream"));
        if !takes_streams {
            inbox.close();
        }
        let mut ticket = Ticket { talk: Arc::clone(self), keys: Vec::new() };
        let mut answers = Vec::new();
        let mut lines = Vec::new();
        let mut greets = false;
        for (text, message) in messages {
            let Kind::Request(id, method) = message.kind() else {
                lines.extend(self.line(text, message));
                continue;
            };
            greets |= method == "initialize";
            let (sender, receiver) = oneshot::channel();
            answers.push((id.clone(), receiver));
            let registered = self.register(text, message, id, (events.clone(), sender));
            if let Some((key, line)) = registered {
                ticket.keys.push(key);
                lines.push(line);
            }
        }
        drop(events);
        for line in lines {
            if !self.send(line.into_bytes()).await {
                break;
            }
        }
        if answers.is_empty() {
            return plain(StatusCode::ACCEPTED, "");
        }
        let process = Arc::clone(self);
        let mut answers: Answers = Box::pin(async move {
            let texts = gather(answers).await;
            let failed =
                |text: &Vec<u8>| Message::read(text).is_ok_and(|message| message.result.is_none());
            if greets && texts.iter().any(failed) {
                // There is no session without a greeting.
                process.end();
            }
            texts
        });
        let first = tokio::select! {
            biased;
            Some(event) = inbox.recv() => Some(event),
            texts = &mut answers => {
                let Some(event) = inbox.try_recv() else {
                    let text = if is_batch { join(&texts) } else { texts.concat() };
                    return json(StatusCode::OK, text);
                };
                answers = Box::pin(ready(texts));
                Some(event)
            }
            () = sleep(HEAD), if takes_streams => None,
        };
        let (mut sender, channel) = Channel::new(FRAMES);
        let task = tokio::spawn(async move {
            let _ticket = ticket;
            if let Some(event) = first
                && !send(&mut sender, &event).await
            {
                return;
            }
            say(sender, inbox, Some(answers)).await;
        });
        stream(carry(&task, channel))
    }

    /// Opens the stream for whatever the process has to say.
    pub(super) fn stream(self: &Arc<Self>) -> Response<Body> {
        let Some(inbox) = self.open_stream() else {
            return plain(StatusCode::CONFLICT, "there is a stream already\n");
        };
        let (sender, channel) = Channel::new(FRAMES);
        let task = tokio::spawn(say(sender, inbox, None));
        stream(carry(&task, channel))
    }
}

/// All answers, in the order of the requests; an error for what a process left unanswered.
async fn gather(answers: Vec<(Id, oneshot::Receiver<Vec<u8>>)>) -> Vec<Vec<u8>> {
    let mut texts = Vec::with_capacity(answers.len());
    for (id, answer) in answers {
        let gone = || error(Some(&id), code::INTERNAL, "the server ended before it answered");
        texts.push(answer.await.unwrap_or_else(|_| gone()));
    }
    texts
}

type Out = Sender<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// Carries events, and the answers as the last ones, until the client is gone or there are no more.
async fn say(mut out: Out, mut inbox: Inbox, mut answers: Option<Answers>) {
    let mut alive = interval(ALIVE);
    alive.reset();
    let mut is_open = true;
    loop {
        let kept = tokio::select! {
            biased;
            event = inbox.recv(), if is_open => match event {
                Some(event) => send(&mut out, &event).await,
                None if answers.is_none() => return,
                None => {
                    is_open = false;
                    true
                }
            },
            texts = async {
                match answers.as_mut() {
                    Some(answers) => answers.await,
                    None => std::future::pending().await,
                }
            } => {
                let events = std::iter::from_fn(|| inbox.try_recv());
                for text in events.chain(texts) {
                    if !send(&mut out, &text).await {
                        return;
                    }
                }
                return;
            }
            _ = alive.tick() => out.send_data(Bytes::from_static(b": alive\n\n")).await.is_ok(),
        };
        if !kept {
            return;
        }
    }
}

async fn send(out: &mut Out, text: &[u8]) -> bool {
    let event = with_data(b"data:\n\n", text.trim_ascii_end());
    out.send_data(event.into()).await.is_ok()
}

fn stream(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert("cache-control", HeaderValue::from_static("no-cache"));
    response
}
