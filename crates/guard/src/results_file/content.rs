//! What a results file holds, and how what several guards learned becomes one.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toolbond_contract::Relaxation;
use toolbond_guard_core::learned::{Learned, MAX_TIMES};

/// The version of the format, which is part of the name of the file.
pub(super) const VERSION: u32 = 1;

/// The most bytes of a file. What was learned longest ago goes first.
pub(super) const MAX_FILE: usize = 1 << 20;

/// The most bytes about the tools of one server, so that none makes the guard forget all others.
const MAX_SERVER: usize = MAX_FILE / 4;

/// A SHA-256 digest.
pub(super) type Digest = [u8; 32];

/// What was learned, by the digests of server and tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Content(BTreeMap<(Digest, Digest), Entry>);

#[derive(Clone, Debug, PartialEq)]
struct Entry {
    learned: Learned,
    /// When, in seconds since 1970.
    time: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    #[serde(default)]
    tools: Vec<WrittenTool>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTool {
    #[serde(serialize_with = "to_hex", deserialize_with = "from_hex")]
    server: Digest,
    #[serde(serialize_with = "to_hex", deserialize_with = "from_hex")]
    tool: Digest,
    learned: Learned,
    time: u64,
}

/// Whether `text` begins as files of all versions do.
pub(super) fn is_ours(text: &[u8]) -> bool {
    text.strip_prefix(br#"{"version":"#).is_some_and(|rest| {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        digits > 0 && rest[digits..].starts_with(br#","tools":["#)
    })
}

impl Content {
    /// Reads the text of a file. The error says nothing of the text.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        // Other versions may hold anything else.
        #[derive(Deserialize)]
        struct Head {
            version: u32,
        }
        let at =
            |error: serde_json::Error| format!("line {} column {}", error.line(), error.column());
        let version = serde_json::from_slice::<Head>(text).map_err(at)?.version;
        if version != VERSION {
            return Err(format!("version {version}, expected {VERSION}"));
        }
        let written: Written = serde_json::from_slice(text).map_err(at)?;
        debug_assert_eq!(written.version, VERSION);
        let mut content = Self::default();
        for WrittenTool { server, tool, learned, time } in written.tools {
            content.add((server, tool), learned, time);
        }
        Ok(content)
    }

    /// The text of the file, with at most [`MAX_FILE`] bytes, and what is in it.
    pub(super) fn into_text(self) -> (String, Self) {
        let mut entries: Vec<_> = self.0.into_iter().collect();
        entries.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.time));
        // Files of all versions begin like this; `is_ours` tells them from others.
        let (mut kept, mut text) =
            (Self::default(), format!("{{\"version\":{VERSION},\"tools\":["));
        let mut of_servers = HashMap::<Digest, usize>::new();
        for ((server, tool), entry) in entries {
            let Entry { learned, time } = &entry;
            let written = WrittenTool { server, tool, learned: learned.clone(), time: *time };
            let Ok(line) = serde_json::to_string(&written) else { continue };
            let of_server = of_servers.entry(server).or_default();
            // The comma, and the end of the text.
            if *of_server + line.len() + 2 > MAX_SERVER || text.len() + line.len() + 6 > MAX_FILE {
                continue;
            }
            *of_server += line.len() + 2;
            let comma = if kept.0.is_empty() { "" } else { "," };
            let _ = write!(text, "{comma}\n{line}");
            kept.0.insert((server, tool), entry);
        }
        text.push_str("\n]}\n");
        (text, kept)
    }

    /// Adds what was learned at `time`. Nothing that was learned before goes.
    pub(super) fn add(&mut self, key: (Digest, Digest), learned: Learned, time: u64) {
        let Some(before) = self.0.get_mut(&key) else {
            self.0.insert(key, Entry { learned, time });
            return;
        };
        let both = merge(&before.learned, &learned);
        if both != before.learned {
            *before = Entry { learned: both, time: before.time.max(time) };
        }
    }

    /// What is known of the tools of a server.
    pub(super) fn of_server(&self, server: &Digest) -> impl Iterator<Item = (Digest, Learned)> {
        let of_it = self.0.range((*server, [0; 32])..=(*server, [u8::MAX; 32]));
        of_it.map(|((_, tool), entry)| (*tool, entry.learned.clone()))
    }

    /// How many tools it is about.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// What two guards learned of one tool. More is relaxed than each of them did, which accepts what both accepted.
fn merge(one: &Learned, other: &Learned) -> Learned {
    let times = one.times.max(other.times);
    if times > MAX_TIMES {
        return Learned { relaxation: Relaxation::default(), times };
    }
    let mut steps = one.relaxation.steps().to_vec();
    for step in other.relaxation.steps() {
        if !steps.contains(step) {
            steps.push(step.clone());
        }
    }
    Learned { relaxation: steps.into_iter().collect(), times }
}

fn to_hex<S: Serializer>(digest: &Digest, serializer: S) -> Result<S::Ok, S::Error> {
    let mut text = String::with_capacity(64);
    for byte in digest {
        let _ = write!(text, "{byte:02x}");
    }
    serializer.serialize_str(&text)
}

fn from_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
    let text = String::deserialize(deserializer)?;
    let wrong = || D::Error::custom("expected 64 hexadecimal digits");
    if text.len() != 64 || !text.bytes().all(|c| c.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    let mut digest = [0; 32];
    for (at, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(|_| wrong())?;
    }
    Ok(digest)
}
