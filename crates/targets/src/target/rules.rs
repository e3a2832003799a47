//! Rules about names and sizes, which targets set differently.

use toolbond_contract::declare_rule;

declare_rule! {
    /// The names of two tools become equal.
    ///
    /// ## What it does
    ///
    /// Writes each name as a host does: with its prefix, with other characters replaced, and cut at the longest length.
    /// Reports names that are equal afterwards.
    ///
    /// ## Why is this bad
    ///
    /// The model sees one of the two tools, or calls of one reach the other.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "tools": [
    ///     { "name": "read.file", "inputSchema": { "type": "object", "properties": {} } },
    ///     { "name": "read/file", "inputSchema": { "type": "object", "properties": {} } }
    ///   ]
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "tools": [
    ///     { "name": "read_file", "inputSchema": { "type": "object", "properties": {} } },
    ///     { "name": "read_folder", "inputSchema": { "type": "object", "properties": {} } }
    ///   ]
    /// }
    /// ```
    NAME_COLLISION = "name-collision", Warning
}

declare_rule! {
    /// An input schema is larger than a target accepts.
    ///
    /// ## What it does
    ///
    /// Counts bytes, nested levels, properties, optional properties, properties with several types, and values of enums.
    /// `toolbond targets NAME` shows the limits of a target.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "j": { "type": "object", "properties": { "k": { "type":
    /// "object", "properties": { "l": { "type": "object", "properties": { "m": { "type": "object",
    /// "properties": { "n": { "type": "object", "properties": { "o": { "type": "object", "properties": {
    /// "p": { "type": "object", "properties": { "q": { "type": "object", "properties": { "r": { "type":
    /// "object", "properties": { "s": { "type": "object", "properties": { "t": { "type": "string" } } } } }
    /// } } } } } } } } } } } } } } } } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "a": { "type": "array", "items": { "type": "string" } } } }
    /// ```
    SCHEMA_SIZE = "schema-size", Info
}

declare_rule! {
    /// A description is longer than a target shows.
    ///
    /// ## What it does
    ///
    /// Counts the characters of the description of a tool. Hosts cut longer ones, and model APIs may refuse them.
    DESCRIPTION_LENGTH = "description-length", Info
}

declare_rule! {
    /// The name of a tool is one that a target refuses or changes.
    ///
    /// ## What it does
    ///
    /// Compares the name, with the prefix that a host writes before it, with the length and the characters that a target
    /// accepts.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "name": "files/read", "inputSchema": { "type": "object", "properties": {} } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "name": "files_read", "inputSchema": { "type": "object", "properties": {} } }
    /// ```
    TARGET_NAME = "target-name", Info
}

declare_rule! {
    /// A list has more tools than a target takes.
    ///
    /// ## What it does
    ///
    /// Counts the tools of a list. The tools of other servers count too, and are not seen here.
    TOOL_COUNT = "tool-count", Info
}

/// All rules of this file.
pub(crate) static RULES: &[&toolbond_contract::Rule] =
    &[&DESCRIPTION_LENGTH, &NAME_COLLISION, &SCHEMA_SIZE, &TARGET_NAME, &TOOL_COUNT];
