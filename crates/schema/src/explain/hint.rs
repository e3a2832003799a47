//! "Did you mean": the nearest name.

use serde_json::{Map, Value};

use crate::{engine::burn, text::shorten};

/// Longer names are not compared.
const LONGEST: usize = 64;

/// Candidates that are considered for one name.
const MOST: usize = 1000;

/// Candidates that are compared letter by letter: those that start and end most like the name.
const FINALISTS: usize = 4;

/// Steps that the hints of one explanation may take together; further violations get no hint.
const STEPS: u64 = 8192;

/// Finds names that are spelled alike, until it has taken [`STEPS`]. Each step burns fuel.
#[derive(Debug)]
pub(crate) struct Speller {
    left: u64,
}

impl Default for Speller {
    fn default() -> Self {
        Self { left: STEPS }
    }
}

impl Speller {
    /// The one of `candidates` that `name` was probably meant to be, and that `is_usable` allows.
    pub(crate) fn nearest<'a>(
        &mut self,
        name: &str,
        candidates: impl IntoIterator<Item = &'a str>,
        is_usable: impl Fn(&str) -> bool,
    ) -> Option<&'a str> {
        if name.len() > LONGEST {
            return None;
        }
        // At most a third of the longer one is inserted or deleted.
        let lengths = name.len() - name.len() / 3..=(name.len() * 3 / 2).min(LONGEST);
        let ends = Ends::read(name);
        let mut finalists = Finalists::default();
        let mut considered = 0;
        for candidate in candidates.into_iter().take(MOST) {
            considered += 1;
            if lengths.contains(&candidate.len()) {
                let alike = ends.alike(Ends::read(candidate));
                finalists.add(alike, candidate);
                // One letter is another one: what comes later is hardly nearer.
                if candidate.len() == name.len() && alike as usize + 1 >= name.len() {
                    break;
                }
            }
        }
        if !self.pay(considered + (finalists.count * (4 + name.len())) as u64) {
            return None;
        }
        let speller = Distance::from(name);
        let mut best: Option<(usize, &str)> = None;
        for (_, candidate) in &finalists.list[..finalists.count] {
            let distance = speller.to(candidate);
            let allowed = letters(name).max(letters(candidate)) / 3;
            let is_nearer = best.is_none_or(|(nearest, _)| distance < nearest);
            if distance <= allowed && is_nearer && is_usable(candidate) {
                best = Some((distance, candidate));
            }
        }
        best.map(|(_, candidate)| candidate)
    }

    /// Pays for `steps`; whether there were as many left.
    fn pay(&mut self, steps: u64) -> bool {
        let left = self.left.checked_sub(steps);
        self.left = left.unwrap_or(0);
        burn(steps);
        left.is_some()
    }
}

/// How many letters `name` has.
fn letters(name: &str) -> usize {
    if name.is_ascii() { name.len() } else { name.chars().count() }
}

/// The first and the last eight bytes of a name, case ignored.
#[derive(Clone, Copy)]
struct Ends {
    first: u64,
    last: u64,
}

impl Ends {
    #[inline]
    fn read(name: &str) -> Self {
        // Sets the bit that tells small letters from capitals.
        let small = |bytes: [u8; 8]| u64::from_le_bytes(bytes) | u64::from_ne_bytes([0x20; 8]);
        let bytes = name.as_bytes();
        if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            return Self { first: small(*first), last: small(*last) };
        }
        let (mut first, mut last) = ([0; 8], [0; 8]);
        first[..bytes.len()].copy_from_slice(bytes);
        last[8 - bytes.len()..].copy_from_slice(bytes);
        Self { first: small(first), last: small(last) }
    }

    /// Bytes that are the same at the start and at the end.
    #[inline]
    fn alike(self, other: Self) -> u32 {
        let start = (self.first ^ other.first).trailing_zeros();
        let end = (self.last ^ other.last).leading_zeros();
        (start + end) / 8
    }
}

/// The candidates that are most alike, in their order where they are as much alike.
#[derive(Default)]
struct Finalists<'a> {
    list: [(u32, &'a str); FINALISTS],
    count: usize,
}

impl<'a> Finalists<'a> {
    #[inline]
    fn add(&mut self, alike: u32, candidate: &'a str) {
        if self.count == FINALISTS {
            if alike <= self.list[FINALISTS - 1].0 {
                return;
            }
            self.count -= 1;
        }
        let mut at = self.count;
        while at > 0 && self.list[at - 1].0 < alike {
            self.list[at] = self.list[at - 1];
            at -= 1;
        }
        self.list[at] = (alike, candidate);
        self.count += 1;
    }
}

/// The letters to insert, delete, replace or swap between one name and others, case ignored.
///
/// For ASCII names this is Hyyrö's algorithm, which takes a few instructions for each letter.
struct Distance<'a> {
    name: &'a str,
    /// The places of each letter in the name, a bit each.
    places: Option<[u64; 128]>,
}

impl<'a> Distance<'a> {
    fn from(name: &'a str) -> Self {
        if !name.is_ascii() || name.is_empty() || name.len() > LONGEST {
            return Self { name, places: None };
        }
        let mut places = [0; 128];
        for (at, byte) in name.bytes().enumerate() {
            places[usize::from(byte.to_ascii_lowercase())] |= 1 << at;
        }
        Self { name, places: Some(places) }
    }

    fn to(&self, other: &str) -> usize {
        let Some(places) = self.places.as_ref().filter(|_| other.is_ascii()) else {
            return strsim::osa_distance(&self.name.to_lowercase(), &other.to_lowercase());
        };
        let last = 1_u64 << (self.name.len() - 1);
        let mut distance = self.name.len();
        let (mut up, mut down, mut same, mut before) = (u64::MAX, 0_u64, 0_u64, 0_u64);
        for byte in other.bytes() {
            let matches = places[usize::from(byte.to_ascii_lowercase())];
            let swapped = ((!same & matches) << 1) & before;
            same = ((matches & up).wrapping_add(up) ^ up) | matches | down | swapped;
            let right_up = down | !(same | up);
            let right_down = same & up;
            distance += usize::from(right_up & last != 0);
            distance -= usize::from(right_down & last != 0);
            let right_up = right_up << 1 | 1;
            up = right_down << 1 | !(same | right_up);
            down = right_up & same;
            before = matches;
        }
        distance
    }
}

/// The `properties` of a subschema.
pub(crate) fn properties(subschema: Option<&Value>) -> Option<&Map<String, Value>> {
    subschema?.get("properties")?.as_object()
}

/// The most characters that name available properties.
const LISTED: usize = 60;

/// Names the declared properties that an object does not have yet, as far as they fit into a line.
pub(crate) fn available(
    known: Option<&Map<String, Value>>,
    present: Option<&Map<String, Value>>,
) -> Option<String> {
    let known = known?;
    burn(known.len().min(MOST) as u64);
    let is_absent =
        |name: &&String| present.is_none_or(|members| !members.contains_key(name.as_str()));
    let mut names = known.keys().take(MOST).filter(is_absent);
    let mut text = String::new();
    for name in names.by_ref() {
        if text.len() + name.len() + 4 > LISTED {
            return (!text.is_empty()).then(|| format!("available: {text}, …"));
        }
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.extend(["`", &shorten(name), "`"]);
    }
    (!text.is_empty()).then(|| format!("available: {text}"))
}

#[cfg(test)]
mod tests {
    use super::{Distance, LONGEST, STEPS, Speller};
    use crate::engine::run_freely;

    fn nearest<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
        run_freely(|| Speller::default().nearest(name, candidates.iter().copied(), |_| true))
    }

    #[test]
    fn finds_names_that_differ_by_a_third() {
        assert_eq!(nearest("colour", &["city", "color"]), Some("color"));
        assert_eq!(nearest("COLOR", &["color"]), Some("color"));
        assert_eq!(nearest("größe", &["grösse", "Größe"]), Some("Größe"));
        assert_eq!(nearest("huors", &["minutes", "our", "hours"]), Some("hours"));
        assert_eq!(nearest("hours", &["days"]), None);
        assert_eq!(nearest("", &["a", ""]), Some(""));
        assert_eq!(nearest(&"a".repeat(LONGEST + 1), &["a"]), None);
    }

    #[test]
    fn finds_the_nearest_among_many_that_are_alike() {
        let names: Vec<String> = (0..1000).map(|n| format!("country-{n:03}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(nearest("country-7777", &names), Some("country-777"));
        assert_eq!(nearest("cuontry-123", &names), Some("country-123"));
    }

    #[test]
    fn counts_the_letters_that_strsim_counts() {
        let words = [
            "a", "ab", "ba", "abc", "acb", "abcd", "hours", "hour", "house", "uhors", "Hours", "",
            "hoursx", "ourss", "kitten", "sitting", "a cat", "an abct", "x-y_z", "x_y-z", "zzzzzz",
        ];
        let long = "ab".repeat(LONGEST / 2);
        for one in words.into_iter().chain([long.as_str()]) {
            for other in words.into_iter().chain([&long[3..]]) {
                let expected = strsim::osa_distance(&one.to_lowercase(), &other.to_lowercase());
                assert_eq!(Distance::from(one).to(other), expected, "{one} {other}");
            }
        }
    }

    #[test]
    fn takes_no_more_than_its_steps() {
        let mut speller = Speller::default();
        let candidates = vec!["name"; 1000];
        let found: Vec<_> = run_freely(|| {
            (0..20).map(|_| speller.nearest("nmae", candidates.iter().copied(), |_| true)).collect()
        });
        assert_eq!(found[0], Some("name"));
        assert_eq!(found[19], None);
        let most = usize::try_from(STEPS / 1000).unwrap();
        assert_eq!(found.iter().flatten().count(), most - 1);
    }
}
