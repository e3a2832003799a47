//! Requests for documents: one connection each, to an address that was checked.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::Read as _;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use flate2::read::MultiGzDecoder;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderValue,
    LOCATION, PROXY_AUTHORIZATION, USER_AGENT,
};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use url::{Host, Position, Url};

use crate::address::reserved_kind;
use crate::budget::Budget;
use crate::digest::digest;
use crate::error::{DocumentErrorKind, error_chain, shorten};
use crate::file;
use crate::mutex::lock;
use crate::policy::{Location, Policy, host_address};
use crate::resolve::Resolve;
use crate::tls::client_config;

/// The most bytes of the head of an answer.
const MAX_HEAD: usize = 64 << 10;

const AGENT: &str = concat!("toolbond/", env!("CARGO_PKG_VERSION"));

/// One request for a document, for a log.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Attempt {
    /// Where the document was looked for.
    pub place: Place,
    /// The URI.
    pub uri: String,
    /// The address that was connected to.
    pub address: Option<IpAddr>,
    /// The status of the answer.
    pub status: Option<u16>,
    /// The bytes of the document, after decompression.
    pub bytes: usize,
    /// The SHA-256 of the document, in hexadecimal digits.
    pub sha256: Option<String>,
    /// How long it took.
    pub time: Duration,
    /// Why there is no document. A redirect is not an error.
    pub error: Option<DocumentErrorKind>,
}

/// Where a document is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// At its URL.
    Url,
    /// In a local folder.
    Folder,
    /// In the cache.
    Cache,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dash = || "-".to_owned();
        let address = self.address.map_or_else(dash, |address| address.to_string());
        let status = self.status.map_or_else(dash, |status| status.to_string());
        let digest = self.sha256.as_ref().map_or_else(dash, |digest| format!("sha256:{digest}"));
        let (uri, bytes, time) = (shorten(&self.uri), self.bytes, self.time.as_millis());
        let verb = match self.place {
            Place::Url => "fetch",
            Place::Folder => "read",
            Place::Cache => "cached",
        };
        write!(f, "{verb} {uri} {address} {status} {bytes} B {digest} {time} ms")?;
        match &self.error {
            Some(error) => write!(f, ": it {error}"),
            None => Ok(()),
        }
    }
}

/// Is told of each request.
pub type Observer = dyn Fn(&Attempt) + Send + Sync;

/// The bytes of a document, and where it was found in the end.
pub(crate) struct Download {
    pub(crate) bytes: Vec<u8>,
    pub(crate) base: String,
}

/// Fetches documents under a policy.
pub(crate) struct Client {
    pub(crate) policy: Policy,
    resolver: Arc<dyn Resolve>,
    observer: Option<Arc<Observer>>,
    /// The connections to each host. The policy names the hosts, so there are not many.
    connections: Mutex<HashMap<String, Arc<Semaphore>>>,
    tls: OnceLock<Result<TlsConnector, String>>,
    proxies: Option<Matcher>,
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// What one request came to.
enum Step {
    Found(Vec<u8>),
    Redirect(Url),
}

impl Client {
    pub(crate) fn new(
        policy: Policy,
        resolver: Arc<dyn Resolve>,
        observer: Option<Arc<Observer>>,
    ) -> Self {
        let proxies = policy.proxy_from_environment.then(Matcher::from_env);
        let (connections, tls) = (Mutex::default(), OnceLock::new());
        Self { policy, resolver, observer, connections, tls, proxies }
    }

    /// Waits for a connection to `host`: a host that hangs does not hold up others.
    async fn permit(&self, host: &str) -> Result<OwnedSemaphorePermit, DocumentErrorKind> {
        let permits = self.policy.limits.connections.max(1);
        let new = || Arc::new(Semaphore::new(permits));
        let host = Arc::clone(lock(&self.connections).entry(host.to_owned()).or_insert_with(new));
        host.acquire_owned().await.map_err(connection)
    }

    /// Fetches the document `uri`.
    pub(crate) async fn get(
        &self,
        uri: &str,
        budget: &Budget,
    ) -> Result<Download, DocumentErrorKind> {
        let location = self.policy.check(uri)?;
        let limit = self.policy.limits.document_time;
        match location {
            Location::File(path, root) => {
                let started = Instant::now();
                let mut attempt = Attempt::new(uri);
                let read = file::read(&path, &root, budget);
                attempt.finish(&read, started);
                self.report(&attempt);
                Ok(Download { bytes: read?, base: uri.to_owned() })
            }
            Location::Http(url) => {
                let _permit = self.permit(url.host_str().unwrap_or_default()).await?;
                let download = self.follow(url, budget);
                timeout(limit, download).await.unwrap_or_else(|_| {
                    let kind = DocumentErrorKind::DocumentTime { limit };
                    let error = Some(kind.clone());
                    self.report(&Attempt { time: limit, error, ..Attempt::new(uri) });
                    Err(kind)
                })
            }
        }
    }

    /// Fetches `url`, and what it redirects to.
    async fn follow(&self, url: Url, budget: &Budget) -> Result<Download, DocumentErrorKind> {
        let limit = self.policy.limits.redirects;
        let mut seen = HashSet::from([url.clone()]);
        let mut here = url;
        loop {
            // The kind of a redirected document names it.
            let redirected = |kind| match seen.len() {
                1 => kind,
                _ => DocumentErrorKind::Redirected { to: here.to_string(), kind: Box::new(kind) },
            };
            let next = match self.request(&here, budget).await.map_err(redirected)? {
                Step::Found(bytes) => return Ok(Download { bytes, base: here.into() }),
                Step::Redirect(next) => next,
            };
            if !seen.insert(next.clone()) {
                return Err(DocumentErrorKind::RedirectLoop);
            }
            if seen.len() > limit + 1 {
                return Err(DocumentErrorKind::Redirects { limit });
            }
            here = match self.policy.check(next.as_str()) {
                Ok(Location::Http(url)) => url,
                // No server decides which file of this machine is read.
                Ok(Location::File(..)) => {
                    let kind = Box::new(DocumentErrorKind::NotAllowed);
                    return Err(DocumentErrorKind::Redirected { to: next.into(), kind });
                }
                Err(kind) => {
                    let kind = Box::new(kind);
                    return Err(DocumentErrorKind::Redirected { to: next.into(), kind });
                }
            };
        }
    }

    /// Sends one request, and reports it.
    async fn request(&self, url: &Url, budget: &Budget) -> Result<Step, DocumentErrorKind> {
        let started = Instant::now();
        let mut attempt = Attempt::new(url.as_str());
        let mut tasks = JoinSet::new();
        let answer = self.send(url, &mut attempt, &mut tasks).await;
        let step = match answer {
            Err(kind) => Err(kind),
            Ok(response) if response.status().is_redirection() => location(url, &response),
            Ok(response) => read_document(response, budget).await.map(Step::Found),
        };
        match &step {
            Ok(Step::Redirect(_)) => attempt.time = started.elapsed(),
            Ok(Step::Found(bytes)) => attempt.finish(&Ok(bytes), started),
            Err(kind) => attempt.finish(&Err::<&[u8], _>(kind.clone()), started),
        }
        self.report(&attempt);
        step
    }

    fn report(&self, attempt: &Attempt) {
        if let Some(observer) = &self.observer {
            observer(attempt);
        }
    }

    /// Connects to `url` and sends the request.
    async fn send(
        &self,
        url: &Url,
        attempt: &mut Attempt,
        tasks: &mut JoinSet<()>,
    ) -> Result<Response<Incoming>, DocumentErrorKind> {
        let uri: Uri = url.as_str().parse().map_err(|_| connection("not a request target"))?;
        let proxy = self.proxies.as_ref().and_then(|proxies| proxies.intercept(&uri));
        let is_secure = url.scheme() == "https";
        let mut request = Request::new(Empty::<Bytes>::new());
        let headers = request.headers_mut();
        let authority = &url[Position::BeforeHost..Position::AfterPort];
        headers.insert(HOST, HeaderValue::try_from(authority).map_err(connection)?);
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        let types = "application/schema+json, application/json;q=0.9, */*;q=0.1";
        headers.insert(ACCEPT, HeaderValue::from_static(types));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        let stream: Box<dyn Stream> = match &proxy {
            None => Box::new(self.connect(url, attempt).await?),
            Some(proxy) => {
                self.check_host(url)?;
                let stream = connect_to_proxy(proxy).await?;
                if is_secure {
                    open_tunnel(stream, proxy, url, tasks).await?
                } else {
                    if let Some(secret) = proxy.basic_auth() {
                        request.headers_mut().insert(PROXY_AUTHORIZATION, secret.clone());
                    }
                    Box::new(stream)
                }
            }
        };
        let is_proxied = proxy.is_some() && !is_secure;
        let target = if is_proxied { url.as_str() } else { &url[Position::BeforePath..] };
        *request.uri_mut() = target.parse().map_err(|_| connection("not a request target"))?;
        let stream: Box<dyn Stream> =
            if is_secure { self.secure(stream, url).await? } else { stream };
        let builder = &mut http1::Builder::new();
        let (mut sender, driver) =
            builder.max_buf_size(MAX_HEAD).handshake(TokioIo::new(stream)).await.map_err(chain)?;
        tasks.spawn(async move { drop(driver.await) });
        let response = sender.send_request(request).await.map_err(chain)?;
        attempt.status = Some(response.status().as_u16());
        Ok(response)
    }

    /// Checks the host of `url`, if it is an address.
    fn check_host(&self, url: &Url) -> Result<(), DocumentErrorKind> {
        host_address(url).map_or(Ok(()), |address| self.check_address(url, address))
    }

    fn check_address(&self, url: &Url, address: IpAddr) -> Result<(), DocumentErrorKind> {
        match reserved_kind(address) {
            Some(kind) if !self.policy.names(url, address.to_canonical()) => {
                Err(DocumentErrorKind::Address { address, kind })
            }
            _ => Ok(()),
        }
    }

    /// Connects to one of the addresses of `url`. If one of them is not allowed, none is used.
    async fn connect(
        &self,
        url: &Url,
        attempt: &mut Attempt,
    ) -> Result<TcpStream, DocumentErrorKind> {
        let failed = |reason: &dyn fmt::Display| DocumentErrorKind::Resolve {
            reason: shorten(&reason.to_string()),
        };
        let addresses = match url.host() {
            Some(Host::Domain(host)) => {
                self.resolver.resolve(host).await.map_err(|error| failed(&error))?
            }
            _ => host_address(url).into_iter().collect(),
        };
        for address in &addresses {
            self.check_address(url, *address)?;
        }
        let port = url.port_or_known_default().unwrap_or_default();
        let mut last = failed(&"it has no address");
        for address in addresses.into_iter().take(MAX_ADDRESSES) {
            attempt.address = Some(address);
            match TcpStream::connect(SocketAddr::new(address, port)).await {
                Ok(stream) => {
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Err(error) => last = connection(error),
            }
        }
        Err(last)
    }

    /// Starts TLS.
    async fn secure(
        &self,
        stream: Box<dyn Stream>,
        url: &Url,
    ) -> Result<Box<dyn Stream>, DocumentErrorKind> {
        let connector = self.tls.get_or_init(|| {
            let config = client_config(self.policy.ca_file.as_deref());
            config.map(|config| Arc::new(config).into()).map_err(|error| error.to_string())
        });
        let connector = connector.as_ref().map_err(connection)?;
        let name = match host_address(url) {
            Some(address) => ServerName::from(address),
            None => url.host_str().unwrap_or_default().to_owned().try_into().map_err(connection)?,
        };
        let connected = connector.connect(name, stream).await;
        Ok(Box::new(connected.map_err(|error| {
            let inner = error.get_ref().and_then(|it| it.downcast_ref());
            match inner {
                Some(rustls::Error::InvalidMessage(_)) => {
                    connection("the server does not speak TLS")
                }
                _ => connection(error),
            }
        })?))
    }
}

/// The most addresses of a host that are tried.
const MAX_ADDRESSES: usize = 4;

impl Attempt {
    pub(crate) fn new(uri: &str) -> Self {
        Self {
            place: Place::Url,
            uri: uri.to_owned(),
            address: None,
            status: None,
            bytes: 0,
            sha256: None,
            time: Duration::ZERO,
            error: None,
        }
    }

    fn finish(&mut self, read: &Result<impl AsRef<[u8]>, DocumentErrorKind>, started: Instant) {
        self.time = started.elapsed();
        match read {
            Ok(bytes) => {
                self.bytes = bytes.as_ref().len();
                self.sha256 = Some(digest(bytes.as_ref()));
            }
            Err(kind) => self.error = Some(kind.clone()),
        }
    }
}

/// Connects to a proxy, which is where the environment says.
async fn connect_to_proxy(proxy: &Intercept) -> Result<TcpStream, DocumentErrorKind> {
    let uri = proxy.uri();
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    if uri.scheme_str() != Some("http") {
        return Err(connection("the proxy of the environment is not an `http` proxy"));
    }
    TcpStream::connect((host, uri.port_u16().unwrap_or(80)))
        .await
        .map_err(|error| connection(format!("proxy: {error}")))
}

/// Asks a proxy for a tunnel to the host of `url`.
async fn open_tunnel(
    stream: TcpStream,
    proxy: &Intercept,
    url: &Url,
    tasks: &mut JoinSet<()>,
) -> Result<Box<dyn Stream>, DocumentErrorKind> {
    let port = url.port_or_known_default().unwrap_or_default();
    let authority = format!("{}:{port}", url.host_str().unwrap_or_default());
    let mut request = Request::new(Empty::<Bytes>::new());
    *request.method_mut() = Method::CONNECT;
    request.headers_mut().insert(HOST, HeaderValue::try_from(&authority).map_err(connection)?);
    if let Some(secret) = proxy.basic_auth() {
        request.headers_mut().insert(PROXY_AUTHORIZATION, secret.clone());
    }
    *request.uri_mut() = authority.parse().map_err(connection)?;
    let builder = &mut http1::Builder::new();
    let (mut sender, driver) =
        builder.max_buf_size(MAX_HEAD).handshake(TokioIo::new(stream)).await.map_err(chain)?;
    tasks.spawn(async move { drop(driver.with_upgrades().await) });
    let response = sender.send_request(request).await.map_err(chain)?;
    let status = response.status();
    if status != StatusCode::OK {
        return Err(connection(format!("the proxy answered with status {}", status.as_u16())));
    }
    Ok(Box::new(TokioIo::new(hyper::upgrade::on(response).await.map_err(chain)?)))
}

/// Where a redirect leads.
fn location(url: &Url, response: &Response<Incoming>) -> Result<Step, DocumentErrorKind> {
    let status = response.status().as_u16();
    let wrong = || DocumentErrorKind::Location { status };
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return Err(DocumentErrorKind::Status { status });
    }
    let mut values = response.headers().get_all(LOCATION).iter();
    let value = values.next().filter(|_| values.next().is_none()).ok_or_else(wrong)?;
    let text = value.to_str().map_err(|_| wrong())?;
    // What the URL parser would mend is refused.
    fluent_uri::UriRef::parse(text).map_err(|_| wrong())?;
    let mut next = url.join(text).map_err(|_| wrong())?;
    next.set_fragment(None);
    Ok(Step::Redirect(next))
}

/// Reads the document in an answer.
async fn read_document(
    response: Response<Incoming>,
    budget: &Budget,
) -> Result<Vec<u8>, DocumentErrorKind> {
    if response.status() != StatusCode::OK {
        return Err(DocumentErrorKind::Status { status: response.status().as_u16() });
    }
    check_type(response.headers())?;
    let is_gzip = is_gzip(response.headers())?;
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame
            .map_err(|error| DocumentErrorKind::Body { reason: shorten(&error_chain(&error)) })?;
        let Ok(data) = frame.into_data() else { continue };
        bytes.extend_from_slice(&data);
        budget.check_document(bytes.len())?;
        if !is_gzip {
            budget.take(data.len())?;
        }
    }
    if is_gzip { decompress(&bytes, budget) } else { Ok(bytes) }
}

fn decompress(bytes: &[u8], budget: &Budget) -> Result<Vec<u8>, DocumentErrorKind> {
    let mut reader = MultiGzDecoder::new(bytes);
    let (mut all, mut chunk) = (Vec::new(), vec![0; 16 << 10]);
    loop {
        match reader.read(&mut chunk) {
            Ok(0) => return Ok(all),
            Ok(count) => {
                all.extend_from_slice(&chunk[..count]);
                budget.check_document(all.len())?;
                budget.take(count)?;
            }
            Err(_) => return Err(DocumentErrorKind::Decompression),
        }
    }
}

/// Refuses web pages and charsets other than UTF-8. Many servers name other types than JSON for JSON.
fn check_type(headers: &HeaderMap) -> Result<(), DocumentErrorKind> {
    for value in headers.get_all(CONTENT_TYPE) {
        let value = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
        let mut parts = value.split([';', ',']).map(str::trim);
        let media = parts.next().unwrap_or_default();
        if matches!(media, "text/html" | "application/xhtml+xml") {
            return Err(DocumentErrorKind::WebPage { media: media.to_owned() });
        }
        let charset = |part: &str| {
            let (name, value) = part.split_once('=')?;
            (name.trim() == "charset").then(|| value.trim().trim_matches(['"', '\'']).to_owned())
        };
        if let Some(charset) = parts.filter_map(charset).find(|it| !is_utf8(it)) {
            return Err(DocumentErrorKind::Charset { charset: shorten(&charset) });
        }
    }
    Ok(())
}

fn is_utf8(charset: &str) -> bool {
    matches!(charset, "utf-8" | "utf8" | "us-ascii")
}

fn is_gzip(headers: &HeaderMap) -> Result<bool, DocumentErrorKind> {
    let values = headers.get_all(CONTENT_ENCODING).iter();
    let names: Vec<_> = values.map(|it| String::from_utf8_lossy(it.as_bytes())).collect();
    match names.join(", ").to_ascii_lowercase().trim() {
        "" | "identity" => Ok(false),
        "gzip" | "x-gzip" => Ok(true),
        other => Err(DocumentErrorKind::Encoding { encoding: shorten(other) }),
    }
}

fn connection(reason: impl fmt::Display) -> DocumentErrorKind {
    DocumentErrorKind::Connection { reason: shorten(&reason.to_string()) }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn chain(error: hyper::Error) -> DocumentErrorKind {
    connection(error_chain(&error))
}
