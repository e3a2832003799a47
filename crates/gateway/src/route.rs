//! Which server a request is for.

use std::borrow::Cow;
use std::collections::HashMap;

use hyper::HeaderMap;

use toolbond_guard::gateway::{Server, Servers};

use crate::wire::{HttpHeaders, Kind, Struct};

/// The gRPC metadata with which the configuration of Envoy names the server.
const METADATA: &str = "toolbond-server";

/// The attribute of Envoy that names the route.
const ROUTE_NAME: &str = "xds.route_name";

/// The server that Envoy names in the metadata, else by the name of its route, else by the path `/NAME/…`; or the only
/// one there is. Fails if there is no such server.
pub(super) fn named_server(
    servers: &Servers,
    metadata: &HeaderMap,
    attributes: &HashMap<String, Struct>,
    headers: &HttpHeaders,
) -> Result<Server, String> {
    let unknown = |what: &str, name: &str| {
        let name: String = name.chars().take(64).collect();
        format!(
            "no server for {what} `{name}`: expected [servers.{name}] with a url in the configuration"
        )
    };
    if let Some(name) = metadata.get(METADATA) {
        let name = String::from_utf8_lossy(name.as_bytes());
        return servers.named(&name).ok_or_else(|| unknown("metadata toolbond-server", &name));
    }
    if let Some(name) = attribute(attributes, ROUTE_NAME) {
        return servers.of_route(name).ok_or_else(|| {
            let name: String = name.chars().take(200).collect();
            format!("no server for route `{name}`: expected a server of this name, or with it in `routes`, in the configuration")
        });
    }
    if let Some(only) = servers.only() {
        return Ok(only);
    }
    let path = path(headers);
    let name = path.trim_start_matches('/').split(['/', '?']).next().unwrap_or_default();
    servers.named(name).ok_or_else(|| unknown("path", name))
}

fn attribute<'a>(attributes: &'a HashMap<String, Struct>, name: &str) -> Option<&'a str> {
    attributes.values().find_map(|all| match all.fields.get(name)?.kind.as_ref()? {
        Kind::StringValue(text) if !text.is_empty() => Some(text.as_str()),
        _ => None,
    })
}

fn path(headers: &HttpHeaders) -> Cow<'_, str> {
    let mut all = headers.headers.iter().flat_map(|all| &all.headers);
    match all.find(|header| header.key == ":path") {
        Some(path) if path.raw_value.is_empty() => Cow::Borrowed(&path.value),
        Some(path) => String::from_utf8_lossy(&path.raw_value),
        None => Cow::Borrowed(""),
    }
}
