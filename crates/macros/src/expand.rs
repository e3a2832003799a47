//! Generates the code for parsed tools.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Ident, Path, Type, spanned::Spanned as _};

use crate::{
    argument,
    attributes::Icon,
    parse::{Parameter, Tool, ToolsBlock},
};

/// Generates the block itself and the implementations that make its methods tools.
pub(crate) fn expand(block: &ToolsBlock) -> TokenStream {
    let ToolsBlock { item, tools, attributes, krate } = block;
    let kind = &item.self_ty;
    let (generics, _, bounds) = item.generics.split_for_impl();
    let routes = tools.iter().map(|tool| route(krate, kind, tool));
    let routes = quote!(#krate::Toolbox::new(::std::vec::Vec::from([#(#routes),*])));
    // A static cannot depend on the generic parameters of the type.
    let toolbox = if item.generics.params.is_empty() {
        quote! {
            static TOOLBOX: ::std::sync::OnceLock<#krate::Toolbox<#kind>> =
                ::std::sync::OnceLock::new();
            TOOLBOX.get_or_init(|| #routes)
        }
    } else {
        quote!(#krate::__private::toolbox(|| #routes))
    };
    let handler = (!attributes.tools_only).then(|| handler(block));
    quote! {
        #item

        impl #generics #krate::Tools for #kind #bounds {
            fn toolbox() -> &'static #krate::Toolbox<Self> {
                #toolbox
            }
        }

        #handler
    }
}

/// Generates the block itself and implementations that have nothing in them, for a block with mistakes.
pub(crate) fn stand_in(block: &ToolsBlock) -> TokenStream {
    let ToolsBlock { item, attributes, krate, .. } = block;
    let kind = &item.self_ty;
    let (generics, _, bounds) = item.generics.split_for_impl();
    if item.trait_.is_some() || item.generics.lifetimes().next().is_some() {
        return TokenStream::new();
    }
    let handler = (!attributes.tools_only).then(
        || quote!(impl #generics #krate::__private::rmcp::ServerHandler for #kind #bounds {}),
    );
    quote! {
        #[allow(unused)]
        #item

        impl #generics #krate::Tools for #kind #bounds {
            fn toolbox() -> &'static #krate::Toolbox<Self> {
                ::core::unreachable!()
            }
        }

        #handler
    }
}

/// Generates the name of a tool and its `Route`.
fn route(krate: &Path, server: &Type, tool: &Tool) -> TokenStream {
    let name = tool.name();
    let fields: Vec<_> =
        tool.parameters.iter().enumerate().map(|(at, one)| field(krate, at, one)).collect();
    let structures = fields.iter().map(|field| &field.structure);
    let describe = fields.iter().map(|Field { kind, named, inner, .. }| {
        let span = kind.span();
        let krate = respan(krate, span);
        // The schema of an `Option` need not allow `null`: an optional argument is left out.
        let optional = inner.map(|inner| {
            quote_spanned! { span=>
                let adds_null = (&#krate::__private::ParameterType::<#inner>::new()).adds_null(input);
                input.describe_optional(adds_null);
            }
        });
        quote_spanned! { span=>
            #krate::__private::assert_allowed(&(&#krate::__private::ParameterType::<#kind>::new()).check());
            #krate::__private::describe::<#kind, #named, _>(input);
            #optional
        }
    });
    let take = fields.iter().map(|Field { variable, kind, named, .. }| {
        let span = kind.span();
        let krate = respan(krate, span);
        quote_spanned! { span=>
            let #variable = #krate::__private::extract::<#kind, #named, _>(&arguments, named, &context)?;
        }
    });
    let names = fields.iter().map(|Field { kind, named, .. }| {
        let span = kind.span();
        let krate = respan(krate, span);
        quote_spanned!(span=> #krate::__private::argument_name::<#kind, #named, _>())
    });
    let variables = fields.iter().map(|field| &field.variable);
    let method = &tool.signature.ident;
    let wait = tool.signature.asyncness.map(|_| quote!(.await));
    let unit = Type::Verbatim(quote!(()));
    let output = tool.output.as_ref().unwrap_or(&unit);
    let returns = quote!(#krate::__private::ReturnType::<#output>::new());
    let schema = quote_spanned! { output.span()=> (&&&(&#returns).success()).schema() };
    let krate = &respan(krate, output.span());
    let respond = quote_spanned! { output.span()=>
        let returns = #returns;
        match (&returns).split(value) {
            ::core::result::Result::Ok(value) => (&&&(&returns).success()).respond(value),
            ::core::result::Result::Err(error) => {
                ::core::result::Result::Err(#krate::__private::tool_error(error))
            }
        }
    };
    let settings = settings(tool);
    let conditions = &tool.conditions;
    quote! {
        #(#conditions)*
        (#name, {
            #(#structures)*
            #[allow(unused_imports)]
            use #krate::__private::{
                AllowedParameter as _, ArgsOfNonObject as _, Fallible as _, Infallible as _, OfOption as _,
                OfOther as _, OtherOutput as _, Output as _, StructuredOutput as _,
            };
            #krate::__private::Route::<#server>::new(
                #name,
                |input| { let _ = &input; #(#describe)* },
                |server, arguments, context| ::std::boxed::Box::pin(async move {
                    let named: &[::core::option::Option<&str>] = &[#(#names),*];
                    let _ = (&arguments, &context, named);
                    #(#take)*
                    let value: #output = <#server>::#method(server, #(#variables),*)#wait;
                    #respond
                }),
            )
            .output(#schema)
            #settings
        })
    }
}

/// The parameter of a method and the struct that describes it in the schema.
struct Field<'a> {
    variable: Ident,
    kind: &'a Type,
    /// `T` of an `Option<T>` whose schema the author has not written.
    inner: Option<&'a Type>,
    named: TokenStream,
    structure: TokenStream,
}

/// Generates the struct for one parameter.
///
/// A parameter with attributes of `serde` or `schemars` is an argument, and its struct has a field of its type. Without
/// them the parameter may also be a part of the request. Its struct is generic then, so that the type needs no traits
/// of an argument until the compiler has decided.
fn field<'a>(krate: &Path, at: usize, parameter: &'a Parameter) -> Field<'a> {
    let Parameter { name, kind, attributes } = parameter;
    let variable = format_ident!("argument_{at}");
    let Some(name) = name else {
        let named = quote!(#krate::__private::Unnamed);
        return Field { variable, kind, inner: None, named, structure: TokenStream::new() };
    };
    let structure = format_ident!("Argument{at}");
    let inner = argument::inner(kind).filter(|_| !argument::has_own_schema(attributes));
    // `serde` reads `null` as the outer `None`, as if there was no argument.
    let present = inner.filter(|inner| argument::inner(inner).is_some());
    let present = present.filter(|_| !argument::has_own_value(attributes)).map(|_| {
        let present = path_text(&quote!(#krate::__private::present));
        quote!(#[serde(default, deserialize_with = #present)])
    });
    let is_argument =
        present.is_some() || attributes.iter().any(|attribute| !attribute.path().is_ident("doc"));
    let json_name = parameter.json_name();
    // A name starts with `_` so that the compiler does not call it unused.
    let rename = (name.to_string().starts_with('_') && argument::new_name(attributes).is_none())
        .then(|| quote!(#[serde(rename = #json_name)]));
    let json_name = option(json_name.as_ref());
    let (generics, field) = if is_argument {
        (TokenStream::new(), kind.to_token_stream())
    } else {
        (quote!(<T>), quote!(T))
    };
    let serde = path_text(&quote!(#krate::__private::serde));
    let schemars = path_text(&quote!(#krate::__private::schemars));
    let named = if is_argument { quote!(#structure) } else { quote!(#structure<#kind>) };
    let code = quote! {
        #[derive(
            #krate::__private::serde::Deserialize,
            #krate::__private::schemars::JsonSchema
        )]
        #[serde(crate = #serde)]
        #[schemars(crate = #schemars)]
        struct #structure #generics {
            #(#attributes)*
            #present
            #rename
            #name: #field,
        }
        impl #generics #krate::__private::SingleField<#field> for #structure #generics {
            const NAME: ::core::option::Option<&'static str> = #json_name;
            fn into_field(self) -> #field {
                self.#name
            }
        }
    };
    Field { variable, kind, inner, named, structure: code }
}

/// `path` with another span, so that the compiler reports errors there.
fn respan(path: &Path, span: Span) -> TokenStream {
    let respan = |mut token: TokenTree| {
        token.set_span(span);
        token
    };
    path.to_token_stream().into_iter().map(respan).collect()
}

/// A path as `serde` and `schemars` take it: text without spaces.
fn path_text(path: &TokenStream) -> String {
    path.to_string().replace(' ', "")
}

/// Generates the builder calls for title, description, annotations, icons and `_meta`.
fn settings(tool: &Tool) -> TokenStream {
    let attributes = &tool.attributes;
    let title = attributes.title.as_ref().map(|title| quote!(.title(#title)));
    let description = match (&attributes.description, &tool.doc) {
        (Some(text), _) => Some(quote!(.description(#text))),
        (None, Some(text)) => Some(quote!(.description(#text))),
        (None, None) => None,
    };
    let hints = [
        attributes.read_only,
        attributes.destructive,
        attributes.idempotent,
        attributes.open_world,
    ]
    .map(|hint| option(hint.as_ref()));
    let icons = attributes.icons.iter().map(|Icon { src, mime_type, sizes }| {
        let mime_type = option(mime_type.as_ref());
        let sizes = option(sizes.as_ref());
        quote!(.icon(#src, #mime_type, #sizes))
    });
    let meta = attributes.meta.as_ref().map(|meta| quote!(.meta(#meta)));
    quote! { #title #description .annotations([#(#hints),*]) #(#icons)* #meta }
}

fn option(value: Option<&impl ToTokens>) -> TokenStream {
    if let Some(value) = value {
        quote!(::core::option::Option::Some(#value))
    } else {
        quote!(::core::option::Option::None)
    }
}

/// Generates the implementation of `ServerHandler`.
fn handler(block: &ToolsBlock) -> TokenStream {
    let ToolsBlock { item, attributes, krate, .. } = block;
    let kind = &item.self_ty;
    let (generics, _, bounds) = item.generics.split_for_impl();
    let name = attributes
        .name
        .as_ref()
        .map_or_else(|| quote!(env!("CARGO_PKG_NAME")), |name| quote!(#name));
    let version = attributes
        .version
        .as_ref()
        .map_or_else(|| quote!(env!("CARGO_PKG_VERSION")), |version| quote!(#version));
    let instructions =
        attributes.instructions.as_ref().map(|text| quote!(.with_instructions(#text)));
    quote! {
        impl #generics #krate::__private::rmcp::ServerHandler for #kind #bounds {
            fn get_info(&self) -> #krate::__private::rmcp::model::ServerConfig {
                #krate::__private::server_config(#name, #version)#instructions
            }

            fn get_tool(&self, name: &str) -> ::core::option::Option<#krate::__private::rmcp::model::Tool> {
                <Self as #krate::Tools>::toolbox().tool(name).cloned()
            }

            async fn list_tools(
                &self,
                _: ::core::option::Option<#krate::__private::rmcp::model::PaginatedRequestParams>,
                context: #krate::__private::Context,
            ) -> ::core::result::Result<
                #krate::__private::rmcp::model::ListToolsResult,
                #krate::__private::rmcp::ErrorData,
            > {
                ::core::result::Result::Ok(#krate::__private::fixed_list::<Self>(&context))
            }

            async fn call_tool(
                &self,
                request: #krate::__private::rmcp::model::CallToolRequestParams,
                context: #krate::__private::Context,
            ) -> ::core::result::Result<
                #krate::__private::rmcp::model::CallToolResponse,
                #krate::__private::rmcp::ErrorData,
            > {
                <Self as #krate::Tools>::toolbox().call(self, request, context).await
            }
        }
    }
}
