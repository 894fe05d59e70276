//! Traits of the types that a kernel's parameters take. Their messages name the parameter, which rustc's own do not.

use crate::kernels::declaration::Declaration;
use crate::kernels::param::{Buffer, Kind, Param, Takes, Value};
use crate::span::ends;
use crate::text::text;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Type;
use syn::ext::IdentExt;

/// The module of a kernel's traits.
fn module(declaration: &Declaration) -> Ident {
    format_ident!("__{}", declaration.ident.unraw())
}

/// The name of a parameter's trait of references. No other trait has this name: rustc's messages mention other traits
/// of the same name.
fn name(declaration: &Declaration, param: &Param) -> Ident {
    format_ident!("{}_{}", declaration.ident.unraw(), param.ident.unraw())
}

/// The name of a parameter's trait of shapes.
fn name_of_shape(declaration: &Declaration, param: &Param) -> Ident {
    format_ident!("{}_memory", name(declaration, param))
}

/// The trait of the references, or of the integers, that a parameter of this type takes.
pub(super) fn taken(declaration: &Declaration, param: &Param, ty: &Type) -> TokenStream {
    let span = ends(ty).0;
    let module = located(module(declaration), span);
    let name = located(name(declaration, param), span);
    quote_spanned!(span=> #module::#name)
}

/// The trait of the shapes that a parameter takes.
pub(super) fn shape(declaration: &Declaration, param: &Param, buffer: &Buffer) -> TokenStream {
    let span = ends(&buffer.unit).0;
    let name = located(name_of_shape(declaration, param), span);
    let module = located(module(declaration), span);
    let generics = declaration.generics();
    quote_spanned!(span=> #module::__memory::#name #generics)
}

/// The name with the position of other tokens.
fn located(mut name: Ident, span: Span) -> Ident {
    name.set_span(name.span().located_at(span));
    name
}

/// The parameters that are memory.
fn buffers(declaration: &Declaration) -> impl Iterator<Item = (&Param, &Buffer)> {
    declaration.params.iter().filter_map(|param| match &param.kind {
        Kind::Buffer(buffer) => Some((param, &**buffer)),
        Kind::Value(_) | Kind::Invalid => None,
    })
}

/// The parameters that are integers.
fn integers(declaration: &Declaration) -> impl Iterator<Item = (&Param, &Value)> {
    declaration.params.iter().filter_map(|param| match &param.kind {
        Kind::Value(value) if value.scalar.is_integer() => Some((param, &**value)),
        Kind::Buffer(_) | Kind::Value(_) | Kind::Invalid => None,
    })
}

/// The module of the traits. Each parameter that is memory has a trait of references and, in `__memory`, a trait of
/// shapes. Each integer has a trait of the types that it takes.
///
/// The traits of memory are unsafe, since a call trusts that nothing else implements them.
pub(super) fn expected(declaration: &Declaration) -> Option<TokenStream> {
    if buffers(declaration).next().is_none() && integers(declaration).next().is_none() {
        return None;
    }
    let (module, visibility) = (module(declaration), &declaration.visibility);
    let values = integers(declaration).map(|(param, value)| {
        let ident = name(declaration, param);
        let message = parameter(declaration, param, &escaped(&value.ty)) + ", but this is `{Self}`";
        quote! {
            #[diagnostic::on_unimplemented(
                message = #message,
                label = "expected an integer, of any type; nothing else converts"
            )]
            pub trait #ident: ::graph_runtime::Integer {}

            #[diagnostic::do_not_recommend]
            impl<__Value: ::graph_runtime::Integer> #ident for __Value {}
        }
    });
    let references = buffers(declaration).map(|(param, buffer)| {
        let ident = name(declaration, param);
        let message = parameter(declaration, param, &escaped(&buffer.ty));
        let (lent, _) = buffer.lending();
        let label = match (buffer.takes(), buffer.mutability) {
            (Takes::Device, None) if buffer.is_optional => "expected memory, as `&x`, or `None`",
            (Takes::Device, Some(_)) if buffer.is_optional => "expected memory, as `&mut x`, or `None`",
            (Takes::Mapped, _) => "expected `mapped` memory, as `&x`",
            (Takes::Array, None) => "expected an `array`, as `&x`",
            (Takes::Array, Some(_)) => "expected an `array`, as `&mut x`",
            (Takes::Device, Some(_)) => "expected memory, as `&mut x`",
            (Takes::Device | Takes::Texels, _) => "expected memory, as `&x`",
        };
        quote! {
            #[diagnostic::on_unimplemented(message = #message, label = #label)]
            pub unsafe trait #ident: ::graph_runtime::private::#lent {
                type Shape: ?::core::marker::Sized;
            }
        }
    });
    let generics = declaration.generics();
    let shapes = buffers(declaration).map(|(param, buffer)| {
        let message = parameter(declaration, param, &filled(declaration, &buffer.ty)) + ", but this memory is `{Self}`";
        let ident = name_of_shape(declaration, param);
        let label = match &buffer.exact {
            Some(exact) => format!("expected `{}`", filled(declaration, exact)),
            None => format!(
                "expected elements of type `{}`: nothing converts them",
                filled(declaration, &buffer.unit)
            ),
        };
        quote! {
            #[diagnostic::on_unimplemented(message = #message, label = #label)]
            pub unsafe trait #ident #generics {}
        }
    });
    Some(quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #visibility mod #module {
            #(#references)*
            #(#values)*
            pub mod __memory { #(#shapes)* }
        }
    })
}

/// The beginning of the messages about a parameter.
fn parameter(declaration: &Declaration, param: &Param, ty: &str) -> String {
    let (name, kernel) = (param.name(), declaration.name());
    format!("parameter `{name}` of kernel `{kernel}` is `{ty}`")
}

/// A type's text, for messages in which braces are placeholders.
fn escaped(ty: &Type) -> String {
    text(ty).replace('{', "{{").replace('}', "}}")
}

/// The same, with rustc's placeholder for the type parameter of the declaration.
fn filled(declaration: &Declaration, ty: &Type) -> String {
    let Some(generic) = &declaration.generic else {
        return escaped(ty);
    };
    /// A name that no author writes.
    const PARAM: &str = "__CUDA_KERNELS_PARAM";
    let marked = renamed(ty.to_token_stream(), &generic.param, PARAM);
    let text = text(&marked).replace('{', "{{").replace('}', "}}");
    text.replace(PARAM, &format!("{{{}}}", generic.param))
}

/// The tokens with another name in the place of one.
fn renamed(tokens: TokenStream, from: &Ident, to: &str) -> TokenStream {
    let token = |token| match token {
        TokenTree::Ident(name) if name == *from => TokenTree::Ident(Ident::new(to, name.span())),
        TokenTree::Group(group) => TokenTree::Group(Group::new(group.delimiter(), renamed(group.stream(), from, to))),
        other => other,
    };
    tokens.into_iter().map(token).collect()
}

/// The implementations of the traits.
pub(super) fn implementations(declaration: &Declaration) -> TokenStream {
    let module = module(declaration);
    let generics = declaration.generics();
    let param = declaration.generic.as_ref().map(|generic| &generic.param);
    let leading = param.map(|param| quote!(#param,));
    let implementation = |(param, buffer): (&Param, &Buffer)| {
        let (ident, ident_of_shape) = (name(declaration, param), name_of_shape(declaration, param));
        let (any, memory) = match buffer.takes() {
            Takes::Texels => (
                quote!(, __Memory: ::graph_runtime::private::TexelMemory),
                quote!(__Memory),
            ),
            takes @ (Takes::Device | Takes::Mapped | Takes::Array) => (TokenStream::new(), takes.place()),
        };
        let reference = |mutability: TokenStream| {
            quote! {
                #[diagnostic::do_not_recommend]
                unsafe impl<__Shape: ?::core::marker::Sized #any> #module::#ident
                    for &#mutability ::graph_runtime::Place<__Shape, #memory>
                {
                    type Shape = __Shape;
                }
            }
        };
        let shared = buffer.mutability.is_none().then(|| reference(TokenStream::new()));
        let unit = &buffer.unit;
        // The only implementation for an `Option`: so rustc knows the type of `None`.
        let none = buffer.is_optional.then(|| {
            let shape = buffer
                .exact
                .as_ref()
                .map_or_else(|| quote!([#unit]), ToTokens::to_token_stream);
            quote! {
                #[diagnostic::do_not_recommend]
                unsafe impl #module::#ident for ::core::option::Option<::graph_runtime::NoMemory> {
                    type Shape = #shape;
                }
            }
        });
        let mutable = (buffer.takes() != Takes::Mapped).then(|| reference(quote!(mut)));
        let shape = match &buffer.exact {
            Some(exact) => quote! {
                #[diagnostic::do_not_recommend]
                unsafe impl #generics #module::__memory::#ident_of_shape #generics for #exact {}
            },
            None => quote! {
                #[diagnostic::do_not_recommend]
                unsafe impl<#leading __Shape: ?::core::marker::Sized + ::graph_runtime::ArrayOf<#unit>>
                    #module::__memory::#ident_of_shape #generics for __Shape {}
            },
        };
        quote!(#shared #mutable #none #shape)
    };
    buffers(declaration).map(implementation).collect()
}
