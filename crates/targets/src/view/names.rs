//! Names of views.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::target::check::full_name;
use crate::{NameForm, Target};

/// Returns the name of each view where it differs from the name of the tool.
///
/// A tool with a user interface (MCP Apps) keeps its name: the code in that interface calls it.
pub(super) fn rename(tools: &[Value], target: &Target) -> Vec<Option<String>> {
    let name =
        |tool: &Value| tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let names: Vec<(String, String)> = tools
        .iter()
        .map(|tool| {
            let own = name(tool);
            let is_kept = own.is_empty() || accepts(&target.names, &own) || has_interface(tool);
            let view = if is_kept { own.clone() } else { acceptable(&target.names, &own) };
            (own, view)
        })
        .collect();
    let used = UsedNames {
        tools: names.iter().map(|(own, _)| own.clone()).collect(),
        ..UsedNames::default()
    };
    let pairs: Vec<_> = names.iter().map(|(own, view)| (own.as_str(), view.as_str())).collect();
    let given = name_views(&pairs, target, &used);
    given
        .into_iter()
        .zip(names)
        .map(|(given, (own, _))| given.filter(|given| *given != own))
        .collect()
}

/// Whether `name` suits the target without a prefix.
pub(crate) fn accepts(form: &NameForm, name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || form.other_characters.contains(c);
    let first = name.chars().next();
    if form.accepts_any() {
        return true;
    }
    !name.is_empty()
        && name.chars().count() <= room(form)
        && name.chars().all(allowed)
        && (!form.starts_with_letter || first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_'))
}

/// The characters that a name may have, if the prefix is of ordinary length.
fn room(form: &NameForm) -> usize {
    form.longest.saturating_sub(full_name(form, "", Some("server")).chars().count()).max(16)
}

/// A name that the target accepts: with other characters replaced, and cut where it is too long.
fn acceptable(form: &NameForm, own: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || form.other_characters.contains(c);
    let mut plain: String = own.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
    if form.starts_with_letter && !plain.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    {
        plain.insert(0, '_');
    }
    plain.chars().take(room(form)).collect()
}

fn has_interface(tool: &Value) -> bool {
    let meta = tool.get("_meta");
    meta.is_some_and(|meta| meta.get("ui").is_some() || meta.get("ui/resourceUri").is_some())
}

/// The names that are in use in a list.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct UsedNames {
    /// The own names of all tools known so far, those of this page included.
    pub tools: HashSet<String>,
    /// The names of views on other pages.
    pub views: HashSet<String>,
}

/// Returns a name for each tool of a page, which no other tool of the list has. `tools` are the own name of each tool
/// and the name of its view.
///
/// The name of a view stays unless it is in use; two tools of one page that want the same new name both get another
/// one, so that the order of the tools does not matter. `None` is a tool without a name of its own left, which only a
/// list made for that purpose has.
///
/// ```
/// use toolbond_targets::{UsedNames, name_views, target};
///
/// let mut used = UsedNames::default();
/// used.tools = ["a/b", "a_b", "c/d"].map(str::to_owned).into();
/// let page = [("a/b", "a_b"), ("a_b", "a_b"), ("c/d", "c_d")];
/// let names = name_views(&page, target("gemini")?, &used);
/// assert_eq!(names[1].as_deref(), Some("a_b"));
/// assert_eq!(names[2].as_deref(), Some("c_d"));
/// assert!(names[0].as_ref().is_some_and(|name| name.starts_with("a_b_")));
/// # Ok::<(), toolbond_targets::UnknownTarget>(())
/// ```
#[must_use]
pub fn name_views(
    tools: &[(&str, &str)],
    target: &Target,
    used: &UsedNames,
) -> Vec<Option<String>> {
    let mut wanted: HashMap<&str, usize> = HashMap::new();
    for (_, view) in tools {
        *wanted.entry(view).or_default() += 1;
    }
    let is_free = |own: &str, view: &str| {
        let is_own = own == view || (!used.tools.contains(view) && wanted.get(view) == Some(&1));
        is_own && !used.views.contains(view)
    };
    let mut others = HashSet::new();
    tools
        .iter()
        .map(|(own, view)| {
            if is_free(own, view) {
                return Some((*view).to_owned());
            }
            let other = marked(view, own, room(&target.names));
            let is_new = !used.tools.contains(&other)
                && !used.views.contains(&other)
                && !wanted.contains_key(other.as_str());
            (is_new && others.insert(other.clone())).then_some(other)
        })
        .collect()
}

/// `name` with a mark that depends on the own name of the tool alone, in `longest` characters.
fn marked(name: &str, own: &str, longest: usize) -> String {
    // FNV-1a: short, and the same in every version of this crate.
    let hash = own
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let mark = format!("_{hash:08x}");
    let kept: String = name.chars().take(longest.saturating_sub(mark.len())).collect();
    kept + &mark
}

#[cfg(test)]
mod tests {
    use super::{UsedNames, name_views};
    use crate::target;

    fn names(tools: &[(&str, &str)], views: &[&str]) -> Vec<Option<String>> {
        let used = UsedNames {
            tools: tools.iter().map(|(own, _)| (*own).to_owned()).collect(),
            views: views.iter().map(|name| (*name).to_owned()).collect(),
        };
        name_views(tools, target("gemini").unwrap(), &used)
    }

    #[test]
    fn a_tool_with_a_user_interface_keeps_its_name() {
        let tool = |meta: serde_json::Value| serde_json::json!({ "name": "a/b", "_meta": meta });
        let tools = [
            tool(serde_json::json!({ "ui": { "resourceUri": "ui://x" } })),
            tool(serde_json::json!({})),
        ];
        let names = super::rename(&tools[..1], target("gemini").unwrap());
        assert_eq!(names, [None]);
        let names = super::rename(&tools[1..], target("gemini").unwrap());
        assert_eq!(names, [Some("a_b".to_owned())]);
    }

    #[test]
    fn names_do_not_depend_on_the_order_of_a_page() {
        let mut tools = [("a/b", "a_b"), ("a b", "a_b"), ("c", "c")];
        let there = names(&tools, &[]);
        assert!(there[0] != there[1] && there.iter().all(Option::is_some), "{there:?}");
        tools.reverse();
        let mut back = names(&tools, &[]);
        back.reverse();
        assert_eq!(there, back);
    }

    #[test]
    fn a_name_of_another_page_is_not_given_again() {
        let there = names(&[("a_b", "a_b"), ("a/b", "a_b")], &["a_b"]);
        assert!(there.iter().flatten().all(|name| name != "a_b"), "{there:?}");
        assert_ne!(there[0], there[1]);
        // Not even the name that it gets instead.
        let taken: Vec<_> = there.iter().flatten().map(String::as_str).chain(["a_b"]).collect();
        assert_eq!(names(&[("a_b", "a_b"), ("a/b", "a_b")], &taken), [None, None]);
    }

    #[test]
    fn names_stay_within_the_limit_of_the_target() {
        let long = "x".repeat(64);
        let there = names(&[("1", &long), ("2", &long)], &[]);
        assert!(there.iter().flatten().all(|name| name.len() == 64), "{there:?}");
    }
}
