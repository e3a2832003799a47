//! What exports, and its end.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use opentelemetry::global::{self, BoxedTracer};
use opentelemetry::logs::LoggerProvider as _;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{InstrumentationScope, Key};
use opentelemetry_otlp::{LogExporter, MetricExporter, SpanExporter, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::logs::{self, BatchLogProcessor, SdkLogger, SdkLoggerProvider};
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{self, BatchSpanProcessor, SdkTracerProvider};
use tokio::runtime::{Builder, Runtime};
use toolbond_contract::judge::CallCheck;
use toolbond_fetch::error_chain;

use crate::client::Client;
use crate::environment::{Environment, Signal};
use crate::failures::{Failures, Report};
use crate::instruments::{Instruments, observe_dropped};
use crate::queue::{Bounded, Leaving, Queue};
use crate::span::{CallSpan, CallStart};

/// The longest time that the end of a process waits for its last export.
pub const FLUSH: Duration = Duration::from_secs(2);

/// How many spans and log records wait to be exported, where no variable says so.
const QUEUE: usize = 2048;

/// Traces, metrics and logs of one process. Clones are the same.
#[derive(Clone)]
pub struct Telemetry(Arc<Inner>);

struct Inner {
    tracer: BoxedTracer,
    instruments: Option<Arc<Instruments>>,
    logger: Option<SdkLogger>,
    export: Option<Exporting>,
}

/// What sends.
struct Exporting {
    tracers: Option<SdkTracerProvider>,
    meters: Option<SdkMeterProvider>,
    loggers: Option<SdkLoggerProvider>,
    spans: Arc<Queue>,
    logs: Arc<Queue>,
    failures: Arc<Failures>,
    /// What requests run on, until the end.
    runtime: Mutex<Option<Runtime>>,
}

impl std::fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Telemetry").finish_non_exhaustive()
    }
}

impl Telemetry {
    /// Exports as the variables of the environment say; `None` where they ask for nothing.
    ///
    /// `service` is the name of the service unless a variable sets another one. A variable that cannot be used is
    /// reported, and what it is about is not exported.
    #[must_use]
    pub fn from_env(service: &'static str, report: Report) -> Option<Self> {
        let environment = Environment(|name: &str| std::env::var(name).ok());
        if !environment.asks_for_export() {
            return None;
        }
        let failures = Arc::new(Failures::new(report));
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("telemetry")
            .enable_all()
            .build();
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(error) => {
                failures.report(format!("telemetry: nothing is exported: {error}"));
                return None;
            }
        };
        let client = |signal: Signal| {
            let made = environment.export(signal).and_then(|export| {
                let Some(export) = export else { return Ok(None) };
                let client = Client::new(&export, runtime.handle().clone(), Arc::clone(&failures));
                client.map(Some).map_err(|error| error_chain(&error))
            });
            made.unwrap_or_else(|wrong| {
                failures.report(format!("telemetry: {} are not exported: {wrong}", signal.name()));
                None
            })
        };
        let unusable = |signal: Signal, error: &dyn std::error::Error| {
            let (name, wrong) = (signal.name(), error_chain(error));
            failures.report(format!("telemetry: {name} are not exported: {wrong}"));
        };
        let resource = resource(service);
        let spans = Queue::new(environment.queue("OTEL_BSP_MAX_QUEUE_SIZE", QUEUE));
        let logs = Queue::new(environment.queue("OTEL_BLRP_MAX_QUEUE_SIZE", QUEUE));
        let tracers = client(Signal::Traces).and_then(|client| {
            let exporter = SpanExporter::builder().with_http().with_http_client(client).build();
            exporter
                .map(|exporter| span_provider(exporter, &spans, &resource))
                .map_err(|error| unusable(Signal::Traces, &error))
                .ok()
        });
        let meters = client(Signal::Metrics).and_then(|client| {
            let exporter = MetricExporter::builder().with_http().with_http_client(client).build();
            let provide = |exporter| {
                let builder = SdkMeterProvider::builder().with_resource(resource.clone());
                builder.with_periodic_exporter(exporter).build()
            };
            exporter.map(provide).map_err(|error| unusable(Signal::Metrics, &error)).ok()
        });
        let loggers = client(Signal::Logs).and_then(|client| {
            let exporter = LogExporter::builder().with_http().with_http_client(client).build();
            exporter
                .map(|exporter| log_provider(exporter, &logs, &resource))
                .map_err(|error| unusable(Signal::Logs, &error))
                .ok()
        });
        if tracers.is_none() && meters.is_none() && loggers.is_none() {
            runtime.shutdown_background();
            return None;
        }
        let tracer = match &tracers {
            Some(tracers) => BoxedTracer::new(Box::new(tracers.tracer_with_scope(scope()))),
            None => BoxedTracer::new(Box::new(opentelemetry::trace::noop::NoopTracer::new())),
        };
        let instruments = meters.as_ref().map(|meters| {
            let meter = meters.meter_with_scope(scope());
            let queues = [("traces", Arc::clone(&spans)), ("logs", Arc::clone(&logs))];
            observe_dropped(&meter, queues);
            Arc::new(Instruments::new(&meter))
        });
        let logger = loggers.as_ref().map(|loggers| loggers.logger_with_scope(scope()));
        let runtime = Mutex::new(Some(runtime));
        let export = Some(Exporting { tracers, meters, loggers, spans, logs, failures, runtime });
        Some(Self(Arc::new(Inner { tracer, instruments, logger, export })))
    }

    /// Uses the tracer and the meter that the program has set for all of its libraries. There are no log records.
    #[must_use]
    pub fn global() -> Self {
        let tracer = global::tracer_with_scope(scope());
        let instruments = Some(Arc::new(Instruments::new(&global::meter_with_scope(scope()))));
        Self(Arc::new(Inner { tracer, instruments, logger: None, export: None }))
    }

    /// Makes the rest of the program export here what it traces and measures with the API of OpenTelemetry.
    pub fn set_global(&self) {
        let Some(export) = &self.0.export else { return };
        global::set_text_map_propagator(TraceContextPropagator::new());
        if let Some(tracers) = &export.tracers {
            global::set_tracer_provider(tracers.clone());
        }
        if let Some(meters) = &export.meters {
            global::set_meter_provider(meters.clone());
        }
    }

    /// Starts the span of a call.
    #[must_use]
    pub fn start_call(&self, call: &CallStart<'_>) -> CallSpan {
        CallSpan::start(&self.0.tracer, self.0.instruments.clone(), call)
    }

    /// Counts a check of the arguments or the result of a call of `tool`.
    pub fn count_check(&self, server: Option<&str>, tool: &str, check: &CallCheck) {
        if let Some(instruments) = &self.0.instruments {
            instruments.record_check(server, tool, check);
        }
    }

    /// Exports what is left, for at most [`FLUSH`], and ends. Blocks this thread. Reports how much was lost.
    pub fn shutdown(&self) {
        let Some(export) = &self.0.export else { return };
        let (done, ended) = channel();
        let end = |work: Box<dyn FnOnce() + Send>| {
            let done = done.clone();
            thread::spawn(move || {
                work();
                let _ = done.send(());
            });
        };
        if let Some(tracers) = export.tracers.clone() {
            end(Box::new(move || drop(tracers.shutdown_with_timeout(FLUSH))));
        }
        if let Some(meters) = export.meters.clone() {
            end(Box::new(move || drop(meters.shutdown_with_timeout(FLUSH))));
        }
        if let Some(loggers) = export.loggers.clone() {
            end(Box::new(move || drop(loggers.shutdown_with_timeout(FLUSH))));
        }
        drop(done);
        let limit = Instant::now() + FLUSH;
        let left = || limit.saturating_duration_since(Instant::now());
        while ended.recv_timeout(left()).is_ok() {}
        let runtime = export.runtime.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(runtime) = runtime {
            runtime.shutdown_background();
        }
        let (spans, logs) = (export.spans.lost(), export.logs.lost());
        if spans + logs > 0 {
            export.failures.report(format!(
                "telemetry: {spans} spans and {logs} log records were not exported"
            ));
        }
    }

    pub(crate) fn logger(&self) -> Option<&SdkLogger> {
        self.0.logger.as_ref()
    }
}

/// What makes spans, metrics and log records.
fn scope() -> InstrumentationScope {
    InstrumentationScope::builder("toolbond").with_version(env!("CARGO_PKG_VERSION")).build()
}

/// The attributes of the process: those of `OTEL_RESOURCE_ATTRIBUTES`, and a name.
fn resource(service: &'static str) -> Resource {
    let found = Resource::builder().build();
    let name = found.get(&Key::from_static_str("service.name"));
    let is_named = name.is_some_and(|name| !name.as_str().starts_with("unknown_service"));
    if is_named { found } else { Resource::builder().with_service_name(service).build() }
}

fn span_provider(
    exporter: SpanExporter,
    queue: &Arc<Queue>,
    resource: &Resource,
) -> SdkTracerProvider {
    let exporter = Leaving { exporter, queue: Arc::clone(queue) };
    let config = trace::BatchConfigBuilder::default().with_max_queue_size(queue.limit()).build();
    let inner = BatchSpanProcessor::builder(exporter).with_batch_config(config).build();
    SdkTracerProvider::builder()
        .with_span_processor(Bounded { inner, queue: Arc::clone(queue) })
        .with_resource(resource.clone())
        .build()
}

fn log_provider(
    exporter: LogExporter,
    queue: &Arc<Queue>,
    resource: &Resource,
) -> SdkLoggerProvider {
    let exporter = Leaving { exporter, queue: Arc::clone(queue) };
    let config = logs::BatchConfigBuilder::default().with_max_queue_size(queue.limit()).build();
    let inner = BatchLogProcessor::builder(exporter).with_batch_config(config).build();
    SdkLoggerProvider::builder()
        .with_log_processor(Bounded { inner, queue: Arc::clone(queue) })
        .with_resource(resource.clone())
        .build()
}
