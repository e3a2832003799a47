//! Relaxing output schemas: what is handed out next accepts the value and everything the author's schema accepts.

mod ajv;
mod cases;
mod hostile;
mod random;
mod suite;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::{Form, Relaxation, Revision, project_tool, relax};
use toolbond_schema::{Dialect, Schema, Verdict};

const LEGACY: Revision = Revision::V2025_11_25;

pub(crate) fn trials() -> Vec<Trial> {
    [cases::trials(), suite::trials(), random::trials(), ajv::trials(), hostile::trials()]
        .into_iter()
        .flatten()
        .collect()
}

/// The schema that `author` becomes for `value`, which it refuses; `None` if it becomes none. Fails unless there is a reason
/// for that, or the steps can be remembered, applied again, and leave the form of results as it was.
fn relaxed(author: &Schema, value: &Value) -> Result<Option<Schema>, Failed> {
    let Some(relaxation) = relax(author, &Relaxation::default(), value) else {
        return if has_reason(author, value) {
            Ok(None)
        } else {
            Err(format!("no relaxation for {value} under {}", author.source()).into())
        };
    };
    let written = serde_json::to_string(&relaxation)?;
    let read: Relaxation = serde_json::from_str(&written)?;
    assert_eq!(read, relaxation, "{written}");
    let schema = read.apply(author.source()).ok_or("what was chosen does not apply")?;
    let schema = author.compile_alike(&schema).map_err(|error| format!("{error}: {schema}"))?;
    // Then valid results reach clients of a legacy revision as before.
    assert_eq!(
        is_enveloped(&schema),
        is_enveloped(author),
        "{} as {}",
        author.source(),
        schema.source()
    );
    if schema.is_valid(value) {
        return Ok(Some(schema));
    }
    Err(format!("{value} is refused by {} of {}", schema.source(), author.source()).into())
}

/// Whether no relaxation of `author` can accept `value` and keep the form of results, or its fault is in another document.
fn has_reason(author: &Schema, value: &Value) -> bool {
    let tool = json!({ "name": "t", "outputSchema": author.source() });
    let Ok(projected) = project_tool(&tool, &LEGACY) else { return true };
    if matches!(projected.form, Form::Natural | Form::Object) && !value.is_object() {
        return true;
    }
    if projected.form == Form::Envelope
        && author.source().get("allOf").is_some()
        && value.is_object()
    {
        // With another type at the root, the schema may allow only objects.
        return true;
    }
    let is_silent = author.dialect() <= Dialect::Draft7 && author.source().get("$ref").is_some();
    if projected.form == Form::Object && is_silent {
        // Beside `$ref`, the root cannot say that it allows only objects.
        return true;
    }
    let Verdict::Invalid(violations) = author.validate(value) else { return false };
    violations.iter().any(|violation| violation.document.is_some())
}

/// Whether results reach clients of a legacy revision in the envelope.
fn is_enveloped(schema: &Schema) -> Option<bool> {
    let tool = json!({ "name": "t", "outputSchema": schema.source() });
    project_tool(&tool, &LEGACY).ok().map(|projected| projected.form == Form::Envelope)
}
