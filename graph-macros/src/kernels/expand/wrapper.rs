//! The assertions about `Atomic<T>`, `Mapped<T>`, `MaybeUninit<T>`, `Texel<T, S>` and `Surfel<T>`: that they are the
//! types of these names, that the kernel updates elements of the size of `T`, and that CUDA has such a texture. Only
//! rustc knows these.

use crate::kernels::check::Checked;
use crate::kernels::param::{Buffer, Kind, Param, Wrapper, Wrapping, scalar};
use crate::kernels::source::Source;
use crate::span::ends;
use crate::text::text;
use graph_plan::Scalar;
use graph_ptx::{Access, KernelSummary};
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
            Wrapping::Mapped => is(wrapper, quote!(::graph_runtime::Mapped)),
            Wrapping::MaybeUninit => is(wrapper, quote!(::core::mem::MaybeUninit)),
            Wrapping::Texel => {
                let layered = layered(buffer);
                let texel = texel(kernel, this, index, buffer, wrapper);
                quote!(#layered #texel)
            }
            Wrapping::Surfel => {
                let layered = layered(buffer);
                let surfel = is(wrapper, quote!(::graph_runtime::Surfel));
                quote!(#layered #surfel)
            }
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

/// The assertion that a type is the one of this path.
fn is(wrapper: &Wrapper, path: TokenStream) -> TokenStream {
    let Wrapper { ty, inner, .. } = wrapper;
    quote_spanned! {ends(ty).0=>
        const _: ::core::marker::PhantomData<#path<#inner>> = ::core::marker::PhantomData::<#ty>;
    }
}

/// The assertion that `Layered<..>` is the type of this name.
fn layered(buffer: &Buffer) -> Option<TokenStream> {
    let (ty, inner) = buffer.layered.as_ref()?;
    Some(quote_spanned! {ends(ty).0=>
        const _: ::core::marker::PhantomData<::graph_runtime::Layered<#inner>> = ::core::marker::PhantomData::<#ty>;
    })
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

/// Whether a parameter has layers, and the lengths of the dimensions in its outermost one.
fn dimensions(buffer: &Buffer, wrapper: &Wrapper) -> TokenStream {
    let (layered, lengths) = (buffer.layered.is_some(), wrapper.lengths(&buffer.unit));
    quote!(#layered, &[#(#lengths),*])
}

/// The surfaces among the parameters of a kernel, for its facts.
pub(super) fn surfaces(params: &[Param]) -> Vec<TokenStream> {
    let surface = |(index, param): (usize, &Param)| {
        let Kind::Buffer(buffer) = &param.kind else { return None };
        let wrapper = buffer.wrapper_of(Wrapping::Surfel)?;
        let (dimensions, inner) = (dimensions(buffer, wrapper), &wrapper.inner);
        Some(quote_spanned! {ends(&wrapper.ty).0=>
            ::graph_runtime::kernel::Surface::of::<#inner>(#index, #dimensions)
        })
    };
    params.iter().enumerate().filter_map(surface).collect()
}

/// The textures among the parameters of a kernel, for its facts.
pub(super) fn textures(params: &[Param], summary: Option<&KernelSummary>) -> Vec<TokenStream> {
    let texture = |(index, param): (usize, &Param)| {
        let Kind::Buffer(buffer) = &param.kind else { return None };
        let wrapper = buffer.wrapper_of(Wrapping::Texel)?;
        let (dimensions, inner) = (dimensions(buffer, wrapper), &wrapper.inner);
        let sampler = wrapper
            .sampler
            .as_ref()
            .map_or_else(|| quote!(::graph_runtime::PointSampler), ToTokens::to_token_stream);
        let access = summary
            .and_then(|summary| summary.params.get(index))
            .map(|param| &param.access);
        let array = access.and_then(Access::array).map(|array| quote!(.array(#array)));
        Some(quote_spanned! {ends(&wrapper.ty).0=>
            ::graph_runtime::kernel::Texture::of::<#inner, #sampler>(#index, #dimensions) #array
        })
    };
    params.iter().enumerate().filter_map(texture).collect()
}
