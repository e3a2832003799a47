//! Findings: what a check reports.

use std::fmt;

use serde::Serialize;
use toolbond_schema::{Mistake, Pointer, Violation};

/// The most characters of the name of a tool: twice as many as a name should have.
const LONGEST_NAME: usize = 256;

/// A problem: the rule, the place, the message, and what was done about it.
///
/// [`Rule::finding`](crate::Rule::finding) makes one. The JSON form has camel case names and omits absent fields.
///
/// ```
/// use toolbond_contract::{Pointer, Side, rule};
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
    /// The severity.
    pub severity: Severity,
    /// The name of the tool, if it has one, shortened to 256 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The index of the tool in its list, if it is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// The part of the contract.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// The place in the tool, the arguments or the structured content (see `side`), or in the document if there is no
    /// tool.
    pub pointer: Pointer,
    /// What is wrong, in one line, without the place and the value in `found`.
    pub message: String,
    /// The value that was found in a call, shortened to 60 characters. Remove it before the finding reaches a place
    /// where the values of calls must stay secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// What to do about it, if known.
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

    /// Sets the name of the tool, shortened if it is far longer than a name may be.
    #[must_use]
    pub fn tool(mut self, name: &str) -> Self {
        self.tool = Some(match name.char_indices().nth(LONGEST_NAME) {
            Some((end, _)) => format!("{}…", &name[..end]),
            None => name.to_owned(),
        });
        self
    }

    /// Sets the part of the contract.
    #[must_use]
    pub fn side(mut self, side: Side) -> Self {
        self.side = Some(side);
        self
    }

    /// Sets the place, message, value and hint of `violation`. The value goes into `found`, not into the message.
    pub(crate) fn violation(mut self, violation: &Violation) -> Self {
        if violation.mistake == Mistake::Value {
            self.message = format!("expected {}", violation.expected);
            self.found = Some(violation.found.clone());
        }
        self.pointer = violation.instance.clone();
        self.hint = violation.advice();
        self
    }

    /// Sets the place.
    #[must_use]
    pub fn at(mut self, pointer: Pointer) -> Self {
        self.pointer = pointer;
        self
    }

    /// Sets the hint: what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Option<String>>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Sets another severity than that of the rule.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Sets what was done.
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

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing, but harmless.
    Info,
    /// Some clients have problems with it, or it does not have the effect that it seems to have.
    Warning,
    /// It breaks the protocol or the dialect of the schema, and is not usable as it is.
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

/// The part of a contract that a finding concerns.
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
    /// Nothing was changed.
    #[default]
    None,
    /// It was rewritten without changing what it means.
    Repaired,
    /// Clients get the same schema in 2020-12.
    Converted,
    /// The member at the pointer was removed, and the tool stays.
    MemberDropped,
    /// The tool was dropped from the list.
    ToolDropped,
    /// The whole list was refused.
    ListRefused,
    /// A tool error answered the call.
    CallRefused,
    /// A tool error took the place of the result. The tool has run.
    ResultWithheld,
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
            Self::None => "unchanged",
            Self::Repaired => "repaired",
            Self::Converted => "converted",
            Self::MemberDropped => "removed from the tool",
            Self::ToolDropped => "tool dropped",
            Self::ListRefused => "list refused",
            Self::CallRefused => "call refused",
            Self::ResultWithheld => "result withheld",
        })
    }
}
