//! What a client may be asked for, and what a server offers.

use bytestring::ByteString;
use serde_json::Value;

use crate::json::object::Object;

/// What a client said that it may be asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asks {
    form: bool,
    url: bool,
    sampling: Sampling,
    roots: bool,
}

/// What a client offers to have sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sampling {
    #[default]
    Nothing,
    Plain,
    /// Also with tools.
    Tools,
}

impl Asks {
    /// Reads the capabilities of a client.
    pub fn read(capabilities: Option<&ByteString>) -> Self {
        let all = Object::read(capabilities).unwrap_or_default();
        let elicitation = all.object("elicitation");
        let has_elicitation = all.get("elicitation").is_some_and(|value| value.starts_with('{'));
        let url = elicitation.get("url").is_some();
        Self {
            // An empty object stands for forms.
            form: has_elicitation && (elicitation.get("form").is_some() || !url),
            url,
            sampling: match all.get("sampling") {
                None => Sampling::Nothing,
                Some(_) if all.object("sampling").get("tools").is_some() => Sampling::Tools,
                Some(_) => Sampling::Plain,
            },
            roots: all.get("roots").is_some(),
        }
    }

    /// Whether the client may be asked for anything.
    pub fn any(self) -> bool {
        self != Self::default()
    }

    /// Whether the client may be asked for this.
    pub fn allows(self, method: &str, params: Option<&ByteString>) -> bool {
        let params = Object::read(params).unwrap_or_default();
        match method {
            "elicitation/create" if params.string("mode").as_deref() == Some("url") => self.url,
            "elicitation/create" => self.form,
            "sampling/createMessage" => {
                let uses_tools =
                    params.get("tools").is_some() || params.get("toolChoice").is_some();
                self.sampling == Sampling::Tools
                    || (self.sampling == Sampling::Plain && !uses_tools)
            }
            "roots/list" => self.roots,
            _ => false,
        }
    }
}

/// The capability that a request of a server needs, for messages.
pub(crate) fn capability(method: &str, params: Option<&ByteString>) -> &'static str {
    let params = Object::read(params).unwrap_or_default();
    match method {
        "elicitation/create" if params.string("mode").as_deref() == Some("url") => {
            "elicitation.url"
        }
        "elicitation/create" => "elicitation",
        "sampling/createMessage" if params.get("tools").is_some() => "sampling.tools",
        "sampling/createMessage" => "sampling",
        _ => "roots",
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

/// Lists of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lists {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
}

impl Lists {
    /// What of `notifications`, the parameters of a subscription, is about lists.
    pub(crate) fn read(notifications: &Object) -> Self {
        Self {
            tools: notifications.is_true("toolsListChanged"),
            prompts: notifications.is_true("promptsListChanged"),
            resources: notifications.is_true("resourcesListChanged"),
        }
    }

    /// Those that are also in `other`.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            tools: self.tools && other.tools,
            prompts: self.prompts && other.prompts,
            resources: self.resources && other.resources,
        }
    }

    /// The members of `notifications` that stand for them.
    pub(crate) fn write(self) -> serde_json::Map<String, Value> {
        let all = [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ];
        let named = all.into_iter().filter(|it| it.1);
        named.map(|it| (it.0.to_owned(), true.into())).collect()
    }
}

impl Features {
    /// Reads the capabilities of a server.
    pub(crate) fn read(capabilities: Option<&ByteString>) -> Self {
        let all = Object::read(capabilities).unwrap_or_default();
        let changes = |name: &str| all.object(name).is_true("listChanged");
        Self {
            logging: all.get("logging").is_some(),
            subscribe: all.object("resources").is_true("subscribe"),
            changes: Lists {
                tools: changes("tools"),
                prompts: changes("prompts"),
                resources: changes("resources"),
            },
        }
    }
}

/// Capabilities of one era without those that have no counterpart in the other: tasks are an
/// extension in one, and core in the other.
pub(crate) fn shared_capabilities(capabilities: Option<&ByteString>) -> String {
    let mut all = Object::read(capabilities).unwrap_or_default();
    all.remove("tasks");
    let mut extensions = all.object("extensions");
    extensions.remove("io.modelcontextprotocol/tasks");
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
