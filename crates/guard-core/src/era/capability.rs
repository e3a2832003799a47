//! What a client may be asked for, and what a server offers.

use bytestring::ByteString;

use crate::json::object::Object;

/// What a client said that it may be asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each capability")]
pub struct Asks {
    form: bool,
    url: bool,
    sampling: bool,
    sampling_tools: bool,
    roots: bool,
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
            sampling: all.get("sampling").is_some(),
            sampling_tools: all.object("sampling").get("tools").is_some(),
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
                self.sampling && (self.sampling_tools || !uses_tools)
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
#[expect(clippy::struct_excessive_bools, reason = "one for each capability")]
pub(crate) struct Features {
    pub logging: bool,
    pub subscribe: bool,
    pub tools_changed: bool,
    pub prompts_changed: bool,
    pub resources_changed: bool,
}

impl Features {
    /// Reads the capabilities of a server.
    pub(crate) fn read(capabilities: Option<&ByteString>) -> Self {
        let all = Object::read(capabilities).unwrap_or_default();
        let changes = |name: &str| all.object(name).is_true("listChanged");
        Self {
            logging: all.get("logging").is_some(),
            subscribe: all.object("resources").is_true("subscribe"),
            tools_changed: changes("tools"),
            prompts_changed: changes("prompts"),
            resources_changed: changes("resources"),
        }
    }

    /// Whether there is something to listen for.
    pub(crate) fn changes(self) -> bool {
        self.tools_changed || self.prompts_changed || self.resources_changed
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
