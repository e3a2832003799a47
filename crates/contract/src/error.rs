//! Why a tool or a schema is refused.

use toolbond_schema::{Pointer, SchemaError, SchemaErrorKind};

use crate::{
    Finding, Role, Rule, Side,
    rules::{
        dangling_ref::DANGLING_REF, external_ref::EXTERNAL_REF,
        header_annotation::HEADER_ANNOTATION, input_missing::INPUT_MISSING, input_root::INPUT_ROOT,
        input_root_type::INPUT_ROOT_TYPE, output_root::OUTPUT_ROOT, schema_dialect::SCHEMA_DIALECT,
        schema_invalid::SCHEMA_INVALID, schema_limit::SCHEMA_LIMIT, schema_pattern::SCHEMA_PATTERN,
        tool_entry::TOOL_ENTRY, tool_member::TOOL_MEMBER, tool_name::TOOL_NAME,
        tool_name_form::TOOL_NAME_FORM,
    },
};

/// Why a tool or a schema is refused: the place and the rule.
///
/// The pointer starts at the root of the schema if the error concerns a schema, and else at the root of the tool.
#[derive(Debug, thiserror::Error)]
#[error("{}{pointer}: {kind}", match side {
    Some(Side::Input) => "input schema ",
    Some(Side::Output) => "output schema ",
    _ => "tool ",
})]
#[non_exhaustive]
pub struct ContractError {
    /// The schema that the error concerns, if any.
    pub side: Option<Side>,
    /// The place.
    pub pointer: Pointer,
    /// The rule that is broken.
    pub kind: ContractErrorKind,
}

/// The rule that a tool or a schema breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContractErrorKind {
    /// The tool is not a JSON object.
    #[error("expected a tool (an object), found {found}")]
    NotATool {
        /// The JSON type that was found.
        found: &'static str,
    },
    /// The tool has no valid name.
    #[error("{message}")]
    Name {
        /// What is wrong.
        message: String,
        /// Whether there is a name, but not in the recommended form.
        form: bool,
    },
    /// An optional member of the tool has the wrong type.
    #[error("{message}")]
    Member {
        /// What is wrong.
        message: String,
    },
    /// An `x-mcp-header` annotation of the input schema breaks a rule.
    #[error("{message}")]
    Header {
        /// What is wrong.
        message: String,
    },
    /// The tool has no input schema.
    #[error("missing required member `inputSchema`")]
    NoInput,
    /// The input schema is not a JSON object.
    #[error("expected a schema (an object), found {found}")]
    InputRoot {
        /// The JSON type that was found.
        found: &'static str,
    },
    /// The root of the input schema does not say `type: "object"`.
    #[error("expected `type: \"object\"` at the root, found {found}")]
    InputType {
        /// The `type` that was found, shortened to 60 characters.
        found: String,
    },
    /// The output schema is neither a JSON object nor a boolean.
    #[error("expected a schema (an object or a boolean), found {found}")]
    OutputRoot {
        /// The JSON type that was found.
        found: &'static str,
    },
    /// The schema was not admitted.
    #[error(transparent)]
    Schema(SchemaErrorKind),
}

impl ContractError {
    pub(crate) fn schema(role: Role, error: SchemaError) -> Self {
        Self {
            side: Some(role.into()),
            pointer: error.pointer,
            kind: ContractErrorKind::Schema(error.kind),
        }
    }

    pub(crate) fn root(role: Role, kind: ContractErrorKind) -> Self {
        Self { side: Some(role.into()), pointer: Pointer::root(), kind }
    }

    /// Converts the error to a finding, with a pointer that starts at the root of the tool.
    #[must_use]
    pub fn finding(&self) -> Finding {
        let member = match self.side {
            Some(Side::Input) => Pointer::root().join("inputSchema"),
            Some(Side::Output) => Pointer::root().join("outputSchema"),
            _ => Pointer::root(),
        };
        let mut finding = self
            .kind
            .rule()
            .finding(self.kind.to_string())
            .at(member.concat(&self.pointer))
            .hint(self.kind.hint());
        finding.side = self.side;
        finding
    }
}

impl ContractErrorKind {
    /// The rule that findings name.
    #[must_use]
    pub fn rule(&self) -> &'static Rule {
        match self {
            Self::NotATool { .. } => &TOOL_ENTRY,
            Self::Name { form: false, .. } => &TOOL_NAME,
            Self::Name { form: true, .. } => &TOOL_NAME_FORM,
            Self::Member { .. } => &TOOL_MEMBER,
            Self::Header { .. } => &HEADER_ANNOTATION,
            Self::NoInput => &INPUT_MISSING,
            Self::InputRoot { .. } => &INPUT_ROOT,
            Self::InputType { .. } => &INPUT_ROOT_TYPE,
            Self::OutputRoot { .. } => &OUTPUT_ROOT,
            Self::Schema(kind) => match kind {
                SchemaErrorKind::UnsupportedDialect { .. } => &SCHEMA_DIALECT,
                SchemaErrorKind::ExternalReference { .. } => &EXTERNAL_REF,
                SchemaErrorKind::DanglingReference { .. } => &DANGLING_REF,
                SchemaErrorKind::Pattern { .. } => &SCHEMA_PATTERN,
                kind if kind.is_limit() => &SCHEMA_LIMIT,
                _ => &SCHEMA_INVALID,
            },
        }
    }

    /// What to do about it, if known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Schema(SchemaErrorKind::ExternalReference { reference }) => {
                let prefix = folder(reference).unwrap_or("PREFIX");
                Some(format!(
                    "embed it with `toolbond bundle --allow {prefix}`, or copy the definition into `$defs`"
                ))
            }
            Self::Schema(kind) => kind.hint(),
            Self::NoInput => Some(
                "for a tool without arguments write \
                 `{\"type\": \"object\", \"additionalProperties\": false}`"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

/// The folder of an absolute URL, unless it is long.
fn folder(url: &str) -> Option<&str> {
    let path = url.split(['?', '#']).next().filter(|path| path.len() <= MAX_FOLDER)?;
    let host = path.find("://")? + 3;
    let end = host + path[host..].rfind('/')?;
    Some(&path[..=end])
}

/// The longest folder in a hint.
const MAX_FOLDER: usize = 100;
