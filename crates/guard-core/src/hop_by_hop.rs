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

/// The names of the headers that are about one connection.
fn hop_by_hop(headers: &HeaderMap) -> Vec<HeaderName> {
    let values = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named =
        values.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok());
    HOP_BY_HOP.iter().cloned().chain(named).collect()
}

/// Removes the headers that are about one connection.
pub fn remove_hop_by_hop(headers: &mut HeaderMap) {
    for name in hop_by_hop(headers) {
        headers.remove(name);
    }
}
