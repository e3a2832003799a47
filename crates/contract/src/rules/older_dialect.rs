//! `older-dialect`.

declare_rule! {
    /// A schema is written in a dialect older than 2020-12.
    ///
    /// ## What it does
    ///
    /// Finds schemas that `$schema` declares to be draft-04, draft-06, draft-07 or 2019-09. The guard,
    /// `toolbond::enforce` and `toolbond convert` give clients the same schema in 2020-12 and without `$schema`, in a form
    /// that draft-07 readers accept too. Arguments and results are still checked against the schema of the author.
    ///
    /// A warning says that a schema cannot be converted without changing its meaning; it stays as it is. Reasons: it
    /// refers to data, such as a `default`, as a schema; `$schema` names another dialect inside, without an `$id`;
    /// `$recursiveRef` or `$dynamicRef` among schemas of several dialects or documents; more than 256 nested levels, or
    /// 120 for the converted tool; more than 64 MiB of pointers or 16 MiB of resolved URIs.
    ///
    /// `toolbond guard --keep-dialects` and `ServerOptions::keep_dialects(true)` leave all schemas as they are. So does
    /// `keep-dialects = true` in `toolbond.toml`, in `[contract]` or `[servers.NAME.contract]`.
    ///
    /// ## Why is this bad
    ///
    /// `@modelcontextprotocol/client` 2.0.0-beta.1 to 2.0.0-beta.5 read 2020-12 only. They refuse each call of a tool
    /// whose output schema declares another dialect, such as draft-07. Version 2.0.0 and later accept draft-07. Reports
    /// from users of hosts: <https://github.com/modelcontextprotocol/typescript-sdk/issues/2721>. Hosts also pass input
    /// schemas to model APIs that know one dialect.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "$schema": "http://json-schema.org/draft-07/schema#",
    ///   "type": "object",
    ///   "properties": { "at": { "$ref": "#/definitions/point" } },
    ///   "definitions": { "point": { "type": "array", "items": [{ "type": "number" }, { "type": "number" }] } }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": { "at": { "$ref": "#/$defs/point" } },
    ///   "$defs": { "point": { "type": "array", "prefixItems": [{ "type": "number" }, { "type": "number" }] } }
    /// }
    /// ```
    pub OLDER_DIALECT = "older-dialect", Info
}
