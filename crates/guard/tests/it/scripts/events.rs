//! The messages of a response on HTTP, as far as it came.

/// A response whose body comes piece by piece.
pub(super) struct Messages {
    is_stream: bool,
    rest: Vec<u8>,
}

impl Messages {
    /// A response with this media type.
    pub(super) fn new(media: &str) -> Self {
        Self { is_stream: media.starts_with("text/event-stream"), rest: Vec::new() }
    }

    /// Takes a piece of the body: the messages that end with it.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<String> {
        self.rest.extend_from_slice(bytes);
        let mut messages = Vec::new();
        while self.is_stream
            && let Some(at) = self.rest.windows(2).position(|two| two == b"\n\n")
        {
            let event: Vec<u8> = self.rest.drain(..at + 2).collect();
            let event = String::from_utf8(event).unwrap();
            let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
            messages.push(lines.map(str::trim_start).collect::<Vec<_>>().join("\n"));
        }
        messages.retain(|message| !message.is_empty());
        messages
    }

    /// The message that ends with the body, if there is one.
    pub(super) fn end(self) -> Option<String> {
        (!self.rest.is_empty()).then(|| String::from_utf8(self.rest).unwrap())
    }
}
