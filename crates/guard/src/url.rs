//! URLs of servers: as they may be shown, and with the queries of clients.

use hyper::Uri;

/// A URL without what may be secret in it: its query and fragment.
pub(crate) fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

/// The URI for a request of a client to `path` at the server with the URL `upstream`. What the query of the server's URL
/// says, such as a key, is part of it, and then what the client's says.
pub(crate) fn with_queries(
    upstream: &Uri,
    path: &str,
    query: Option<&str>,
) -> Result<Uri, hyper::http::Error> {
    let told: Vec<_> = query.iter().flat_map(|query| query.split('&')).collect();
    let own = upstream.query().into_iter().flat_map(|own| own.split('&'));
    let pairs: Vec<_> =
        own.filter(|pair| !told.contains(pair)).chain(told.iter().copied()).collect();
    let mark = if upstream.query().or(query).is_some() { "?" } else { "" };
    let mut target = upstream.clone().into_parts();
    target.path_and_query = Some(format!("{path}{mark}{}", pairs.join("&")).parse()?);
    Ok(Uri::from_parts(target)?)
}
