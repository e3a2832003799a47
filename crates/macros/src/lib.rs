//! The attribute `#[tools]` of toolpact: methods become tools.
//!
//! Use it as `#[toolpact::tools]`; its documentation is there.

mod attributes;
mod expand;
mod parse;
mod validate;

#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as TokenStream2;
use syn::{Error, ItemImpl, Result, parse_macro_input};

/// Makes the methods marked with `#[tool]` the tools of a server.
///
/// See the documentation of the crate `toolpact`.
#[proc_macro_attribute]
pub fn tools(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as ItemImpl);
    compile(attribute.into(), item).unwrap_or_else(Error::into_compile_error).into()
}

/// Parse, validate, expand.
fn compile(attribute: TokenStream2, item: ItemImpl) -> Result<TokenStream2> {
    let server = parse::parse(attribute, item)?;
    validate::validate(&server)?;
    Ok(expand::expand(&server))
}
