//! From host names to addresses.

use std::io;
use std::net::IpAddr;

use futures_util::future::BoxFuture;
use tokio::net::lookup_host;

/// Resolves host names. Each name is resolved once for each connection, which then uses the addresses that were checked.
pub trait Resolve: Send + Sync {
    /// Returns the addresses of `host`.
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The resolver of the system.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}
