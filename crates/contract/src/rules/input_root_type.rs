//! `input-root-type`.

declare_rule! {
    /// The root of an input schema does not say `type: "object"`.
    ///
    /// ## What it does
    ///
    /// Requires exactly `"type": "object"` at the root of `inputSchema`. Other keywords may be there too.
    /// The policy `repair` adds a missing root `type` and replaces a list that contains `"object"`. Arguments
    /// are always an object, so the same arguments stay valid.
    ///
    /// ## Why is this bad
    ///
    /// The protocol requires it in every revision. Widely used clients refuse the whole list if one tool
    /// lacks it.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "name": "search", "inputSchema": { "properties": { "q": { "type": "string" } } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "name": "search", "inputSchema": { "type": "object", "properties": { "q": { "type": "string" } } } }
    /// ```
    pub INPUT_ROOT_TYPE = "input-root-type", Error
}
