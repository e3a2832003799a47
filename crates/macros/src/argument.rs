//! What the type and the attributes of a parameter say about its argument.

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, GenericArgument, Meta, PathArguments, Token, Type, punctuated::Punctuated};

use crate::members::text;

/// `T` if `kind` is written as `Option<T>`.
pub(crate) fn inner(kind: &Type) -> Option<&Type> {
    let Type::Path(path) = kind else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(inner) if arguments.args.len() == 1 => Some(inner),
        _ => None,
    }
}

/// Whether the author has written the schema of a parameter, or the types that it allows.
pub(crate) fn has_own_schema(attributes: &[Attribute]) -> bool {
    names(attributes, &["schema_with", "with", "transform", "flatten"])
        || tokens(attributes).any(|token| match token {
            TokenTree::Literal(text) => ["\"type\"", "\"enum\"", "\"anyOf\"", "\"oneOf\""]
                .contains(&text.to_string().as_str()),
            _ => false,
        })
}

/// Whether the author has said how a parameter is read, or what it is if it is absent.
pub(crate) fn has_own_value(attributes: &[Attribute]) -> bool {
    names(attributes, &["deserialize_with", "with", "default", "flatten"])
}

/// Whether a parameter takes the members of an object, and has no name of its own in JSON.
pub(crate) fn is_flat(attributes: &[Attribute]) -> bool {
    names(attributes, &["flatten"])
}

/// The name that `#[serde(rename = "…")]` or `#[serde(rename(deserialize = "…"))]` gives to a parameter.
pub(crate) fn new_name(attributes: &[Attribute]) -> Option<String> {
    let of_serde = attributes.iter().filter(|attribute| attribute.path().is_ident("serde"));
    let renames = of_serde.flat_map(|attribute| members(&attribute.meta, "rename"));
    let names = renames.flat_map(|rename| match &rename {
        Meta::List(_) => members(&rename, "deserialize"),
        _ => vec![rename],
    });
    names.filter_map(|name| text(&name).ok()).last().map(|name| name.value())
}

/// The members of `meta`, a list, with this name.
fn members(meta: &Meta, name: &str) -> Vec<Meta> {
    list(meta).into_iter().filter(|member| member.path().is_ident(name)).collect()
}

/// The members of `meta` if it is a list.
pub(crate) fn list(meta: &Meta) -> Vec<Meta> {
    let Meta::List(list) = meta else { return Vec::new() };
    let parsed = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    parsed.map_or_else(|_| Vec::new(), |members| members.into_iter().collect())
}

fn names(attributes: &[Attribute], known: &[&str]) -> bool {
    tokens(attributes).any(|token| match token {
        TokenTree::Ident(name) => known.iter().any(|known| name == known),
        _ => false,
    })
}

/// The tokens in the lists of `attributes`, those of inner lists included.
fn tokens(attributes: &[Attribute]) -> impl Iterator<Item = TokenTree> {
    let lists = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::List(list) => Some(list.tokens.clone()),
        _ => None,
    });
    lists.flat_map(flat).collect::<Vec<_>>().into_iter()
}

fn flat(tokens: TokenStream) -> Vec<TokenTree> {
    let flat = |token| match token {
        TokenTree::Group(group) => flat(group.stream()),
        token => vec![token],
    };
    tokens.into_iter().flat_map(flat).collect()
}
