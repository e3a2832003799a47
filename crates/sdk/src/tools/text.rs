//! Text as the result of a tool.

/// The return type of a tool that answers with plain text, without an output schema or structured content.
///
/// A tool that returns a `String` has the output schema `{"type": "string"}` instead.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Text(pub String);

impl<T: Into<String>> From<T> for Text {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}
