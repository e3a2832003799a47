//! Why a document is not fetched.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use toolbond_contract::Pointer;
use toolbond_contract::bundle::BundleError;
use url::Url;

/// Why a schema cannot be bundled.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// A document cannot be had.
    #[error(transparent)]
    Document(Box<DocumentError>),
    /// The documents cannot become one schema.
    #[error(transparent)]
    Bundle(Box<BundleError>),
    /// The documents take too long.
    #[error("the documents took longer than {} s", limit.as_secs())]
    TotalTime {
        /// [`FetchLimits::total_time`](crate::FetchLimits::total_time).
        limit: Duration,
    },
    /// The tools of a list are too large with their documents.
    #[error("refers to documents with which the tools of the list exceed {limit} bytes")]
    TooLarge {
        /// The most bytes.
        limit: usize,
    },
    /// Too many tools are being bundled.
    #[error("refers to other documents, and too many tools do so at the same time")]
    Busy,
    /// Bundling panicked, for example in the program's own code that hears of requests.
    #[error("refers to other documents, and bundling them failed: internal error")]
    Panicked,
}

impl FetchError {
    /// The text without the place of the reference, if that is in the schema itself.
    #[must_use]
    pub fn without_place(&self) -> String {
        match self {
            Self::Document(error) if error.from.is_none() => {
                format!("refers to {}, which {}", shorten(&error.uri), error.kind)
            }
            _ => self.to_string(),
        }
    }

    /// What the policy would have to allow, if that is what is missing.
    #[must_use]
    pub fn to_allow(&self) -> Option<String> {
        match self {
            Self::Document(error) => error.kind.to_allow(&error.uri),
            Self::Bundle(_)
            | Self::TotalTime { .. }
            | Self::TooLarge { .. }
            | Self::Busy
            | Self::Panicked => None,
        }
    }

    /// What else to do about it, if known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Document(error) => error.kind.hint(),
            Self::TotalTime { .. } => {
                Some("raise the limit `total-seconds`, if you trust them".to_owned())
            }
            Self::Bundle(_) | Self::TooLarge { .. } | Self::Busy | Self::Panicked => None,
        }
    }
}

impl From<BundleError> for FetchError {
    fn from(error: BundleError) -> Self {
        Self::Bundle(Box::new(error))
    }
}

impl From<DocumentError> for FetchError {
    fn from(error: DocumentError) -> Self {
        Self::Document(Box::new(error))
    }
}

/// Why a document cannot be had, and where a schema refers to it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DocumentError {
    /// The document.
    pub uri: String,
    /// The document that refers to it; `None` if the schema itself does.
    pub from: Option<String>,
    /// The place of the reference.
    pub pointer: Pointer,
    /// The reason.
    pub kind: DocumentErrorKind,
}

impl std::error::Error for DocumentError {}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { uri, from, pointer, kind } = self;
        let from = from.as_deref().map(shorten).unwrap_or_default();
        write!(f, "{from}{pointer} refers to {}, which {kind}", shorten(uri))
    }
}

/// Why a document cannot be had. The text follows the URI: “X, which …”.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentErrorKind {
    /// It is not a URL.
    #[error("is not a URL: {reason}")]
    Url {
        /// What is wrong.
        reason: String,
    },
    /// Its scheme cannot be fetched.
    #[error("has the scheme `{scheme}`, expected `https`, `http` or `file`")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// It contains a user name or password.
    #[error("contains a user name or a password")]
    Credentials,
    /// Its host is written in a way that other programs read differently.
    #[error("has the host `{written}`, another way to write `{meant}`")]
    UnusualHost {
        /// The host as written.
        written: String,
        /// The host as browsers read it.
        meant: String,
    },
    /// The policy does not allow it.
    #[error("is not allowed")]
    NotAllowed,
    /// Its host name does not resolve.
    #[error("has a host that does not resolve: {reason}")]
    Resolve {
        /// What went wrong.
        reason: String,
    },
    /// Its host has an address that is not public.
    #[error("is at {address}, a {kind} address")]
    Address {
        /// The address.
        address: IpAddr,
        /// Its kind.
        kind: &'static str,
    },
    /// The connection failed.
    #[error("could not be reached: {reason}")]
    Connection {
        /// What went wrong.
        reason: String,
    },
    /// The answer has a status other than 200.
    #[error("returned status {status}")]
    Status {
        /// The status.
        status: u16,
    },
    /// A redirect names no location, or not a URL.
    #[error("redirects to nowhere (status {status} without a usable `Location`)")]
    Location {
        /// The status.
        status: u16,
    },
    /// Redirects lead back to a URL of before.
    #[error("redirects in a circle")]
    RedirectLoop,
    /// There are too many redirects.
    #[error("redirects more than {limit} times")]
    Redirects {
        /// [`FetchLimits::redirects`](crate::FetchLimits::redirects).
        limit: usize,
    },
    /// A redirect leads to a document that cannot be had.
    #[error("redirects to {}, which {kind}", shorten(to))]
    Redirected {
        /// Where it leads.
        to: String,
        /// Why that cannot be had.
        kind: Box<DocumentErrorKind>,
    },
    /// It is a web page.
    #[error("is a web page (`{media}`), expected JSON")]
    WebPage {
        /// Its media type.
        media: String,
    },
    /// It is in another charset.
    #[error("is in the charset `{charset}`, expected UTF-8")]
    Charset {
        /// The charset.
        charset: String,
    },
    /// It is compressed in an unknown way.
    #[error("has the content encoding `{encoding}`, expected `gzip` or none")]
    Encoding {
        /// The encoding.
        encoding: String,
    },
    /// Its compressed bytes are damaged.
    #[error("cannot be decompressed")]
    Decompression,
    /// The body ended too early, or cannot be read.
    #[error("could not be read to its end: {reason}")]
    Body {
        /// What went wrong.
        reason: String,
    },
    /// It is not JSON, or has a key twice.
    #[error("is not JSON: {reason}")]
    Json {
        /// What is wrong.
        reason: String,
    },
    /// It cannot be read as a file.
    #[error("cannot be read: {reason}")]
    File {
        /// What went wrong.
        reason: String,
    },
    /// It is too large.
    #[error("has more than {limit} bytes")]
    DocumentBytes {
        /// [`FetchLimits::document_bytes`](crate::FetchLimits::document_bytes).
        limit: usize,
    },
    /// All documents together are too large.
    #[error("brings the documents to more than {limit} bytes")]
    TotalBytes {
        /// [`FetchLimits::total_bytes`](crate::FetchLimits::total_bytes).
        limit: usize,
    },
    /// There are too many documents.
    #[error("is beyond the limit of {limit} documents")]
    Documents {
        /// [`FetchLimits::documents`](crate::FetchLimits::documents).
        limit: usize,
    },
    /// Documents refer to each other in too long a chain.
    #[error("is more than {limit} documents away from the schema")]
    Depth {
        /// [`FetchLimits::depth`](crate::FetchLimits::depth).
        limit: usize,
    },
    /// It takes too long.
    #[error("took longer than {} s", limit.as_secs())]
    DocumentTime {
        /// [`FetchLimits::document_time`](crate::FetchLimits::document_time).
        limit: Duration,
    },
    /// It is not the document that was locked.
    #[error("has changed: the lock has sha256:{locked}, found sha256:{found}")]
    Changed {
        /// The digest in the lock file.
        locked: String,
        /// The digest of what was found.
        found: String,
    },
    /// Redirects lead elsewhere than they did when it was locked.
    #[error("is now at {}; the lock has {}", shorten(found), shorten(locked))]
    Moved {
        /// Where it was.
        locked: String,
        /// Where it was found.
        found: String,
    },
    /// It is not in the lock file, and has to be.
    #[error("is not in the lock file")]
    Unlocked,
    /// It is to be taken from the cache, and is not there.
    #[error("is not in the cache")]
    Uncached,
    /// No folder has it, and it is not allowed to be fetched.
    #[error("is not in a folder of documents, and is not allowed to be fetched")]
    NotInFolders,
}

impl DocumentErrorKind {
    /// What the policy would have to allow, if that is what is missing. `uri` is that of the document.
    #[must_use]
    pub fn to_allow(&self, uri: &str) -> Option<String> {
        match self {
            Self::NotAllowed | Self::NotInFolders => {
                let folder = Url::parse(uri).and_then(|url| url.join("."));
                Some(folder.map_or_else(|_| uri.to_owned(), Into::into))
            }
            Self::Address { address, .. } => Some(address.to_string()),
            Self::Redirected { to, kind } => kind.to_allow(to),
            _ => None,
        }
    }

    /// What else to do about it, if known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Redirected { kind, .. } => kind.hint(),
            Self::UnusualHost { meant, .. } => Some(format!("write `{meant}`")),
            Self::Changed { .. } | Self::Moved { .. } => {
                Some("to accept the new document, remove it from the lock file".to_owned())
            }
            Self::Unlocked | Self::Uncached => {
                Some("run once with a connection to put it there".to_owned())
            }
            _ => self.limit().map(|name| format!("raise the limit `{name}`, if you trust it")),
        }
    }

    /// The name of the limit that is exceeded, one of [`FetchLimits::NAMES`](crate::FetchLimits::NAMES).
    fn limit(&self) -> Option<&'static str> {
        Some(match self {
            Self::Documents { .. } => "documents",
            Self::DocumentBytes { .. } => "document-bytes",
            Self::TotalBytes { .. } => "total-bytes",
            Self::Redirects { .. } => "redirects",
            Self::Depth { .. } => "depth",
            Self::DocumentTime { .. } => "document-seconds",
            _ => return None,
        })
    }

    /// Whether a copy of the document may be used instead.
    pub(crate) fn is_out_of_reach(&self) -> bool {
        match self {
            Self::Resolve { .. }
            | Self::Connection { .. }
            | Self::Body { .. }
            | Self::DocumentTime { .. } => true,
            Self::Status { status } => *status >= 500,
            Self::Redirected { kind, .. } => kind.is_out_of_reach(),
            _ => false,
        }
    }
}

/// Returns an error and its causes as one line.
pub fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        // Some repeat what they hold.
        if !text.ends_with(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

/// At most 200 characters of `text`, without control characters.
pub(crate) fn shorten(text: &str) -> String {
    let mut characters = text.chars().filter(|c| !c.is_control());
    let mut short: String = characters.by_ref().take(200).collect();
    if characters.next().is_some() {
        short.push('…');
    }
    short
}
