//! A tool's contract: its name and its schemas, admitted and compiled.

#[cfg(feature = "digest")]
use std::sync::OnceLock;
use std::{borrow::Cow, fmt, sync::Arc};

use serde_json::{Map, Value};
use toolbond_schema::{Options, Pointer};

#[cfg(feature = "digest")]
use crate::Digest;
use crate::{
    ContractError, ContractErrorKind, Role, Side, Structured, ToolSchema,
    json_type::kind,
    project::error_text,
    rules::{header_annotation, tool_member, tool_name, tool_name_form},
};

/// A tool's name, input schema and optional output schema, compiled once.
///
/// Clones are cheap and share the compiled schemas, also between threads.
///
/// ```
/// use serde_json::json;
/// use toolbond_contract::Contract;
///
/// let contract = Contract::received(json!({
///     "name": "get_count",
///     "inputSchema": { "type": "object" },
///     "outputSchema": { "type": "integer" }
/// }))?;
/// assert_eq!(contract.name(), "get_count");
/// assert!(contract.output().unwrap().validate(&json!(72)).is_valid());
/// assert!(contract.digest().to_string().starts_with("sha256:"));
/// # Ok::<(), toolbond_contract::ContractError>(())
/// ```
#[derive(Clone)]
pub struct Contract {
    inner: Arc<Inner>,
}

struct Inner {
    /// An object.
    tool: Value,
    input: ToolSchema,
    output: Option<ToolSchema>,
    #[cfg(feature = "digest")]
    digest: OnceLock<Digest>,
}

impl Contract {
    /// Compiles the contract of a tool's author.
    ///
    /// Completes the schemas ([`ToolSchema::authored`]). A missing `inputSchema` allows any object.
    ///
    /// # Errors
    ///
    /// Fails if `tool` is not a JSON object, if its name is missing or does not have the form that the protocol
    /// recommends, if an optional member has the wrong type (`"title": null`), if an `x-mcp-header` annotation breaks
    /// a rule, or if a schema is refused. [`judge_tools`](crate::judge_tools) keeps every authored tool as it is.
    pub fn authored(tool: Value) -> Result<Self, ContractError> {
        Self::authored_with(tool, &Options::default())
    }

    /// The same as [`Contract::authored`], with other options.
    ///
    /// # Errors
    ///
    /// The same as [`Contract::authored`].
    pub fn authored_with(tool: Value, options: &Options) -> Result<Self, ContractError> {
        let tool = object(tool)?;
        if let Some(finding) = tool_name_form::check(name_of(&tool)?) {
            return Err(name_error(finding.message, finding.pointer, true));
        }
        if let Some(finding) = tool_member::check(&tool).into_iter().next() {
            let kind = ContractErrorKind::Member { message: finding.message };
            return Err(ContractError { side: None, pointer: finding.pointer, kind });
        }
        let input = tool.get("inputSchema").cloned().unwrap_or_else(|| Map::new().into());
        let input = ToolSchema::authored_with(Role::Input, input, options)?;
        if let Some(finding) = header_annotation::check(input.value()).into_iter().next() {
            let kind = ContractErrorKind::Header { message: finding.message };
            return Err(ContractError { side: Some(Side::Input), pointer: finding.pointer, kind });
        }
        let output = tool
            .get("outputSchema")
            .map(|schema| ToolSchema::authored_with(Role::Output, schema.clone(), options))
            .transpose()?;
        Ok(Self::assemble(tool, input, output))
    }

    /// Compiles the contract of a tool from the wire. Adds nothing.
    ///
    /// [`judge_tools`](crate::judge_tools) does the same for lists, and keeps a tool if only its output schema is
    /// unusable.
    ///
    /// # Errors
    ///
    /// Fails if `tool` is not a JSON object, if it has no name or no input schema, or if a schema is refused.
    pub fn received(tool: Value) -> Result<Self, ContractError> {
        Self::received_with(tool, &Options::default())
    }

    /// The same as [`Contract::received`], with other options.
    ///
    /// # Errors
    ///
    /// The same as [`Contract::received`].
    pub fn received_with(tool: Value, options: &Options) -> Result<Self, ContractError> {
        let tool = object(tool)?;
        name_of(&tool)?;
        let Some(input) = tool.get("inputSchema") else {
            let kind = ContractErrorKind::NoInput;
            return Err(ContractError { side: None, pointer: Pointer::root(), kind });
        };
        let input = ToolSchema::received_with(Role::Input, input.clone(), options)?;
        let output = tool
            .get("outputSchema")
            .map(|schema| ToolSchema::received_with(Role::Output, schema.clone(), options))
            .transpose()?;
        Ok(Self::assemble(tool, input, output))
    }

    /// Assembles judged parts; `tool` has a name.
    pub(crate) fn assemble(
        mut tool: Map<String, Value>,
        input: ToolSchema,
        output: Option<ToolSchema>,
    ) -> Self {
        write(&mut tool, "inputSchema", input.value());
        if let Some(output) = &output {
            write(&mut tool, "outputSchema", output.value());
        }
        let tool = Value::Object(tool);
        let inner = Inner {
            tool,
            input,
            output,
            #[cfg(feature = "digest")]
            digest: OnceLock::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The name of the tool.
    #[must_use]
    pub fn name(&self) -> &str {
        self.tool().get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// The schema of the arguments.
    #[must_use]
    pub fn input(&self) -> &ToolSchema {
        &self.inner.input
    }

    /// The schema of the structured content, if the tool declares one.
    #[must_use]
    pub fn output(&self) -> Option<&ToolSchema> {
        self.inner.output.as_ref()
    }

    /// Whether `value`, the structured content of an error, suits clients of every revision: it is an object, and valid if
    /// the tool declares an output schema. Other structured content of an error has to become text for clients of a
    /// legacy revision, which may check it against the schema.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolbond_contract::Contract;
    ///
    /// let contract = Contract::received(json!({
    ///     "name": "build",
    ///     "inputSchema": { "type": "object" },
    ///     "outputSchema": { "type": "object", "required": ["errors"] }
    /// }))?;
    /// assert!(contract.allows_in_error(&json!({ "errors": ["no such file"] })));
    /// assert!(!contract.allows_in_error(&json!({ "code": 1 })));
    /// # Ok::<(), toolbond_contract::ContractError>(())
    /// ```
    #[must_use]
    pub fn allows_in_error(&self, value: &Value) -> bool {
        value.is_object() && self.output().is_none_or(|output| output.schema().is_valid(value))
    }

    /// Moves the structured content of an error that breaks the output schema into a text block, for clients that check
    /// errors too. Content that is valid stays, and so does any other result. [`lift_result`](crate::lift_result) undoes
    /// that.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolbond_contract::Contract;
    ///
    /// let contract = Contract::received(json!({
    ///     "name": "build",
    ///     "inputSchema": { "type": "object" },
    ///     "outputSchema": { "type": "object", "required": ["errors"] }
    /// }))?;
    /// let error = json!({ "content": [], "structuredContent": { "code": 1 }, "isError": true });
    /// let told = contract.tell_error(&error);
    /// assert_eq!(told["content"], json!([{ "type": "text", "text": "{\"code\":1}" }]));
    /// assert!(told.get("structuredContent").is_none());
    /// # Ok::<(), toolbond_contract::ContractError>(())
    /// ```
    #[must_use]
    pub fn tell_error<'a>(&self, result: &'a Value) -> Cow<'a, Value> {
        let told = || {
            let members = result.as_object()?;
            let content = Structured::from_members(members).value()?;
            let is_wrong = result.get("isError") == Some(&Value::Bool(true))
                && self.output().is_some_and(|output| !output.schema().is_valid(content));
            if is_wrong { error_text::hide(members, content).ok()? } else { None }
        };
        told().map_or(Cow::Borrowed(result), Cow::Owned)
    }

    /// The whole tool in its natural shape, with the members that this crate does not know.
    #[must_use]
    pub fn tool(&self) -> &Map<String, Value> {
        match &self.inner.tool {
            Value::Object(tool) => tool,
            _ => unreachable!("`assemble` makes it of a map"),
        }
    }

    /// [`Contract::tool`] as a JSON value, as [`project_tool`](crate::project_tool) takes it.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolbond_contract::{Contract, Revision, project_tool};
    ///
    /// let contract = Contract::received(json!({
    ///     "name": "get_count",
    ///     "inputSchema": { "type": "object" },
    ///     "outputSchema": { "type": "integer" }
    /// }))?;
    /// let legacy = project_tool(contract.value(), &Revision::V2025_11_25)?;
    /// assert_eq!(legacy.tool["outputSchema"]["type"], "object");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.inner.tool
    }

    /// SHA-256 over the canonical JSON (RFC 8785) of [`Contract::tool`]: the same whatever the order
    /// of members and the spelling of numbers, another one as soon as anything else differs.
    ///
    /// Numbers are compared as RFC 8785 writes them, as IEEE 754 doubles: integers beyond 2⁵³ that
    /// round to the same double, such as 9007199254740992 and 9007199254740993, give the same digest.
    ///
    /// Needs the feature `digest`, which is on by default.
    #[cfg(feature = "digest")]
    #[must_use]
    pub fn digest(&self) -> Digest {
        *self.inner.digest.get_or_init(|| Digest::compute(self.tool()))
    }
}

impl fmt::Debug for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contract").field("name", &self.name()).finish_non_exhaustive()
    }
}

fn object(tool: Value) -> Result<Map<String, Value>, ContractError> {
    match tool {
        Value::Object(tool) => Ok(tool),
        other => Err(ContractError {
            side: None,
            pointer: Pointer::root(),
            kind: ContractErrorKind::NotATool { found: kind(&other) },
        }),
    }
}

fn name_of(tool: &Map<String, Value>) -> Result<&str, ContractError> {
    tool_name::check(tool).map_err(|(at, message)| name_error(message, at, false))
}

fn name_error(message: String, pointer: Pointer, form: bool) -> ContractError {
    ContractError { side: None, pointer, kind: ContractErrorKind::Name { message, form } }
}

/// Replaces a member only where it differs, so that it keeps its place.
fn write(tool: &mut Map<String, Value>, member: &str, value: &Value) {
    if tool.get(member) != Some(value) {
        tool.insert(member.to_owned(), value.clone());
    }
}
