//! Metrics in the text format of Prometheus.

use std::sync::Arc;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use crate::memory::MemoryLimit;
use crate::server::GuardedServer;
use crate::status::{Checks, OTHER, OutputSchema};

/// The type of the text.
pub(super) const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// There are as many label values as servers and tools that are counted each for itself, see
/// [`MAX_TOOLS`](crate::status::MAX_TOOLS); `other` stands for the rest.
type Labels = Vec<(&'static str, String)>;

/// The metrics of `servers` and of `memory` at this moment.
pub(super) fn text(servers: &[Arc<GuardedServer>], memory: &MemoryLimit) -> String {
    let calls = Family::<Labels, Counter>::default();
    let validations = Family::<Labels, Counter>::default();
    let fuel = Family::<Labels, Counter>::default();
    let seconds = Family::<Labels, Counter<f64, std::sync::atomic::AtomicU64>>::default();
    let notices = Family::<Labels, Counter>::default();
    let tools = Family::<Labels, Gauge>::default();
    let broken = Family::<Labels, Gauge>::default();
    for guarded in servers {
        let server = ("server", guarded.name().to_owned());
        let snapshot = guarded.status().snapshot();
        notices.get_or_create(&vec![server.clone()]).inc_by(snapshot.notices);
        for (name, tool) in &snapshot.tools {
            let is_one = name != OTHER;
            if is_one {
                let verdict = ("verdict", format!("{:?}", tool.verdict).to_lowercase());
                tools.get_or_create(&vec![server.clone(), verdict]).inc();
            }
            let name = if is_one { name } else { "other" };
            let labels = vec![server.clone(), ("tool", name.to_owned())];
            calls.get_or_create(&labels).inc_by(tool.calls);
            if tool.output_schema != OutputSchema::Kept {
                let handed_out = format!("{:?}", tool.output_schema).to_lowercase();
                let handed_out = vec![("handed_out", handed_out)];
                broken.get_or_create(&[labels.clone(), handed_out].concat()).set(1);
            }
            for (side, checks) in [("arguments", &tool.arguments), ("result", &tool.results)] {
                let labels = [labels.clone(), vec![("side", side.to_owned())]].concat();
                fuel.get_or_create(&labels).inc_by(checks.fuel);
                seconds.get_or_create(&labels).inc_by(checks.time.as_secs_f64());
                for (outcome, count) in outcomes(checks) {
                    let outcome = vec![("outcome", outcome.to_owned())];
                    let labels = [labels.clone(), outcome].concat();
                    validations.get_or_create(&labels).inc_by(count);
                }
            }
        }
    }
    let held = Family::<Labels, Gauge>::default();
    let [messages, values] = memory.used();
    let tools_used = memory.compiled().used();
    for (of, used) in [("messages", messages), ("values", values), ("tools", tools_used)] {
        let labels = vec![("of", of.to_owned())];
        held.get_or_create(&labels).set(i64::try_from(used).unwrap_or(i64::MAX));
    }
    let mut registry = Registry::with_prefix("toolbond");
    registry.register_with_unit("memory", "Memory in use", Unit::Bytes, held);
    registry.register("tools", "Tools by verdict", tools);
    let about = "Tools whose server breaks their output schema";
    registry.register("broken_output_schemas", about, broken);
    registry.register("calls", "Calls of tools", calls);
    registry.register("validations", "Validations by outcome", validations);
    registry.register("fuel_steps", "Steps of validations", fuel);
    registry.register_with_unit("validation", "Time of validations", Unit::Seconds, seconds);
    registry.register("notices", "Notices about connections", notices);
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = encode(&mut text, &registry);
    text
}

fn outcomes(checks: &Checks) -> [(&'static str, u64); 4] {
    let Checks { valid, repaired, invalid, unfinished, .. } = *checks;
    [("valid", valid), ("repaired", repaired), ("invalid", invalid), ("unfinished", unfinished)]
}
