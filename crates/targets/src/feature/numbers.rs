//! Numbers.

use super::declare_feature;

declare_feature! {
    /// `exclusiveMinimum` or `exclusiveMaximum`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "ratio": { "type": "number", "exclusiveMinimum": 0 } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "ratio": { "type": "number", "description": "Above 0." } } }
    /// ```
    EXCLUSIVE_RANGE = "exclusive-range", keywords ["exclusiveMinimum", "exclusiveMaximum"]
}

declare_feature! {
    /// `multipleOf`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "minutes": { "type": "integer", "multipleOf": 5 } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "minutes": { "type": "integer", "description": "In steps of 5." } } }
    /// ```
    MULTIPLE_OF = "multiple-of", keywords ["multipleOf"]
}

declare_feature! {
    /// `minimum` or `maximum`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "hours": { "type": "integer", "maximum": 24 } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "hours": { "type": "integer", "description": "At most 24." } } }
    /// ```
    NUMBER_RANGE = "number-range", keywords ["minimum", "maximum"]
}
