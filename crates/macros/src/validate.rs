//! Reports mistakes where they were made.

use std::collections::HashSet;

use quote::ToTokens;
use serde_json::Value;
use syn::{Error, FnArg, GenericParam, Type};

use crate::parse::{Parameter, Tool, ToolsBlock};

/// Adds all mistakes in `block` to `mistakes`.
pub(crate) fn validate(block: &ToolsBlock, mistakes: &mut Vec<Error>) {
    if let Some((_, path, _)) = &block.item.trait_ {
        mistakes.push(at(path, "expected the type's own `impl` block, found one of a trait"));
    }
    for parameter in block.item.generics.lifetimes() {
        mistakes.push(at(parameter, "expected a type that owns its data"));
    }
    if block.tools.is_empty() {
        mistakes
            .push(at(&block.item.self_ty, "expected at least one method marked with `#[tool]`"));
    }
    let mut taken = HashSet::new();
    for tool in &block.tools {
        check_name(tool, &mut taken, mistakes);
        check_signature(tool, mistakes);
        for parameter in &tool.parameters {
            check_parameter(parameter, mistakes);
        }
        check_meta(tool, mistakes);
    }
}

fn at(place: &impl ToTokens, message: &str) -> Error {
    Error::new_spanned(place, message)
}

/// The longest name that the protocol recommends.
const MAX_NAME_LENGTH: usize = 128;

fn check_name(tool: &Tool, taken: &mut HashSet<String>, mistakes: &mut Vec<Error>) {
    let name = tool.name();
    let mut report = |message: String| {
        mistakes.push(match &tool.attributes.name {
            Some(name) => at(name, &message),
            None => at(&tool.signature.ident, &message),
        });
    };
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    if name.is_empty() || name.len() > MAX_NAME_LENGTH || !name.chars().all(allowed) {
        report(format!(
            "expected a tool name of 1 to {MAX_NAME_LENGTH} letters, digits, `_`, `-` and `.`, found `{name}`"
        ));
    }
    // Tools under `cfg` may share a name: only one of them may be compiled.
    if tool.conditions.is_empty() && !taken.insert(name.clone()) {
        report(format!("expected a name used once, found a second tool `{name}`"));
    }
}

fn check_signature(tool: &Tool, mistakes: &mut Vec<Error>) {
    let signature = &tool.signature;
    match signature.inputs.first() {
        Some(FnArg::Receiver(receiver))
            if receiver.reference.is_some() && receiver.mutability.is_none() => {}
        Some(FnArg::Receiver(receiver)) => {
            mistakes.push(at(receiver, "expected `&self`: a server answers many calls at once"));
        }
        _ => mistakes.push(at(&signature.ident, "expected a method with `&self`")),
    }
    for parameter in &signature.generics.params {
        mistakes.push(at(
            parameter,
            match parameter {
                GenericParam::Lifetime(_) => "expected a method without named lifetimes",
                _ => "expected a method without type parameters",
            },
        ));
    }
    if let Some(keyword) = &signature.unsafety {
        mistakes.push(at(keyword, "expected a safe method"));
    }
    if let Some(Type::ImplTrait(kind)) = &tool.output {
        mistakes.push(at(kind, "expected a type that can be named, found `impl Trait`"));
    }
}

fn check_parameter(parameter: &Parameter, mistakes: &mut Vec<Error>) {
    match &parameter.kind {
        Type::Reference(kind) => {
            mistakes
                .push(at(kind, "expected a type that owns its data, such as `String` or `Vec<T>`"));
        }
        Type::ImplTrait(kind) => {
            mistakes.push(at(kind, "expected a type that can be named, found `impl Trait`"));
        }
        _ => {}
    }
    if let (None, Some(attribute)) = (&parameter.name, parameter.attributes.first()) {
        mistakes.push(at(attribute, "expected a parameter with a name, found a pattern"));
    }
}

fn check_meta(tool: &Tool, mistakes: &mut Vec<Error>) {
    let Some(meta) = &tool.attributes.meta else { return };
    let problem = match serde_json::from_str::<Value>(&meta.value()) {
        Ok(Value::Object(_)) => return,
        Ok(_) => "expected a JSON object".to_owned(),
        Err(error) => format!("expected a JSON object: {error}"),
    };
    mistakes.push(Error::new(meta.span(), problem));
}
