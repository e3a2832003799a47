//! A replica behind Envoy: the test plays client and server, and sends the messages that Envoy would send.

use std::convert::Infallible;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use envoy_types::pb::envoy::config::core::v3::{HeaderMap, HeaderValue};
use envoy_types::pb::envoy::service::ext_proc::v3::body_mutation::Mutation;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_request::Request as Sent;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_response::Response as Reply;
use envoy_types::pb::envoy::service::ext_proc::v3::{
    BodyResponse, HttpBody, HttpHeaders, ProcessingRequest, ProcessingResponse,
    ProtocolConfiguration, StreamedBodyResponse,
};
use futures_util::{StreamExt as _, stream};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message as _;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use toolbond_gateway::ExtProc;
use toolbond_guard::config::{Config, Front};
use toolbond_guard::{Event, Fleet, MemoryLimit};
use toolbond_harness::files::Folder;
use toolbond_harness::http::HttpServer;
use toolbond_harness::wait::HANG;

use super::events::Messages;
use super::script::Script;
use super::stage::{Answer, Inbox, Open, Seen, Stage, is_one_way, member};
use crate::pair::runtime;

/// The body mode `FULL_DUPLEX_STREAMED`.
const FULL_DUPLEX: i32 = 4;

type Answers = UnboundedSender<Answer>;
type Outbox = Sender<Seen<Answers>>;

/// A replica, with a client and a server behind Envoy.
pub(super) struct OverEnvoy {
    /// Messages of the client, and who waits for the end of their response.
    requests: UnboundedSender<(String, Sender<Infallible>)>,
    inbox: Inbox<Answers>,
    open: Open<Answers>,
    /// Answers the guard's own request for the tool list.
    list: Option<Answers>,
    /// The last result of `tools/list`.
    listed: Option<String>,
}

impl OverEnvoy {
    pub(super) fn new(script: &Script) -> Self {
        let (outbox, receiver) = channel();
        let server = list_server(outbox.clone());
        let config = config(script, &server.url("/mcp"));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, mut texts) = unbounded_channel::<(String, Sender<Infallible>)>();
        let revision = script.revision.clone();
        let send = async move {
            let stream = tokio::net::TcpStream::connect(address).await.unwrap();
            stream.set_nodelay(true).unwrap();
            let io = TokioIo::new(stream);
            let (sender, connection) = handshake(TokioExecutor::new(), io).await.unwrap();
            tokio::spawn(connection);
            while let Some((text, is_open)) = texts.recv().await {
                let (sender, outbox) = (sender.clone(), outbox.clone());
                let head = head(&revision);
                tokio::spawn(async move {
                    exchange(sender, head, text, &outbox).await;
                    drop(is_open);
                });
            }
        };
        // It ends with the process of the test.
        thread::spawn(move || {
            runtime().block_on(async move {
                let memory = Arc::new(MemoryLimit::default());
                let quiet = Arc::new(|_: Event| {});
                let fleet = Fleet::new(config, quiet, |_| None, memory, None).unwrap();
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::spawn(send);
                let end = Box::pin(std::future::pending());
                ExtProc::new(Arc::new(fleet)).serve(listener, end, Duration::ZERO).await;
            });
        });
        let inbox = Inbox::new(receiver);
        Self { requests, inbox, open: Open::default(), list: None, listed: None }
    }

    /// What comes next for one side. A request for the tool list that comes before is answered with the last list.
    fn next(&mut self, is_wanted: impl Fn(&Seen<Answers>) -> bool) -> Seen<Answers> {
        loop {
            match self.inbox.next(|seen| is_wanted(seen) || matches!(seen, Seen::List(..))) {
                Seen::List(text, answers) => {
                    let id = member(&text, "id").unwrap();
                    let result = self.listed.as_ref().expect("a list before");
                    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
                    answers.send(Answer::Last(text)).unwrap();
                }
                seen => return seen,
            }
        }
    }

    fn remember_list(&mut self, text: &str) {
        let result = member(text, "result");
        if result.as_ref().is_some_and(|result| member(result, "tools").is_some()) {
            self.listed = result;
        }
    }
}

impl Stage for OverEnvoy {
    fn client_sends(&mut self, text: &str) {
        let (is_open, end) = channel();
        self.requests.send((text.to_owned(), is_open)).unwrap();
        if is_one_way(text) {
            assert_eq!(end.recv_timeout(HANG), Err(RecvTimeoutError::Disconnected));
        }
    }

    fn server_receives(&mut self) -> String {
        let seen = self.next(|seen| matches!(seen, Seen::Server(..)));
        let Seen::Server(text, answers) = seen else { unreachable!() };
        if let Some(answers) = answers {
            self.open.add(&text, answers);
        }
        text
    }

    fn server_sends(&mut self, text: &str) {
        self.remember_list(text);
        self.open.answer(text, |answers, answer| answers.send(answer).unwrap());
    }

    fn client_receives(&mut self) -> String {
        let seen = self.next(|seen| matches!(seen, Seen::Client(_)));
        let Seen::Client(text) = seen else { unreachable!() };
        text
    }

    fn guard_asks(&mut self) -> String {
        let seen = self.inbox.next(|seen| matches!(seen, Seen::List(..)));
        let Seen::List(text, answers) = seen else { unreachable!() };
        self.list = Some(answers);
        text
    }

    fn guard_is_told(&mut self, text: &str) {
        self.remember_list(text);
        self.list.take().unwrap().send(Answer::Last(text.to_owned())).unwrap();
    }
}

/// The server as the replica reaches it, for its own requests. It cannot be listened to.
fn list_server(outbox: Outbox) -> HttpServer {
    HttpServer::start(move |request, reply| {
        let body = String::from_utf8(request.body.clone()).unwrap();
        if member(&body, "method").as_deref() != Some("\"tools/list\"") {
            return reply.send("405 Method Not Allowed", "", "");
        }
        let (answers, mut answer) = unbounded_channel();
        let _ = outbox.send(Seen::List(body, answers));
        match answer.blocking_recv() {
            Some(Answer::Last(text) | Answer::Before(text)) => {
                reply.send("200 OK", "content-type: application/json", text)
            }
            None => reply.send("503 Service Unavailable", "", ""),
        }
    })
}

fn config(script: &Script, url: &str) -> Config {
    let mut terms = script.terms.join("\n");
    // A replica refuses calls of tools that are not listed, unless it is told not to.
    if !terms.contains("enforce") {
        terms.push_str("\nrequire-list = false");
    }
    let folder = Folder::new();
    let text = format!("[contract]\n{terms}\n[servers.server]\nurl = \"{url}\"\n");
    folder.write("toolbond.toml", text);
    Config::read_for(Path::new(&folder.join("toolbond.toml")), Front::Gateway).unwrap()
}

/// The head of a request.
fn head(revision: &str) -> HttpHeaders {
    headers(&[
        (":method", "POST"),
        (":path", "/mcp"),
        (":authority", "localhost"),
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-session-id", "s"),
        ("mcp-protocol-version", revision),
    ])
}

fn headers(all: &[(&str, &str)]) -> HttpHeaders {
    let header = |(key, value): &(&str, &str)| HeaderValue {
        key: (*key).to_owned(),
        raw_value: value.as_bytes().to_vec(),
        ..HeaderValue::default()
    };
    let headers = Some(HeaderMap { headers: all.iter().map(header).collect() });
    HttpHeaders { headers, ..HttpHeaders::default() }
}

fn message(sent: Sent) -> ProcessingRequest {
    ProcessingRequest { request: Some(sent), ..ProcessingRequest::default() }
}

fn body(text: &str, end_of_stream: bool) -> HttpBody {
    HttpBody { body: text.as_bytes().to_vec(), end_of_stream, ..HttpBody::default() }
}

/// The body of a gRPC request.
type Outgoing = BoxBody<Bytes, Infallible>;

/// One HTTP request and its response, as messages of Envoy.
async fn exchange(
    mut connection: SendRequest<Outgoing>,
    head: HttpHeaders,
    text: String,
    outbox: &Outbox,
) {
    let (envoy, mut messages) = unbounded_channel::<ProcessingRequest>();
    let send = |it: Sent| drop(envoy.send(message(it)));
    let modes = ProtocolConfiguration {
        request_body_mode: FULL_DUPLEX,
        response_body_mode: FULL_DUPLEX,
        ..ProtocolConfiguration::default()
    };
    let first =
        ProcessingRequest { protocol_config: Some(modes), ..message(Sent::RequestHeaders(head)) };
    drop(envoy.send(first));
    send(Sent::RequestBody(body(&text, true)));
    let frames = stream::poll_fn(move |context| messages.poll_recv(context));
    let frames = frames.map(|message| Ok(Frame::data(framed(&message))));
    let request =
        hyper::Request::post("http://replica/envoy.service.ext_proc.v3.ExternalProcessor/Process");
    let request = request.header("content-type", "application/grpc");
    let request = request.body(BoxBody::new(StreamBody::new(frames))).unwrap();
    let response = connection.send_request(request).await.unwrap();
    let mut replies = Replies { body: response.into_body(), rest: BytesMut::new() };
    let tell = |message: String| drop(outbox.send(Seen::Client(message)));
    let mut forwarded = Vec::new();
    loop {
        match replies.next().await {
            Reply::RequestHeaders(_) => {}
            Reply::RequestBody(reply) => {
                let piece = piece(reply);
                forwarded.extend(piece.body);
                if piece.end_of_stream {
                    break;
                }
            }
            Reply::ImmediateResponse(answer) => return tell_whole(&answer.body, tell),
            other => panic!("{other:?}"),
        }
    }
    let text = String::from_utf8(forwarded).unwrap();
    if is_one_way(&text) {
        let _ = outbox.send(Seen::Server(text, None));
        let head = headers(&[(":status", "202")]);
        send(Sent::ResponseHeaders(HttpHeaders { end_of_stream: true, ..head }));
        let reply = replies.next().await;
        assert!(matches!(reply, Reply::ResponseHeaders(_)), "{reply:?}");
        return;
    }
    let (answers, mut answer) = unbounded_channel();
    let _ = outbox.send(Seen::Server(text, Some(answers)));
    let mut messages: Option<Messages> = None;
    let begin = |media: &str| {
        send(Sent::ResponseHeaders(headers(&[(":status", "200"), ("content-type", media)])));
        Messages::new(media)
    };
    loop {
        tokio::select! {
            Some(answer) = answer.recv() => match answer {
                Answer::Last(text) if messages.is_none() => {
                    messages = Some(begin("application/json"));
                    send(Sent::ResponseBody(body(&text, true)));
                }
                Answer::Last(text) => {
                    send(Sent::ResponseBody(body(&format!("data: {text}\n\n"), true)));
                }
                Answer::Before(text) => {
                    messages.get_or_insert_with(|| begin("text/event-stream"));
                    send(Sent::ResponseBody(body(&format!("data: {text}\n\n"), false)));
                }
            },
            reply = replies.next() => match reply {
                Reply::ResponseHeaders(_) => {}
                Reply::ResponseBody(reply) => {
                    let piece = piece(reply);
                    let came = messages.as_mut().expect("a response");
                    came.take(&piece.body).into_iter().for_each(tell);
                    if piece.end_of_stream {
                        return messages.and_then(Messages::end).into_iter().for_each(tell);
                    }
                }
                Reply::ImmediateResponse(answer) => return tell_whole(&answer.body, tell),
                other => panic!("{other:?}"),
            },
        }
    }
}

fn tell_whole(body: &[u8], tell: impl Fn(String)) {
    if !body.is_empty() {
        tell(String::from_utf8(body.to_vec()).unwrap());
    }
}

fn piece(reply: BodyResponse) -> StreamedBodyResponse {
    let mutation = reply.response.and_then(|it| it.body_mutation).and_then(|it| it.mutation);
    let Some(Mutation::StreamedResponse(piece)) = mutation else { panic!("{mutation:?}") };
    piece
}

/// A message with the prefix that gRPC has.
fn framed(message: &ProcessingRequest) -> Bytes {
    let message = message.encode_to_vec();
    let length = u32::try_from(message.len()).unwrap();
    [&[0], &length.to_be_bytes()[..], &message].concat().into()
}

/// The replies of a replica.
struct Replies {
    body: Incoming,
    rest: BytesMut,
}

impl Replies {
    async fn next(&mut self) -> Reply {
        loop {
            if let Some(prefix) = self.rest.first_chunk::<5>() {
                let [_, length @ ..] = *prefix;
                let length = usize::try_from(u32::from_be_bytes(length)).unwrap();
                if self.rest.len() >= 5 + length {
                    self.rest.advance(5);
                    let message = self.rest.split_to(length);
                    return ProcessingResponse::decode(message).unwrap().response.unwrap();
                }
            }
            let frame = self.body.frame().await.expect("a reply").unwrap();
            self.rest.extend_from_slice(&frame.into_data().expect("a reply, not the end"));
        }
    }
}
