//! URLs as they may be shown.

/// A URL without what may be secret in it: its query and fragment.
pub(crate) fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}
