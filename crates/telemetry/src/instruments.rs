//! Metrics of calls and checks.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter};
use toolbond_contract::judge::CallCheck;

use crate::attribute;
use crate::queue::Queue;
use crate::role::CallRole;

/// The buckets that the semantic conventions ask for, in seconds.
const BUCKETS: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// Metrics of calls and checks.
pub(crate) struct Instruments {
    server: Histogram<f64>,
    client: Histogram<f64>,
    validations: Counter<u64>,
    fuel: Counter<u64>,
}

impl Instruments {
    pub(crate) fn new(meter: &Meter) -> Self {
        let duration = |name, what| {
            let builder = meter.f64_histogram(name).with_unit("s").with_description(what);
            builder.with_boundaries(BUCKETS.to_vec()).build()
        };
        Self {
            server: duration("mcp.server.operation.duration", "Time from a call to its answer"),
            client: duration("mcp.client.operation.duration", "Time from a call to its answer"),
            validations: meter
                .u64_counter("toolbond.validations")
                .with_unit("{validation}")
                .with_description("Validations of arguments and results by verdict")
                .build(),
            fuel: meter
                .u64_counter("toolbond.validation.fuel")
                .with_unit("{step}")
                .with_description("Steps of validations")
                .build(),
        }
    }

    pub(crate) fn record_call(&self, role: CallRole, time: Duration, attributes: &[KeyValue]) {
        let duration = match role {
            CallRole::Server => &self.server,
            CallRole::Client => &self.client,
        };
        duration.record(time.as_secs_f64(), attributes);
    }

    pub(crate) fn record_check(&self, server: Option<&str>, tool: &str, check: &CallCheck) {
        let mut attributes = vec![
            KeyValue::new(attribute::SIDE, attribute::side(check)),
            KeyValue::new(attribute::TOOL, attribute::shorten(tool, attribute::MAX_NAME)),
        ];
        if let Some(server) = server {
            attributes.push(KeyValue::new(attribute::SERVER, server.to_owned()));
        }
        self.fuel.add(check.fuel, &attributes);
        attributes.push(KeyValue::new(attribute::VERDICT, attribute::verdict(check)));
        self.validations.add(1, &attributes);
    }
}

/// Counts what `queues` drop, by the name of the signal.
pub(crate) fn observe_dropped(meter: &Meter, queues: [(&'static str, Arc<Queue>); 2]) {
    meter
        .u64_observable_counter("toolbond.telemetry.dropped")
        .with_unit("{item}")
        .with_description(
            "Spans and log records that did not fit into their queue or could not be sent",
        )
        .with_callback(move |observer| {
            for (signal, queue) in &queues {
                observer.observe(queue.dropped(), &[KeyValue::new(attribute::SIGNAL, *signal)]);
            }
        })
        .build();
}
