//! `toolbond ext-proc` and messages that Envoy would not send: each stream ends with an error, and others go on.

use std::convert::Infallible;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use envoy_types::pb::envoy::config::core::v3::{HeaderMap, HeaderValue};
use envoy_types::pb::envoy::service::ext_proc::v3::external_processor_client::ExternalProcessorClient;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_request::Request as Sent;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_response::Response as Received;
use envoy_types::pb::envoy::service::ext_proc::v3::{
    HttpBody, HttpHeaders, HttpTrailers, ProcessingRequest, ProcessingResponse,
    ProtocolConfiguration,
};
use http_body_util::BodyExt as _;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use toolbond_harness::address::reserved;
use toolbond_harness::envoy::Replica;
use toolbond_harness::files::Folder;
use toolbond_harness::wait::{HANG, wait_until};

use crate::echo::echo;
use crate::guard_memory::held;
use toolbond_harness::mcp::call;

/// The body mode `FULL_DUPLEX_STREAMED`.
const FULL_DUPLEX: i32 = 4;

/// A replica in front of the server that echoes, and its client.
struct World {
    runtime: Runtime,
    replica: Replica,
    channel: Channel,
}

/// The gRPC stream of one HTTP request.
struct Stream {
    sender: mpsc::Sender<ProcessingRequest>,
    replies: Streaming<ProcessingResponse>,
}

impl World {
    fn new() -> Self {
        Self::with(&[])
    }

    fn with(options: &[&str]) -> Self {
        let folder = Folder::new();
        let url = echo().url("/mcp");
        let config =
            format!("[contract]\nresults = \"enforce\"\n[servers.echo]\nurl = \"{url}\"\n");
        folder.write("toolbond.toml", config);
        let replica = Replica::start_with(&folder, reserved(), options, &[]);
        let runtime = Runtime::new().unwrap();
        let address = format!("http://{}", replica.address);
        let endpoint = Channel::from_shared(address).unwrap();
        let channel = runtime.block_on(endpoint.connect()).unwrap();
        Self { runtime, replica, channel }
    }

    /// Opens a stream, which ends when `scene` does.
    fn play<F: Future<Output = T>, T>(&self, scene: impl FnOnce(Stream) -> F) -> T {
        let channel = self.channel.clone();
        self.runtime.block_on(async {
            let stream = Stream::open(channel).await;
            tokio::time::timeout(HANG, scene(stream)).await.unwrap()
        })
    }

    /// An ordinary call, from the headers of the request to the end of the response.
    fn call(&self) {
        self.play(|mut stream| async move {
            let text = call(1, "echo", &json!({ "text": "x" }));
            stream.send(headers(false)).await;
            stream.send(request_body(text.as_bytes(), true)).await;
            let Received::RequestHeaders(_) = stream.next().await.unwrap() else { panic!() };
            let Received::RequestBody(_) = stream.next().await.unwrap() else { panic!() };
            stream.send(response_headers()).await;
            let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"text":"x"}}}"#;
            stream.send(response_body(answer.as_bytes(), true)).await;
            let Received::ResponseHeaders(_) = stream.next().await.unwrap() else { panic!() };
            let Received::ResponseBody(_) = stream.next().await.unwrap() else { panic!() };
        });
    }
}

impl Stream {
    async fn open(channel: Channel) -> Self {
        let (sender, mut receiver) = mpsc::channel(64);
        let sent = futures_util::stream::poll_fn(move |context| receiver.poll_recv(context));
        let mut client = ExternalProcessorClient::new(channel);
        let replies = client.process(sent).await.unwrap().into_inner();
        Self { sender, replies }
    }

    async fn send(&self, message: ProcessingRequest) {
        // What is sent to a stream that has ended is lost.
        let _ = self.sender.send(message).await;
    }

    async fn next(&mut self) -> Result<Received, Status> {
        let reply = self.replies.message().await?;
        reply.and_then(|reply| reply.response).ok_or_else(|| Status::ok("ended"))
    }

    /// The status that the stream ends with, once Envoy says that nothing follows, and the replies before that.
    async fn end(mut self) -> (Code, Vec<Received>) {
        drop(self.sender);
        let mut replies = Vec::new();
        loop {
            let reply = self.replies.message().await;
            match reply.map(|reply| reply.and_then(|reply| reply.response)) {
                Ok(Some(reply)) => replies.push(reply),
                Ok(None) => return (Code::Ok, replies),
                Err(status) => return (status.code(), replies),
            }
        }
    }
}

fn header(key: &str, value: &str) -> HeaderValue {
    let raw_value = value.as_bytes().to_vec();
    HeaderValue { key: key.to_owned(), raw_value, ..HeaderValue::default() }
}

fn message(sent: Sent) -> ProcessingRequest {
    ProcessingRequest { request: Some(sent), ..ProcessingRequest::default() }
}

fn http_headers(all: &[(&str, &str)], end_of_stream: bool) -> HttpHeaders {
    let headers = all.iter().map(|(key, value)| header(key, value)).collect();
    HttpHeaders { headers: Some(HeaderMap { headers }), end_of_stream, ..HttpHeaders::default() }
}

/// The first message, with the body modes of both directions.
fn first(all: &[(&str, &str)], end: bool, modes: (i32, i32)) -> ProcessingRequest {
    let (request_body_mode, response_body_mode) = modes;
    let config = ProtocolConfiguration {
        request_body_mode,
        response_body_mode,
        ..ProtocolConfiguration::default()
    };
    let sent = message(Sent::RequestHeaders(http_headers(all, end)));
    ProcessingRequest { protocol_config: Some(config), ..sent }
}

const HEADERS: [(&str, &str); 5] = [
    (":method", "POST"),
    (":path", "/mcp"),
    (":authority", "localhost"),
    ("content-type", "application/json"),
    ("mcp-protocol-version", "2025-11-25"),
];

fn headers(end: bool) -> ProcessingRequest {
    first(&HEADERS, end, (FULL_DUPLEX, FULL_DUPLEX))
}

fn body(bytes: &[u8], end_of_stream: bool) -> HttpBody {
    HttpBody { body: bytes.to_vec(), end_of_stream, ..HttpBody::default() }
}

fn request_body(bytes: &[u8], end: bool) -> ProcessingRequest {
    message(Sent::RequestBody(body(bytes, end)))
}

fn response_body(bytes: &[u8], end: bool) -> ProcessingRequest {
    message(Sent::ResponseBody(body(bytes, end)))
}

fn response_headers() -> ProcessingRequest {
    let all = [(":status", "200"), ("content-type", "application/json")];
    message(Sent::ResponseHeaders(http_headers(&all, false)))
}

#[test]
fn messages_out_of_order_end_the_stream_with_an_error() {
    let world = World::new();
    let text = call(1, "echo", &json!({ "text": "x" }));
    let observed = ProcessingRequest { observability_mode: true, ..headers(false) };
    let whole = || request_body(text.as_bytes(), true);
    // The last message comes together with the others, and after as many replies as they have.
    let cases = [
        ("nothing in a message", vec![ProcessingRequest::default()], 0),
        ("a body first", vec![request_body(b"{}", true)], 0),
        ("a response first", vec![response_headers()], 0),
        ("observed only", vec![observed], 0),
        ("headers twice", vec![headers(false), headers(false)], 0),
        ("a response before the request", vec![headers(false), response_headers()], 0),
        ("a body after its end", vec![headers(false), whole(), whole()], 2),
        ("a body after headers without one", vec![headers(true), request_body(b"{}", true)], 1),
        ("two responses", vec![headers(false), whole(), response_headers(), response_headers()], 2),
    ];
    for (name, mut messages, replies) in cases {
        let last = messages.pop().unwrap();
        for replies in [0, replies] {
            let (messages, last) = (messages.clone(), last.clone());
            let (code, _) = world.play(|mut stream| async move {
                for message in messages {
                    stream.send(message).await;
                }
                for _ in 0..replies {
                    stream.next().await.unwrap();
                }
                stream.send(last).await;
                stream.end().await
            });
            // Envoy takes an end without an error for leave to go on unchecked.
            assert_ne!(code, Code::Ok, "{name}");
        }
        world.call();
    }
}

#[test]
fn heads_that_cannot_be_read_are_answered() {
    let world = World::new();
    let without =
        |name: &str| HEADERS.into_iter().filter(|(key, _)| *key != name).collect::<Vec<_>>();
    let with = |more: (&'static str, &'static str)| [&HEADERS[..], &[more]].concat();
    for all in [
        without(":path"),
        without(":method"),
        with((":path", "/other")),
        with(("x y", "z")),
        with(("x-line", "a\nb")),
    ] {
        let reply = world.play(|mut stream| {
            let message = first(&all, false, (FULL_DUPLEX, FULL_DUPLEX));
            async move {
                stream.send(message).await;
                stream.next().await.unwrap()
            }
        });
        let Received::ImmediateResponse(reply) = reply else { panic!("{reply:?}") };
        assert_eq!(reply.status.unwrap().code, 400, "{all:?}");
        world.call();
    }
    for (mode, end) in [(0, false), (1, false), (2, false), (2, true), (5, false), (99, false)] {
        let reply = world.play(|mut stream| async move {
            stream.send(first(&HEADERS, end, (mode, FULL_DUPLEX))).await;
            stream.next().await.unwrap()
        });
        let Received::ImmediateResponse(reply) = reply else { panic!("{reply:?}") };
        assert_eq!(reply.status.unwrap().code, 500);
    }
}

#[test]
fn a_body_that_breaks_off_reaches_no_one() {
    let world = World::new();
    let text = call(1, "echo", &json!({ "text": "x" }));
    // Trailers end a body as its last piece does.
    for (messages, is_whole) in [
        (vec![request_body(&text.as_bytes()[..40], false)], false),
        (vec![request_body(text.as_bytes(), false)], false),
        (
            vec![
                request_body(text.as_bytes(), false),
                message(Sent::RequestTrailers(HttpTrailers::default())),
            ],
            true,
        ),
    ] {
        let replies = world.play(|mut stream| async move {
            stream.send(headers(false)).await;
            for message in messages {
                stream.send(message).await;
            }
            if is_whole {
                let replies = [stream.next().await.unwrap(), stream.next().await.unwrap()];
                return replies.to_vec();
            }
            stream.end().await.1
        });
        let passed = |reply: &Received| {
            matches!(reply, Received::RequestHeaders(_) | Received::RequestBody(_))
        };
        assert_eq!(replies.iter().any(passed), is_whole, "{replies:?}");
        world.call();
    }
}

#[test]
fn bytes_that_are_no_messages_harm_nobody() {
    let world = World::new();
    for garbage in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0xff; 4096],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff",
    ] {
        let mut stream = TcpStream::connect(world.replica.address).unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        stream.write_all(garbage).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        // It may be reset.
        let _ = stream.read_to_end(&mut answer);
        world.call();
    }
    // A message beyond the limit on messages.
    let (code, _) = world.play(|stream| async move {
        stream.send(headers(false)).await;
        stream.send(request_body(&vec![b'x'; 20 << 20], true)).await;
        stream.end().await
    });
    assert_eq!(code, Code::OutOfRange);
    world.call();
}

/// The status that a request for `path` ends with, whose body comes in these frames.
async fn status_of(address: SocketAddr, path: &str, frames: Vec<Vec<u8>>) -> String {
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let executor = hyper_util::rt::TokioExecutor::new();
    let io = hyper_util::rt::TokioIo::new(stream);
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(executor, io).await.unwrap();
    tokio::spawn(connection);
    let frames = frames.into_iter().map(|bytes| {
        Ok::<_, Infallible>(hyper::body::Frame::data(hyper::body::Bytes::from(bytes)))
    });
    let body = http_body_util::StreamBody::new(futures_util::stream::iter(frames));
    let request = hyper::Request::post(format!("http://{address}{path}")).body(body);
    let response = sender.send_request(request.unwrap()).await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/grpc", "{path}");
    let body = response.into_body().collect().await.unwrap();
    body.trailers().unwrap()["grpc-status"].to_str().unwrap().to_owned()
}

#[test]
fn frames_are_read_wherever_they_are_cut() {
    let world = World::new();
    let about = |service: &[u8]| {
        let length = u8::try_from(service.len()).unwrap();
        let mut bytes = vec![0, 0, 0, 0, length + 2, 0x0a, length];
        bytes.extend_from_slice(service);
        bytes
    };
    let own = b"envoy.service.ext_proc.v3.ExternalProcessor";
    let check = "/grpc.health.v1.Health/Check";
    for (path, bytes, expected) in [
        (check, vec![0; 5], Code::Ok),
        (check, about(own), Code::Ok),
        (check, about(b"other"), Code::NotFound),
        (check, vec![], Code::InvalidArgument),
        (check, vec![0; 3], Code::Internal),
        (check, vec![0, 0, 0, 0, 9, 0x0a], Code::Internal),
        (check, vec![0, 0, 0, 0, 1, 0xff], Code::Internal),
        (check, vec![1, 0, 0, 0, 0], Code::Unimplemented),
        (check, vec![0, 0xff, 0xff, 0xff, 0xff], Code::OutOfRange),
        ("/grpc.health.v1.Health/Other", vec![0; 5], Code::Unimplemented),
        ("/envoy.service.ext_proc.v3.ExternalProcessor/Other", vec![0; 5], Code::Unimplemented),
        ("/", vec![0; 5], Code::Unimplemented),
    ] {
        let single = bytes.iter().map(|byte| vec![*byte]).collect();
        for frames in [vec![bytes.clone()], single] {
            let status = status_of(world.replica.address, path, frames);
            let status = world.runtime.block_on(status);
            assert_eq!(status, (expected as i32).to_string(), "{path} {bytes:?}");
        }
    }
    world.call();
}

#[test]
fn open_requests_are_limited() {
    let world = World::with(&["--max-requests", "3"]);
    // A request without a body, whose response is still to come, or its refusal.
    let open = || {
        let channel = world.channel.clone();
        world.runtime.block_on(async {
            let mut stream = Stream::open(channel).await;
            stream.send(headers(true)).await;
            let reply = tokio::time::timeout(HANG, stream.next()).await.unwrap().unwrap();
            (stream, reply)
        })
    };
    let held = [open(), open(), open()];
    assert!(held.iter().all(|(_, reply)| matches!(reply, Received::RequestHeaders(_))));
    let (_, Received::ImmediateResponse(reply)) = open() else { panic!("there is no limit") };
    assert_eq!(reply.status.unwrap().code, 503);
    let text = String::from_utf8(reply.body).unwrap();
    assert!(text.contains("3 requests are open, which is the limit"), "{text}");
    drop(held);
    wait_until("there is room again", || matches!(open().1, Received::RequestHeaders(_)));
}

#[test]
fn unfinished_bodies_are_counted_and_given_back() {
    const LIMIT: u64 = 8 << 20;
    let limit = LIMIT.to_string();
    let world = World::with(&["--max-memory", &limit, "--status", "127.0.0.1:0"]);
    let status = world.replica.process.port("status on");
    // Envoy closes its connection.
    let envoy = Runtime::new().unwrap();
    let endpoint = Channel::from_shared(format!("http://{}", world.replica.address)).unwrap();
    let channel = envoy.block_on(endpoint.connect()).unwrap();
    for _ in 0..8 {
        let channel = channel.clone();
        envoy.spawn(async move {
            let stream = Stream::open(channel).await;
            stream.send(headers(false)).await;
            stream.send(request_body(b"[\"", false)).await;
            for _ in 0..48 {
                stream.send(request_body(&vec![b'x'; 64 << 10], false)).await;
            }
            std::future::pending::<()>().await;
        });
    }
    wait_until("the replica holds as much as it may", || held(status) > LIMIT / 4);
    assert!(held(status) <= LIMIT, "{} bytes", held(status));
    envoy.shutdown_background();
    wait_until("all is given back", || held(status) == 0);
    world.call();
}

/// The states that a client of the health check is told.
async fn watch(channel: Channel) -> Streaming<tonic_health::pb::HealthCheckResponse> {
    let request = tonic_health::pb::HealthCheckRequest { service: String::new() };
    HealthClient::new(channel).watch(request).await.unwrap().into_inner()
}

#[test]
fn the_health_check_tells_before_the_replica_ends() {
    // It drains for longer than the test takes.
    let world = World::with(&["--drain-seconds", "3600"]);
    let mut watched = world.runtime.block_on(watch(world.channel.clone()));
    let mut next = || world.runtime.block_on(watched.message()).unwrap().unwrap().status();
    assert_eq!(next(), ServingStatus::Serving);
    world.replica.process.signal("-TERM");
    assert_eq!(next(), ServingStatus::NotServing);
    let request = tonic_health::pb::HealthCheckRequest { service: String::new() };
    let mut client = HealthClient::new(world.channel.clone());
    let checked = world.runtime.block_on(client.check(request)).unwrap().into_inner();
    assert_eq!(checked.status(), ServingStatus::NotServing);
    // Requests that come before Envoy knows are served.
    world.call();

    let mut world = World::with(&["--drain-seconds", "0"]);
    let mut watched = world.runtime.block_on(watch(world.channel.clone()));
    world.replica.process.signal("-TERM");
    while world.runtime.block_on(watched.message()).unwrap().is_some() {}
    let status = world.replica.process.wait();
    assert_eq!(status.code(), Some(0), "{:?}", world.replica.process.log());
}
