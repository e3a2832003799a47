//! An OTLP receiver on loopback, over HTTP with protobuf.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
pub use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
pub use opentelemetry_proto::tonic::logs::v1::LogRecord;
pub use opentelemetry_proto::tonic::metrics::v1::{Metric, metric::Data};
use opentelemetry_proto::tonic::resource::v1::Resource;
pub use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind};
use prost::Message as _;

use crate::http::HttpServer;
use crate::wait::wait_until;

/// What a receiver does with requests.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
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
#[derive(Debug, Default)]
pub struct Received {
    /// The spans, with the name of their service.
    pub spans: Vec<(String, Span)>,
    /// The log records.
    pub logs: Vec<LogRecord>,
    /// The metrics of the last request that had some: they count from the start of the process.
    pub metrics: Vec<Metric>,
    /// The bytes of all requests.
    pub bytes: Vec<u8>,
    /// How many requests there were.
    pub requests: usize,
}

impl Received {
    /// Whether `text` is anywhere in what was received.
    pub fn contains(&self, text: &str) -> bool {
        self.bytes.windows(text.len()).any(|bytes| bytes == text.as_bytes())
    }

    fn add(&mut self, path: &str, body: &[u8]) {
        self.requests += 1;
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
                self.metrics = scopes.flat_map(|scope| scope.metrics).collect();
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
pub fn attributes(all: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |value: &Option<AnyValue>| value.as_ref().map(any).unwrap_or_default();
    all.iter().map(|it| (it.key.clone(), text(&it.value))).collect()
}

/// A value as text.
pub fn any(value: &AnyValue) -> String {
    match &value.value {
        Some(Any::StringValue(text)) => text.clone(),
        Some(Any::BoolValue(flag)) => flag.to_string(),
        Some(Any::IntValue(number)) => number.to_string(),
        Some(Any::DoubleValue(number)) => number.to_string(),
        Some(Any::ArrayValue(all)) => all.values.iter().map(any).collect::<Vec<_>>().join(", "),
        other => format!("{other:?}"),
    }
}

/// An id as W3C writes it.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A receiver. It ends with the process of the test.
#[derive(Debug)]
pub struct Receiver {
    /// Its port.
    pub port: u16,
    received: Arc<Mutex<Received>>,
}

impl Receiver {
    /// Starts one.
    pub fn start(answer: Answer) -> Self {
        let received = Arc::new(Mutex::new(Received::default()));
        let all = Arc::clone(&received);
        let server = HttpServer::start(move |request, reply| {
            all.lock().unwrap().add(request.path(), &request.body);
            match answer {
                Answer::Takes => reply.send("200 OK", "", ""),
                Answer::Refuses(status) => reply.send(&format!("{status} X"), "", ""),
                Answer::TakesAfter(milliseconds) => {
                    thread::sleep(Duration::from_millis(milliseconds));
                    reply.send("200 OK", "", "")
                }
                Answer::Hangs => {
                    reply.hang();
                    Ok(())
                }
            }
        });
        Self { port: server.port, received }
    }

    /// What it has got so far.
    pub fn received(&self) -> MutexGuard<'_, Received> {
        self.received.lock().unwrap()
    }

    /// Waits until it has got what is meant.
    #[track_caller]
    pub fn wait_until(&self, what: &str, is_meant: impl Fn(&Received) -> bool) {
        wait_until(what, || is_meant(&self.received()));
    }

    /// The variables of a process that exports here.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        export_to(&format!("127.0.0.1:{}", self.port))
    }
}

/// The variables of a process that exports to `address`, soon after each call. An export may take ten minutes, which is
/// longer than any end of a guard.
pub fn export_to(address: &str) -> Vec<(&'static str, String)> {
    vec![
        ("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{address}")),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "600000".to_owned()),
        ("OTEL_BSP_SCHEDULE_DELAY", "50".to_owned()),
        ("OTEL_BLRP_SCHEDULE_DELAY", "50".to_owned()),
        ("OTEL_METRIC_EXPORT_INTERVAL", "100".to_owned()),
        ("NO_PROXY", "127.0.0.1,127.0.0.0/8".to_owned()),
    ]
}
