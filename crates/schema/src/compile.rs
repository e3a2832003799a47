//! Handing an admitted schema to the engine.

use jsonschema::{PatternOptions, ValidationError, ValidationOptions, error::ValidationErrorKind};
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::{
    Dialect, Options, Pointer, SchemaError, SchemaErrorKind,
    admission::{Admitted, Documents},
    engine::{HardPattern, MeteredJson, Validator, burn, hard_pattern_keyword, run_freely},
    explain::Explainer,
    source::Source,
    text::shorten,
};

/// The engine compiles this many references inside of each other before it queues them.
pub(crate) const NESTED_REFERENCES: usize = 10;

/// Compiles `schema`; fails where the metaschema does not allow it.
pub(crate) fn compile(
    options: &Options,
    schema: &Value,
    dialect: Option<Dialect>,
    admitted: &Admitted,
    documents: Option<&Documents<'_>>,
) -> Result<Validator, SchemaError> {
    let mut engine: ValidationOptions<'_, _, MeteredJson> = jsonschema::options_for()
        .offline()
        .should_validate_formats(options.assert_formats)
        .with_content_media_type("application/json", is_json)
        .with_pattern_options(
            PatternOptions::fancy_regex().backtrack_limit(HardPattern::MOST_TURNS),
        );
    if let Some(patterns) = &admitted.hard_patterns {
        engine = engine.with_keyword("pattern", hard_pattern_keyword(patterns));
    }
    if let Some(documents) = documents {
        engine = engine.with_registry(documents.registry()).with_base_uri(documents.base());
    }
    if let (Some(dialect), None) = (dialect, schema.get("$schema")) {
        engine = engine.with_draft(dialect.draft());
    }
    engine.build(schema).map_err(|error| refusal(&error, schema, dialect))
}

/// Whether `text` is JSON, without keeping what it says.
fn is_json(text: &str) -> bool {
    burn(text.len() as u64 >> 2);
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

fn reference_error(reference: &str) -> SchemaError {
    SchemaError {
        pointer: Pointer::root(),
        kind: SchemaErrorKind::DanglingReference { reference: reference.to_owned() },
    }
}

fn refusal(error: &ValidationError<'_>, schema: &Value, dialect: Option<Dialect>) -> SchemaError {
    let pointer = Pointer::from(error.instance_path().as_str());
    let at = schema.pointer(pointer.as_str()).unwrap_or(&Value::Null);
    let kind = match error.kind() {
        ValidationErrorKind::Referencing(inner) => return reference_error(&inner.to_string()),
        ValidationErrorKind::Format { format } if format == "regex" => {
            SchemaErrorKind::Pattern { pattern: shorten(at.as_str().unwrap_or_default()) }
        }
        _ => {
            // One violation of a schema whose size was checked.
            let violations = run_freely(|| {
                let mut explainer = Explainer::new(schema, Source::plain(&Value::Null), 1);
                explainer.add(error);
                explainer.finish(false)
            });
            let violation = &violations.as_slice()[0];
            return SchemaError {
                pointer: violation.instance.clone(),
                kind: SchemaErrorKind::Metaschema {
                    dialect: dialect.unwrap_or_default(),
                    message: violation.message.clone(),
                    hint: hint(&violation.instance, schema),
                },
            };
        }
    };
    SchemaError { pointer, kind }
}

/// The usual way out, for mistakes that older drafts and other formats bring along.
fn hint(pointer: &Pointer, schema: &Value) -> Option<String> {
    let tokens: Vec<String> = pointer.tokens().collect();
    let keyword = tokens.iter().rev().find(|token| token.parse::<usize>().is_err())?;
    let at = schema.pointer(pointer.as_str())?;
    Some(match (keyword.as_str(), at) {
        ("exclusiveMinimum", Value::Bool(_)) => {
            "write the bound itself: `\"exclusiveMinimum\": 0` instead of `\"minimum\": 0, \"exclusiveMinimum\": true`".to_owned()
        }
        ("exclusiveMaximum", Value::Bool(_)) => {
            "write the bound itself: `\"exclusiveMaximum\": 9` instead of `\"maximum\": 9, \"exclusiveMaximum\": true`".to_owned()
        }
        ("items", Value::Array(_)) => "tuples are written with `prefixItems` in 2020-12".to_owned(),
        ("required", Value::Null) => "leave `required` out where nothing is required".to_owned(),
        ("required", Value::Bool(_)) => {
            "list the required names in `required` of the object".to_owned()
        }
        ("properties", Value::Array(items)) if items.is_empty() => {
            "write `{}`: an empty array is not an object".to_owned()
        }
        ("type", Value::String(name)) => {
            let known = ["string", "number", "integer", "boolean", "object", "array", "null"];
            let meant = match name.as_str() {
                "str" | "text" => "string",
                "int" | "long" => "integer",
                "float" | "double" | "decimal" => "number",
                "bool" => "boolean",
                "dict" | "map" => "object",
                "list" | "tuple" => "array",
                "None" | "nil" => "null",
                other => known.into_iter().find(|known| known.eq_ignore_ascii_case(other))?,
            };
            format!("did you mean \"{meant}\"?")
        }
        _ => return None,
    })
}
