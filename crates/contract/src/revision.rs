//! Protocol revisions of MCP, and what each can carry.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// A protocol revision, in the order of publication.
///
/// From 2026-07-28 on a revision is *natural*: an output schema may be any schema and structured
/// content any JSON value. Before, both are objects. Later dates and the drafts that led to
/// 2026-07-28 (`DRAFT-2026…`) are natural; a revision that is unknown, or not known yet, is legacy,
/// because an object can be read by everyone.
///
/// ```
/// use toolbond_contract::Revision;
///
/// let revision = Revision::from("2025-11-25");
/// assert!(revision < Revision::V2026_07_28);
/// assert!(!revision.is_natural());
/// assert!(Revision::from("2027-01-15").is_natural());
/// assert!(Revision::from("DRAFT-2026-06-v1").is_natural());
/// assert!(!Revision::from("tomorrow").is_natural());
/// assert_eq!(revision.to_string(), "2025-11-25");
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(Kind);

// The order of the variants is the order of revisions.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    #[default]
    Absent,
    Unknown(String),
    Dated(Date),
    // The drafts of 2026-07-28: after every legacy date, before the revision they led to.
    Draft(String),
    Later(Date),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Date {
    year: u16,
    month: u8,
    day: u8,
}

const NATURAL: Date = Date { year: 2026, month: 7, day: 28 };

impl Revision {
    /// 2024-11-05, the first one.
    pub const V2024_11_05: Self = Self(Kind::Dated(Date { year: 2024, month: 11, day: 5 }));
    /// 2025-03-26.
    pub const V2025_03_26: Self = Self(Kind::Dated(Date { year: 2025, month: 3, day: 26 }));
    /// 2025-06-18, the first one with `outputSchema` and `structuredContent`.
    pub const V2025_06_18: Self = Self(Kind::Dated(Date { year: 2025, month: 6, day: 18 }));
    /// 2025-11-25, the last legacy one.
    pub const V2025_11_25: Self = Self(Kind::Dated(Date { year: 2025, month: 11, day: 25 }));
    /// 2026-07-28, the first natural one.
    pub const V2026_07_28: Self = Self(Kind::Later(NATURAL));
    /// No revision agreed on: legacy.
    pub const ABSENT: Self = Self(Kind::Absent);

    /// The published revisions, oldest first.
    pub const PUBLISHED: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The revision a peer named, or [`Revision::ABSENT`].
    #[must_use]
    pub fn named(name: Option<&str>) -> Self {
        name.map_or(Self::ABSENT, Self::from)
    }

    /// Whether output schemas and structured content travel as their author wrote them.
    #[must_use]
    pub const fn is_natural(&self) -> bool {
        matches!(self.0, Kind::Draft(_) | Kind::Later(_))
    }
}

/// Reads the name of a revision; one that is not known is kept by name and is legacy.
impl From<&str> for Revision {
    fn from(name: &str) -> Self {
        Self(match date(name) {
            Some(date) if date < NATURAL => Kind::Dated(date),
            Some(date) => Kind::Later(date),
            None if name.starts_with("DRAFT-2026") => Kind::Draft(name.to_owned()),
            None if name.is_empty() => Kind::Absent,
            None => Kind::Unknown(name.to_owned()),
        })
    }
}

impl FromStr for Revision {
    type Err = Infallible;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Ok(Self::from(name))
    }
}

/// The name as it stands on the wire; empty where there is none.
impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Absent => Ok(()),
            Kind::Unknown(name) | Kind::Draft(name) => f.pad(name),
            Kind::Dated(date) | Kind::Later(date) => {
                write!(f, "{:04}-{:02}-{:02}", date.year, date.month, date.day)
            }
        }
    }
}

/// `Revision(2025-11-25)`; `Revision(absent)` where there is no name.
impl fmt::Debug for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Absent => f.write_str("Revision(absent)"),
            _ => write!(f, "Revision({self})"),
        }
    }
}

/// `YYYY-MM-DD`, digits only, a month and a day that exist in some year.
fn date(name: &str) -> Option<Date> {
    let bytes = name.as_bytes();
    let shape = bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !shape {
        return None;
    }
    let date = Date {
        year: name[..4].parse().ok()?,
        month: name[5..7].parse().ok()?,
        day: name[8..].parse().ok()?,
    };
    ((1..=12).contains(&date.month) && (1..=31).contains(&date.day)).then_some(date)
}

#[cfg(test)]
mod tests {
    use super::Revision;

    #[test]
    fn published_revisions_are_in_order_and_round_trip() {
        assert!(Revision::PUBLISHED.is_sorted());
        for revision in Revision::PUBLISHED {
            assert_eq!(Revision::from(revision.to_string().as_str()), revision);
        }
    }

    #[test]
    fn only_the_last_published_one_is_natural() {
        let natural = Revision::PUBLISHED.map(|revision| revision.is_natural());
        assert_eq!(natural, [false, false, false, false, true]);
    }

    #[test]
    fn names_that_are_not_dates_are_legacy_and_keep_their_name() {
        for name in ["", "2026", "2026-7-28", "2026-13-01", "2026-00-10", "２０２６-07-28", "v2"]
        {
            let revision = Revision::from(name);
            assert!(!revision.is_natural(), "{name}");
            assert!(revision < Revision::V2024_11_05, "{name}");
            assert_eq!(revision.to_string(), name);
        }
        assert_eq!(Revision::named(None), Revision::default());
    }

    #[test]
    fn people_read_the_debug_form() {
        assert_eq!(format!("{:?}", Revision::V2025_11_25), "Revision(2025-11-25)");
        assert_eq!(format!("{:?}", [Revision::from("v2")]), "[Revision(v2)]");
        assert_eq!(format!("{:?}", Revision::ABSENT), "Revision(absent)");
    }

    #[test]
    fn dates_between_revisions_are_ordered_by_date() {
        assert!(!Revision::from("2026-07-27").is_natural());
        assert!(Revision::from("2026-07-29").is_natural());
        assert!(Revision::from("2025-12-01") > Revision::V2025_11_25);
        assert!(Revision::from("DRAFT-2026-06-v1") > Revision::V2025_11_25);
        assert!(Revision::from("DRAFT-2026-06-v1") < Revision::V2026_07_28);
    }
}
