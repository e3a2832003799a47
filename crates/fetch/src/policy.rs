//! What may be fetched.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use ipnet::IpNet;
use url::{Host, Url};

use crate::FetchLimits;
use crate::error::{DocumentErrorKind, shorten};

/// What may be fetched, and how much of it. By default nothing is.
///
/// ```
/// use toolbond_fetch::Policy;
///
/// let policy = Policy::default()
///     .allow("https://schemas.example.com/v2/")?
///     .allow("https://schemas.internal/")?
///     .allow("10.1.0.0/16")?;
/// assert!(Policy::default().allow("ftp://example.com/").is_err());
/// # Ok::<(), toolbond_fetch::PolicyError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    prefixes: Vec<Url>,
    addresses: Vec<IpNet>,
    pub(crate) limits: FetchLimits,
    pub(crate) folders: Vec<Folder>,
    pub(crate) lock: Option<PathBuf>,
    pub(crate) cache: Option<PathBuf>,
    pub(crate) offline: bool,
    pub(crate) locked: bool,
    pub(crate) proxy_from_environment: bool,
    pub(crate) ca_file: Option<PathBuf>,
}

/// A local folder with documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Folder {
    /// The URL of the folder; `None` if each document has its `$id`, or a path that starts with its host.
    pub(crate) url: Option<Url>,
    pub(crate) path: PathBuf,
}

/// Something that no policy can allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}`: {reason}", shorten(text))]
#[non_exhaustive]
pub struct PolicyError {
    /// What was to be allowed.
    pub text: String,
    /// What is wrong.
    pub reason: String,
}

/// Where to get a document that is allowed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Location {
    Http(Url),
    /// A file, and the file or folder that was allowed.
    File(PathBuf, PathBuf),
}

impl Policy {
    /// Allows the URLs that start with `prefix`, or connections to an address that is not public.
    ///
    /// A prefix is `https://`, `http://` or `file://` with a host, a port and a path. It ends at a `/`: the prefix
    /// `https://example.com/a` allows `/a` and `/a/b`, not `/ab`. `https://` can be left out before a host name with a
    /// dot. An address is `10.1.2.3`, `fd00::1`, or a network such as `10.1.0.0/16`; a prefix with an address as its host
    /// allows that address too.
    pub fn allow(mut self, prefix: &str) -> Result<Self, PolicyError> {
        if let Ok(address) = prefix.parse::<IpAddr>() {
            self.addresses.push(address.into());
        } else if let Ok(network) = prefix.parse() {
            self.addresses.push(network);
        } else {
            self.prefixes.push(parse_prefix(prefix)?);
        }
        Ok(self)
    }

    /// Takes documents from a local folder instead of the network.
    ///
    /// `URL=FOLDER` says where the folder is published: `https://example.com/schemas/=./schemas`. Without a URL, a
    /// document is found by its `$id`, or at the path `example.com/schemas/a.json` in the folder.
    pub fn documents(mut self, folder: &str) -> Result<Self, PolicyError> {
        let (url, path) = match folder.split_once('=') {
            Some((url, path)) if url.contains(':') => (Some(parse_prefix(url)?), path),
            _ => (None, folder),
        };
        if !Path::new(path).is_dir() {
            return Err(PolicyError { text: path.to_owned(), reason: "no such folder".to_owned() });
        }
        self.folders.push(Folder { url, path: path.into() });
        Ok(self)
    }

    /// Sets the limits.
    #[must_use]
    pub fn limits(mut self, limits: FetchLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Records the digest of each document in `file`, and refuses documents that have changed since.
    #[must_use]
    pub fn lock(mut self, file: impl Into<PathBuf>) -> Self {
        self.lock = Some(file.into());
        self
    }

    /// Keeps the documents of the lock file in `folder`, instead of the user's cache folder.
    #[must_use]
    pub fn cache(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache = Some(folder.into());
        self
    }

    /// Whether to take all documents of the lock file from the cache, without any connection.
    #[must_use]
    pub fn offline(mut self, yes: bool) -> Self {
        self.offline = yes;
        self
    }

    /// Whether to refuse documents that are not in the lock file.
    #[must_use]
    pub fn locked(mut self, yes: bool) -> Self {
        self.locked = yes;
        self
    }

    /// Whether to use the proxy that `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name. The proxy resolves host names, so
    /// only addresses that are written in URLs are checked.
    #[must_use]
    pub fn proxy_from_environment(mut self, yes: bool) -> Self {
        self.proxy_from_environment = yes;
        self
    }

    /// Trusts the certificates in a PEM file, beside those of the system.
    #[must_use]
    pub fn ca_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.ca_file = Some(file.into());
        self
    }

    /// Whether anything can be had under this policy.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.prefixes.is_empty() && self.folders.is_empty() && !self.offline
    }

    /// Where documents come from: the folders, and the prefixes and addresses that are allowed.
    pub fn sources(&self) -> impl Iterator<Item = String> {
        let folders = self.folders.iter().map(|folder| folder.path.display().to_string());
        let prefixes = self.prefixes.iter().map(ToString::to_string);
        let addresses = self.addresses.iter().map(ToString::to_string);
        folders.chain(prefixes.chain(addresses).filter(|_| !self.offline))
    }

    /// Checks that `uri` may be fetched.
    pub(crate) fn check(&self, uri: &str) -> Result<Location, DocumentErrorKind> {
        let url = parse_url(uri)?;
        let mut allowed = self.prefixes.iter().filter(|prefix| starts_with(&url, prefix));
        let Some(prefix) = allowed.next() else { return Err(DocumentErrorKind::NotAllowed) };
        if url.scheme() != "file" {
            return Ok(Location::Http(url));
        }
        match (url.to_file_path(), prefix.to_file_path()) {
            (Ok(path), Ok(root)) => Ok(Location::File(path, root)),
            _ => Err(DocumentErrorKind::NotAllowed),
        }
    }

    /// Whether the policy names `address`, which is the host of `url` or what it resolves to, in its canonical form.
    pub(crate) fn names(&self, url: &Url, address: IpAddr) -> bool {
        // A URL with an address is allowed only by a prefix with that address.
        host_address(url).is_some_and(|host| host.to_canonical() == address)
            || self.addresses.iter().any(|network| network.contains(&address))
    }
}

/// The host of `url`, if it is an address.
pub(crate) fn host_address(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
        Host::Domain(_) => None,
    }
}

/// Parses a URL whose host all programs read in the same way.
pub(crate) fn parse_url(uri: &str) -> Result<Url, DocumentErrorKind> {
    let wrong = |reason: String| DocumentErrorKind::Url { reason };
    let parts = fluent_uri::Uri::parse(uri).map_err(|error| wrong(error.to_string()))?;
    let scheme = parts.scheme().as_str().to_ascii_lowercase();
    if !matches!(&*scheme, "https" | "http" | "file") {
        return Err(DocumentErrorKind::Scheme { scheme: shorten(&scheme) });
    }
    let named =
        |it: &fluent_uri::component::Authority<'_>| scheme == "file" || !it.host().is_empty();
    let authority =
        parts.authority().filter(named).ok_or_else(|| wrong("it has no host".into()))?;
    if authority.userinfo().is_some() {
        return Err(DocumentErrorKind::Credentials);
    }
    let mut url = Url::parse(uri).map_err(|error| wrong(error.to_string()))?;
    url.set_fragment(None);
    let written = authority.host();
    if scheme == "file" {
        let is_local = written.is_empty();
        return if is_local { Ok(url) } else { Err(wrong("the file has a host".to_owned())) };
    }
    let meant = url.host_str().unwrap_or_default();
    let is_same = match url.host() {
        Some(Host::Ipv6(address)) => written.trim_matches(['[', ']']).parse() == Ok(address),
        _ => written.eq_ignore_ascii_case(meant),
    };
    if !is_same {
        let (written, meant) = (shorten(written), meant.to_owned());
        return Err(DocumentErrorKind::UnusualHost { written, meant });
    }
    Ok(url)
}

fn parse_prefix(text: &str) -> Result<Url, PolicyError> {
    let wrong = |reason: &str| PolicyError { text: text.to_owned(), reason: reason.to_owned() };
    let uri = if text.contains("://") || text.starts_with("file:") {
        text.to_owned()
    } else {
        let host = text.split(['/', ':']).next().unwrap_or_default();
        let is_name = host.parse::<IpAddr>().is_err()
            && host.split('.').all(|label| !label.is_empty())
            && host.contains('.');
        if !is_name || Path::new(text).exists() {
            return Err(wrong(
                "expected a URL such as `https://example.com/schemas/` or `file:///schemas/`",
            ));
        }
        format!("https://{text}")
    };
    let url = parse_url(&uri).map_err(|kind| {
        let hint = kind.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        wrong(&format!("it {kind}{hint}"))
    })?;
    if uri.contains(['*', '?', '#']) {
        return Err(wrong("a prefix has no `*`, no `?` and no `#`"));
    }
    Ok(url)
}

/// What follows the path of `prefix` in that of `url`, if it ends at a `/`.
pub(crate) fn path_below<'a>(url: &'a Url, prefix: &Url) -> Option<&'a str> {
    let rest = url.path().strip_prefix(prefix.path())?;
    let is_below = rest.is_empty() || prefix.path().ends_with('/') || rest.starts_with('/');
    is_below.then_some(rest)
}

/// Whether `url` is `prefix` or below it.
fn starts_with(url: &Url, prefix: &Url) -> bool {
    let origin = |url: &Url| {
        let host = url.host().map(|host| host.to_owned());
        (url.scheme().to_owned(), host, url.port_or_known_default())
    };
    let is_below = path_below(url, prefix).is_some();
    // A server may take an encoded slash for a slash, and leave the folder.
    let path = url.path().to_ascii_lowercase();
    let is_plain = prefix.path() == "/" || !(path.contains("%2f") || path.contains("%5c"));
    origin(url) == origin(prefix) && is_below && is_plain
}

#[cfg(test)]
mod tests {
    use super::{DocumentErrorKind, Location, Policy};

    fn check(allow: &str, uri: &str) -> Result<(), String> {
        let policy = Policy::default().allow(allow).unwrap();
        policy.check(uri).map(drop).map_err(|kind| kind.to_string())
    }

    #[test]
    fn a_prefix_allows_what_is_below_it() {
        for (allow, uri) in [
            ("https://example.com", "https://example.com/a/b.json?x=1#y"),
            ("example.com", "https://EXAMPLE.com:443/"),
            ("https://example.com/a", "https://example.com/a"),
            ("https://example.com/a", "https://example.com/a/b"),
            ("https://example.com/a/", "https://example.com/b/../a/c"),
            ("http://example.com:8080/", "http://example.com:8080/x"),
            ("https://[::1]/", "https://[0:0::1]/x"),
            ("https://xn--exmple-cua.com/", "https://xn--exmple-cua.com/x"),
            ("https://example.com/", "https://example.com/a%2fb"),
        ] {
            assert_eq!(check(allow, uri), Ok(()), "{allow} {uri}");
        }
        for (allow, uri) in [
            ("https://example.com/a", "https://example.com/ab"),
            ("https://example.com/a/", "https://example.com/a"),
            ("https://example.com/a/", "https://example.com/a/../b"),
            ("https://example.com/a/", "https://example.com/a/%2e%2E/b"),
            ("https://example.com/a/", "https://example.com/a/..%2Fb"),
            ("https://example.com/", "http://example.com/"),
            ("http://example.com/", "https://example.com/"),
            ("https://example.com/", "https://example.com:8443/"),
            ("https://example.com/", "https://example.com./"),
            ("https://example.com/", "https://example.com.evil.example/"),
            ("https://example.com/", "https://www.example.com/"),
            ("127.0.0.1", "https://127.0.0.1/"),
        ] {
            assert_eq!(check(allow, uri), Err("is not allowed".to_owned()), "{allow} {uri}");
        }
        assert_eq!(
            Policy::default().check("https://example.com/"),
            Err(DocumentErrorKind::NotAllowed)
        );
    }

    #[test]
    fn unusual_urls_are_refused_with_a_reason() {
        for (uri, reason) in [
            ("data:application/json,true", "scheme `data`"),
            ("urn:example:a", "scheme `urn`"),
            ("ftp://example.com/", "scheme `ftp`"),
            ("https:a", "no host"),
            ("https://user@example.com/", "user name"),
            ("https://user:pass@example.com/", "user name"),
            ("https://2130706433/", "another way to write `127.0.0.1`"),
            ("https://0177.0.0.1/", "another way to write `127.0.0.1`"),
            ("https://0x7f.1/", "another way to write `127.0.0.1`"),
            ("https://127.1/", "another way to write `127.0.0.1`"),
            ("https://127.0.0.1./", "another way to write `127.0.0.1`"),
            ("https://%65xample.com/", "another way to write `example.com`"),
            ("https://ex%C3%A4mple.com/", "another way to write `xn--exmple-cua.com`"),
            ("https://ex\u{e4}mple.com/", "is not a URL"),
            ("https://example.com\\@evil.example/", "is not a URL"),
            ("https://example.com:99999/", "is not a URL"),
            ("https:///a", "is not a URL"),
            ("file://host/a", "has a host"),
            ("a.json", "is not a URL"),
        ] {
            let found = check("https://example.com/", uri).unwrap_err();
            assert!(found.contains(reason), "{uri}: {found}");
        }
    }

    #[test]
    fn a_prefix_is_a_plain_url() {
        for (allow, reason) in [
            ("", "expected a URL"),
            ("schemas", "expected a URL"),
            ("./schemas/", "expected a URL"),
            ("/schemas/", "expected a URL"),
            ("https:", "expected a URL"),
            ("10.1.0.0/33", "expected a URL"),
            ("https://*.example.com/", "no `*`"),
            ("https://example.com/?a", "no `*`, no `?`"),
            ("https://example.com/#a", "and no `#`"),
            ("https://user@example.com/", "user name"),
            ("ftp://example.com/", "scheme `ftp`"),
            ("https://0x7f.1/", "write `127.0.0.1`"),
        ] {
            let found = Policy::default().allow(allow).unwrap_err().to_string();
            assert!(found.contains(reason), "{allow}: {found}");
        }
        let policy = Policy::default().allow("file:///schemas/").unwrap();
        let file = Location::File("/schemas/a b.json".into(), "/schemas/".into());
        assert_eq!(policy.check("file:///schemas/a%20b.json"), Ok(file));
    }

    #[test]
    fn an_address_is_named_by_itself_or_by_a_prefix() {
        let named = |allow: &str, url: &str, address: &str| {
            let policy = Policy::default().allow(allow).unwrap();
            policy.names(&url.parse().unwrap(), address.parse().unwrap())
        };
        assert!(named("127.0.0.1", "http://localhost/", "127.0.0.1"));
        assert!(named("10.0.0.0/8", "http://a/", "10.1.2.3"));
        assert!(named("http://127.0.0.1/", "http://127.0.0.1/", "127.0.0.1"));
        assert!(!named("http://localhost/", "http://localhost/", "127.0.0.1"));
        assert!(named("http://[::ffff:7f00:1]/", "http://[::ffff:7f00:1]/", "127.0.0.1"));
        assert!(!named("127.0.0.1", "http://localhost/", "127.0.0.2"));
    }
}
