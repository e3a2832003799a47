//! Parameters of methods: arguments of the call, or parts of the request.

use rmcp::{Peer, RoleServer, service::RequestContext};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{ToolError, portable};

/// All of a request but its arguments: who asks (`peer`), whether it was cancelled (`ct`), its `_meta`, its extensions.
pub type Context = RequestContext<RoleServer>;

/// A part of the request that a method may ask for beside its arguments.
///
/// Implemented for [`Context`], [`CancellationToken`], [`Peer`] and [`Answers`](super::Answers); implement it for types of your
/// own, such as the user that a middleware put into the extensions of the request.
///
/// ```
/// use toolpact::{Context, FromContext, ToolError};
///
/// #[derive(Clone)]
/// struct User(String);
///
/// impl FromContext for User {
///     fn from_context(context: &Context) -> Result<Self, ToolError> {
///         let user = context.extensions.get::<Self>().cloned();
///         user.ok_or_else(|| ToolError::new("sign in first"))
///     }
/// }
/// ```
pub trait FromContext: Sized {
    /// The part, or why the call fails.
    fn from_context(context: &Context) -> Result<Self, ToolError>;
}

impl FromContext for Context {
    fn from_context(context: &Self) -> Result<Self, ToolError> {
        Ok(context.clone())
    }
}

impl FromContext for CancellationToken {
    fn from_context(context: &Context) -> Result<Self, ToolError> {
        Ok(context.ct.clone())
    }
}

impl FromContext for Peer<RoleServer> {
    fn from_context(context: &Context) -> Result<Self, ToolError> {
        Ok(context.peer.clone())
    }
}

/// All arguments of a call as one value: `Args(query): Args<Query>`.
///
/// The schema of `T` is the input schema. With an implementation of [`JsonSchema`] by hand it says what
/// it likes: every keyword goes out as it was written. In JSON a `T` is an object; what is never one does not compile:
///
/// ```compile_fail,E0277
/// # struct Sums;
/// #[toolpact::tools]
/// impl Sums {
///     #[tool]
///     fn sum(&self, toolpact::Args(numbers): toolpact::Args<Vec<f64>>) -> f64 {
///         numbers.iter().sum()
///     }
/// }
/// ```
///
/// One argument is a parameter with a name:
///
/// ```
/// # struct Sums;
/// #[toolpact::tools]
/// impl Sums {
///     #[tool]
///     fn sum(&self, numbers: Vec<f64>) -> f64 {
///         numbers.iter().sum()
///     }
/// }
/// ```
///
/// A type of your own that is no object, such as `struct Numbers(Vec<f64>)`, is found when the tool is judged, which leaves it
/// out and says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Args<T>(pub T);

/// What may be the parameter of a tool. `Named` is the argument under its name.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a tool",
    label = "not a parameter of a tool",
    note = "an argument implements `serde::Deserialize` and `schemars::JsonSchema` and has a name",
    note = "a part of the request implements `toolpact::FromContext`; `toolpact::Args<T>` takes all arguments as one value"
)]
pub trait Parameter<Named, Kind>: Sized {
    /// Adds what this parameter takes to the input schema.
    fn describe(input: &mut Input);
    /// The value for one call.
    fn take(arguments: &Value, context: &Context) -> Result<Self, ToolError>;
}

/// An argument under its name: a structure with that one field.
pub trait Carries<T> {
    /// The value of the field.
    fn open(self) -> T;
}

/// The argument of a parameter that is a pattern, and so has no name.
#[derive(Debug)]
pub enum Unnamed {}

/// Kinds of parameters.
pub(crate) mod kind {
    /// One argument.
    #[derive(Debug)]
    pub struct Argument;
    /// All arguments.
    #[derive(Debug)]
    pub struct All;
    /// A part of the request.
    #[derive(Debug)]
    pub struct Request;
}

impl<T, Named> Parameter<Named, kind::Argument> for T
where
    T: DeserializeOwned + JsonSchema,
    Named: DeserializeOwned + JsonSchema + Carries<T>,
{
    fn describe(input: &mut Input) {
        let schema = Named::json_schema(&mut input.generator);
        input.add(schema.to_value());
        input.is_closed = true;
    }

    fn take(arguments: &Value, _: &Context) -> Result<Self, ToolError> {
        Named::deserialize(arguments).map(Carries::open).map_err(invalid)
    }
}

impl<T, Named> Parameter<Named, kind::All> for Args<T>
where
    T: DeserializeOwned + JsonSchema,
{
    fn describe(input: &mut Input) {
        let schema = T::json_schema(&mut input.generator);
        input.add(schema.to_value());
    }

    fn take(arguments: &Value, _: &Context) -> Result<Self, ToolError> {
        T::deserialize(arguments).map(Args).map_err(invalid)
    }
}

impl<T: FromContext, Named> Parameter<Named, kind::Request> for T {
    fn describe(_: &mut Input) {}

    fn take(_: &Value, context: &Context) -> Result<Self, ToolError> {
        T::from_context(context)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "given to `map_err`")]
fn invalid(error: serde_json::Error) -> ToolError {
    ToolError::new(format!("invalid arguments: {error}"))
}

/// Whether `kind`, the value of `type`, has objects in it.
fn is_object(kind: &Value) -> bool {
    kind == "object" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|one| one == "object"))
}

/// An input schema while its parameters are added.
#[derive(Debug)]
pub struct Input {
    generator: SchemaGenerator,
    root: Map<String, Value>,
    is_closed: bool,
}

impl Input {
    /// The input schema of a tool without parameters.
    pub(crate) fn new() -> Self {
        let generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
        let mut root = Map::new();
        root.insert("type".to_owned(), "object".into());
        root.insert("properties".to_owned(), json!({}));
        Self { generator, root, is_closed: false }
    }

    /// Adds the members of `schema`, an object schema.
    fn add(&mut self, schema: Value) {
        let Value::Object(schema) = schema else { return };
        for (keyword, value) in schema {
            match (keyword.as_str(), self.root.get_mut(&keyword), value) {
                ("title", ..) => {}
                ("type", _, value) if is_object(&value) => {}
                ("properties", Some(Value::Object(properties)), Value::Object(more)) => {
                    properties.extend(more);
                }
                ("required", Some(Value::Array(required)), Value::Array(more)) => {
                    required.extend(more);
                }
                (_, _, value) => {
                    self.root.insert(keyword, value);
                }
            }
        }
    }

    /// The schema, portable.
    pub(crate) fn finish(mut self) -> Map<String, Value> {
        if self.is_closed && !self.root.contains_key("additionalProperties") {
            self.root.insert("additionalProperties".to_owned(), false.into());
        }
        let definitions = self.generator.take_definitions(true);
        if !definitions.is_empty() {
            // A schema that was written by hand may have brought its own.
            match self.root.get_mut("$defs") {
                Some(Value::Object(own)) => own.extend(definitions),
                _ => _ = self.root.insert("$defs".to_owned(), definitions.into()),
            }
        }
        let mut schema = Value::Object(self.root);
        portable::input(&mut schema);
        match schema {
            Value::Object(schema) => schema,
            _ => Map::new(),
        }
    }
}
