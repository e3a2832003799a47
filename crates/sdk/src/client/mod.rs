//! A client that validates what it sends and receives.

mod call;
mod error;
mod list;
mod subscription;
mod tools;

use std::time::Duration;

pub use error::ClientError;
use rmcp::{
    ClientLifecycleMode, ClientServiceExt as _, RoleClient, Service,
    model::ProtocolVersion,
    service::{ClientCacheConfig, RunningService, ServiceError},
    transport::IntoTransport,
};
use subscription::ToolListSubscription;
use tokio::sync::OnceCell;
use toolbond_contract::Revision;
use tools::LastList;

use crate::ClientOptions;

/// How long a tool list without `ttlMs` is cached, unless the server announces a change.
const LIST_TTL: Duration = Duration::from_secs(300);

/// A client for servers of any protocol revision.
///
/// ```
/// use serde_json::json;
/// use toolbond::Client;
///
/// # use toolbond::rmcp::ServiceExt as _;
/// # struct Weather;
/// # #[toolbond::tools]
/// # impl Weather {
/// #     #[tool]
/// #     fn forecast(&self, city: String) -> Vec<f64> { vec![f64::from(city.len() as u8); 2] }
/// # }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (transport, end) = tokio::io::duplex(4096);
/// # tokio::spawn(async { toolbond::enforce(Weather).serve(end).await.unwrap().waiting().await });
/// // The transport is one of `rmcp`: a process (`TokioChildProcess`), HTTP (`StreamableHttpClientTransport`)
/// // or, as here, a pipe.
/// let client = Client::connect(transport).await?;
/// let hours: Vec<f64> = client.call("forecast", json!({ "city": "Bern" })).await?;
/// assert_eq!(hours, [4.0, 4.0]);
/// # Ok(()) }
/// ```
///
/// The client validates arguments before it sends them and results before it returns them, with limited fuel. No schema
/// of a server can block it or make it fetch a document. [`ClientOptions`] says what happens to invalid ones.
///
/// Each tool is checked on its own; a tool that cannot be used is repaired or left out. Tool lists are cached for as
/// long as their `ttlMs` says (five minutes if the server does not say) and until the server announces a change. The
/// client subscribes to these announcements where the revision requires it.
///
/// # Envelopes
///
/// Before 2026-07-28 structured content had to be an object, so servers put other values into an envelope
/// `{"result": …}`. The client returns the value inside:
///
/// | what identifies the envelope | before 2026-07-28 | from 2026-07-28 on |
/// | --- | --- | --- |
/// | the mark of toolbond or of `FastMCP` | opened | opened |
/// | the title that the Python SDK gives it, such as `countOutput` for the tool `count` | opened | opened: that SDK wraps in every revision |
/// | only its exact shape, around a value that is not an object (TypeScript and C# SDKs) | opened: there was no other way to send that value | kept: the author wrote it |
/// | only its exact shape, around an object | kept: no SDK wraps objects | kept |
///
/// [`ClientOptions::projection`] changes this.
#[derive(Debug)]
pub struct Client<S: Service<RoleClient>> {
    service: RunningService<RoleClient, S>,
    last_list: LastList,
    options: ClientOptions,
    /// Opened before the first list is fetched.
    subscription: OnceCell<Option<ToolListSubscription>>,
}

impl Client<()> {
    /// Connects over `transport`, with the default options. Tries revision 2026-07-28 first, then the older handshake.
    ///
    /// # Errors
    ///
    /// Fails if the handshake with the server fails. A server that knows `server/discover` but refuses 2026-07-28 also
    /// fails: connect an `rmcp` client of an older revision and use [`Client::new`].
    pub async fn connect<T, E, A>(transport: T) -> Result<Self, ClientError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        Self::connect_with(transport, ClientOptions::default()).await
    }

    /// [`Client::connect`] with other options.
    ///
    /// # Errors
    ///
    /// The same as [`Client::connect`].
    pub async fn connect_with<T, E, A>(
        transport: T,
        options: ClientOptions,
    ) -> Result<Self, ClientError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        };
        let service = ().serve_with_lifecycle(transport, lifecycle).await;
        let service = service.map_err(|error| ClientError::Connect(Box::new(error)))?;
        Ok(Self::with_options(service, options))
    }
}

impl<S: Service<RoleClient>> Client<S> {
    /// Wraps `service`, an `rmcp` client that is connected: for programs with their own client handler.
    #[must_use]
    pub fn new(service: RunningService<RoleClient, S>) -> Self {
        Self::with_options(service, ClientOptions::default())
    }

    /// [`Client::new`] with other options.
    #[must_use]
    pub fn with_options(service: RunningService<RoleClient, S>, options: ClientOptions) -> Self {
        let subscription = OnceCell::new();
        Self { service, last_list: LastList::default(), options, subscription }
    }

    /// Makes the `rmcp` client cache lists until they change.
    async fn subscribe(&self) {
        let open = async {
            let peer = self.service.peer();
            let config = ClientCacheConfig::default().with_default_ttl(LIST_TTL);
            peer.set_response_cache_config(config).await;
            if self.revision().is_natural() { ToolListSubscription::open(peer).await } else { None }
        };
        self.subscription.get_or_init(|| open).await;
    }

    /// The `rmcp` client inside, for requests that are not about tools.
    pub const fn service(&self) -> &RunningService<RoleClient, S> {
        &self.service
    }

    /// The `rmcp` client inside, to close it or to wait for its end.
    pub fn into_service(self) -> RunningService<RoleClient, S> {
        self.service
    }

    /// The negotiated protocol revision.
    pub fn revision(&self) -> Revision {
        negotiated_revision(&self.service)
    }

    /// Waits for the answer to `request` until the timeout. `rmcp` cancels a request whose future is dropped.
    async fn wait<T>(
        &self,
        request: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, ClientError> {
        let limit = self.options.timeout;
        let answer = tokio::time::timeout(limit, request).await;
        answer.map_err(|_| ClientError::Timeout { limit })?.map_err(|error| Box::new(error).into())
    }
}

fn negotiated_revision<S: Service<RoleClient>>(
    service: &RunningService<RoleClient, S>,
) -> Revision {
    let info = service.peer_info();
    Revision::named(info.as_ref().map(|info| info.protocol_version.as_str()))
}
