//! Good practice for tools, whoever reads them: one rule, one file, and its doc comment is its page.

mod annotation_conflict;
mod array_without_items;
mod contradiction;
mod default_invalid;
mod duplicate_description;
mod examples_invalid;
mod found;
mod header_sensitive;
mod icon_source;
mod invisible;
mod invisible_characters;
mod list_order;
mod list_size;
mod output_closed;
mod own_schema;
mod pattern;
mod pattern_backtracking;
mod pattern_never_matches;
mod place;
mod property_description;
mod required_undeclared;
mod schema_unsatisfiable;
mod show;
mod size;
mod task_support;
mod tool_description;
mod tool_size;
mod unused_definition;
mod ways;

pub(crate) use array_without_items::ARRAY_WITHOUT_ITEMS;
pub(crate) use pattern_backtracking::PATTERN_BACKTRACKING;
pub(crate) use required_undeclared::REQUIRED_UNDECLARED;

use serde_json::{Map, Value};
use toolbond_contract::{Contract, Finding, Role, Rule};

pub(crate) use found::Found;
pub use list_order::compare_order;

use crate::{
    LintFinding,
    node::{Node, walk},
};

/// A tool of a list, as the checks see it.
pub(crate) struct Tool<'a> {
    /// The tool as its author wrote it.
    pub(crate) value: &'a Map<String, Value>,
    /// The contract, if the tool is usable.
    pub(crate) contract: Option<&'a Contract>,
    /// The index in the list, if the tool is in one.
    pub(crate) index: Option<usize>,
}

impl Tool<'_> {
    /// The name, or the empty string if there is none.
    pub(crate) fn name(&self) -> &str {
        self.value.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// A finding about this tool.
    pub(crate) fn finding(&self, rule: &Rule, message: impl Into<String>) -> Finding {
        let mut finding = rule.finding(message);
        finding.index = self.index;
        if self.name().is_empty() { finding } else { finding.tool(self.name()) }
    }
}

/// A rule with its check.
pub(crate) struct Check {
    /// The rule that findings name.
    pub(crate) rule: &'static Rule,
    /// Finds what breaks the rule.
    pub(crate) find: Find,
}

/// What a check looks at.
pub(crate) enum Find {
    /// One tool.
    Tool(fn(&Tool<'_>, &mut Found<'_>)),
    /// One subschema of the input or output schema of a tool.
    Schema(fn(&Node<'_>, &mut Found<'_>)),
    /// The whole list. Findings set `tool` and `index`.
    List(fn(&[Tool<'_>]) -> Vec<LintFinding>),
    /// Two lists of one server: [`compare_order`].
    TwoLists,
}

/// All checks, by id of their rules.
pub(crate) static CHECKS: &[Check] = &[
    Check {
        rule: &annotation_conflict::ANNOTATION_CONFLICT,
        find: Find::Tool(annotation_conflict::check),
    },
    Check {
        rule: &array_without_items::ARRAY_WITHOUT_ITEMS,
        find: Find::Schema(array_without_items::check),
    },
    Check { rule: &default_invalid::DEFAULT_INVALID, find: Find::Schema(default_invalid::check) },
    Check {
        rule: &duplicate_description::DUPLICATE_DESCRIPTION,
        find: Find::List(duplicate_description::check),
    },
    Check {
        rule: &examples_invalid::EXAMPLES_INVALID,
        find: Find::Schema(examples_invalid::check),
    },
    Check {
        rule: &header_sensitive::HEADER_SENSITIVE,
        find: Find::Schema(header_sensitive::check),
    },
    Check { rule: &icon_source::ICON_SOURCE, find: Find::Tool(icon_source::check) },
    Check {
        rule: &invisible_characters::INVISIBLE_CHARACTERS,
        find: Find::Tool(invisible_characters::check),
    },
    Check { rule: &list_order::LIST_ORDER, find: Find::TwoLists },
    Check { rule: &list_size::LIST_SIZE, find: Find::List(list_size::check) },
    Check { rule: &output_closed::OUTPUT_CLOSED, find: Find::Schema(output_closed::check) },
    Check {
        rule: &pattern_backtracking::PATTERN_BACKTRACKING,
        find: Find::Schema(pattern_backtracking::check),
    },
    Check {
        rule: &pattern_never_matches::PATTERN_NEVER_MATCHES,
        find: Find::Schema(pattern_never_matches::check),
    },
    Check {
        rule: &property_description::PROPERTY_DESCRIPTION,
        find: Find::Tool(property_description::check),
    },
    Check {
        rule: &required_undeclared::REQUIRED_UNDECLARED,
        find: Find::Schema(required_undeclared::check),
    },
    Check {
        rule: &schema_unsatisfiable::SCHEMA_UNSATISFIABLE,
        find: Find::Schema(schema_unsatisfiable::check),
    },
    Check { rule: &task_support::TASK_SUPPORT, find: Find::Tool(task_support::check) },
    Check { rule: &tool_description::TOOL_DESCRIPTION, find: Find::Tool(tool_description::check) },
    Check { rule: &tool_size::TOOL_SIZE, find: Find::Tool(tool_size::check) },
    Check {
        rule: &unused_definition::UNUSED_DEFINITION,
        find: Find::Schema(unused_definition::check),
    },
];

/// The rules of the checks.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    CHECKS.iter().map(|check| check.rule)
}

/// What the checks find in `tools`.
pub(crate) fn findings(tools: &[Tool<'_>]) -> Vec<LintFinding> {
    let mut all: Vec<_> = tools.iter().flat_map(check_tool).collect();
    for check in CHECKS {
        if let Find::List(find) = check.find {
            all.extend(find(tools));
        }
    }
    all
}

fn check_tool(tool: &Tool<'_>) -> Vec<LintFinding> {
    let mut founds: Vec<_> = CHECKS.iter().map(|check| Found::new(check.rule, tool)).collect();
    for (check, found) in CHECKS.iter().zip(&mut founds) {
        if let Find::Tool(find) = check.find {
            find(tool, found);
        }
    }
    for role in [Role::Input, Role::Output] {
        let Some(schema) = tool.value.get(role.member()) else { continue };
        for found in &mut founds {
            found.enter(role);
        }
        walk(schema, &mut |node| {
            for (check, found) in CHECKS.iter().zip(&mut founds) {
                if let Find::Schema(find) = check.find {
                    find(node, found);
                }
            }
        });
    }
    founds.into_iter().flat_map(Found::finish).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_has_a_case_that_breaks_it_and_one_that_does_not() {
        let cases: Vec<Value> =
            serde_json::from_str(include_str!("../../tests/cases/checks.json")).unwrap();
        for rule in rules() {
            for breaks in [true, false] {
                let is_wanted = |case: &Value| {
                    let finds = case["finds"].as_array().is_some_and(|finds| !finds.is_empty());
                    case["rule"] == rule.id && finds == breaks
                };
                assert!(cases.iter().any(is_wanted), "{}: {breaks}", rule.id);
            }
        }
    }

    #[test]
    fn ids_are_sorted_and_unlike_others() {
        let ids: Vec<_> = rules().map(|rule| rule.id).collect();
        assert!(ids.is_sorted());
        let all: Vec<_> = crate::rules().map(|rule| rule.id).collect();
        assert!(all.is_sorted_by(|one, next| one < next), "{all:?}");
    }
}
