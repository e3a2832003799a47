//! One HTTP request and its response, as Envoy sends them over one gRPC stream.
//!
//! The checks are those of [`Proxy`]. To them, Envoy is where a request comes from and where it goes: this file moves
//! heads and bodies between the two. Nothing is answered until it is decided, so that every change is possible.

use std::future::poll_fn;
use std::pin::pin;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use hyper::header::CONTENT_LENGTH;
use hyper::{HeaderMap, Request, Response, StatusCode};
use tokio::sync::mpsc;
use toolbond_guard::gateway::{Body, Repeatable, Reservation, Server, refuse};

use crate::body::Half;
use crate::grpc::{Code, Delivered, Messages, ReplySender, Status, wrong};
use crate::handover::{Handover, ToEnvoy, Waiting};
use crate::headers::{changes, correct_length, request_head, response_head, set_status};
use crate::reply::{Direction, immediate, with_retry};
use crate::wire::{HeaderMutation, HttpHeaders, ProcessingRequest, ProcessingResponse, Received};

/// The most bytes of one piece of a body: what Envoy recommends.
const MAX_PIECE: usize = 64 << 10;

/// Marks a response that is that of the server, changed or not.
#[derive(Clone, Copy)]
struct OfServer;

/// The gRPC stream of one HTTP request.
pub(super) struct Exchange {
    inbound: Messages<ProcessingRequest>,
    outbound: ReplySender,
    request: Half,
    response: Half,
    /// The head of the response as it came, and its memory.
    response_head: Option<(StatusCode, HeaderMap, Reservation)>,
    waiting: Option<Waiting>,
}

impl Exchange {
    /// Takes over a stream after its first message.
    pub(super) fn new(inbound: Messages<ProcessingRequest>, outbound: ReplySender) -> Self {
        let (request, response) = (Half::default(), Half::default());
        Self { inbound, outbound, request, response, response_head: None, waiting: None }
    }

    /// Answers the client without asking the server.
    pub(super) async fn refuse(mut self, status: StatusCode, reason: &str) -> Result<(), Status> {
        self.answer_at_once(refuse(status, reason)).await?;
        self.wait_for_end().await
    }

    /// Holds the request with this head, and its response, to the contract of `server`.
    pub(super) async fn check(
        mut self,
        headers: HttpHeaders,
        server: &Server,
    ) -> Result<(), Status> {
        let body = self.request.begin(headers.end_of_stream);
        let parts = match request_head(headers) {
            Ok(parts) => parts,
            Err(reason) => return self.refuse(StatusCode::BAD_REQUEST, &reason).await,
        };
        let before = parts.headers.clone();
        let (sender, mut handovers) = mpsc::channel(1);
        let next = ToEnvoy(sender);
        let mut answer = pin!(server.answer(Request::from_parts(parts, body), &next));
        loop {
            tokio::select! {
                biased;
                response = &mut answer => {
                    self.deliver(response).await?;
                    return self.wait_for_end().await;
                }
                Some(handover) = handovers.recv() => self.forward(&before, handover).await?,
                message = self.receive() => match message? {
                    Some(message) => self.take(message)?,
                    None => return Ok(()),
                }
            }
        }
    }

    async fn send(&self, reply: ProcessingResponse) -> Result<(), Status> {
        self.outbound.send(&reply).await
    }

    /// The next message of Envoy; `None` once it has ended the stream. While as much waits to be read as may, messages
    /// stay with Envoy. What it has read is not lost where it is dropped.
    async fn receive(&mut self) -> Result<Option<Delivered<ProcessingRequest>>, Status> {
        let mut closed = pin!(self.outbound.closed());
        poll_fn(|context| {
            if self.request.is_full() || self.response.is_full() {
                return closed.as_mut().poll(context).map(|()| Ok(None));
            }
            self.inbound.poll_next(context)
        })
        .await
    }

    /// Takes a message of Envoy.
    fn take(&mut self, delivered: Delivered<ProcessingRequest>) -> Result<(), Status> {
        let Delivered { message, memory } = delivered;
        match message.request {
            Some(Received::RequestBody(body)) => self.request.push(body, memory)?,
            Some(Received::ResponseBody(body)) => self.response.push(body, memory)?,
            Some(Received::RequestTrailers(_)) => self.request.end(),
            Some(Received::ResponseTrailers(_)) => self.response.end(),
            Some(Received::ResponseHeaders(headers)) => self.take_response(headers, memory)?,
            Some(Received::RequestHeaders(_)) => return Err(wrong("request headers came twice")),
            None => return Err(wrong("expected headers, a body or trailers")),
        }
        Ok(())
    }

    fn take_response(&mut self, headers: HttpHeaders, memory: Reservation) -> Result<(), Status> {
        let Some(waiting) = self.waiting.take() else {
            return Err(wrong("a response came before its request was sent"));
        };
        let body = self.response.begin(headers.end_of_stream);
        let read = response_head(headers, body).map(|mut response| {
            self.response_head = Some((response.status(), response.headers().clone(), memory));
            // Only Envoy itself may ask for another try.
            response.headers_mut().remove("x-toolbond-retry");
            response.extensions_mut().insert(OfServer);
            response
        });
        // Nobody waits for it any more if the client has left.
        let _ = waiting.send(read);
        Ok(())
    }

    /// Sends a checked request on to the server.
    async fn forward(&mut self, before: &HeaderMap, handover: Handover) -> Result<(), Status> {
        let Handover { parts, body, response } = handover;
        let mut mutation = changes(before, &parts.headers);
        let is_repeatable = parts.extensions.get::<Repeatable>().is_some();
        let direction = Direction::Request;
        if !self.request.is_bodiless {
            correct_length(&mut mutation, before, Some(body.len()));
        }
        self.send(with_retry(direction.headers(mutation), is_repeatable)).await?;
        if !self.request.is_bodiless {
            self.send_pieces(direction, body, !self.request.has_trailers).await?;
        }
        if self.request.has_trailers {
            self.send(direction.trailers()).await?;
        }
        self.waiting = Some(response);
        Ok(())
    }

    /// Sends `bytes` in pieces that are independent of those that came; with `is_last`, they end the body.
    async fn send_pieces(
        &self,
        direction: Direction,
        mut bytes: Bytes,
        is_last: bool,
    ) -> Result<(), Status> {
        loop {
            let piece = bytes.split_to(bytes.len().min(MAX_PIECE));
            self.send(direction.piece(piece, is_last && bytes.is_empty())).await?;
            if bytes.is_empty() {
                return Ok(());
            }
        }
    }

    /// Answers the client in place of the server.
    async fn answer_at_once(&mut self, response: Response<Body>) -> Result<(), Status> {
        let (parts, body) = response.into_parts();
        let body = body.collect().await;
        let body = body.map_err(|error| Status::new(Code::Internal, error.to_string()))?;
        self.send(immediate(&parts, body.to_bytes())).await
    }

    /// Sends the response to the client.
    async fn deliver(&mut self, response: Response<Body>) -> Result<(), Status> {
        let of_server = response.extensions().get::<OfServer>().and(self.response_head.take());
        let Some((status, before, _memory)) = of_server else {
            return self.answer_at_once(response).await;
        };
        let (parts, body) = response.into_parts();
        let mut mutation = changes(&before, &parts.headers);
        if parts.status != status {
            set_status(&mut mutation, parts.status);
        }
        // A body that is forwarded unchanged has kept its length.
        if !parts.headers.contains_key(CONTENT_LENGTH) && !self.response.is_bodiless {
            let length = body.size_hint().exact().and_then(|length| length.try_into().ok());
            correct_length(&mut mutation, &before, length);
        }
        self.send(Direction::Response.headers(mutation)).await?;
        if self.response.is_bodiless { Ok(()) } else { self.deliver_pieces(body).await }
    }

    /// Sends the body of the response to the client.
    async fn deliver_pieces(&mut self, mut body: Body) -> Result<(), Status> {
        let direction = Direction::Response;
        loop {
            let frame = tokio::select! {
                biased;
                frame = body.frame() => frame,
                message = self.receive() => match message? {
                    Some(message) => {
                        self.take(message)?;
                        continue;
                    }
                    None => return Ok(()),
                }
            };
            match frame {
                Some(Ok(frame)) => {
                    let is_last = body.is_end_stream() && !self.response.has_trailers;
                    let piece = frame.into_data().unwrap_or_default();
                    self.send_pieces(direction, piece, is_last).await?;
                    if is_last {
                        return Ok(());
                    }
                }
                Some(Err(error)) => return Err(Status::new(Code::Aborted, error.to_string())),
                None if self.response.has_trailers => return self.send(direction.trailers()).await,
                None => return self.send_pieces(direction, Bytes::new(), true).await,
            }
        }
    }

    /// Waits until Envoy ends the stream: it would take an end from here for leave to go on unchecked.
    async fn wait_for_end(mut self) -> Result<(), Status> {
        while self.inbound.next().await?.is_some() {}
        Ok(())
    }

    /// Lets everything through: sends back what Envoy sends.
    pub(super) async fn pass_on(mut self) -> Result<(), Status> {
        let (request, response) = (Direction::Request, Direction::Response);
        let unchanged = HeaderMutation::default;
        self.send(request.headers(unchanged())).await?;
        while let Some(Delivered { message, memory: _memory }) = self.inbound.next().await? {
            let reply = match message.request {
                Some(Received::RequestHeaders(_)) => request.headers(unchanged()),
                Some(Received::ResponseHeaders(_)) => response.headers(unchanged()),
                Some(Received::RequestBody(it)) => request.piece(it.body, it.end_of_stream),
                Some(Received::ResponseBody(it)) => response.piece(it.body, it.end_of_stream),
                Some(Received::RequestTrailers(_)) => request.trailers(),
                Some(Received::ResponseTrailers(_)) => response.trailers(),
                None => continue,
            };
            self.send(reply).await?;
        }
        Ok(())
    }
}
