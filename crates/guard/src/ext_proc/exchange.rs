//! One HTTP request and its response, as Envoy sends them over one gRPC stream.
//!
//! The checks are those of [`Proxy`]. To them, Envoy is where a request comes from and where it goes: this file moves
//! heads and bodies between the two. Nothing is answered until it is decided, so that every change is possible.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use hyper::{HeaderMap, Request, Response, StatusCode};

use super::direction::Direction;
use super::half::Half;
use super::handover::{Handover, Handovers};
use super::headers::{changes, correct_length, request_head, response_head, set_status};
use super::reply::{immediate, with_retry};
use super::wire::{HttpBody, HttpHeaders, ProcessingRequest, ProcessingResponse, Received};
use crate::grpc::{Code, Delivered, Messages, ReplySender, Status};
use crate::http::respond::{Body, Unchanged, refuse};
use crate::memory::Reservation;
use crate::proxy::{Proxy, Repeatable};
use toolbond_guard_core::message::code;

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
    /// The head of the response as it came.
    response_head: Option<(StatusCode, HeaderMap)>,
    response_memory: Option<Reservation>,
    /// Who waits for the response.
    waiting: Option<Handover>,
}

/// What happens next.
enum Step {
    Received(Box<Delivered<ProcessingRequest>>),
    /// Envoy ended the stream.
    Ended,
    Answered(Response<Body>),
    HandedOver(Handover),
}

impl Exchange {
    /// Takes over a stream after its first message.
    pub(super) fn new(inbound: Messages<ProcessingRequest>, outbound: ReplySender) -> Self {
        let (request, response) = (Half::default(), Half::default());
        let (response_head, response_memory, waiting) = (None, None, None);
        Self { inbound, outbound, request, response, response_head, response_memory, waiting }
    }

    /// Answers the client without asking the server.
    pub(super) async fn refuse(mut self, status: StatusCode, reason: &str) -> Result<(), Status> {
        self.answer_at_once(refuse(status, code::INTERNAL, reason)).await?;
        self.wait_for_end().await
    }

    /// Holds the request with this head, and its response, to the contract of `proxy`.
    pub(super) async fn check(
        mut self,
        headers: HttpHeaders,
        proxy: &Arc<Proxy>,
    ) -> Result<(), Status> {
        self.request.begin(headers.end_of_stream);
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
                Step::Received(message) => self.take(*message)?,
                Step::HandedOver(handover) => self.forward(&before, handover).await?,
                Step::Answered(response) => {
                    self.deliver(response).await?;
                    return self.wait_for_end().await;
                }
            }
        }
    }

    async fn send(&self, reply: ProcessingResponse) -> Result<(), Status> {
        self.outbound.send(&reply).await
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
            // What is not read stays with Envoy.
            if self.request.pieces.is_full() || self.response.pieces.is_full() {
                return closed.as_mut().poll(context).map(|()| Ok(Step::Ended));
            }
            let message = self.inbound.poll_next(context);
            message.map_ok(|it| it.map_or(Step::Ended, |it| Step::Received(Box::new(it))))
        })
        .await
    }

    /// Takes a message of Envoy.
    fn take(&mut self, delivered: Delivered<ProcessingRequest>) -> Result<(), Status> {
        let Delivered { message, memory } = delivered;
        match message.request {
            Some(Received::RequestBody(body)) => take_body(&mut self.request, body, memory)?,
            Some(Received::ResponseBody(body)) => take_body(&mut self.response, body, memory)?,
            Some(Received::RequestTrailers(_)) => take_trailers(&mut self.request),
            Some(Received::ResponseTrailers(_)) => take_trailers(&mut self.response),
            Some(Received::ResponseHeaders(headers)) => {
                self.take_response(headers)?;
                self.response_memory = Some(memory);
            }
            Some(Received::RequestHeaders(_)) => return Err(wrong("request headers came twice")),
            None => return Err(wrong("expected headers, a body or trailers")),
        }
        Ok(())
    }

    fn take_response(&mut self, headers: HttpHeaders) -> Result<(), Status> {
        let Some(waiting) = self.waiting.take() else {
            return Err(wrong("a response came before its request was sent"));
        };
        self.response.begin(headers.end_of_stream);
        let read = response_head(headers, self.response.pieces.body());
        waiting.respond(read.map(|mut response| {
            self.response_head = Some((response.status(), response.headers().clone()));
            // Only Envoy itself may ask for another try.
            response.headers_mut().remove("x-toolbond-retry");
            response.extensions_mut().insert(OfServer);
            response
        }));
        Ok(())
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
        self.send(with_retry(direction.headers(mutation), is_repeatable)).await?;
        if !self.request.is_bodiless {
            self.send_pieces(direction, bytes, !self.request.has_trailers).await?;
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
        let Some((status, before)) = self.response_head.take() else {
            return self.answer_at_once(response).await;
        };
        if response.extensions().get::<OfServer>().is_none() {
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
        self.send(Direction::Response.headers(mutation)).await?;
        self.deliver_pieces(&mut body).await
    }

    /// Sends the body of the response to the client.
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
                Next::Received(message) => self.take(*message)?,
                Next::Gone => return Ok(()),
            }
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
                    return Poll::Ready(Err(Status::new(Code::Aborted, error.to_string())));
                }
                Poll::Ready(None) => return Poll::Ready(Ok(Next::End)),
                Poll::Pending => {}
            }
            if self.response.pieces.is_full() {
                return closed.as_mut().poll(context).map(|()| Ok(Next::Gone));
            }
            let message = self.inbound.poll_next(context);
            message.map_ok(|it| it.map_or(Next::Gone, |it| Next::Received(Box::new(it))))
        })
        .await
    }

    /// Waits until Envoy ends the stream: it would take an end from here for leave to go on unchecked.
    async fn wait_for_end(mut self) -> Result<(), Status> {
        while self.inbound.next().await?.is_some() {}
        Ok(())
    }

    /// Lets everything through: sends back what Envoy sends.
    pub(super) async fn pass_on(mut self) -> Result<(), Status> {
        self.send(Direction::Request.headers(None)).await?;
        while let Some(Delivered { message, memory: _memory }) = self.inbound.next().await? {
            let piece = |direction: Direction, body: HttpBody| {
                direction.piece(body.body, body.end_of_stream)
            };
            let reply = match message.request {
                Some(Received::RequestHeaders(_)) => Direction::Request.headers(None),
                Some(Received::ResponseHeaders(_)) => Direction::Response.headers(None),
                Some(Received::RequestBody(body)) => piece(Direction::Request, body),
                Some(Received::ResponseBody(body)) => piece(Direction::Response, body),
                Some(Received::RequestTrailers(_)) => Direction::Request.trailers(),
                Some(Received::ResponseTrailers(_)) => Direction::Response.trailers(),
                None => continue,
            };
            self.send(reply).await?;
        }
        Ok(())
    }
}

fn wrong(reason: &str) -> Status {
    Status::new(Code::InvalidArgument, reason)
}

fn take_body(half: &mut Half, body: HttpBody, memory: Reservation) -> Result<(), Status> {
    if half.is_over {
        return Err(wrong("a body went on after its end"));
    }
    half.is_over = body.end_of_stream;
    half.pieces.push(body.body, Some(memory), body.end_of_stream);
    Ok(())
}

fn take_trailers(half: &mut Half) {
    half.has_trailers = true;
    half.finish();
}

/// What there is to send, or to take.
enum Next {
    Piece(Bytes),
    End,
    Received(Box<Delivered<ProcessingRequest>>),
    Gone,
}
