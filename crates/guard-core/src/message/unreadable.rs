//! Text that is not a message, and what can be told of it.

use super::id::Id;
use super::id_scanner::IdScanner;
use super::reply::code;

/// The byte order mark that some peers write before a text, and readers skip.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";

/// What something that is not a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// JSON.
    Json,
    /// Other text.
    Text,
    /// No UTF-8. UTF-16 and UTF-32 have zero bytes where UTF-8 has none.
    Binary,
}

/// Text that is not a message.
#[derive(Clone, Debug)]
pub struct Unreadable {
    /// What is wrong, in one line.
    pub reason: String,
    pub content: Content,
    /// The id that it seems to have.
    pub id: Option<Id>,
    /// Whether it seems to be a request or a notification.
    pub has_method: bool,
    /// Whether it looks like a broken message.
    pub may_be_message: bool,
    /// The start of the text, for the log.
    pub excerpt: String,
}

/// The characters of an unreadable text that the log shows.
const EXCERPT: usize = 2000;

impl Unreadable {
    pub(super) fn new(bytes: &[u8], error: &serde_json::Error) -> Self {
        let mut scanner = IdScanner::default();
        scanner.feed(bytes);
        let (id, has_method) = scanner.finish();
        let start = bytes.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(bytes);
        let start = start.trim_ascii();
        let names = |name: &[u8]| memchr::memmem::find(bytes, name).is_some();
        let is_object = matches!(start.first(), Some(b'{' | b'['));
        // Names may be written with escapes.
        let may_name = names(b"\"jsonrpc\"") || names(b"\"result\"") || names(b"\\u");
        Self {
            reason: error.to_string(),
            content: match error.is_data() {
                _ if bytes.contains(&0) => Content::Binary,
                true => Content::Json,
                false => Content::Text,
            },
            id,
            has_method,
            may_be_message: is_object && (error.is_data() || may_name),
            excerpt: String::from_utf8_lossy(&start[..start.len().min(4 * EXCERPT)])
                .chars()
                .take(EXCERPT)
                .collect(),
        }
    }

    /// The code of the error that answers it.
    pub fn code(&self) -> i32 {
        if self.content == Content::Json { code::REQUEST } else { code::PARSE }
    }

    /// A message that was not read, for this reason.
    pub fn not_read(reason: String) -> Self {
        Self {
            reason,
            content: Content::Json,
            id: None,
            has_method: false,
            may_be_message: true,
            excerpt: String::new(),
        }
    }

    /// A message of more bytes than are read.
    pub fn too_long(bytes: usize, limit: usize, id: Option<Id>, has_method: bool) -> Self {
        let reason =
            format!("message of {bytes} bytes exceeds the limit of {limit} (--max-message)");
        Self { id, has_method, ..Self::not_read(reason) }
    }
}
