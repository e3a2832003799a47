//! Reports mistakes where they were made.

use std::collections::{HashMap, HashSet};

use proc_macro2::TokenStream;
use quote::ToTokens;
use serde_json::Value;
use syn::{Error, FnArg, GenericParam, Type};

use crate::{
    argument,
    parse::{Parameter, Tool, ToolsBlock},
};

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
    let mut taken = HashMap::new();
    for tool in &block.tools {
        check_name(tool, &mut taken, mistakes);
        check_signature(tool, mistakes);
        for parameter in &tool.parameters {
            check_parameter(parameter, mistakes);
            check_attributes(parameter, mistakes);
        }
        check_names_of_arguments(tool, mistakes);
        check_meta(tool, mistakes);
    }
}

fn at(place: &impl ToTokens, message: &str) -> Error {
    Error::new_spanned(place, message)
}

/// The longest name that the protocol recommends.
const MAX_NAME_LENGTH: usize = 128;

fn check_name(tool: &Tool, taken: &mut HashMap<String, TokenStream>, mistakes: &mut Vec<Error>) {
    let name = tool.name();
    let place = match &tool.attributes.name {
        Some(name) => name.to_token_stream(),
        None => tool.signature.ident.to_token_stream(),
    };
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    if name.is_empty() || name.len() > MAX_NAME_LENGTH || !name.chars().all(allowed) {
        mistakes.push(at(&place, &format!(
            "expected a tool name of 1 to {MAX_NAME_LENGTH} letters, digits, `_`, `-` and `.`, found `{name}`"
        )));
    }
    // Tools under `cfg` may share a name: only one of them may be compiled.
    if !tool.conditions.is_empty() {
        return;
    }
    match taken.get(&name) {
        Some(first) => {
            let message = format!("expected a name used once, found a second tool `{name}`");
            mistakes.push(at(&place, &message));
            mistakes.push(at(first, &format!("the first tool `{name}` is here")));
        }
        None => _ = taken.insert(name, place),
    }
}

fn check_signature(tool: &Tool, mistakes: &mut Vec<Error>) {
    let signature = &tool.signature;
    match signature.inputs.first() {
        Some(FnArg::Receiver(receiver))
            if receiver.reference.is_some() && receiver.mutability.is_none() => {}
        Some(FnArg::Receiver(receiver)) => {
            mistakes.push(at(
                receiver,
                "expected `&self`: a server answers many calls at once; put what they change into a `Mutex`, and that into an `Arc` if clones share it",
            ));
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

/// Reports attributes of `schemars` that are misspelt. The compiler would do so, and report the type of the parameter as
/// well.
fn check_attributes(parameter: &Parameter, mistakes: &mut Vec<Error>) {
    let of_schemars =
        parameter.attributes.iter().filter(|attribute| attribute.path().is_ident("schemars"));
    for member in of_schemars.flat_map(|attribute| argument::list(&attribute.meta)) {
        let found = member.path().get_ident().map(ToString::to_string).unwrap_or_default();
        let distance = |name: &&str| strsim::damerau_levenshtein(name, &found);
        let Some(meant) = SCHEMARS.split(' ').min_by_key(distance) else { continue };
        if (1..=2).contains(&distance(&meant)) && found.len() > 3 {
            let message = format!("unknown attribute `{found}`; did you mean `{meant}`?");
            mistakes.push(at(member.path(), &message));
        }
    }
}

/// Attributes of `schemars` for a field.
const SCHEMARS: &str = "alias bound contains crate default deprecated description email example extend flatten inner \
    length range regex rename required schema_with skip title transform with";

fn check_names_of_arguments(tool: &Tool, mistakes: &mut Vec<Error>) {
    let mut taken = HashSet::new();
    for parameter in &tool.parameters {
        if let Some(name) = parameter.json_name()
            && !taken.insert(name.clone())
        {
            let message = format!("expected a name used once, found a second argument `{name}`");
            mistakes.push(at(&parameter.name, &message));
        }
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
