//! The typed call of a kernel, by which rustc checks `kernel k = name<<<..>>>(..)`.

use super::expected::{shape, taken};
use crate::kernels::check::Checked;
use crate::kernels::param::{Buffer, Kind, Param, Value};
use crate::span::ends;
use graph_plan::Scalar;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

/// The typed call that programs make.
pub(super) fn call(kernel: &Checked) -> TokenStream {
    let declaration = &kernel.declaration;
    let params = &declaration.params;
    let (mut inputs, mut generics, mut shapes) = (Vec::new(), Vec::new(), Vec::new());
    for (index, param) in params.iter().enumerate() {
        let Some(buffer) = optional(param) else {
            inputs.push(input(index, param));
            generics.extend(generic(index, param));
            continue;
        };
        let (ident, ty) = (&param.ident, format_ident!("__Lent{index}"));
        let (reference, expected) = (taken(declaration, param, &buffer.ty), shape(declaration, param, buffer));
        shapes.push(quote!(<#ty as #reference>::Shape: #expected));
        inputs.push(quote!(#ident: #ty));
        generics.push(quote!(#ty: #reference));
    }
    let name = Ident::new("call", declaration.ident.span());
    let signature = quote!(#name<#(#generics),*>(#(#inputs),*));
    let doc = format!(" A call of the kernel `{}`, for a node of a graph.", declaration.name());
    let safety = declaration.safe.is_none().then(|| {
        quote! {
            #[doc = ""]
            #[doc = " # Safety"]
            #[doc = ""]
            #[doc = " Launched with these arguments, the kernel touches no memory but theirs,"]
            #[doc = " and that only as it is declared: in every launch of the graph that safe code"]
            #[doc = " can bring about, for any contents of the memory, whichever nodes are disabled,"]
            #[doc = " and for any memory that is rebound, or bound where the graph is a child."]
        }
    });
    function(kernel, quote!(#[doc = #doc] #safety), &signature, shapes, |param| {
        optional(param).map_or_else(|| argument(param), |buffer| lent(param, buffer))
    })
}

/// The same call for expansions of `cuda_graph!`. The bounds on its arguments are traits whose messages name the
/// parameters; with [`call`], rustc's messages would name types that the author has not written.
pub(super) fn launch(kernel: &Checked) -> TokenStream {
    let declaration = &kernel.declaration;
    let (mut inputs, mut generics, mut shapes) = (Vec::new(), Vec::new(), Vec::new());
    for (index, param) in declaration.params.iter().enumerate() {
        let ident = &param.ident;
        let (ty, expected) = match &param.kind {
            Kind::Buffer(buffer) => {
                let (ty, reference) = (format_ident!("__Lent{index}"), taken(declaration, param, &buffer.ty));
                let expected = shape(declaration, param, buffer);
                shapes.push(quote!(<#ty as #reference>::Shape: #expected));
                (ty, reference)
            }
            Kind::Value(value) if value.scalar.is_integer() => {
                (format_ident!("__Value{index}"), taken(declaration, param, &value.ty))
            }
            Kind::Value(_) | Kind::Invalid => {
                inputs.push(input(index, param));
                generics.extend(generic(index, param));
                continue;
            }
        };
        inputs.push(quote!(#ident: #ty));
        generics.push(quote!(#ty: #expected));
    }
    let name = Ident::new("__launch", declaration.ident.span());
    let signature = quote!(#name<#(#generics),*>(#(#inputs),*));
    function(
        kernel,
        quote!(#[doc(hidden)]),
        &signature,
        shapes,
        |param| match &param.kind {
            Kind::Buffer(buffer) => lent(param, buffer),
            Kind::Value(_) | Kind::Invalid => argument(param),
        },
    )
}

/// The memory of a parameter that may be a null pointer.
fn optional(param: &Param) -> Option<&Buffer> {
    match &param.kind {
        Kind::Buffer(buffer) if buffer.is_optional => Some(buffer),
        _ => None,
    }
}

/// The argument of memory that is passed as one of several types.
fn lent(param: &Param, buffer: &Buffer) -> TokenStream {
    let ((lent, passed), ident) = (buffer.lending(), &param.ident);
    let argument = quote!(::graph_runtime::private::#lent::#passed(#ident));
    match buffer.is_optional {
        true => quote!(#argument.or_null()),
        false => argument,
    }
}

/// For each by-value parameter, a function that returns its argument. `cuda_graph!` calls it with expressions that take
/// the type that is expected of them: the function expects the parameter's type.
pub(super) fn values(kernel: &Checked) -> TokenStream {
    let params = kernel.declaration.params.iter().enumerate();
    let values = params.filter_map(|(index, param)| match &param.kind {
        Kind::Value(value) => {
            let (name, ty) = (format_ident!("__value{index}"), value_type(value));
            Some(quote! {
                #[doc(hidden)]
                pub const fn #name(value: #ty) -> #ty { value }
            })
        }
        Kind::Buffer(_) | Kind::Invalid => None,
    });
    values.collect()
}

/// A function that makes a `KernelCall` of its parameters.
fn function(
    kernel: &Checked,
    attributes: TokenStream,
    signature: &TokenStream,
    mut conditions: Vec<TokenStream>,
    argument: impl Fn(&Param) -> TokenStream,
) -> TokenStream {
    let declaration = &kernel.declaration;
    let params = &declaration.params;
    let count = params.len();
    // The types of the arguments are those of the facts of the instance: both come from the declaration with one type
    // in the place of the parameter.
    conditions.extend(declaration.generic.as_ref().map(|generic| {
        let param = &generic.param;
        quote!(#param: ::graph_runtime::Element, Self: ::graph_runtime::Kernel)
    }));
    let conditions = (!conditions.is_empty()).then(|| quote!(where #(#conditions),*));
    let unsafety = declaration.safe.is_none().then(|| quote!(unsafe));
    let idents = params.iter().map(|param| &param.ident);
    let body = match params.iter().any(|param| matches!(param.kind, Kind::Invalid)) {
        true => quote!({
            let _ = (#(#idents,)*);
            const { ::core::panic!("the declaration of this kernel is not understood") }
        }),
        false => {
            let arguments = params.iter().map(argument);
            // The emitted call is sound: arguments and facts come from one declaration, which was compared with its
            // PTX. The author of the `unsafe extern` block, or the caller of an unsafe kernel, vouches for the rest.
            quote!({ unsafe { ::graph_runtime::KernelCall::new::<Self>([#(#arguments),*]) } })
        }
    };
    quote! {
        #attributes
        pub #unsafety fn #signature -> ::graph_runtime::KernelCall<#count> #conditions #body
    }
}

/// The type parameter that a parameter needs, for the shape of its argument.
fn generic(index: usize, param: &Param) -> Option<TokenStream> {
    let name = format_ident!("__Shape{index}");
    match &param.kind {
        Kind::Buffer(buffer) if buffer.exact.is_none() => {
            let unit = &buffer.unit;
            let bound = quote_spanned!(ends(unit).0=> ::graph_runtime::ArrayOf<#unit>);
            Some(quote!(#name: ?::core::marker::Sized + #bound))
        }
        Kind::Buffer(_) | Kind::Value(_) => None,
        Kind::Invalid => Some(quote!(#name)),
    }
}

fn input(index: usize, param: &Param) -> TokenStream {
    let (ident, shape) = (&param.ident, format_ident!("__Shape{index}"));
    match &param.kind {
        Kind::Buffer(buffer) => {
            let (span, mutability) = (ends(&buffer.ty).0, &buffer.mutability);
            let shape = buffer.exact.as_ref().map_or_else(|| quote!(#shape), |ty| quote!(#ty));
            let memory = buffer.takes().place();
            let place = quote_spanned!(span=> ::graph_runtime::Place<#shape, #memory>);
            quote_spanned!(span=> #ident: &#mutability #place)
        }
        Kind::Value(value) if value.scalar.is_integer() => {
            quote_spanned!(ends(&value.ty).0=> #ident: impl ::graph_runtime::Integer)
        }
        Kind::Value(value) => {
            let ty = value_type(value);
            quote!(#ident: #ty)
        }
        Kind::Invalid => quote!(#ident: #shape),
    }
}

/// The type of a by-value parameter. One that the macro read as a primitive type must be that type, whatever else has
/// its name in the user's scope: sizes and contracts were checked for it.
fn value_type(value: &Value) -> TokenStream {
    match value.scalar {
        Scalar::Other => value.ty.to_token_stream(),
        scalar => {
            let span = ends(&value.ty).0;
            let name = Ident::new(&format!("{scalar:?}").to_lowercase(), span);
            quote_spanned!(span=> ::core::primitive::#name)
        }
    }
}

fn argument(param: &Param) -> TokenStream {
    let ident = &param.ident;
    match &param.kind {
        Kind::Buffer(buffer) => {
            let (_, passed) = buffer.lending();
            quote!(::graph_runtime::CallArgument::#passed(#ident))
        }
        Kind::Value(value) if value.scalar.is_integer() => {
            let ty = value_type(value);
            quote!(::graph_runtime::CallArgument::integer::<#ty>(#ident))
        }
        Kind::Value(value) => {
            // If the type is no `Element`, rustc says so at the argument, which therefore has the span of the type.
            let span = ends(&value.ty).0;
            let mut ident = ident.clone();
            ident.set_span(ident.span().located_at(span));
            quote_spanned!(span=> ::graph_runtime::CallArgument::value(#ident))
        }
        Kind::Invalid => quote!(#ident),
    }
}
