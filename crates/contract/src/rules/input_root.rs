//! `input-root`.

declare_rule! {
    /// An input schema is not a JSON object.
    ///
    /// ## What it does
    ///
    /// Refuses `null`, booleans, numbers, strings and arrays as `inputSchema`. The policy `repair` writes
    /// `null`, `true` and `[]` (an empty object as PHP encodes it) as `{"type": "object"}`, which allows the
    /// same arguments.
    ///
    /// ## Why is this bad
    ///
    /// The protocol requires an object. Clients that parse the list as a whole lose every
    /// tool in it.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "name": "now", "inputSchema": null }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "name": "now", "inputSchema": { "type": "object", "additionalProperties": false } }
    /// ```
    pub INPUT_ROOT = "input-root", Error
}
