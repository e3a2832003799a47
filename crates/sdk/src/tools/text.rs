//! Text as the whole result of a tool.

/// The result of a tool that answers with text and nothing else: no output schema, no structured content.
///
/// A tool that returns a `String` has the output schema `{"type": "string"}`; one that returns `Text` has
/// none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Text(pub String);

impl<T: Into<String>> From<T> for Text {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}
