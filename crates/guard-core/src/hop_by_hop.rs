//! Headers that are about one connection, and not forwarded.

use http::HeaderMap;
use http::header::{CONNECTION, HeaderName, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};

/// The headers that concern one connection, whatever `Connection` says.
static HOP_BY_HOP: [HeaderName; 7] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Removes the headers that are about one connection.
pub fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let values = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named = values.flat_map(|value| value.split(','));
    let named: Vec<HeaderName> = named.filter_map(|name| name.trim().parse().ok()).collect();
    remove_headers(headers, |name| HOP_BY_HOP.contains(name) || named.contains(name));
}

/// Removes the headers whose names are such.
pub fn remove_headers(headers: &mut HeaderMap, is_such: impl Fn(&HeaderName) -> bool) {
    let names: Vec<_> = headers.keys().filter(|name| is_such(name)).cloned().collect();
    for name in names {
        headers.remove(name);
    }
}
