//! What a client may be asked for, and what a server offers.

use bytestring::ByteString;
use serde_json::Value;

use crate::json::object::Object;
use crate::message::meta;

/// The capabilities of clients that a request of a server may need, by the names that messages call them.
const ASKS: [&str; 5] = ["elicitation", "elicitation.url", "sampling", "sampling.tools", "roots"];

/// What a client said that it may be asked for: which of `ASKS`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asks([bool; 5]);

impl Asks {
    /// Reads the capabilities of a client.
    pub fn read(capabilities: Option<&ByteString>) -> Self {
        let all = Object::read(capabilities).unwrap_or_default();
        let elicitation = all.object("elicitation");
        let has_elicitation = all.get("elicitation").is_some_and(|value| value.starts_with('{'));
        let url = elicitation.get("url").is_some();
        // An empty object stands for forms.
        let form = has_elicitation && (elicitation.get("form").is_some() || !url);
        let tools = all.object("sampling").get("tools").is_some();
        Self([form, url, all.get("sampling").is_some(), tools, all.get("roots").is_some()])
    }

    /// Whether the client may be asked for anything.
    pub fn any(self) -> bool {
        self != Self::default()
    }

    /// Whether the client may be asked for this.
    pub fn allows(self, method: &str, params: Option<&ByteString>) -> bool {
        let needed = capability(method, params);
        ASKS.into_iter().zip(self.0).any(|(name, has)| has && needed == Some(name))
    }
}

/// Returns the capability that a request of a server needs; `None` where the request asks a client for nothing.
pub(crate) fn capability(method: &str, params: Option<&ByteString>) -> Option<&'static str> {
    let params = Object::read(params).unwrap_or_default();
    let uses_tools = params.get("tools").is_some() || params.get("toolChoice").is_some();
    match method {
        "elicitation/create" if params.string("mode").as_deref() == Some("url") => {
            Some("elicitation.url")
        }
        "elicitation/create" => Some("elicitation"),
        "sampling/createMessage" if uses_tools => Some("sampling.tools"),
        "sampling/createMessage" => Some("sampling"),
        "roots/list" => Some("roots"),
        _ => None,
    }
}

/// What a server said that it offers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Features {
    pub(crate) logging: bool,
    pub(crate) subscribe: bool,
    /// The lists whose changes it tells of.
    pub(crate) changes: Lists,
}

/// The lists of a server, as methods and capabilities call them.
const LISTS: [&str; 3] = ["tools", "prompts", "resources"];

/// Some of [`LISTS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lists([bool; 3]);

impl Lists {
    /// Reads what of `notifications`, the parameters of a subscription, is about lists.
    pub(crate) fn read(notifications: &Object) -> Self {
        Self(LISTS.map(|list| notifications.is_true(&format!("{list}ListChanged"))))
    }

    /// Returns those that are also in `other`.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] && other.0[at]))
    }

    /// Whether the notification `method` says that one of these has changed; `None` where it is not about a list.
    pub(crate) fn have_changed(self, method: &str) -> Option<bool> {
        let list = method.strip_prefix("notifications/")?.strip_suffix("/list_changed")?;
        LISTS.into_iter().zip(self.0).find(|(name, _)| *name == list).map(|(_, has)| has)
    }

    /// Returns the members of `notifications` that stand for them.
    pub(crate) fn write(self) -> serde_json::Map<String, Value> {
        let named = LISTS.into_iter().zip(self.0).filter(|(_, has)| *has);
        named.map(|(list, _)| (format!("{list}ListChanged"), true.into())).collect()
    }
}

impl Features {
    /// Reads the capabilities of a server.
    pub(crate) fn read(capabilities: Option<&ByteString>) -> Self {
        let all = Object::read(capabilities).unwrap_or_default();
        Self {
            logging: all.get("logging").is_some(),
            subscribe: all.object("resources").is_true("subscribe"),
            changes: Lists(LISTS.map(|list| all.object(list).is_true("listChanged"))),
        }
    }
}

/// Capabilities of one era without those that have no counterpart in the other: tasks are an
/// extension in one, and core in the other.
pub(crate) fn shared_capabilities(capabilities: Option<&ByteString>) -> String {
    let mut all = Object::read(capabilities).unwrap_or_default();
    all.remove("tasks");
    let mut extensions = all.object("extensions");
    extensions.remove(meta::TASKS);
    let extensions = extensions.to_string();
    if all.get("extensions").is_some() {
        all.set("extensions", extensions);
    }
    all.to_string()
}

/// The place of a log level among the levels, from `debug` on.
pub(crate) fn log_level(name: &str) -> Option<usize> {
    const LEVELS: [&str; 8] =
        ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
    LEVELS.iter().position(|level| *level == name)
}

#[cfg(test)]
mod tests {
    use super::Asks;

    #[test]
    fn asks_only_for_what_was_declared() {
        let url = Some(&r#"{"mode":"url"}"#.into());
        let none = Asks::read(Some(&"{}".into()));
        assert!(!none.any() && !none.allows("elicitation/create", None));
        let form = Asks::read(Some(&r#"{"elicitation":{}}"#.into()));
        assert!(form.allows("elicitation/create", None) && !form.allows("elicitation/create", url));
        let only_url = Asks::read(Some(&r#"{"elicitation":{"url":{}}}"#.into()));
        assert!(!only_url.allows("elicitation/create", None));
        assert!(only_url.allows("elicitation/create", url));
        let sampling = Asks::read(Some(&r#"{"sampling":{}}"#.into()));
        assert!(sampling.allows("sampling/createMessage", Some(&"{}".into())));
        assert!(!sampling.allows("sampling/createMessage", Some(&r#"{"tools":[]}"#.into())));
        assert!(!sampling.allows("roots/list", None) && !sampling.allows("tools/list", None));
    }
}
