//! Addresses that a test keeps while nobody listens there.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU16, Ordering};

/// The address of `port` on loopback.
pub fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// An address that is given to nobody else, so that a server can end and start there again. Each process has a host of
/// its own in `127.64.0.0/10`, all of which is loopback on Linux, and ports below those that the system gives out.
pub fn reserved() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(20_000);
    let port = NEXT.fetch_add(1, Ordering::Relaxed);
    assert!(port < 30_000, "no reserved address is left");
    let [_, high, middle, low] = std::process::id().to_be_bytes();
    (Ipv4Addr::new(127, 64 + (high & 63), middle, low), port).into()
}
