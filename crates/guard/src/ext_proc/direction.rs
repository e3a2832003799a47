//! Which way a message of Envoy goes.

/// Which way a message of Envoy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Request,
    Response,
}
