//! The rules that findings name: one rule, one file, and its doc comment is its page.

use crate::{Finding, Severity};

/// Declares a rule whose page is the doc comment above it.
///
/// The first line is the summary.
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

macro_rules! registry {
    ($($module:ident :: $name:ident),+ $(,)?) => {
        $(pub(crate) mod $module;)+

        /// The rules other than those of repairs, by id.
        static JUDGING: &[&Rule] = &[$(&$module::$name),+];
    };
}

registry! {
    arguments_invalid::ARGUMENTS_INVALID,
    arguments_unfinished::ARGUMENTS_UNFINISHED,
    dangling_ref::DANGLING_REF,
    duplicate_name::DUPLICATE_NAME,
    external_ref::EXTERNAL_REF,
    header_annotation::HEADER_ANNOTATION,
    input_missing::INPUT_MISSING,
    input_root::INPUT_ROOT,
    input_root_type::INPUT_ROOT_TYPE,
    older_dialect::OLDER_DIALECT,
    output_boolean::OUTPUT_BOOLEAN,
    output_projection::OUTPUT_PROJECTION,
    output_root::OUTPUT_ROOT,
    result_invalid::RESULT_INVALID,
    result_missing::RESULT_MISSING,
    result_shape::RESULT_SHAPE,
    result_unfinished::RESULT_UNFINISHED,
    schema_dialect::SCHEMA_DIALECT,
    schema_invalid::SCHEMA_INVALID,
    schema_limit::SCHEMA_LIMIT,
    schema_pattern::SCHEMA_PATTERN,
    tool_entry::TOOL_ENTRY,
    tool_list::TOOL_LIST,
    tool_member::TOOL_MEMBER,
    tool_name::TOOL_NAME,
    tool_name_form::TOOL_NAME_FORM,
}

/// All rules of this crate, sorted by id.
///
/// ```
/// let ids: Vec<_> = toolbond_contract::rules().map(|rule| rule.id).collect();
/// assert!(ids.is_sorted());
/// assert!(ids.contains(&"external-ref"));
/// ```
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let mut all: Vec<&Rule> = JUDGING.to_vec();
    all.extend(crate::repair::IDIOMS.iter().map(|idiom| idiom.rule));
    all.extend(crate::arguments::REPAIRS.iter().map(|repair| repair.rule));
    all.extend(crate::results::rules());
    all.sort_by_key(|rule| rule.id);
    all.into_iter()
}

/// Returns the rule with this id.
///
/// ```
/// let page = toolbond_contract::rule("external-ref").unwrap().page();
/// assert!(page.starts_with("# external-ref\n\nA reference leads out of its schema.\n"));
/// assert!(toolbond_contract::rule("no-such-rule").is_none());
/// ```
#[must_use]
pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.id == id)
}
