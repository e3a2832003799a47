//! How large a tool is.

use std::io;

use serde::Serialize;

/// The bytes of `value` as JSON without spaces.
pub(super) fn bytes(value: &impl Serialize) -> usize {
    let mut count = Count(0);
    // Counting does not fail, and a `Value` can always be written.
    _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// An estimate of the tokens that `bytes` take: four bytes a token, rounded up.
pub(super) const fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(4)
}

struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0 += text.len();
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
