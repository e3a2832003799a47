//! `schema-dialect`.

declare! {
    /// A schema names a dialect that is supported.
    ///
    /// ## What it does
    ///
    /// Accepts 2020-12 (also where `$schema` is missing), 2019-09, draft-07, draft-06 and draft-04.
    ///
    /// ## Why is this bad
    ///
    /// Read by another dialect than its own, a schema can mean something else.
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
    SCHEMA_DIALECT = "schema-dialect", Error
}
