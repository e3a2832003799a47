//! The body mode of Envoy's filter. Only in `FULL_DUPLEX_STREAMED` does a replica see a whole body before any of it leaves,
//! and may it change all of it.

use crate::wire::{BodySendMode, ProtocolConfiguration};

/// Why messages cannot be checked with this `config`, and the lines to write; `None` if they can be.
pub(super) fn unusable(config: &ProtocolConfiguration) -> Option<String> {
    let modes = [
        ("request_body_mode", config.request_body_mode),
        ("response_body_mode", config.response_body_mode),
    ];
    let wrong = modes.iter().filter(|(_, mode)| *mode != BodySendMode::FullDuplexStreamed as i32);
    let (found, lines): (Vec<_>, Vec<_>) = wrong
        .map(|(key, mode)| {
            let name = BodySendMode::try_from(*mode).map_or("that is not known", |it| it.name());
            (format!("{key} {name}"), format!("`{key}: FULL_DUPLEX_STREAMED`"))
        })
        .unzip();
    (!found.is_empty()).then(|| {
        format!(
            "cannot check messages: the ext_proc filter of Envoy has {}; write {} in its processing_mode",
            found.join(" and "),
            lines.join(" and ")
        )
    })
}

impl BodySendMode {
    /// The name in a configuration of Envoy.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Streamed => "STREAMED",
            Self::Buffered => "BUFFERED",
            Self::BufferedPartial => "BUFFERED_PARTIAL",
            Self::FullDuplexStreamed => "FULL_DUPLEX_STREAMED",
            Self::Grpc => "GRPC",
        }
    }
}
