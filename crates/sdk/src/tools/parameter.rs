//! Parameters of tools: arguments of the call or parts of the request.

use rmcp::{Peer, RoleServer, service::RequestContext};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{Args, ParameterType, ToolError, portable, read::read};

/// The context of a request: its peer, cancellation token (`ct`), `_meta` and extensions.
pub type Context = RequestContext<RoleServer>;

/// A part of the request that a tool takes as a parameter beside its arguments.
///
/// Implemented for [`Context`], [`CancellationToken`], [`Peer`] and [`Answers`](super::Answers). Implement it for your own
/// types, such as a user that a middleware put into the extensions of the request.
///
/// ```
/// use toolbond::{Context, FromContext, ToolError};
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
    /// Extracts the part. The call fails with the error.
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

/// The types that a parameter of a tool may have. `Named` is a struct with the argument as its only field.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a tool",
    label = "not a parameter of a tool",
    note = "an argument implements `serde::Deserialize` and `schemars::JsonSchema` and has a name",
    note = "a part of the request implements `toolbond::FromContext`; `toolbond::Args<T>` takes all arguments as one value"
)]
pub trait Parameter<Named, Kind>: Sized {
    /// The name of the argument, if this parameter is one.
    const NAME: Option<&'static str> = None;
    /// Adds this parameter to the input schema.
    fn describe(input: &mut InputSchemaBuilder);
    /// Extracts the value for one call. `named` has the names of all parameters that are one argument.
    fn extract(
        arguments: &Value,
        named: &[Option<&str>],
        context: &Context,
    ) -> Result<Self, ToolError>;
}

/// A struct with one field, which is named like an argument.
pub trait SingleField<T> {
    /// Its name in JSON, or nothing if it takes the members of an object.
    const NAME: Option<&'static str>;
    /// Returns the value of the field.
    fn into_field(self) -> T;
}

/// Stands in for `Named` if the parameter is a pattern, which has no name.
#[derive(Debug)]
pub enum Unnamed {}

/// Marker types that keep the implementations of [`Parameter`](super::Parameter) apart.
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
    Named: DeserializeOwned + JsonSchema + SingleField<T>,
{
    const NAME: Option<&'static str> = Named::NAME;

    fn describe(input: &mut InputSchemaBuilder) {
        let schema = Named::json_schema(&mut input.generator);
        input.add(schema.to_value());
        input.has_argument = true;
    }

    fn extract(arguments: &Value, _: &[Option<&str>], _: &Context) -> Result<Self, ToolError> {
        let read = read::<Named>(arguments).map_err(ToolError::invalid_arguments);
        read.map(SingleField::into_field)
    }
}

impl<T, Named> Parameter<Named, kind::All> for Args<T>
where
    T: DeserializeOwned + JsonSchema,
{
    fn describe(input: &mut InputSchemaBuilder) {
        let schema = T::json_schema(&mut input.generator);
        input.is_written = is_written::<T>();
        input.has_all = true;
        input.add(schema.to_value());
    }

    /// Reads the arguments that no other parameter names: `T` may refuse those.
    fn extract(arguments: &Value, named: &[Option<&str>], _: &Context) -> Result<Self, ToolError> {
        let is_other = |name: &String| named.contains(&Some(name));
        let read = match arguments {
            Value::Object(members) if members.keys().any(is_other) => {
                let mut rest = members.clone();
                rest.retain(|name, _| !is_other(name));
                read(&Value::Object(rest))
            }
            _ => read(arguments),
        };
        read.map(Args).map_err(ToolError::invalid_arguments)
    }
}

impl<T: FromContext, Named> Parameter<Named, kind::Request> for T {
    fn describe(_: &mut InputSchemaBuilder) {}

    fn extract(_: &Value, _: &[Option<&str>], context: &Context) -> Result<Self, ToolError> {
        T::from_context(context)
    }
}

/// Whether an author has written the schema of `T`: derived types and those of the standard library have an id of their
/// own, or are inlined.
fn is_written<T: JsonSchema>() -> bool {
    !T::inline_schema() && T::schema_id() == T::schema_name()
}

/// Matches `T` of an `Option<T>` that has a schema.
pub trait OfOption {
    /// Whether `Option<T>` allows a `null` that `T` does not.
    fn adds_null(&self, input: &mut InputSchemaBuilder) -> bool;
}

impl<T: JsonSchema> OfOption for ParameterType<T> {
    fn adds_null(&self, input: &mut InputSchemaBuilder) -> bool {
        let generator = &mut input.generator;
        generator.subschema_for::<Option<T>>() != generator.subschema_for::<T>()
    }
}

/// Matches every other `T`: the parameter does not compile, and that is said elsewhere.
pub trait OfOther {
    /// Returns `false`.
    fn adds_null(&self, _: &mut InputSchemaBuilder) -> bool {
        false
    }
}

impl<T> OfOther for &ParameterType<T> {}

/// Whether `kind`, the value of `type`, includes objects.
fn is_object(kind: &Value) -> bool {
    kind == "object" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|one| one == "object"))
}

/// Builds an input schema from parameters.
#[derive(Debug)]
pub struct InputSchemaBuilder {
    generator: SchemaGenerator,
    root: Map<String, Value>,
    /// Whether a parameter is one argument, and whether one takes all arguments.
    has_argument: bool,
    has_all: bool,
    /// A name that two parameters have.
    clash: Option<String>,
    /// An author has written the schema: it stays as it is.
    is_written: bool,
}

impl InputSchemaBuilder {
    /// Starts with the schema of a tool without parameters.
    pub(crate) fn new() -> Self {
        let generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
        let mut root = Map::new();
        root.insert("type".to_owned(), "object".into());
        root.insert("properties".to_owned(), json!({}));
        Self {
            generator,
            root,
            has_argument: false,
            has_all: false,
            clash: None,
            is_written: false,
        }
    }

    /// Adds the keywords of `schema`, an object schema.
    fn add(&mut self, schema: Value) {
        let Value::Object(schema) = schema else { return };
        for (keyword, value) in schema {
            match (keyword.as_str(), self.root.get_mut(&keyword), value) {
                ("type", _, value) if is_object(&value) => {}
                ("properties", Some(Value::Object(properties)), Value::Object(more)) => {
                    let clash = more.keys().find(|name| properties.contains_key(*name));
                    self.clash = self.clash.take().or_else(|| clash.cloned());
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

    /// Describes the argument that was added last, an `Option`, as one that is left out: without the `null` that only the
    /// `Option` adds. With a default other than `null`, absent and `null` differ.
    pub fn describe_optional(&mut self, adds_null: bool) {
        let properties = self.root.get_mut("properties").and_then(Value::as_object_mut);
        let Some((_, Value::Object(property))) = properties.and_then(|it| it.iter_mut().last())
        else {
            return;
        };
        match property.get("default") {
            None => {}
            Some(Value::Null) => _ = property.shift_remove("default"),
            Some(_) => return,
        }
        if adds_null {
            portable::drop_null(property);
        }
    }

    /// A name that two parameters have.
    pub(crate) fn clash(&self) -> Option<&str> {
        self.clash.as_deref()
    }

    /// Returns the schema in its portable form. It is closed unless `Args` alone says what it is.
    pub(crate) fn finish(mut self) -> Map<String, Value> {
        let is_closed = self.has_argument || !self.has_all;
        if is_closed && !self.root.contains_key("additionalProperties") {
            self.root.insert("additionalProperties".to_owned(), false.into());
        }
        let mut definitions = self.generator.take_definitions(true);
        definitions.values_mut().for_each(portable::rewrite);
        let mut schema = Value::Object(self.root);
        if !self.is_written {
            portable::rewrite(&mut schema);
        }
        let Value::Object(mut schema) = schema else { return Map::new() };
        if !definitions.is_empty() {
            // A handwritten schema may have its own definitions.
            match schema.get_mut("$defs") {
                Some(Value::Object(own)) => own.extend(definitions),
                _ => _ = schema.insert("$defs".to_owned(), definitions.into()),
            }
        }
        schema
    }
}
