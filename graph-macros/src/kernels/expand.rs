//! From checked kernels to tokens. This cannot fail; for kernels with mistakes it emits the same types and signatures.

mod call;
mod expected;
mod facts;
mod source;
mod wrapper;

use self::call::{call, launch, values};
use self::expected::{expected, implementations};
use self::facts::facts;
use super::check::Checked;
use super::declaration::{Declaration, Generic};
use super::layout::Layout;
use super::param::is_primitive;
use super::parse::Block;
use super::proof::{Proof, sizes};
use super::source::Source;
use crate::report::Report;
use crate::span::ends;
use crate::text::text;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Attribute, Type};

/// The items of all kernels.
pub(super) fn block(block: &Block, source: Option<&Source>, kernels: &[Checked]) -> TokenStream {
    let Block {
        attributes,
        shell,
        unparsed,
        ..
    } = block;
    let types = kernels.iter().map(|kernel| {
        let ty = type_of(attributes, source, kernel);
        let call = implementation_of_calls(attributes, kernel);
        let expected = expected_of(attributes, kernel);
        quote!(#ty #call #expected)
    });
    let implementations = kernels.iter().map(|kernel| implementation(source, kernel));
    let (code, variables, levels) = (source::code(source), source::variables(source), levels());
    let unparsed =
        (!unparsed.is_empty()).then(|| quote!(#[allow(improper_ctypes, dead_code)] unsafe extern "C" { #unparsed }));
    quote! {
        #(#types)*
        #shell
        #unparsed
        #(#attributes)*
        #levels
        const _: () = {
            #code
            #variables
            const fn __size_of<T>(_: &[T; 0]) -> ::core::primitive::usize {
                ::core::mem::size_of::<T>()
            }
            const fn __align_of<T>(_: &[T; 0]) -> ::core::primitive::usize {
                ::core::mem::align_of::<T>()
            }
            #(#implementations)*
        };
    }
}

/// The mistakes of the block and of its kernels, or else the warnings. The mistakes of a kernel under `#[cfg]` are
/// under it too.
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

/// The empty enum that is the kernel's type.
fn type_of(attributes: &[Attribute], source: Option<&Source>, kernel: &Checked) -> TokenStream {
    let declaration = &kernel.declaration;
    let (visibility, ident, entry) = (&declaration.visibility, &declaration.ident, &declaration.entry);
    let (own, conditions, body) = (&declaration.attributes, &declaration.conditions, body(declaration));
    let place = source.map_or_else(String::new, |source| format!(" of `{}`", source.path()));
    let line = match &kernel.instances[..] {
        [] => format!(" Kernel `{entry}`{place}."),
        instances => {
            let entries = instances
                .iter()
                .map(|(ty, instance)| format!("`{}` for `{}`", instance.declaration.entry, text(ty)));
            format!(" Kernels{place}: {}.", entries.collect::<Vec<_>>().join(", "))
        }
    };
    // Instances have the same contracts.
    let contracts = kernel
        .instances
        .first()
        .map_or(kernel, |(_, first)| first)
        .contracts
        .iter();
    let requires = contracts.map(|contract| format!(" Requires `{}`.", contract.text));
    let proof = proof_of(kernel).map(|proof| match proof {
        Proof::Proved => {
            let params = declaration.params.iter().filter(|param| param.is_unwritten());
            let read: Vec<String> = params.map(|param| format!("`{}`", param.name())).collect();
            let written = match &read[..] {
                [] => String::new(),
                _ => format!(", and reads nothing of {} that it has not written", read.join(" and ")),
            };
            format!(" Proved: it stays within the memory of its arguments{written}.")
        }
        Proof::Trusted(reason) => format!(" Trusted, not proved, to stay within its memory: {reason}."),
    });
    let proof = proof.map(|line| quote!(#[doc = ""] #[doc = #line]));
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
        #proof
        #[allow(non_camel_case_types, dead_code)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        #visibility enum #ident #body
    }
}

/// The verdict on a kernel; of a declaration for several types, that of the first instance that is not proved.
fn proof_of(kernel: &Checked) -> Option<&Proof> {
    let mut proofs = kernel.instances.iter().map(|(_, instance)| instance.proof.as_ref());
    let open = proofs.find(|proof| *proof != Some(&Proof::Proved));
    match (&kernel.instances[..], open) {
        ([], _) => kernel.proof.as_ref(),
        (_, Some(open)) => open,
        ([(_, first), ..], None) => first.proof.as_ref(),
    }
}

/// The generics and the variants of the enum, of which no values exist.
fn body(declaration: &Declaration) -> TokenStream {
    match &declaration.generic {
        None => quote!({}),
        Some(Generic { param, .. }) => quote! {
            <#param> {
                #[doc(hidden)]
                __Never(::core::convert::Infallible, ::core::marker::PhantomData<fn() -> #param>),
            }
        },
    }
}

/// The levels of lints in code that users did not write.
fn levels() -> TokenStream {
    quote! {
        #[allow(dead_code, deprecated, non_local_definitions, unreachable_pub, unused_qualifications)]
        #[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::panic)]
    }
}

/// The typed calls, beside their enum, so that messages of rustc name them `kernel::call`.
fn implementation_of_calls(attributes: &[Attribute], kernel: &Checked) -> TokenStream {
    let Declaration { ident, conditions, .. } = &kernel.declaration;
    let (call, launch, values, levels) = (call(kernel), launch(kernel), values(kernel), levels());
    let generics = kernel.declaration.generics();
    quote! {
        #(#attributes)*
        #(#conditions)*
        #levels
        impl #generics #ident #generics { #call #launch #values }
    }
}

/// The traits of the kernel's parameters, beside its enum.
fn expected_of(attributes: &[Attribute], kernel: &Checked) -> Option<TokenStream> {
    let conditions = &kernel.declaration.conditions;
    let (expected, levels) = (expected(&kernel.declaration)?, levels());
    Some(quote!(#(#attributes)* #(#conditions)* #levels #expected))
}

/// The trait implementations of the enum.
fn implementation(source: Option<&Source>, kernel: &Checked) -> TokenStream {
    let declaration = &kernel.declaration;
    let (ident, conditions) = (&declaration.ident, &declaration.conditions);
    let generics = declaration.generics();
    let kernels = match declaration.generic {
        None => implementation_of_kernel(source, kernel, ident, None),
        Some(_) => {
            let instances = kernel.instances.iter();
            instances
                .map(|(ty, instance)| instance_of(source, instance, ident, ty, conditions))
                .collect()
        }
    };
    let expected = implementations(declaration);
    let expected = (!expected.is_empty()).then(|| quote!(#(#conditions)* const _: () = { #expected };));
    let safe = declaration.safe.map(|_| {
        quote! {
            #(#conditions)*
            #[diagnostic::do_not_recommend]
            impl #generics ::graph_runtime::private::SafeKernel for #ident #generics {}
        }
    });
    quote!(#kernels #safe #expected)
}

/// The facts of the kernel for one type, and what rustc must check of it.
fn instance_of(
    source: Option<&Source>,
    instance: &Checked,
    ident: &Ident,
    ty: &Type,
    conditions: &[Attribute],
) -> TokenStream {
    // A type that the macro read as a primitive type must be that type, whatever else has its name in the user's scope:
    // sizes and contracts were checked for it.
    let primitive = is_primitive(ty).then(|| {
        quote! {
            #[allow(unused_imports, redundant_imports)]
            use ::core::primitive::#ty;
        }
    });
    let implementation = implementation_of_kernel(source, instance, ident, Some(ty));
    let exists = quote! {
        impl ::graph_runtime::private::Instance for #ident<#ty> {
            type Kernel = Self;
        }
    };
    quote!(#(#conditions)* const _: () = { #primitive #exists #implementation };)
}

/// The facts of one kernel, and what rustc must check of it.
fn implementation_of_kernel(
    source: Option<&Source>,
    kernel: &Checked,
    ident: &Ident,
    instance: Option<&Type>,
) -> TokenStream {
    let (facts, conditions) = (facts(source, kernel), &kernel.declaration.conditions);
    let arguments = instance.map(|ty| quote!(<#ty>));
    let wrapped = wrapper::assertions(source, kernel, &quote!(#ident #arguments));
    let wrapped = (!wrapped.is_empty()).then(|| quote!(#(#conditions)* const _: () = { #wrapped };));
    let variables = matches!(source, Some(Source::Ptx(_))).then(|| {
        quote! {
            const VARIABLES: ::core::option::Option<&'static [::graph_runtime::kernel::ModuleVariable<'static>]> =
                ::core::option::Option::Some(__VARIABLES);
        }
    });
    let safe = kernel.declaration.safe.map(|_| {
        quote!(
            const SAFE: ::core::primitive::bool = true;
        )
    });
    let proof = match &kernel.proof {
        Some(Proof::Proved) => Some(quote!(::graph_runtime::kernel::Proof::Proved)),
        Some(Proof::Trusted(reason)) => Some(quote!(::graph_runtime::kernel::Proof::Trusted(#reason))),
        None => None,
    };
    let proof = proof.map(|proof| quote!(const PROOF: ::graph_runtime::kernel::Proof = #proof;));
    // A proof is about the sizes that the names of types tell, and elements begin at multiples of their alignments.
    let sizes = match &kernel.proof {
        Some(Proof::Proved) => sizes(&kernel.declaration, kernel.prove),
        _ => Vec::new(),
    };
    let sizes = sizes.into_iter().map(|(ty, layout)| {
        let [size, align] = layout.map(Literal::u64_unsuffixed);
        quote_spanned! {ends(ty).0=>
            const _: () = ::core::assert!(
                ::core::mem::size_of::<#ty>() == #size && ::core::mem::align_of::<#ty>() >= #align,
                "this type has another size or alignment than its name says"
            );
        }
    });
    let sizes: TokenStream = sizes.collect();
    let sizes = (!sizes.is_empty()).then(|| quote!(#(#conditions)* const _: () = { #sizes };));
    let layouts = match &kernel.layouts[..] {
        [] => TokenStream::new(),
        layouts => {
            let layouts = layouts.iter().map(layout);
            quote!(#(#conditions)* const _: () = { #(#layouts)* };)
        }
    };
    quote! {
        #(#conditions)*
        unsafe impl ::graph_runtime::Kernel for #ident #arguments {
            const FACTS: &'static ::graph_runtime::kernel::KernelFacts = &#facts;
            #variables
            #safe
            #proof
        }
        #sizes
        #wrapped
        #layouts
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
            const __SIZE: ::core::primitive::usize = __size_of(&__NONE);
            const __ALIGN: ::core::primitive::usize = __align_of(&__NONE);
            const __TEXT: ::graph_runtime::private::plan::Text = ::graph_runtime::private::plan::Text::new()
                .str(#before)
                .int(__SIZE as ::core::primitive::i128)
                .str(" bytes aligned to ")
                .int(__ALIGN as ::core::primitive::i128)
                .str(#after);
            if __SIZE != #size || __ALIGN != #align {
                ::core::panic!("{}", __TEXT.as_str());
            }
        };
    }
}
