//! The variables that ask for export, and what is wrong with them.

use std::path::PathBuf;
use std::time::Duration;

use hyper::Uri;

/// What is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Traces,
    Metrics,
    Logs,
}

impl Signal {
    pub(crate) const ALL: [Self; 3] = [Self::Traces, Self::Metrics, Self::Logs];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::Metrics => "metrics",
            Self::Logs => "logs",
        }
    }

    /// The variable about this signal only.
    fn variable(self, what: &str) -> String {
        format!("OTEL_EXPORTER_OTLP_{}_{what}", self.name().to_uppercase())
    }
}

/// How one signal is exported.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Export {
    /// The longest time that one request takes.
    pub(crate) timeout: Duration,
    /// Certificates that are trusted beside those of the system.
    pub(crate) certificate: Option<PathBuf>,
}

/// The time limit of one request, where no variable sets another one.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The bounds of a queue that a variable sets.
const MAX_QUEUE: usize = 65_536;

/// Reads variables; tests have their own.
pub(crate) struct Environment<F>(pub(crate) F);

impl<F: Fn(&str) -> Option<String>> Environment<F> {
    /// An empty variable counts as unset.
    fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// The variable and its value: the one about `signal`, else the general one.
    fn of(&self, signal: Signal, what: &str) -> Option<(String, String)> {
        let general = format!("OTEL_EXPORTER_OTLP_{what}");
        let names = [signal.variable(what), general];
        names.into_iter().find_map(|name| self.get(&name).map(|value| (name, value)))
    }

    /// Whether a variable asks for the export of anything.
    pub(crate) fn asks_for_export(&self) -> bool {
        let is_disabled =
            self.get("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
        !is_disabled && Signal::ALL.iter().any(|signal| self.of(*signal, "ENDPOINT").is_some())
    }

    /// How `signal` is exported, if it is. Fails with a line that says what is wrong with a variable.
    pub(crate) fn export(&self, signal: Signal) -> Result<Option<Export>, String> {
        let Some((name, endpoint)) = self.of(signal, "ENDPOINT") else { return Ok(None) };
        let choice = format!("OTEL_{}_EXPORTER", signal.name().to_uppercase());
        match self.get(&choice) {
            Some(exporter) if exporter == "none" => return Ok(None),
            Some(exporter) if !exporter.split(',').any(|it| it.trim() == "otlp") => {
                return Err(format!("{choice}: expected `otlp` or `none`"));
            }
            _ => {}
        }
        check_url(&endpoint).map_err(|found| {
            format!("{name}: expected a URL such as http://127.0.0.1:4318, found {found}")
        })?;
        if let Some((name, protocol)) = self.of(signal, "PROTOCOL")
            && protocol != "http/protobuf"
        {
            return Err(format!("{name}: expected `http/protobuf`, the only supported protocol"));
        }
        let timeout = match self.of(signal, "TIMEOUT") {
            Some((name, value)) => Duration::from_millis(
                value.parse().map_err(|_| format!("{name}: expected milliseconds"))?,
            ),
            None => TIMEOUT,
        };
        let certificate = self.of(signal, "CERTIFICATE").map(|(_, path)| path.into());
        Ok(Some(Export { timeout, certificate }))
    }

    /// How many items may wait, by the variable `name`.
    pub(crate) fn queue(&self, name: &str, default: usize) -> usize {
        let set = self.get(name).and_then(|value| value.parse().ok());
        set.unwrap_or(default).clamp(1, MAX_QUEUE)
    }
}

/// Fails with what is wrong with `url`. Says nothing of its text, which may contain a password.
fn check_url(url: &str) -> Result<(), &'static str> {
    let uri: Uri = url.parse().map_err(|_| "something else")?;
    match (uri.scheme_str(), uri.authority()) {
        (Some("http" | "https"), Some(authority)) if !authority.host().is_empty() => Ok(()),
        (Some("http" | "https"), _) => Err("no host"),
        (None, _) => Err("no scheme"),
        _ => Err("another scheme"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Environment, Signal};

    fn export(variables: &[(&str, &str)], signal: Signal) -> Result<Option<Duration>, String> {
        let find = |name: &str| {
            let found = variables.iter().find(|(it, _)| *it == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let environment = Environment(find);
        if !environment.asks_for_export() {
            return Ok(None);
        }
        Ok(environment.export(signal)?.map(|export| export.timeout))
    }

    const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");

    #[test]
    fn an_endpoint_asks_for_export() {
        let seconds = |n| Ok(Some(Duration::from_secs(n)));
        assert_eq!(export(&[], Signal::Traces), Ok(None));
        assert_eq!(export(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")], Signal::Traces), Ok(None));
        assert_eq!(export(&[ENDPOINT], Signal::Logs), seconds(10));
        let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://collector.example/v1/traces");
        assert_eq!(export(&[own], Signal::Traces), seconds(10));
        assert_eq!(export(&[own], Signal::Metrics), Ok(None));
        let timeout = ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "2000");
        assert_eq!(export(&[ENDPOINT, timeout], Signal::Metrics), seconds(2));
        assert_eq!(export(&[ENDPOINT, ("OTEL_SDK_DISABLED", "TRUE")], Signal::Traces), Ok(None));
        assert_eq!(export(&[ENDPOINT, ("OTEL_LOGS_EXPORTER", "none")], Signal::Logs), Ok(None));
        assert_eq!(
            export(&[ENDPOINT, ("OTEL_LOGS_EXPORTER", "console,otlp")], Signal::Logs),
            seconds(10)
        );
    }

    #[test]
    fn says_what_is_wrong_without_the_value() {
        let url = "expected a URL such as http://127.0.0.1:4318, found";
        for (name, value, expected) in [
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "localhost", "no scheme"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "ftp://secret@host", "another scheme"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://se cret", "something else"),
        ] {
            let found = export(&[ENDPOINT, (name, value)], Signal::Traces);
            assert_eq!(found, Err(format!("{name}: {url} {expected}")));
        }
        for (name, value, expected) in [
            (
                "OTEL_EXPORTER_OTLP_PROTOCOL",
                "grpc",
                "expected `http/protobuf`, the only supported protocol",
            ),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon", "expected milliseconds"),
            ("OTEL_TRACES_EXPORTER", "zipkin", "expected `otlp` or `none`"),
        ] {
            let found = export(&[ENDPOINT, (name, value)], Signal::Traces);
            assert_eq!(found, Err(format!("{name}: {expected}")));
        }
    }

    #[test]
    fn queues_are_bounded_whatever_a_variable_says() {
        let queue = |value: &'static str| {
            Environment(move |_: &str| Some(value.to_owned())).queue("OTEL_BSP_MAX_QUEUE_SIZE", 8)
        };
        assert_eq!(queue("0"), 1);
        assert_eq!(queue("x"), 8);
        assert_eq!(queue("100000000"), super::MAX_QUEUE);
    }
}
