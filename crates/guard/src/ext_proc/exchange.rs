//! One HTTP request and its response, as Envoy sends them over one gRPC stream.
//!
//! The checks are those of [`Proxy`]. To them, Envoy is where a request comes from and where it goes: this file moves
//! heads and bodies between the two, in the way that the body mode of Envoy asks for.
//!
//! - `FULL_DUPLEX_STREAMED`: nothing is answered until it is decided, so that every change is possible.
//! - `BUFFERED`: the headers are let go on, and wait in Envoy until the body is answered.
//! - `STREAMED`: the headers leave before the body is known, and each piece of the body has exactly one answer.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use bytes::{Bytes, BytesMut};
use envoy_types::pb::envoy::extensions::filters::http::ext_proc::v3::processing_mode::BodySendMode;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_request::Request as Message;
use envoy_types::pb::envoy::service::ext_proc::v3::{
    HeaderMutation, HttpBody, HttpHeaders, ProcessingRequest, ProcessingResponse,
};
use futures_util::Stream as _;
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use hyper::header::{ACCEPT_ENCODING, HeaderName, HeaderValue};
use hyper::{HeaderMap, Request, Response, StatusCode};
use tokio::sync::mpsc;
use tonic::{Status, Streaming};
use toolbond_telemetry::{TRACEPARENT, TRACESTATE};

use super::direction::Direction;
use super::half::Half;
use super::handover::{Handover, Handovers};
use super::headers::{
    changes, correct_length, early_changes, request_head, response_head, set_status,
};
use super::reply::{immediate, released, response_mode, with_retry};
use crate::http::respond::{Body, Unchanged, refuse};
use crate::message::code;
use crate::proxy::{Proxy, Repeatable};

/// The most bytes of one piece of a body: what Envoy recommends.
const MAX_PIECE: usize = 64 << 10;

/// The messages to Envoy that wait to be sent.
pub(super) const MAX_REPLIES: usize = 8;

/// Why a request is not sent in this mode.
const STREAMED: &str = "cannot change the headers of a request while the ext_proc filter of Envoy has request_body_mode STREAMED; set it to FULL_DUPLEX_STREAMED";

/// Marks a response that is that of the server, changed or not.
#[derive(Clone, Copy)]
struct OfServer;

/// The gRPC stream of one HTTP request.
pub(super) struct Exchange {
    inbound: Streaming<ProcessingRequest>,
    outbound: mpsc::Sender<Result<ProcessingResponse, Status>>,
    request: Half,
    response: Half,
    /// The head of the response as it came.
    response_head: Option<(StatusCode, HeaderMap)>,
    /// Who waits for the response.
    waiting: Option<Handover>,
}

/// What happens next.
enum Step {
    Received(Box<ProcessingRequest>),
    /// Envoy ended the stream.
    Ended,
    Answered(Response<Body>),
    HandedOver(Handover),
    /// The body of this direction is needed, and Envoy waits for the answer to its headers.
    Wants(Direction),
}

impl Exchange {
    /// Takes over the stream whose first message named these body modes.
    pub(super) fn new(
        inbound: Streaming<ProcessingRequest>,
        outbound: mpsc::Sender<Result<ProcessingResponse, Status>>,
        (request, response): (i32, i32),
    ) -> Self {
        Self {
            inbound,
            outbound,
            request: Half::new(Direction::Request, request),
            response: Half::new(Direction::Response, response),
            response_head: None,
            waiting: None,
        }
    }

    /// Answers the client without asking the server.
    pub(super) async fn refuse(mut self, status: StatusCode, reason: &str) -> Result<(), Status> {
        self.answer_at_once(refuse(status, code::INTERNAL, reason)).await?;
        self.wait_for_end().await
    }

    /// Lets everything through. Envoy need not send more; what it sends nevertheless is sent back.
    pub(super) async fn release(self) -> Result<(), Status> {
        let mode_override = Some(released());
        self.send(ProcessingResponse { mode_override, ..Direction::Request.headers(None) }).await?;
        self.pass_on().await
    }

    /// Holds the request with this head, and its response, to the contract of `proxy`.
    pub(super) async fn check(
        mut self,
        headers: HttpHeaders,
        proxy: &Arc<Proxy>,
    ) -> Result<(), Status> {
        self.request.begin(headers.end_of_stream);
        if let Some(reason) = self.request.unusable() {
            return self.refuse(StatusCode::INTERNAL_SERVER_ERROR, &reason).await;
        }
        let parts = match request_head(headers) {
            Ok(parts) => parts,
            Err(reason) => return self.refuse(StatusCode::BAD_REQUEST, &reason).await,
        };
        let before = parts.headers.clone();
        let (next, mut handovers) = Handovers::new();
        let request = Request::from_parts(parts, self.request.pieces.body());
        let mut answer = pin!(proxy.answer_checked(request, &next));
        loop {
            match self.step(&mut handovers, answer.as_mut()).await? {
                Step::Ended => return Ok(()),
                Step::Received(message) => self.take(*message).await?,
                Step::Wants(direction) => self.release_headers(direction).await?,
                Step::HandedOver(handover) => self.forward(&before, handover).await?,
                Step::Answered(response) => {
                    self.deliver(response).await?;
                    return self.wait_for_end().await;
                }
            }
        }
    }

    async fn send(&self, reply: ProcessingResponse) -> Result<(), Status> {
        let gone = |_| Status::cancelled("Envoy closed the stream");
        self.outbound.send(Ok(reply)).await.map_err(gone)
    }

    /// Waits for what happens next.
    async fn step(
        &mut self,
        handovers: &mut Handovers,
        mut answer: Pin<&mut impl Future<Output = Response<Body>>>,
    ) -> Result<Step, Status> {
        let mut closed = pin!(self.outbound.closed());
        poll_fn(|context| {
            if let Poll::Ready(response) = answer.as_mut().poll(context) {
                return Poll::Ready(Ok(Step::Answered(response)));
            }
            if let Poll::Ready(handover) = handovers.poll_next(context) {
                return Poll::Ready(Ok(Step::HandedOver(handover)));
            }
            for half in [&self.request, &self.response] {
                if half.owes_headers && half.answers_pieces() && half.pieces.is_wanting() {
                    return Poll::Ready(Ok(Step::Wants(half.direction)));
                }
            }
            // What is not read stays with Envoy.
            if self.request.pieces.is_full() || self.response.pieces.is_full() {
                return closed.as_mut().poll(context).map(|()| Ok(Step::Ended));
            }
            let message = Pin::new(&mut self.inbound).poll_next(context).map(Option::transpose);
            message.map_ok(|it| it.map_or(Step::Ended, |it| Step::Received(Box::new(it))))
        })
        .await
    }

    /// Takes a message of Envoy.
    async fn take(&mut self, message: ProcessingRequest) -> Result<(), Status> {
        match message.request {
            Some(Message::RequestBody(body)) => self.take_body(Direction::Request, body).await,
            Some(Message::ResponseBody(body)) => self.take_body(Direction::Response, body).await,
            Some(Message::RequestTrailers(_)) => {
                self.take_trailers(Direction::Request);
                Ok(())
            }
            Some(Message::ResponseTrailers(_)) => {
                self.take_trailers(Direction::Response);
                Ok(())
            }
            Some(Message::ResponseHeaders(headers)) => self.take_response(headers),
            Some(Message::RequestHeaders(_)) => {
                Err(Status::invalid_argument("request headers came twice"))
            }
            None => Err(Status::invalid_argument("expected headers, a body or trailers")),
        }
    }

    fn half(&mut self, direction: Direction) -> &mut Half {
        match direction {
            Direction::Request => &mut self.request,
            Direction::Response => &mut self.response,
        }
    }

    async fn take_body(&mut self, direction: Direction, body: HttpBody) -> Result<(), Status> {
        let half = self.half(direction);
        if half.is_over {
            return Err(Status::invalid_argument("a body went on after its end"));
        }
        let bytes = Bytes::from(body.body);
        // A body that trailers follow is buffered without being marked as the last.
        half.is_over = body.end_of_stream || half.mode == BodySendMode::Buffered;
        let (is_over, previous) = (half.is_over, half.owed.take());
        half.pieces.push(bytes.clone(), is_over);
        if half.answers_pieces() {
            half.owed = Some(bytes);
        }
        // Of several pieces only the last one is replaced by what is left of all.
        match previous {
            Some(_) => self.send(direction.body(None, &Bytes::new())).await,
            None => Ok(()),
        }
    }

    fn take_trailers(&mut self, direction: Direction) {
        let half = self.half(direction);
        half.has_trailers = true;
        half.finish();
    }

    fn take_response(&mut self, headers: HttpHeaders) -> Result<(), Status> {
        let Some(waiting) = self.waiting.take() else {
            return Err(Status::invalid_argument("a response came before its request was sent"));
        };
        self.response.begin(headers.end_of_stream);
        let unusable = self.response.unusable();
        let read = response_head(headers, self.response.pieces.body());
        let response = read.map(|mut response| {
            self.response_head = Some((response.status(), response.headers().clone()));
            // Only Envoy itself may ask for another try.
            response.headers_mut().remove("x-toolbond-retry");
            response.extensions_mut().insert(OfServer);
            response
        });
        waiting.respond(match unusable {
            // What is neither JSON nor an event stream needs no body to be let through.
            Some(reason) if response.as_ref().is_ok_and(|it| super::is_checked(it.headers())) => {
                Err(reason)
            }
            _ => response,
        });
        Ok(())
    }

    /// Lets headers go on, so that Envoy sends the body.
    async fn release_headers(&mut self, direction: Direction) -> Result<(), Status> {
        let half = self.half(direction);
        half.owes_headers = false;
        let is_streamed = half.mode == BodySendMode::Streamed;
        let mutation = is_streamed.then(|| early_changes(direction));
        self.send(direction.headers(mutation)).await
    }

    /// Sends a checked request on to the server.
    async fn forward(&mut self, before: &HeaderMap, handover: Handover) -> Result<(), Status> {
        let (parts, bytes) = handover.request();
        let mut mutation = changes(before, &parts.headers);
        let is_repeatable = parts.extensions.get::<Repeatable>().is_some();
        let direction = Direction::Request;
        if !self.request.is_bodiless {
            correct_length(&mut mutation, before, Some(bytes.len()));
        }
        if self.request.owes_headers {
            self.request.owes_headers = false;
            let reply = direction.headers(mutation.take());
            self.send(with_retry(reply, is_repeatable)).await?;
            if !self.request.is_bodiless {
                let is_last = !self.request.has_trailers;
                self.send_pieces(direction, bytes, is_last).await?;
            }
        } else if let Some(owed) = self.request.owed.take() {
            if self.request.mode == BodySendMode::Streamed {
                let mut sent = before.clone();
                sent.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
                // Traces go on in the body.
                for name in [TRACEPARENT, TRACESTATE] {
                    sent.remove(name);
                    sent.extend(
                        parts
                            .headers
                            .get(name)
                            .map(|value| (HeaderName::from_static(name), value.clone())),
                    );
                }
                if changes(&sent, &parts.headers).is_some() {
                    handover.respond(Err(STREAMED.to_owned()));
                    return Ok(());
                }
                mutation = None;
            }
            let reply = answer_piece(direction, mutation, &owed, &bytes);
            self.send(with_retry(reply, is_repeatable)).await?;
        } else {
            handover.respond(Err("Envoy sent trailers after a body that was checked".to_owned()));
            return Ok(());
        }
        if self.request.has_trailers {
            self.send(direction.trailers()).await?;
        }
        self.waiting = Some(handover);
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
            self.send(direction.piece(&piece, is_last && bytes.is_empty())).await?;
            if bytes.is_empty() {
                return Ok(());
            }
        }
    }

    /// Answers the client in place of the server.
    async fn answer_at_once(&mut self, response: Response<Body>) -> Result<(), Status> {
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map_err(|error| Status::internal(error.to_string()))?;
        self.request.owed = None;
        self.response.owed = None;
        self.send(immediate(&parts, &body.to_bytes())).await
    }

    /// Sends the response to the client.
    async fn deliver(&mut self, response: Response<Body>) -> Result<(), Status> {
        let Some((status, before)) = self.response_head.take() else {
            return self.answer_at_once(response).await;
        };
        let is_new = response.extensions().get::<OfServer>().is_none();
        let has_left = !self.response.owes_headers && self.response.mode == BodySendMode::Streamed;
        if is_new && !has_left {
            return self.answer_at_once(response).await;
        }
        let (parts, mut body) = response.into_parts();
        let mut mutation = changes(&before, &parts.headers);
        if parts.status != status {
            set_status(&mut mutation, parts.status);
        }
        let is_unchanged = parts.extensions.get::<Unchanged>().is_some();
        if !is_unchanged && !self.response.is_bodiless {
            let length = body.size_hint().exact().and_then(|length| length.try_into().ok());
            correct_length(&mut mutation, &before, length);
        }
        if self.response.owes_headers {
            self.response.owes_headers = false;
            let mut reply = Direction::Response.headers(mutation.take());
            if is_unchanged {
                reply.mode_override = Some(response_mode(BodySendMode::None));
            } else if self.response.mode == BodySendMode::Buffered {
                // Events do not wait for the end of the stream, if Envoy lets the mode be changed.
                reply.mode_override = Some(response_mode(BodySendMode::Streamed));
                self.response.mode = BodySendMode::Streamed;
            }
            self.send(reply).await?;
        }
        if self.response.answers_pieces() {
            self.deliver_in_answers(mutation, &mut body).await
        } else {
            self.deliver_pieces(&mut body).await
        }
    }

    /// Sends a body whose pieces are independent of those that came.
    async fn deliver_pieces(&mut self, body: &mut Body) -> Result<(), Status> {
        let direction = Direction::Response;
        if self.response.is_bodiless {
            return Ok(());
        }
        loop {
            match self.next_piece(body).await? {
                Next::Piece(piece) => {
                    let is_last = body.is_end_stream() && !self.response.has_trailers;
                    self.send_pieces(direction, piece, is_last).await?;
                    if is_last {
                        return Ok(());
                    }
                }
                Next::End if self.response.has_trailers => {
                    return self.send(direction.trailers()).await;
                }
                Next::End => return self.send_pieces(direction, Bytes::new(), true).await,
                Next::Received(message) => self.take(*message).await?,
                Next::Gone => return Ok(()),
                Next::CaughtUp => {}
            }
        }
    }

    /// Sends a body as answers to the pieces that came.
    async fn deliver_in_answers(
        &mut self,
        mut mutation: Option<HeaderMutation>,
        body: &mut Body,
    ) -> Result<(), Status> {
        let direction = Direction::Response;
        let mut ready = BytesMut::new();
        loop {
            match self.next_piece(body).await? {
                Next::Piece(piece) => ready.extend_from_slice(&piece),
                Next::CaughtUp => {
                    if let Some(owed) = self.response.owed.take() {
                        let bytes = ready.split().freeze();
                        self.send(answer_piece(direction, mutation.take(), &owed, &bytes)).await?;
                    }
                }
                Next::Received(message) => self.take(*message).await?,
                Next::Gone => return Ok(()),
                Next::End => break,
            }
        }
        // The rest of what the server sends is not for the client.
        loop {
            if let Some(owed) = self.response.owed.take() {
                let bytes = ready.split().freeze();
                self.send(answer_piece(direction, mutation.take(), &owed, &bytes)).await?;
            }
            if self.response.has_trailers {
                return self.send(direction.trailers()).await;
            }
            if self.response.is_over {
                return Ok(());
            }
            let Some(message) = self.inbound.message().await? else { return Ok(()) };
            self.take(message).await?;
        }
    }

    /// The next piece of a body for the client, or else the next message of Envoy.
    async fn next_piece(&mut self, body: &mut Body) -> Result<Next, Status> {
        let mut closed = pin!(self.outbound.closed());
        poll_fn(|context| {
            match Pin::new(&mut *body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => {
                    let piece = frame.into_data().unwrap_or_default();
                    return Poll::Ready(Ok(Next::Piece(piece)));
                }
                Poll::Ready(Some(Err(error))) => {
                    return Poll::Ready(Err(Status::aborted(error.to_string())));
                }
                Poll::Ready(None) => return Poll::Ready(Ok(Next::End)),
                Poll::Pending => {}
            }
            if self.response.owed.is_some() && self.response.pieces.is_wanting() {
                return Poll::Ready(Ok(Next::CaughtUp));
            }
            if self.response.pieces.is_full() {
                return closed.as_mut().poll(context).map(|()| Ok(Next::Gone));
            }
            let message = Pin::new(&mut self.inbound).poll_next(context).map(Option::transpose);
            message.map_ok(|it| it.map_or(Next::Gone, |it| Next::Received(Box::new(it))))
        })
        .await
    }

    /// Waits until Envoy ends the stream: it would take an end from here for leave to go on unchecked.
    async fn wait_for_end(mut self) -> Result<(), Status> {
        while self.inbound.message().await?.is_some() {}
        Ok(())
    }

    /// Sends back what Envoy sends.
    async fn pass_on(mut self) -> Result<(), Status> {
        while let Some(message) = self.inbound.message().await? {
            let reply = match message.request {
                Some(Message::RequestHeaders(_)) => Direction::Request.headers(None),
                Some(Message::ResponseHeaders(_)) => Direction::Response.headers(None),
                Some(Message::RequestBody(body)) => self.request.same(body),
                Some(Message::ResponseBody(body)) => self.response.same(body),
                Some(Message::RequestTrailers(_)) => Direction::Request.trailers(),
                Some(Message::ResponseTrailers(_)) => Direction::Response.trailers(),
                None => continue,
            };
            self.send(reply).await?;
        }
        Ok(())
    }
}

/// The answer to the piece `owed`: `bytes`.
fn answer_piece(
    direction: Direction,
    mutation: Option<HeaderMutation>,
    owed: &Bytes,
    bytes: &Bytes,
) -> ProcessingResponse {
    if owed == bytes && mutation.is_none() {
        return direction.same_body();
    }
    direction.body(mutation, bytes)
}

/// What there is to send, or to take.
enum Next {
    Piece(Bytes),
    End,
    /// All that came is in the pieces so far.
    CaughtUp,
    Received(Box<ProcessingRequest>),
    Gone,
}
