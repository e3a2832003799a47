//! Output schemas.

use serde_json::Value;

use super::{Hit, declare_feature};

declare_feature! {
    /// An output schema that declares another dialect than 2020-12.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "name": "count",
    ///   "inputSchema": { "type": "object", "properties": {} },
    ///   "outputSchema": { "$schema": "http://json-schema.org/draft-07/schema#", "type": "object" }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "name": "count",
    ///   "inputSchema": { "type": "object", "properties": {} },
    ///   "outputSchema": { "type": "object" }
    /// }
    /// ```
    OUTPUT_DIALECT = "output-dialect", Output, |node| {
        let dialect = node.get("$schema").filter(|_| node.is_root())?.as_str()?;
        (!dialect.contains("2020-12")).then(|| Hit::at("$schema", format!("declares {dialect}")))
    }
}

declare_feature! {
    /// An output schema whose root is not `type: "object"`.
    ///
    /// Revision 2026-07-28 allows any schema; clients of earlier revisions do not.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "name": "count", "inputSchema": { "type": "object", "properties": {} }, "outputSchema": { "type": "integer" } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "name": "count",
    ///   "inputSchema": { "type": "object", "properties": {} },
    ///   "outputSchema": { "type": "object", "properties": { "count": { "type": "integer" } } }
    /// }
    /// ```
    OUTPUT_ROOT_TYPE = "output-root-type", Output, |node| {
        let is_object = node.get("type").and_then(Value::as_str) == Some("object");
        (node.is_root() && !is_object).then(|| Hit::new("the root is not `type: \"object\"`"))
    }
}

declare_feature! {
    /// A property of an output schema that is `true` or `false`.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "name": "count",
    ///   "inputSchema": { "type": "object", "properties": {} },
    ///   "outputSchema": { "type": "object", "properties": { "extra": true } }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "name": "count",
    ///   "inputSchema": { "type": "object", "properties": {} },
    ///   "outputSchema": { "type": "object", "properties": { "extra": {} } }
    /// }
    /// ```
    OUTPUT_BOOLEAN_PROPERTY = "output-boolean-property", Output, |node| {
        let is_property = node.keyword == Some("properties") && node.path.depth() == 1;
        (node.schema.is_boolean() && is_property).then(|| Hit::new(format!("the schema `{}`", node.schema)))
    }
}

declare_feature! {
    /// An output schema that declares draft-04.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "name": "count",
    ///   "inputSchema": { "type": "object", "properties": {} },
    ///   "outputSchema": { "$schema": "http://json-schema.org/draft-04/schema#", "type": "object" }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "name": "count",
    ///   "inputSchema": { "type": "object", "properties": {} },
    ///   "outputSchema": { "type": "object" }
    /// }
    /// ```
    OUTPUT_DRAFT_04 = "output-draft-04", Output, |node| {
        let dialect = node.get("$schema").filter(|_| node.is_root())?.as_str()?;
        dialect.contains("draft-04").then(|| Hit::at("$schema", format!("declares {dialect}")))
    }
}

declare_feature! {
    /// A tuple in an output schema (`prefixItems`).
    ///
    /// Readers of draft-07 do not know `prefixItems`, and take `items: false` beside it for "no elements".
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "name": "position",
    ///   "inputSchema": { "type": "object", "properties": {} },
    ///   "outputSchema": {
    ///     "type": "object",
    ///     "properties": { "at": { "type": "array", "prefixItems": [{ "type": "number" }], "items": false } }
    ///   }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "name": "position",
    ///   "inputSchema": { "type": "object", "properties": {} },
    ///   "outputSchema": { "type": "object", "properties": { "x": { "type": "number" } } }
    /// }
    /// ```
    OUTPUT_TUPLE = "output-tuple", Output, |node| {
        let is_closed = node.get("items") == Some(&Value::Bool(false));
        (node.has("prefixItems") && is_closed).then(|| Hit::at("prefixItems", "a tuple (`prefixItems` with `items: false`)"))
    }
}
