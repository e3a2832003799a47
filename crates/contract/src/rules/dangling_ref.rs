//! `dangling-ref`.

declare_rule! {
    /// A reference points to something that does not exist.
    ///
    /// ## What it does
    ///
    /// Refuses references to a place or an anchor that the document does not contain.
    ///
    /// ## Why is this bad
    ///
    /// Validators disagree about what such a schema means: some fail on every call, some accept everything.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "user": { "$ref": "#/$defs/user" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// Add the definition, or write the schema in place of the reference.
    pub DANGLING_REF = "dangling-ref", Error
}
