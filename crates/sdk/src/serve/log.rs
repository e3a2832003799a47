//! The log of a program: events of `tracing` as lines on standard error.

use std::{fmt::Write as _, io::Write as _, str::FromStr};

use chrono::{SecondsFormat, Utc};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
    span::{Attributes, Id, Record},
};

/// Events up to the level of their target.
pub(super) struct Log {
    levels: Levels,
}

impl Log {
    pub(super) const fn new(levels: Levels) -> Self {
        Self { levels }
    }
}

/// Spans are not shown, so that none is ever opened.
impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= self.levels.of(metadata.target())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        self.levels.0.iter().map(|(_, level)| *level).max()
    }

    fn event(&self, event: &Event<'_>) {
        let time = Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true);
        let metadata = event.metadata();
        let mut line = format!("{time} {:>5} {}:", metadata.level(), metadata.target());
        event.record(&mut Fields(&mut line));
        line.push('\n');
        // There is nobody to tell.
        _ = std::io::stderr().lock().write_all(line.as_bytes());
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Writes the message of an event, and its other fields after their names.
struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.record_debug(field, &format_args!("{value}"));
        } else {
            self.record_debug(field, &value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        _ = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}

/// Levels by the beginning of a target, longest first.
pub(super) struct Levels(Vec<(String, LevelFilter)>);

impl Levels {
    fn new(mut levels: Vec<(String, LevelFilter)>) -> Self {
        levels.sort_by_key(|(target, _)| std::cmp::Reverse(target.len()));
        Self(levels)
    }

    fn of(&self, target: &str) -> LevelFilter {
        let known = self.0.iter().find(|(start, _)| target.starts_with(start));
        known.map_or(LevelFilter::OFF, |(_, level)| *level)
    }
}

impl Default for Levels {
    fn default() -> Self {
        Self::new(vec![(String::new(), LevelFilter::INFO), ("rmcp".to_owned(), LevelFilter::WARN)])
    }
}

/// Levels with commas between them, each alone or after a target: `warn,toolbond=debug`. A target alone is shown whole.
impl FromStr for Levels {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let level = |text: &str| {
            text.parse().map_err(|_| {
                format!("expected error, warn, info, debug, trace or off, found `{text}`")
            })
        };
        let directive = |text: &str| match text.split_once('=') {
            Some((target, found)) => Ok((target.to_owned(), level(found)?)),
            None => Ok(match level(text) {
                Ok(level) => (String::new(), level),
                Err(_) => (text.to_owned(), LevelFilter::TRACE),
            }),
        };
        let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
        texts.map(directive).collect::<Result<_, _>>().map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use tracing::level_filters::LevelFilter;

    use super::Levels;

    #[test]
    fn the_longest_beginning_of_a_target_sets_its_level() {
        let levels: Levels = "warn, rmcp=off,rmcp::service=debug,hyper".parse().unwrap();
        for (target, level) in [
            ("weather", LevelFilter::WARN),
            ("rmcp::handler", LevelFilter::OFF),
            ("rmcp::service::server", LevelFilter::DEBUG),
            ("hyper", LevelFilter::TRACE),
        ] {
            assert_eq!(levels.of(target), level, "{target}");
        }
        assert_eq!(Levels::default().of("rmcp::service"), LevelFilter::WARN);
        assert_eq!("".parse::<Levels>().unwrap().of("weather"), LevelFilter::OFF);
        let error = "toolbond=loud".parse::<Levels>().err().unwrap();
        assert_eq!(error, "expected error, warn, info, debug, trace or off, found `loud`");
    }
}
