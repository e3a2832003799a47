//! Traces, metrics and logs of tool calls, exported over OTLP.
//!
//! [`Telemetry::from_env`] reads the usual variables, such as `OTEL_EXPORTER_OTLP_ENDPOINT`, and returns `None` unless
//! one of them asks for export. Each call has a [`CallSpan`], which follows the semantic conventions of OpenTelemetry
//! for MCP.
//!
//! Exporting never delays a call: spans and log records wait in bounded queues, other threads send them, and what does
//! not fit is dropped and counted. Values of arguments and results are exported only where someone asks for them.

mod attribute;
mod client;
mod context;
mod environment;
mod failures;
mod instruments;
mod log;
mod queue;
mod redact;
mod role;
mod span;
mod telemetry;

pub use context::{Fields, TRACEPARENT, TRACESTATE, TraceContext};
pub use failures::Report;
pub use log::Record;
pub use opentelemetry;
pub use redact::{MAX_VALUE, exported_value};
pub use role::CallRole;
pub use span::{CallSpan, CallStart, Transport};
pub use telemetry::{FLUSH, Telemetry};
