//! From checked kernels to tokens. This cannot fail; with mistakes it emits the same types and signatures.

use super::check::Checked;
use super::contract::Contract;
use super::layout::Layout;
use super::param::{Buffer, Kind, Param};
use super::source::Source;
use super::text::ends;
use crate::report::Report;
use graph_plan::Scalar;
use graph_ptx::{KernelSummary, VariableAccess};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Attribute;

/// The items of all kernels.
pub(super) fn block(
    attributes: &[Attribute],
    unparsed: &TokenStream,
    source: Option<&Source>,
    kernels: &[Checked],
) -> TokenStream {
    let types = kernels.iter().map(|kernel| type_of(attributes, source, kernel));
    let implementations = kernels.iter().map(implementation);
    let (path, text) = match source {
        Some(Source { path, absolute, .. }) => (path.as_str(), quote!(::core::include_str!(#absolute))),
        None => ("", quote!("")),
    };
    let unparsed =
        (!unparsed.is_empty()).then(|| quote!(#[allow(improper_ctypes, dead_code)] unsafe extern "C" { #unparsed }));
    quote! {
        #(#types)*
        #unparsed
        #(#attributes)*
        #[allow(dead_code, deprecated, non_local_definitions, unreachable_pub, unused_qualifications)]
        #[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::panic)]
        const _: () = {
            static __PTX: ::graph_runtime::Ptx = ::graph_runtime::Ptx { path: #path, text: #text };
            const fn __size_of<T>(_: &[T; 0]) -> usize {
                ::core::mem::size_of::<T>()
            }
            const fn __align_of<T>(_: &[T; 0]) -> usize {
                ::core::mem::align_of::<T>()
            }
            #(#implementations)*
        };
    }
}

/// The mistakes of the block and of its kernels; if there are any, no warnings. A kernel under `#[cfg]` may not be there.
pub(super) fn messages(report: &Report, kernels: &[Checked]) -> TokenStream {
    let certain = kernels.iter().filter(|kernel| kernel.declaration.conditions.is_empty());
    let mut reports = certain.map(|kernel| &kernel.declaration.report).chain([report]);
    let wrong = reports.any(Report::has_errors);
    let shown = |report: &Report| match wrong && !report.has_errors() {
        true => TokenStream::new(),
        false => report.tokens(),
    };
    let block = shown(report);
    let kernels = kernels.iter().map(|kernel| {
        let messages = shown(&kernel.declaration.report);
        let conditions = &kernel.declaration.conditions;
        match conditions.is_empty() || messages.is_empty() {
            true => messages,
            false => quote!(#(#conditions)* const _: () = { #messages };),
        }
    });
    quote!(#block #(#kernels)*)
}

/// The empty enum that stands for a kernel.
fn type_of(attributes: &[Attribute], source: Option<&Source>, kernel: &Checked) -> TokenStream {
    let declaration = &kernel.declaration;
    let (visibility, ident, entry) = (&declaration.visibility, &declaration.ident, &declaration.entry);
    let (own, conditions) = (&declaration.attributes, &declaration.conditions);
    let place = source.map_or_else(String::new, |source| format!(" of `{}`", source.path));
    let line = format!(" Kernel `{entry}`{place}.");
    let requires = kernel
        .contracts
        .iter()
        .map(|contract| format!(" Requires `{}`.", contract.text));
    let separator = own
        .iter()
        .any(|attribute| attribute.path().is_ident("doc"))
        .then(|| quote!(#[doc = ""]));
    quote! {
        #(#attributes)*
        #(#conditions)*
        #(#own)*
        #separator
        #[doc = #line]
        #(#[doc = ""] #[doc = #requires])*
        #[allow(non_camel_case_types, dead_code)]
        #[derive(Clone, Copy, Debug)]
        #visibility enum #ident {}
    }
}

/// What the enum implements.
fn implementation(kernel: &Checked) -> TokenStream {
    let declaration = &kernel.declaration;
    let (ident, conditions) = (&declaration.ident, &declaration.conditions);
    let facts = facts(kernel);
    let call = call(kernel);
    let layouts = match &kernel.layouts[..] {
        [] => TokenStream::new(),
        layouts => {
            let layouts = layouts.iter().map(layout);
            quote!(#(#conditions)* const _: () = { #(#layouts)* };)
        }
    };
    quote! {
        #(#conditions)*
        unsafe impl ::graph_runtime::Kernel for #ident {
            const FACTS: &'static ::graph_runtime::KernelFacts = &#facts;
        }
        #(#conditions)*
        impl #ident { #call }
        #layouts
    }
}

fn facts(kernel: &Checked) -> TokenStream {
    let declaration = &kernel.declaration;
    let (name, entry) = (declaration.name(), &declaration.entry);
    let params = declaration.params.iter().map(param);
    // A contract of a kernel with mistakes could only add to them.
    let contracts = match declaration.report.has_errors() {
        true => &[],
        false => &kernel.contracts[..],
    };
    let contracts = contracts.iter().map(contract);
    let summary = kernel.summary.as_ref();
    let (shared, target) = summary.map_or((0, ""), |summary| (summary.static_shared, &summary.target));
    let required = block_of(summary.and_then(|summary| summary.required_block));
    let max = block_of(summary.and_then(|summary| summary.max_block));
    let variables = summary
        .into_iter()
        .flat_map(|summary: &KernelSummary| &summary.variables)
        .map(variable);
    quote! {
        ::graph_runtime::KernelFacts {
            name: #name,
            entry: #entry,
            ptx: &__PTX,
            params: &[#(#params),*],
            limits: ::graph_runtime::private::plan::KernelLimits { required_block: #required, max_block: #max },
            static_shared: #shared,
            target: #target,
            contracts: &[#(#contracts),*],
            variables: &[#(#variables),*],
        }
    }
}

fn param(param: &Param) -> TokenStream {
    let name = param.name();
    let kind = match &param.kind {
        Kind::Buffer(buffer) => {
            let Buffer { unit, mutability, .. } = &**buffer;
            let (span, mutable) = (ends(unit).0, mutability.is_some());
            let unit = quote_spanned!(span=> ::core::mem::size_of::<#unit>());
            quote!(Buffer { unit: #unit, mutable: #mutable })
        }
        Kind::Value(value) => {
            let scalar = scalar(value.scalar);
            quote!(Value(::graph_runtime::private::plan::Scalar::#scalar))
        }
        Kind::Invalid => quote!(Value(::graph_runtime::private::plan::Scalar::Other)),
    };
    quote!(::graph_runtime::private::plan::Param { name: #name, kind: ::graph_runtime::private::plan::ParamKind::#kind })
}

fn scalar(scalar: Scalar) -> Ident {
    format_ident!("{}", format!("{scalar:?}"))
}

fn contract(contract: &Contract) -> TokenStream {
    let Contract { text, code } = contract;
    quote!(::graph_runtime::private::plan::Contract { text: #text, code: &[#(#code),*] })
}

fn block_of(block: Option<[u32; 3]>) -> TokenStream {
    match block {
        Some([x, y, z]) => quote!(::core::option::Option::Some([#x, #y, #z])),
        None => quote!(::core::option::Option::None),
    }
}

fn variable(variable: &VariableAccess) -> TokenStream {
    let name = &variable.name;
    let mode = match (variable.read, variable.written) {
        (_, None) => quote!(Read),
        (None, Some(_)) => quote!(Write),
        (Some(_), Some(_)) => quote!(ReadWrite),
    };
    quote!((#name, ::graph_runtime::private::plan::Mode::#mode))
}

/// The typed call.
fn call(kernel: &Checked) -> TokenStream {
    let declaration = &kernel.declaration;
    let params = &declaration.params;
    let count = params.len();
    let visibility = &declaration.visibility;
    let unsafety = declaration.safe.is_none().then(|| quote!(unsafe));
    let name = Ident::new("call", declaration.ident.span());
    let generics = params
        .iter()
        .enumerate()
        .filter_map(|(index, param)| generic(index, param));
    let inputs = params.iter().enumerate().map(|(index, param)| input(index, param));
    let idents = params.iter().map(|param| &param.ident);
    let body = match params.iter().any(|param| matches!(param.kind, Kind::Invalid)) {
        true => quote!({
            let _ = (#(#idents,)*);
            const { ::core::panic!("the declaration of this kernel is not understood") }
        }),
        false => {
            let arguments = params.iter().map(argument);
            quote!({ unsafe { ::graph_runtime::KernelCall::new::<Self>([#(#arguments),*]) } })
        }
    };
    let doc = format!(" A call of the kernel `{}`, for a node of a graph.", declaration.name());
    let safety = declaration.safe.is_none().then(|| {
        quote! {
            #[doc = ""]
            #[doc = " # Safety"]
            #[doc = ""]
            #[doc = " Launched with these arguments, the kernel touches no memory but theirs, and that only as it is declared."]
        }
    });
    quote! {
        #[doc = #doc]
        #safety
        #visibility #unsafety fn #name<#(#generics),*>(#(#inputs),*) -> ::graph_runtime::KernelCall<#count> #body
    }
}

/// The type parameter that a parameter needs, for the shape of what is passed.
fn generic(index: usize, param: &Param) -> Option<TokenStream> {
    let name = format_ident!("__Shape{index}");
    match &param.kind {
        Kind::Buffer(buffer) if buffer.exact.is_none() => {
            let unit = &buffer.unit;
            let bound = quote_spanned!(ends(unit).0=> ::graph_runtime::ArrayOf<#unit>);
            Some(quote!(#name: ?Sized + #bound))
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
            let place = quote_spanned!(span=> ::graph_runtime::Place<#shape, ::graph_runtime::OnDevice>);
            quote_spanned!(span=> #ident: &#mutability #place)
        }
        Kind::Value(value) => {
            let ty = &value.ty;
            quote!(#ident: #ty)
        }
        Kind::Invalid => quote!(#ident: #shape),
    }
}

fn argument(param: &Param) -> TokenStream {
    let ident = &param.ident;
    match &param.kind {
        Kind::Buffer(buffer) => match buffer.mutability {
            Some(_) => quote!(::graph_runtime::private::CallArgument::write(#ident)),
            None => quote!(::graph_runtime::private::CallArgument::read(#ident)),
        },
        Kind::Value(value) => {
            // Where the type is no `Element`, rustc says so at the argument: let that be at the type.
            let span = ends(&value.ty).0;
            let mut ident = ident.clone();
            ident.set_span(ident.span().located_at(span));
            quote_spanned!(span=> ::graph_runtime::private::CallArgument::value(#ident))
        }
        Kind::Invalid => quote!(#ident),
    }
}

/// A compile-time assertion about the size and alignment of a type.
fn layout(layout: &Layout) -> TokenStream {
    let Layout {
        ty,
        size,
        align,
        before,
        after,
    } = layout;
    quote_spanned! {ends(ty).0=>
        const _: () = {
            // A path in generic arguments makes rustc propose generics.
            const __NONE: [#ty; 0] = [];
            const __SIZE: usize = __size_of(&__NONE);
            const __ALIGN: usize = __align_of(&__NONE);
            const __TEXT: ::graph_runtime::private::plan::Text = ::graph_runtime::private::plan::Text::new()
                .str(#before)
                .int(__SIZE as i128)
                .str(" bytes aligned to ")
                .int(__ALIGN as i128)
                .str(#after);
            if __SIZE != #size || __ALIGN != #align {
                ::core::panic!("{}", __TEXT.as_str());
            }
        };
    }
}
