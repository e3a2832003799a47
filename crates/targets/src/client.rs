//! The target that tools are viewed for: a fixed one, or the one that the name of a client tells.

use std::str::FromStr;

use crate::{Target, UnknownTarget, target};

/// Which target clients get views for.
///
/// ```
/// use toolbond_targets::ViewFor;
///
/// let fixed: ViewFor = "gemini".parse()?;
/// assert_eq!(fixed.target(None).unwrap().name, "gemini");
/// assert!(ViewFor::Auto.target(Some("my-agent")).is_none());
/// # Ok::<(), toolbond_targets::UnknownTarget>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum ViewFor {
    /// None: clients get the full tools. Its name is `none`.
    #[default]
    None,
    /// This target, whoever the client is.
    Target(&'static Target),
    /// The target that [`target_for_client`] tells; unknown clients get the full tools. Its name is `auto`.
    Auto,
}

impl ViewFor {
    /// The target for a client that calls itself `client`.
    #[must_use]
    pub fn target(self, client: Option<&str>) -> Option<&'static Target> {
        match self {
            Self::None => None,
            Self::Target(target) => Some(target),
            Self::Auto => target_for_client(client?),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Target(target) => target.name,
            Self::Auto => "auto",
        }
    }
}

impl From<&'static Target> for ViewFor {
    fn from(target: &'static Target) -> Self {
        Self::Target(target)
    }
}

/// `none`, `auto`, or the name of a target.
impl FromStr for ViewFor {
    type Err = UnknownTarget;

    fn from_str(name: &str) -> Result<Self, UnknownTarget> {
        match name {
            "none" => Ok(Self::None),
            "auto" => Ok(Self::Auto),
            _ => target(name).map(Self::Target),
        }
    }
}

/// By name.
impl PartialEq for ViewFor {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for ViewFor {}

/// What hosts call themselves in `clientInfo`, and their target. What ends with `-` is the start of a name.
const CLIENTS: [(&str, &str); 9] = [
    ("claude-ai", "claude-desktop"),
    ("claude-code", "claude-code"),
    ("codex-mcp-client", "codex"),
    ("cursor", "cursor"),
    ("cursor-vscode", "cursor"),
    ("gemini-cli-mcp-client", "gemini-cli"),
    // Some versions add the name that they have for the server.
    ("gemini-cli-mcp-client-", "gemini-cli"),
    ("visual studio code", "vscode"),
    ("visual studio code - insiders", "vscode"),
];

/// Returns the target of a client that calls itself `name` in `clientInfo`; `None` for an unknown one.
///
/// Names are compared without case. A proxy may have added to the name, as in `claude-ai (via mcp-remote 0.1.37)`.
#[must_use]
pub fn target_for_client(name: &str) -> Option<&'static Target> {
    let name = name.split(" (").next().unwrap_or_default().to_ascii_lowercase();
    let is_it = |known: &str| name == known || (known.ends_with('-') && name.starts_with(known));
    let (_, found) = CLIENTS.iter().find(|(known, _)| is_it(known))?;
    target(found).ok()
}

#[cfg(test)]
mod tests {
    use super::{CLIENTS, ViewFor, target_for_client};

    #[test]
    fn names_of_views_are_checked() {
        assert_eq!("none".parse(), Ok(ViewFor::None));
        assert_eq!("auto".parse(), Ok(ViewFor::Auto));
        let error = "gemni".parse::<ViewFor>().unwrap_err();
        assert_eq!(error.to_string(), "no target `gemni`; did you mean `gemini`?");
    }

    #[test]
    fn clients_are_told_by_their_names() {
        for (name, target) in CLIENTS {
            for name in [name.to_owned(), name.to_uppercase(), format!("{name} (via mcp-remote 1)")]
            {
                assert_eq!(target_for_client(&name).map(|it| it.name), Some(target), "{name}");
            }
        }
        assert_eq!(target_for_client("gemini-cli-mcp-client-files").unwrap().name, "gemini-cli");
        assert!(target_for_client("cursory").is_none());
    }
}
