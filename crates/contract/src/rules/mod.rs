//! The rules that findings name: one rule, one file, and its doc comment is its page.
//!
//! A rule about tools, arguments or results is a constant here, so that code which names it does not compile after it
//! is renamed:
//!
//! ```
//! use serde_json::json;
//! use toolbond_contract::{JudgeOptions, judge_tools, rules::DUPLICATE_NAME};
//!
//! let tool = json!({ "name": "search", "inputSchema": { "type": "object" } });
//! let judged = judge_tools(json!([tool, tool]), &JudgeOptions::default());
//! assert!(judged.findings.iter().any(|finding| finding.rule == DUPLICATE_NAME.id));
//! ```

use crate::Rule;

macro_rules! registry {
    ($($module:ident :: $name:ident),+ $(,)?) => {
        $(
            pub(crate) mod $module;
            pub use $module::$name;
        )+

        /// The rules other than those of repairs, by id.
        pub(crate) static JUDGING: &[&Rule] = &[$(&$module::$name),+];
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
