//! `schema-dialect`.

declare_rule! {
    /// A schema uses a dialect that is not supported.
    ///
    /// ## What it does
    ///
    /// Accepts 2020-12 (the default without `$schema`), 2019-09, draft-07, draft-06 and draft-04.
    ///
    /// ## Why is this bad
    ///
    /// A validator that reads a schema by another dialect may get another meaning.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "$schema": "http://json-schema.org/draft-03/schema#", "type": "object" }
    /// ```
    ///
    /// ## Use instead
    ///
    /// Leave `$schema` out and write 2020-12.
    pub SCHEMA_DIALECT = "schema-dialect", Error
}
