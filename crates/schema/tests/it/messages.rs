//! What violations and refusals say, word for word.

use libtest_mimic::{Failed, Trial};
use serde::Deserialize;
use serde_json::Value;
use toolbond_harness::{embedded, trials};
use toolbond_schema::{Options, Schema, Verdict, Violation};

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    name: String,
    schema: Value,
    #[serde(default)]
    instance: Value,
    #[serde(default)]
    assert_formats: bool,
    /// Documents that are handed in, by their URIs.
    #[serde(default)]
    documents: Vec<(String, Value)>,
    text: String,
    /// The keywords that are violated, where they are in the schema.
    keywords: Option<Vec<String>>,
}

impl Case {
    /// The case, and the same with parts of its schema as embedded resources.
    fn with_embedded(self) -> Vec<Self> {
        let forms =
            [("whole", embedded::whole as fn(&Value) -> _), ("properties", embedded::properties)];
        let embedded = forms.iter().filter_map(|(form, embed)| {
            let schema = embed(&self.schema)?;
            let name = format!("{}/{form}", self.name);
            Some(Self { name, schema, keywords: None, ..self.clone() })
        });
        let embedded: Vec<Self> = embedded.collect();
        [self].into_iter().chain(embedded).collect()
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("messages/violations", || {
            let cases = cases(include_str!("../cases/violations.json"))?;
            check_all(cases.into_iter().flat_map(Case::with_embedded), violates)
        }),
        Trial::test("messages/refusals", || {
            let cases = cases(include_str!("../cases/refusals.json"))?;
            check_all(cases, |case| says(&case.text, &refusal(case)))
        }),
    ]
}

fn cases(text: &str) -> serde_json::Result<Vec<Case>> {
    serde_json::from_str(text)
}

fn check_all(
    cases: impl IntoIterator<Item = Case>,
    check: fn(&Case) -> Result<(), Failed>,
) -> Result<(), Failed> {
    trials::check_all(cases.into_iter().map(|case| (case.name.clone(), case)), check)
}

fn says(expected: &str, found: &str) -> Result<(), Failed> {
    if expected == found { Ok(()) } else { Err(format!("says\n{found}\nnot\n{expected}").into()) }
}

fn violates(case: &Case) -> Result<(), Failed> {
    let options = Options::default().assert_formats(case.assert_formats);
    let documents = case.documents.iter().cloned();
    let options = documents.fold(options, |options, (uri, it)| options.document(uri, it));
    let schema = options.compile(&case.schema)?;
    let Verdict::Invalid(violations) = schema.validate(&case.instance) else {
        return Err("it is not invalid".into());
    };
    says(&case.text, &violations.to_string())?;
    for violation in &violations {
        is_at_its_keyword(&schema, violation)?;
    }
    if let Some(expected) = &case.keywords {
        let found: Vec<String> = violations
            .iter()
            .map(|it| format!("{}{}", it.document.as_deref().unwrap_or_default(), it.schema))
            .collect();
        says(&expected.join("\n"), &found.join("\n"))?;
    }
    Ok(())
}

/// Fails if there is another keyword in the schema where `violation` says.
pub(crate) fn is_at_its_keyword(schema: &Schema, violation: &Violation) -> Result<(), Failed> {
    let place = &violation.schema;
    let is_there =
        violation.document.is_some() || schema.source().pointer(place.as_str()).is_some();
    let last = place.tokens().last().unwrap_or_default();
    let is_named = match violation.keyword.as_str() {
        // `false`, or a keyword below.
        "" | "propertyNames" => true,
        "required" => ["required", "dependentRequired", "dependencies"].contains(&last.as_str()),
        "contains" => ["contains", "minContains", "maxContains"].contains(&last.as_str()),
        keyword => last == keyword,
    };
    if is_there && is_named { Ok(()) } else { Err(format!("{violation:?}").into()) }
}

fn refusal(case: &Case) -> String {
    match Schema::compile(&case.schema) {
        Ok(_) => String::new(),
        Err(error) => match error.kind.hint() {
            Some(hint) => format!("{error} ({hint})"),
            None => error.to_string(),
        },
    }
}
