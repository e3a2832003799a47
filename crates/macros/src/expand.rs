//! From tools to code.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Ident, Type, spanned::Spanned as _};

use crate::{
    attributes::Icon,
    parse::{Parameter, Server, Tool},
};

/// The block itself, and the implementations that make its methods tools.
pub(crate) fn expand(server: &Server) -> TokenStream {
    let Server { item, tools, attributes } = server;
    let kind = &item.self_ty;
    let (generics, _, bounds) = item.generics.split_for_impl();
    let routes = tools.iter().map(|tool| route(kind, tool));
    let routes = quote!(::toolpact::Toolbox::new(::std::vec::Vec::from([#(#routes),*])));
    // A static cannot depend on the parameters of the type.
    let toolbox = if item.generics.params.is_empty() {
        quote! {
            static TOOLBOX: ::std::sync::OnceLock<::toolpact::Toolbox<#kind>> =
                ::std::sync::OnceLock::new();
            TOOLBOX.get_or_init(|| #routes)
        }
    } else {
        quote!(::toolpact::__private::toolbox(|| #routes))
    };
    let handler = (!attributes.tools_only).then(|| handler(server));
    quote! {
        #item

        impl #generics ::toolpact::Tools for #kind #bounds {
            fn toolbox() -> &'static ::toolpact::Toolbox<Self> {
                #toolbox
            }
        }

        #handler
    }
}

fn route(server: &Type, tool: &Tool) -> TokenStream {
    let name = tool.name();
    let fields: Vec<_> =
        tool.parameters.iter().enumerate().map(|(at, one)| field(at, one)).collect();
    let structures = fields.iter().map(|field| &field.structure);
    let describe = fields.iter().map(|Field { kind, named, .. }| {
        let span = kind.span();
        quote_spanned! { span=>
            ::toolpact::__private::fits(&(&::toolpact::__private::Taken::<#kind>::new()).fit());
            ::toolpact::__private::describe::<#kind, #named, _>(input);
        }
    });
    let take = fields.iter().map(|Field { variable, kind, named, .. }| {
        let span = kind.span();
        quote_spanned! { span=>
            let #variable = ::toolpact::__private::take::<#kind, #named, _>(&arguments, &context)?;
        }
    });
    let variables = fields.iter().map(|field| &field.variable);
    let method = &tool.signature.ident;
    let wait = tool.signature.asyncness.map(|_| quote!(.await));
    let unit = Type::Verbatim(quote!(()));
    let output = tool.output.as_ref().unwrap_or(&unit);
    let returns = quote!(::toolpact::__private::Returns::<#output>::new());
    let schema = quote_spanned! { output.span()=> (&(&#returns).success()).schema() };
    let respond = quote_spanned! { output.span()=>
        let returns = #returns;
        match (&returns).split(value) {
            ::core::result::Result::Ok(value) => (&(&returns).success()).respond(value),
            ::core::result::Result::Err(error) => {
                ::core::result::Result::Err(::toolpact::__private::tool_error(error))
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
            use ::toolpact::__private::{
                Fallible as _, Infallible as _, Misfit as _, Otherwise as _, Output as _, StructuredOutput as _,
            };
            ::toolpact::__private::Route::<#server>::new(
                #name,
                |input| { let _ = &input; #(#describe)* },
                |server, arguments, context| ::std::boxed::Box::pin(async move {
                    let _ = (&arguments, &context);
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

/// The parameter of a method, and the structure that stands for it in the schema.
struct Field<'a> {
    variable: Ident,
    kind: &'a Type,
    named: TokenStream,
    structure: TokenStream,
}

/// With attributes of `serde` or `schemars` it is an argument for sure, and the structure has its type.
/// Without, it may be a part of the request, and the structure is generic: nothing is asked of the type
/// until the compiler knows which of the two it is.
fn field(at: usize, parameter: &Parameter) -> Field<'_> {
    let Parameter { name, kind, attributes } = parameter;
    let variable = format_ident!("argument_{at}");
    let Some(name) = name else {
        let named = quote!(::toolpact::__private::Unnamed);
        return Field { variable, kind, named, structure: TokenStream::new() };
    };
    let structure = format_ident!("Argument{at}");
    let is_argument = attributes.iter().any(|attribute| !attribute.path().is_ident("doc"));
    let (generics, inner) = if is_argument {
        (TokenStream::new(), kind.to_token_stream())
    } else {
        (quote!(<T>), quote!(T))
    };
    let carried = if is_argument { kind.to_token_stream() } else { quote!(T) };
    let named = if is_argument { quote!(#structure) } else { quote!(#structure<#kind>) };
    let code = quote! {
        #[derive(
            ::toolpact::__private::serde::Deserialize,
            ::toolpact::__private::schemars::JsonSchema
        )]
        #[serde(crate = "::toolpact::__private::serde")]
        #[schemars(crate = "::toolpact::__private::schemars")]
        struct #structure #generics {
            #(#attributes)*
            #name: #inner,
        }
        impl #generics ::toolpact::__private::Carries<#carried> for #structure #generics {
            fn open(self) -> #carried {
                self.#name
            }
        }
    };
    Field { variable, kind, named, structure: code }
}

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
    let icons = attributes.icon.iter().map(|Icon { src, mime_type, sizes }| {
        let mime_type = option(mime_type.as_ref());
        let sizes = option(sizes.as_ref());
        quote!(.icon(#src, #mime_type, #sizes))
    });
    let meta = attributes.meta.as_ref().map(|meta| {
        let text = meta.value();
        quote!(.meta(#text))
    });
    quote! { #title #description .annotations([#(#hints),*]) #(#icons)* #meta }
}

fn option(value: Option<&impl ToTokens>) -> TokenStream {
    if let Some(value) = value {
        quote!(::core::option::Option::Some(#value))
    } else {
        quote!(::core::option::Option::None)
    }
}

fn handler(server: &Server) -> TokenStream {
    let kind = &server.item.self_ty;
    let (generics, _, bounds) = server.item.generics.split_for_impl();
    let attributes = &server.attributes;
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
        impl #generics ::toolpact::__private::rmcp::ServerHandler for #kind #bounds {
            fn get_info(&self) -> ::toolpact::__private::rmcp::model::ServerConfig {
                ::toolpact::__private::server_config(#name, #version)#instructions
            }

            fn get_tool(&self, name: &str) -> ::core::option::Option<::toolpact::__private::rmcp::model::Tool> {
                <Self as ::toolpact::Tools>::toolbox().tool(name).cloned()
            }

            async fn list_tools(
                &self,
                _: ::core::option::Option<::toolpact::__private::rmcp::model::PaginatedRequestParams>,
                _: ::toolpact::__private::Context,
            ) -> ::core::result::Result<
                ::toolpact::__private::rmcp::model::ListToolsResult,
                ::toolpact::__private::rmcp::ErrorData,
            > {
                ::core::result::Result::Ok(::toolpact::__private::fixed_list::<Self>())
            }

            async fn call_tool(
                &self,
                request: ::toolpact::__private::rmcp::model::CallToolRequestParams,
                context: ::toolpact::__private::Context,
            ) -> ::core::result::Result<
                ::toolpact::__private::rmcp::model::CallToolResponse,
                ::toolpact::__private::rmcp::ErrorData,
            > {
                <Self as ::toolpact::Tools>::toolbox().call(self, request, context).await
            }
        }
    }
}
