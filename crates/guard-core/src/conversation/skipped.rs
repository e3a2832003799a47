//! What a server sends that is no message, in the log.

use std::time::{Duration, Instant};

use crate::event::Event;

/// The most texts of one conversation that are reported one by one.
const MAX_SHOWN: usize = 100;

/// How often the number of further ones is reported.
const PAUSE: Duration = Duration::from_secs(60);

/// How many texts were skipped because they are no messages.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    shown: usize,
    /// How many of them are not reported yet.
    untold: usize,
    /// When one was last reported.
    told: Option<Instant>,
}

impl Skipped {
    /// What to report of a text that `event` is about.
    pub(super) fn add(&mut self, event: Event, now: Instant) -> Option<Event> {
        if self.shown < MAX_SHOWN {
            self.shown += 1;
            self.told = Some(now);
            return Some(event);
        }
        self.untold += 1;
        if self.told.is_some_and(|told| now < told + PAUSE) {
            return None;
        }
        self.told = Some(now);
        self.rest()
    }

    /// What to report of those that are not reported yet.
    pub(super) fn rest(&mut self) -> Option<Event> {
        let count = std::mem::take(&mut self.untold);
        let text = || {
            format!(
                "server: skipped further output that is not a message; number of texts: {count}"
            )
        };
        (count > 0).then(|| Event::warning(text()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, MAX_SHOWN, PAUSE, Skipped};
    use crate::testing::now;

    #[test]
    fn many_texts_are_counted() {
        let (mut skipped, now) = (Skipped::default(), now());
        let mut add = |now| skipped.add(Event::warning("a"), now).map(|it| it.to_string());
        let all: Vec<_> = (0..MAX_SHOWN + 7).filter_map(|_| add(now)).collect();
        assert_eq!(all.len(), MAX_SHOWN);
        assert!(add(now + PAUSE).unwrap().ends_with("texts: 8"));
        assert!(add(now + PAUSE).is_none());
        assert!(skipped.rest().unwrap().to_string().ends_with("texts: 1"));
        assert!(skipped.rest().is_none());
    }
}
