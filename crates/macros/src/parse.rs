//! Parses an `impl` block into its tools.

use proc_macro2::TokenStream;
use syn::{
    Attribute, Error, Expr, ExprLit, FnArg, Ident, ImplItem, ImplItemFn, ItemImpl, Lit, Meta, Pat,
    Path, ReturnType, Signature, Type, parse_quote,
};

use crate::{
    argument,
    attributes::{ServerAttributes, ToolAttributes},
};

/// An `impl` block with tools.
pub(crate) struct ToolsBlock {
    pub(crate) attributes: ServerAttributes,
    /// The block without the attributes of this macro.
    pub(crate) item: ItemImpl,
    pub(crate) tools: Vec<Tool>,
    /// The path of the crate `toolbond`.
    pub(crate) krate: Path,
}

/// A method that is a tool.
pub(crate) struct Tool {
    pub(crate) attributes: ToolAttributes,
    /// Its `cfg` attributes.
    pub(crate) conditions: Vec<Attribute>,
    /// The doc comment.
    pub(crate) doc: Option<String>,
    pub(crate) signature: Signature,
    pub(crate) parameters: Vec<Parameter>,
    /// The return type; `None` for the unit type.
    pub(crate) output: Option<Type>,
}

/// A parameter after the receiver.
pub(crate) struct Parameter {
    /// The name; `None` for a pattern.
    pub(crate) name: Option<Ident>,
    pub(crate) kind: Type,
    /// The attributes for its field in the schema: docs, `schemars`, `serde`.
    pub(crate) attributes: Vec<Attribute>,
}

impl Parameter {
    /// The name of the argument in JSON, if it has one: that of the parameter without leading `_`, unless the author
    /// gives it another one.
    pub(crate) fn json_name(&self) -> Option<String> {
        if argument::is_flat(&self.attributes) {
            return None;
        }
        let own = self.name.as_ref()?.to_string();
        let own = own.trim_start_matches("r#");
        let bare = own.trim_start_matches('_');
        let own = if bare.is_empty() { own } else { bare };
        argument::new_name(&self.attributes).or_else(|| Some(own.to_owned()))
    }
}

impl Tool {
    /// The name of the tool.
    pub(crate) fn name(&self) -> String {
        match &self.attributes.name {
            Some(name) => name.value(),
            None => self.signature.ident.to_string().trim_start_matches("r#").to_owned(),
        }
    }
}

/// Parses `item` and removes the attributes of this macro from it. What is wrong with them goes to `mistakes`.
pub(crate) fn parse(
    attribute: TokenStream,
    mut item: ItemImpl,
    mistakes: &mut Vec<Error>,
) -> ToolsBlock {
    let attributes = ServerAttributes::parse(attribute, mistakes);
    let mut tools = Vec::new();
    for member in &mut item.items {
        let ImplItem::Fn(method) = member else { continue };
        if let Some(at) = method.attrs.iter().position(|attr| attr.path().is_ident("tool")) {
            let attribute = method.attrs.remove(at);
            tools.push(tool(&attribute, method, mistakes));
            // The signature of a tool is fixed, whether its body needs it or not.
            method.attrs.push(parse_quote!(
                #[allow(clippy::needless_pass_by_value, clippy::unused_async, clippy::unused_self)]
            ));
        }
    }
    let krate = attributes.krate.clone().unwrap_or_else(|| parse_quote!(::toolbond));
    ToolsBlock { attributes, item, tools, krate }
}

fn tool(attribute: &Attribute, method: &mut ImplItemFn, mistakes: &mut Vec<Error>) -> Tool {
    let attributes = match &attribute.meta {
        Meta::Path(_) => ToolAttributes::default(),
        Meta::List(list) => ToolAttributes::parse(list.tokens.clone(), mistakes),
        Meta::NameValue(_) => {
            mistakes.push(Error::new_spanned(attribute, "expected `#[tool]` or `#[tool(…)]`"));
            ToolAttributes::default()
        }
    };
    let mut parameters = Vec::new();
    for input in &mut method.sig.inputs {
        let FnArg::Typed(input) = input else { continue };
        let name = match &*input.pat {
            Pat::Ident(pattern) if pattern.subpat.is_none() => Some(pattern.ident.clone()),
            _ => None,
        };
        let (own, rest) = std::mem::take(&mut input.attrs).into_iter().partition(is_for_field);
        input.attrs = rest;
        parameters.push(Parameter { name, kind: (*input.ty).clone(), attributes: own });
    }
    let output = match &method.sig.output {
        ReturnType::Default => None,
        ReturnType::Type(_, kind) => Some((**kind).clone()),
    };
    let doc = doc(&method.attrs);
    let is_condition = |attribute: &&Attribute| attribute.path().is_ident("cfg");
    let conditions = method.attrs.iter().filter(is_condition).cloned().collect();
    Tool { attributes, conditions, doc, signature: method.sig.clone(), parameters, output }
}

fn is_for_field(attribute: &Attribute) -> bool {
    ["doc", "schemars", "serde"].iter().any(|name| attribute.path().is_ident(name))
}

/// Joins the lines of a doc comment.
fn doc(attributes: &[Attribute]) -> Option<String> {
    let lines: Vec<String> = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
                _ => None,
            },
            _ => None,
        })
        .map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned())
        .collect();
    let text = lines.join("\n").trim().to_owned();
    (!text.is_empty()).then_some(text)
}
