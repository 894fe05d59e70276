//! The constants that hold a block's files, and the mention of them in a kernel's facts.

use crate::kernels::cuda::{Cuda, Header};
use crate::kernels::declaration::Declaration;
use crate::kernels::param::{Kind, Param};
use crate::kernels::source::{Ptx, Source};
use crate::text::text;
use graph_plan::Mode;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// The `static`s of the block's files; an empty one if a mistake was reported.
pub(super) fn code(source: Option<&Source>) -> TokenStream {
    match source {
        None => ptx(0, "", &quote!("")),
        Some(Source::Ptx(files)) => {
            let file = |(index, file): (usize, &Ptx)| {
                let Ptx { absolute, made_of, .. } = file;
                let ptx = ptx(index, &file.path, &quote!(::core::include_str!(#absolute)));
                // The compiler looks at the file again when one of these changes. No constant without a name is in a
                // program.
                quote!(#ptx #(const _: &[::core::primitive::u8] = ::core::include_bytes!(#made_of);)*)
            };
            files.all().enumerate().map(file).collect()
        }
        Some(Source::Cuda(file)) => cuda(file),
    }
}

fn ptx(index: usize, path: &str, text: &TokenStream) -> TokenStream {
    let name = name(index);
    quote!(static #name: ::graph_runtime::Ptx = ::graph_runtime::Ptx { path: #path, text: #text };)
}

/// The name of the `static` of the PTX file with this index.
fn name(index: usize) -> Ident {
    match index {
        0 => format_ident!("__PTX"),
        _ => format_ident!("__PTX_{index}"),
    }
}

/// The constant with the variables of the first PTX file, which its kernels share; `None` if the PTX is not known.
pub(super) fn variables(source: Option<&Source>) -> Option<TokenStream> {
    let file = source?.files().next()?;
    let variables = file.module.variables().map(|variable| {
        let (name, bytes, align) = (&variable.name, variable.size, u64::from(variable.align));
        quote!(::graph_runtime::kernel::ModuleVariable { name: #name, bytes: #bytes, align: #align })
    });
    Some(quote! {
        const __VARIABLES: &[::graph_runtime::kernel::ModuleVariable<'static>] = &[#(#variables),*];
    })
}

fn cuda(file: &Cuda) -> TokenStream {
    let Cuda {
        path,
        absolute,
        headers,
        options,
    } = file;
    let headers = headers.iter().map(|Header { name, absolute }| {
        let absolute = absolute.display().to_string();
        quote!((#name, ::core::include_str!(#absolute)))
    });
    quote! {
        static __CUDA: ::graph_runtime::CudaSource = ::graph_runtime::CudaSource {
            path: #path,
            text: ::core::include_str!(#absolute),
            headers: &[#(#headers),*],
            options: &[#(#options),*],
        };
    }
}

/// The kernel's `Source`: if that is PTX, the file with this index.
pub(super) fn of_kernel(source: Option<&Source>, file: usize, declaration: &Declaration) -> TokenStream {
    if !matches!(source, Some(Source::Cuda(_))) {
        let name = name(file);
        return quote!(::graph_runtime::kernel::Source::Ptx(&#name));
    }
    let (safe, types) = (declaration.safe.is_some(), declaration.params.iter().map(param_type));
    quote! {
        ::graph_runtime::kernel::Source::Cuda(&__CUDA, ::graph_runtime::kernel::Declaration { safe: #safe, types: &[#(#types),*] })
    }
}

/// The type of a parameter, with its size and alignment: only rustc knows them, and the PTX must agree with them.
fn param_type(param: &Param) -> TokenStream {
    let ty = param.ty().map_or_else(String::new, text);
    let layout = match &param.kind {
        Kind::Value(value) => Some(&value.ty),
        // The size of what is accessed at once.
        Kind::Buffer(buffer) if matches!(buffer.mode(), Mode::Atomic | Mode::Mapped) => {
            buffer.wrapper.as_ref().map(|wrapper| &wrapper.inner)
        }
        Kind::Buffer(_) | Kind::Invalid => None,
    };
    let (size, align) = match layout {
        Some(ty) => {
            // A path in generic arguments makes rustc propose generics.
            let none = quote!(const __NONE: [#ty; 0] = [];);
            (
                quote!({ #none __size_of(&__NONE) }),
                quote!({ #none __align_of(&__NONE) }),
            )
        }
        None => (quote!(0), quote!(0)),
    };
    quote!(::graph_runtime::kernel::ParamType { text: #ty, size: #size, align: #align })
}
