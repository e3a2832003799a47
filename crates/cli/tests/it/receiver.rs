//! An OTLP receiver on loopback, over HTTP with protobuf.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

/// What a receiver does with requests.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// Takes them.
    Takes,
    /// Answers with this status.
    Refuses(u16),
    /// Reads them and says nothing.
    Hangs,
    /// Takes them after so many milliseconds.
    TakesAfter(u64),
}

/// What a receiver has got.
#[derive(Default)]
pub(crate) struct Received {
    /// The spans, with the name of their service.
    pub(crate) spans: Vec<(String, Span)>,
    pub(crate) logs: Vec<LogRecord>,
    pub(crate) metrics: Vec<Metric>,
    /// The bytes of all requests.
    pub(crate) bytes: Vec<u8>,
    /// How many requests there were.
    pub(crate) requests: usize,
}

impl Received {
    /// Whether `text` is anywhere in what was received.
    pub(crate) fn contains(&self, text: &str) -> bool {
        self.bytes.windows(text.len()).any(|bytes| bytes == text.as_bytes())
    }

    fn add(&mut self, path: &str, body: &[u8]) {
        self.bytes.extend(body);
        match path {
            "/v1/traces" => {
                for resource in ExportTraceServiceRequest::decode(body).unwrap().resource_spans {
                    let service = service(resource.resource.as_ref());
                    let spans = resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
                    self.spans.extend(spans.map(|span| (service.clone(), span)));
                }
            }
            "/v1/logs" => {
                let all = ExportLogsServiceRequest::decode(body).unwrap().resource_logs;
                let scopes = all.into_iter().flat_map(|resource| resource.scope_logs);
                self.logs.extend(scopes.flat_map(|scope| scope.log_records));
            }
            "/v1/metrics" => {
                let all = ExportMetricsServiceRequest::decode(body).unwrap().resource_metrics;
                let scopes = all.into_iter().flat_map(|resource| resource.scope_metrics);
                self.metrics.extend(scopes.flat_map(|scope| scope.metrics));
            }
            other => panic!("{other}"),
        }
    }
}

fn service(resource: Option<&Resource>) -> String {
    let all = resource.map(|resource| attributes(&resource.attributes)).unwrap_or_default();
    all.get("service.name").cloned().unwrap_or_default()
}

/// Attributes as text.
pub(crate) fn attributes(all: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |value: &Option<AnyValue>| value.as_ref().map(any).unwrap_or_default();
    all.iter().map(|it| (it.key.clone(), text(&it.value))).collect()
}

/// A value as text.
pub(crate) fn any(value: &AnyValue) -> String {
    match &value.value {
        Some(Any::StringValue(text)) => text.clone(),
        Some(Any::BoolValue(flag)) => flag.to_string(),
        Some(Any::IntValue(number)) => number.to_string(),
        Some(Any::DoubleValue(number)) => number.to_string(),
        Some(Any::ArrayValue(all)) => all.values.iter().map(any).collect::<Vec<_>>().join(", "),
        other => format!("{other:?}"),
    }
}

/// A receiver. It ends with the process of the test.
pub(crate) struct Receiver {
    pub(crate) port: u16,
    received: Arc<Mutex<Received>>,
}

impl Receiver {
    pub(crate) fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = Arc::new(Mutex::new(Received::default()));
        let all = Arc::clone(&received);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let all = Arc::clone(&all);
                // A sender that breaks off is no failure of the test.
                thread::spawn(move || drop(serve(stream.unwrap(), answer, &all)));
            }
        });
        Self { port, received }
    }

    /// Lets `command` and what it starts export here, soon after each call.
    pub(crate) fn receives_from(&self, command: &mut Command) {
        export_to(command, self.port);
    }

    /// What it has got so far.
    pub(crate) fn received(&self) -> MutexGuard<'_, Received> {
        self.received.lock().unwrap()
    }
}

/// Lets `command` export to `port`.
pub(crate) fn export_to(command: &mut Command, port: u16) {
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://127.0.0.1:{port}"))
        .env("OTEL_BSP_SCHEDULE_DELAY", "50")
        .env("OTEL_BLRP_SCHEDULE_DELAY", "50")
        .env("NO_PROXY", "127.0.0.1");
}

/// Answers the requests of one connection.
fn serve(mut stream: TcpStream, answer: Answer, all: &Mutex<Received>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first)? == 0 {
            return Ok(());
        }
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let path = first.split(' ').nth(1).unwrap_or_default();
        {
            let mut all = all.lock().unwrap();
            all.requests += 1;
            all.add(path, &body);
        }
        let status = match answer {
            Answer::Takes => 200,
            Answer::Refuses(status) => status,
            Answer::TakesAfter(milliseconds) => {
                thread::sleep(Duration::from_millis(milliseconds));
                200
            }
            Answer::Hangs => {
                // Until the sender goes.
                let _ = reader.read(&mut [0]);
                return Ok(());
            }
        };
        write!(stream, "HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n")?;
    }
}
