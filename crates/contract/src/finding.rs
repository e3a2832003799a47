//! What a judgement reports.

use std::fmt;

use serde::Serialize;
use toolpact_schema::Pointer;

/// One thing a judgement has to say: which rule, about what, where, and what was done about it.
///
/// Made by [`Rule::finding`](crate::Rule::finding). Serialises with camel case names and leaves out
/// what is not known.
///
/// ```
/// use toolpact_contract::{Pointer, Side, rule};
///
/// let finding = rule("input-root-type").unwrap()
///     .finding("expected `type: \"object\"`, found none")
///     .tool("search")
///     .side(Side::Input)
///     .at(Pointer::from("/inputSchema"));
/// assert_eq!(
///     finding.to_string(),
///     "error[input-root-type] search #/inputSchema: expected `type: \"object\"`, found none"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Finding {
    /// The id of the rule, stable and in kebab case.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The name of the tool, where it has one; cut after 256 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The place of the tool in its list, counted from 0, where it stands in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// The part of the contract it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// The place: in the tool object, in the arguments or in the structured content (see `side`),
    /// or in the document where no tool is named.
    pub pointer: Pointer,
    /// What is wrong, in one line, without the place and without the value in `found`.
    pub message: String,
    /// The value that was found in a call, shortened to 60 characters. Take it away before the
    /// finding goes where values of calls must not be seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// What to do about it, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What was done about it.
    #[serde(skip_serializing_if = "Action::is_none")]
    pub action: Action,
}

impl Finding {
    /// Whether the severity is [`Severity::Error`].
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Names the tool.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>) -> Self {
        self.tool = Some(name.into());
        self
    }

    /// Names the part of the contract.
    #[must_use]
    pub fn side(mut self, side: Side) -> Self {
        self.side = Some(side);
        self
    }

    /// Takes the value that was found out of the message of `violation`.
    pub(crate) fn violation(mut self, violation: &toolpact_schema::Violation) -> Self {
        let found = format!(", found {}", violation.found);
        if let Some(message) = violation.message.strip_suffix(&found) {
            message.clone_into(&mut self.message);
            self.found = Some(violation.found.clone());
        }
        self.pointer = violation.instance.clone();
        self.hint.clone_from(&violation.hint);
        self
    }

    /// Names the place.
    #[must_use]
    pub fn at(mut self, pointer: Pointer) -> Self {
        self.pointer = pointer;
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Option<String>>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Another severity than that of the rule.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Says what was done.
    #[must_use]
    pub fn action(mut self, action: Action) -> Self {
        self.action = action;
        self
    }
}

/// `severity[rule] tool #/pointer: message (hint); action`, on one line.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}] ", self.severity, self.rule)?;
        match (&self.tool, self.index) {
            (Some(tool), _) => write!(f, "{tool} ")?,
            (None, Some(index)) => write!(f, "tool {index} ")?,
            (None, None) => {}
        }
        if let Some(side @ (Side::Arguments | Side::Result)) = self.side {
            write!(f, "{side} ")?;
        }
        write!(f, "{}: {}", self.pointer, self.message)?;
        if let Some(found) = &self.found {
            write!(f, ", found {found}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, " ({hint})")?;
        }
        match self.action {
            Action::None => Ok(()),
            action => write!(f, "; {action}"),
        }
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is lost.
    Info,
    /// Some clients will stumble over it, or it does not do what it says.
    Warning,
    /// It breaks the protocol or the schema's own dialect: as it is, it cannot be used.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// The part of a contract that a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Side {
    /// The input schema.
    Input,
    /// The output schema.
    Output,
    /// The arguments of a call.
    Arguments,
    /// The result of a call.
    Result,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::Arguments => "arguments",
            Self::Result => "result",
        })
    }
}

/// What was done about a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Action {
    /// Nothing: what was judged stays as it is.
    #[default]
    None,
    /// It was rewritten without changing what it means.
    Repaired,
    /// The member at the pointer was left out, the tool stays.
    MemberDropped,
    /// The tool was left out of the list.
    ToolDropped,
    /// The whole list was refused.
    ListRefused,
    /// The call was answered with a tool error.
    CallRefused,
}

impl Action {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "nothing done",
            Self::Repaired => "repaired",
            Self::MemberDropped => "left out of the tool",
            Self::ToolDropped => "tool dropped",
            Self::ListRefused => "list refused",
            Self::CallRefused => "call refused",
        })
    }
}
