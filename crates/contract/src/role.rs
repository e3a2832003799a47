//! The two schemas of a tool.

use std::fmt;

use serde_json::{Map, Value};

use crate::{Side, keyword::is_about_types};

/// What a schema of a tool describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The arguments of a call. The root must say `type: "object"`.
    Input,
    /// The structured content of a result. Any schema will do, booleans included.
    Output,
}

impl Role {
    /// The member of a tool that holds the schema: `inputSchema` or `outputSchema`.
    #[must_use]
    pub const fn member(self) -> &'static str {
        match self {
            Self::Input => "inputSchema",
            Self::Output => "outputSchema",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Input => "input",
            Self::Output => "output",
        })
    }
}

impl From<Role> for Side {
    fn from(role: Role) -> Self {
        match role {
            Role::Input => Self::Input,
            Role::Output => Self::Output,
        }
    }
}

/// Adds a missing root `type`, unless it would change what the schema accepts.
pub(crate) fn complete(role: Role, schema: &mut Map<String, Value>) {
    let is_object = match role {
        Role::Input => !schema.contains_key("type"),
        Role::Output => {
            let is_decided = schema.keys().any(|keyword| is_about_types(keyword));
            schema.contains_key("properties") && !is_decided
        }
    };
    if is_object {
        schema.shift_insert(0, "type".to_owned(), Value::from("object"));
    }
}
