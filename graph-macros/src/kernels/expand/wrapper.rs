//! The assertions about `Atomic<T>`, `Mapped<T>`, `MaybeUninit<T>` and `Texel<T, S>`: that they are the types of these
//! names, that the kernel updates elements of the size of `T`, and that CUDA has such a texture. Only rustc knows
//! these.

use crate::kernels::check::Checked;
use crate::kernels::param::{Buffer, Kind, Param, Wrapper, Wrapping, scalar};
use crate::kernels::source::Source;
use crate::span::ends;
use crate::text::text;
use graph_plan::Scalar;
use graph_ptx::KernelSummary;
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};

/// The assertions about all parameters of a kernel, whose type is `this`.
pub(super) fn assertions(source: Option<&Source>, kernel: &Checked, this: &TokenStream) -> TokenStream {
    let params = kernel.declaration.params.iter().enumerate();
    let assertion = |(index, param): (usize, &Param)| {
        if let Some(ty) = &param.refused {
            let name = format_ident!("__Refused{index}");
            return Some(quote!(#[allow(non_camel_case_types)] type #name = #ty;));
        }
        let Kind::Buffer(buffer) = &param.kind else { return None };
        let wrapper = buffer.wrapper.as_ref()?;
        Some(match wrapper.kind {
            Wrapping::Atomic => atomic(source, kernel, index, buffer, wrapper),
            Wrapping::Mapped => mapped(wrapper),
            Wrapping::Uninit => uninit(wrapper),
            Wrapping::Texel => texel(kernel, this, index, buffer, wrapper),
        })
    };
    params.filter_map(assertion).collect()
}

fn atomic(source: Option<&Source>, kernel: &Checked, index: usize, buffer: &Buffer, wrapper: &Wrapper) -> TokenStream {
    let declaration = &kernel.declaration;
    let Wrapper { ty, inner, .. } = wrapper;
    // A plain `fn` is trusted, and scalars have been compared.
    let unknown = declaration.safe.is_some() && matches!(scalar(inner), Ok(Scalar::Other));
    let (name, param, written) = (declaration.name(), declaration.params[index].name(), text(&buffer.ty));
    let assertion = |summary: Option<&KernelSummary>, path: &str| {
        let access = summary.and_then(|summary| summary.params.get(index));
        let sizes = access.map_or([None; 4], |param| param.access.atomic_sizes);
        let sizes = [2_usize, 4, 8, 16].into_iter().zip(sizes);
        let updates = sizes.filter_map(|(size, line)| Some((size, line.filter(|_| unknown)?)));
        let updates = updates.map(|(size, line)| quote!((#size, #line)));
        quote_spanned! {ends(ty).0=>
            const _: () = ::graph_runtime::private::check_atomic::<#inner>(
                ::core::marker::PhantomData::<#ty>,
                [#name, #param, #written, #path],
                &[#(#updates),*],
            );
        }
    };
    let files = source.into_iter().flat_map(Source::files);
    let files: Vec<_> = files.zip(&kernel.summaries).collect();
    match files[..] {
        [] => assertion(None, source.map_or("", Source::path)),
        _ => files
            .iter()
            .map(|(ptx, summary)| assertion(summary.as_ref(), &ptx.path))
            .collect(),
    }
}

fn mapped(wrapper: &Wrapper) -> TokenStream {
    let Wrapper { ty, inner, .. } = wrapper;
    quote_spanned! {ends(ty).0=>
        const _: ::core::marker::PhantomData<::graph_runtime::Mapped<#inner>> = ::core::marker::PhantomData::<#ty>;
    }
}

fn uninit(wrapper: &Wrapper) -> TokenStream {
    let Wrapper { ty, inner, .. } = wrapper;
    quote_spanned! {ends(ty).0=>
        const _: ::core::marker::PhantomData<::core::mem::MaybeUninit<#inner>> = ::core::marker::PhantomData::<#ty>;
    }
}

fn texel(kernel: &Checked, this: &TokenStream, index: usize, buffer: &Buffer, wrapper: &Wrapper) -> TokenStream {
    let declaration = &kernel.declaration;
    let (name, param, written) = (declaration.name(), declaration.params[index].name(), text(&buffer.ty));
    let ty = &wrapper.ty;
    quote_spanned! {ends(ty).0=>
        const _: () = ::graph_runtime::private::check_texture(
            ::core::marker::PhantomData::<#ty>,
            [#name, #param, #written],
            <#this as ::graph_runtime::Kernel>::FACTS.textures,
            #index,
        );
    }
}

/// The length of the rows of texels, as an `Option`.
fn row(buffer: &Buffer, wrapper: &Wrapper) -> TokenStream {
    match wrapper.row(&buffer.unit) {
        Some(len) => quote!(::core::option::Option::Some(#len)),
        None => quote!(::core::option::Option::None),
    }
}

/// The textures among the parameters of a kernel, for its facts.
pub(super) fn textures(params: &[Param]) -> Vec<TokenStream> {
    let texture = |(index, param): (usize, &Param)| {
        let Kind::Buffer(buffer) = &param.kind else { return None };
        let wrapper = buffer.texel()?;
        let (row, inner) = (row(buffer, wrapper), &wrapper.inner);
        let sampler = wrapper
            .sampler
            .as_ref()
            .map_or_else(|| quote!(::graph_runtime::PointSampler), ToTokens::to_token_stream);
        Some(quote_spanned! {ends(&wrapper.ty).0=>
            ::graph_runtime::kernel::Texture::of::<#inner, #sampler>(#index, #row)
        })
    };
    params.iter().enumerate().filter_map(texture).collect()
}
