//! The attribute macro `#[toolbond::tools]`, which turns methods into MCP tools.
//!
//! Depend on the crate `toolbond`, which re-exports and documents it.

mod argument;
mod attributes;
mod expand;
mod members;
mod parse;
mod validate;

#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as TokenStream2;
use syn::{Error, ItemImpl, parse_macro_input};

/// Turns the methods marked with `#[tool]` into the tools of a server.
///
/// All tools of a type are in one block. Parameters become the input schema, the return type becomes the output schema, and doc comments become descriptions.
/// The front page of the crate `toolbond` lists the types and attributes that tools support.
///
/// | attribute | effect |
/// | --- | --- |
/// | `name = "…"`, `version = "…"` | name and version of the server; by default those of the package |
/// | `instructions = "…"` | instructions for the model about the server as a whole |
/// | `tools_only` | generates no `ServerHandler`: the author implements it, for prompts and resources |
/// | `crate = "…"` | path of the crate `toolbond`, for packages that rename it in `Cargo.toml` |
#[proc_macro_attribute]
pub fn tools(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as ItemImpl);
    let (code, mistake) = compile(attribute.into(), item);
    let mut output = mistake.map(Error::into_compile_error).unwrap_or_default();
    output.extend(code);
    output.into()
}

/// Parses, validates and expands. After a mistake, the code only stands in for that of the tools, so that nothing else is
/// reported.
fn compile(attribute: TokenStream2, item: ItemImpl) -> (TokenStream2, Option<Error>) {
    let mut mistakes = Vec::new();
    let block = parse::parse(attribute, item, &mut mistakes);
    validate::validate(&block, &mut mistakes);
    match members::all(mistakes) {
        None => (expand::expand(&block), None),
        mistake => (expand::stand_in(&block), mistake),
    }
}
