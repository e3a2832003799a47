//! A rule, and declaring one.

use crate::{Finding, Severity};

/// Declares a rule whose page is the doc comment above it.
///
/// The first line is the summary. The rule is `pub(crate)`; `pub` before its name makes it public.
///
/// ```
/// toolbond_contract::declare_rule! {
///     /// A tool has no title.
///     TOOL_TITLE = "tool-title", Info
/// }
///
/// # fn main() {
/// assert_eq!(TOOL_TITLE.summary(), "A tool has no title.");
/// # }
/// ```
#[macro_export]
macro_rules! declare_rule {
    ($(#[doc = $line:literal])+ pub $name:ident = $id:literal, $severity:ident) => {
        $(#[doc = $line])+
        pub static $name: $crate::Rule =
            $crate::Rule::new($id, $crate::Severity::$severity, concat!($($line, "\n"),+));
    };
    ($(#[doc = $line:literal])+ $name:ident = $id:literal, $severity:ident) => {
        $(#[doc = $line])+
        pub(crate) static $name: $crate::Rule =
            $crate::Rule::new($id, $crate::Severity::$severity, concat!($($line, "\n"),+));
    };
}

/// A rule: its id, its severity and its page.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// The id, stable and in kebab case.
    pub id: &'static str,
    /// The severity of findings under this rule, unless a finding says otherwise.
    pub severity: Severity,
    pub(crate) doc: &'static str,
}

impl Rule {
    /// Makes a rule. [`declare_rule!`](crate::declare_rule) takes the page from a doc comment.
    #[must_use]
    pub const fn new(id: &'static str, severity: Severity, doc: &'static str) -> Self {
        Self { id, severity, doc }
    }

    /// The summary, in one line.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        self.doc.lines().next().unwrap_or_default().trim()
    }

    /// What `toolbond explain` prints: Markdown, ending with a line break.
    #[must_use]
    pub fn page(&self) -> String {
        let mut page = format!("# {}\n\n", self.id);
        for line in self.doc.lines() {
            page.push_str(line.strip_prefix(' ').unwrap_or(line));
            page.push('\n');
        }
        page
    }

    /// Makes a finding under this rule, at the root of the tool or value.
    #[must_use]
    pub fn finding(&self, message: impl Into<String>) -> Finding {
        Finding {
            rule: self.id,
            severity: self.severity,
            tool: None,
            index: None,
            side: None,
            pointer: toolbond_schema::Pointer::root(),
            message: message.into(),
            found: None,
            hint: None,
            action: crate::Action::None,
        }
    }
}
