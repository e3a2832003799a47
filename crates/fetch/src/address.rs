//! Addresses that are not on the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns what kind of address `address` is, unless it is a public one. `IpAddr::is_global` is not stable yet.
pub(crate) fn reserved_kind(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => reserved_v4(address),
        IpAddr::V6(address) => reserved_v6(address),
    }
}

fn reserved_v4(address: Ipv4Addr) -> Option<&'static str> {
    Some(match address.octets() {
        // AWS, Azure, Google and others; Azure; Alibaba; Oracle.
        [169, 254, 169, 254] | [168, 63, 129, 16] | [100, 100, 100, 200] | [192, 0, 0, 192] => {
            METADATA
        }
        [0, ..] => "unspecified",
        [127, ..] => "loopback",
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => "private",
        [169, 254, ..] => "link-local",
        [100, 64..=127, ..] => "carrier-grade NAT",
        [224..=239, ..] => "multicast",
        [192, 0, 0 | 2, _]
        | [192, 88, 99, _]
        | [198, 18..=19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [240..=255, ..] => "reserved",
        _ => return None,
    })
}

fn reserved_v6(address: Ipv6Addr) -> Option<&'static str> {
    let segments = address.segments();
    let embedded = |at: usize| {
        let [a, b] = segments[at].to_be_bytes();
        let [c, d] = segments[at + 1].to_be_bytes();
        reserved_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254] => Some(METADATA),
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("unspecified"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("loopback"),
        // IPv4-mapped, IPv4-translated, and the well-known prefix of NAT64.
        [0, 0, 0, 0, 0, 0xffff, ..]
        | [0, 0, 0, 0, 0xffff, 0, ..]
        | [0x64, 0xff9b, 0, 0, 0, 0, ..] => embedded(6),
        // 6to4.
        [0x2002, ..] => Some(embedded(1).unwrap_or("reserved")),
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => Some("private"),
        [0xfe80..=0xfebf, ..] => Some("link-local"),
        [0xff00..=0xffff, ..] => Some("multicast"),
        // Teredo and other protocols, and examples in documents.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Some("reserved"),
        // Only 2000::/3 is assigned to hosts.
        [0x2000..=0x3fff, ..] => None,
        _ => Some("reserved"),
    }
}

const METADATA: &str = "cloud metadata";

#[cfg(test)]
mod tests {
    use super::reserved_kind;

    #[test]
    fn addresses_have_a_kind_unless_they_are_public() {
        for (address, kind) in [
            ("8.8.8.8", None),
            ("172.15.0.1", None),
            ("172.32.0.1", None),
            ("100.63.255.255", None),
            ("2606:2800:220:1::1", None),
            ("::ffff:8.8.8.8", None),
            ("64:ff9b::808:808", None),
            ("0.0.0.0", Some("unspecified")),
            ("127.8.8.8", Some("loopback")),
            ("10.0.0.1", Some("private")),
            ("172.31.255.255", Some("private")),
            ("192.168.1.1", Some("private")),
            ("169.254.0.1", Some("link-local")),
            ("169.254.169.254", Some("cloud metadata")),
            ("100.127.0.1", Some("carrier-grade NAT")),
            ("224.0.0.1", Some("multicast")),
            ("255.255.255.255", Some("reserved")),
            ("198.19.0.1", Some("reserved")),
            ("::", Some("unspecified")),
            ("::1", Some("loopback")),
            ("::ffff:127.0.0.1", Some("loopback")),
            ("::ffff:0:10.0.0.1", Some("private")),
            ("64:ff9b::7f00:1", Some("loopback")),
            ("64:ff9b:1::1", Some("reserved")),
            ("::7f00:1", Some("reserved")),
            ("2002:7f00:1::", Some("loopback")),
            ("2002:808:808::", Some("reserved")),
            ("2001:0:7f00:1::", Some("reserved")),
            ("fd00::1", Some("private")),
            ("fd00:ec2::254", Some("cloud metadata")),
            ("fe80::1", Some("link-local")),
            ("ff02::1", Some("multicast")),
            ("2001:db8::1", Some("reserved")),
            ("4000::1", Some("reserved")),
        ] {
            assert_eq!(reserved_kind(address.parse().unwrap()), kind, "{address}");
        }
    }
}
