//! Numbers of bytes, as people write them.

/// Parses a number of bytes: `1048576`, `1024KiB`, `1 MiB`, `1MB`.
///
/// Fails if it is no number, or has another unit.
pub fn parse_bytes(text: &str) -> Result<usize, String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim());
    let factor: usize = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return Err("expected a number of bytes, such as 1048576, 512KiB or 16MiB".to_owned()),
    };
    let bytes = number.parse::<usize>().ok().and_then(|number| number.checked_mul(factor));
    bytes.ok_or_else(|| "expected a number of bytes, such as 1048576, 512KiB or 16MiB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse_bytes;

    #[test]
    fn bytes_have_units() {
        for (text, expected) in [
            ("0", 0),
            ("17", 17),
            ("16MiB", 16 << 20),
            ("16 mib", 16 << 20),
            ("1k", 1024),
            ("2GB", 2_000_000_000),
            (" 3 B ", 3),
        ] {
            assert_eq!(parse_bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "MiB", "-1", "1.5MiB", "1TiB", "99999999999999999999", "99999999999GiB"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }
}
