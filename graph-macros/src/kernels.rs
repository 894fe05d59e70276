//! `#[cuda_kernels("file.ptx")]`: parse -> check (against the PTX) -> expand. The runtime checks a CUDA source by the
//! same rules, after it has compiled it.
//!
//! Each declared kernel becomes an empty enum that implements `graph_runtime::Kernel` and has a typed `call`. With
//! mistakes it still does, so that one mistake gives one error.

mod expand;
mod check;
mod proof;
mod contract;
mod layout;
mod parse;
mod for_each;
mod declaration;
mod param;
mod source;
mod cuda;
mod file;
mod attribute;
#[cfg(test)]
mod tests;

use crate::report::Report;
use declaration::Declaration;
use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;

/// The whole macro.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let Some(mut block) = parse::block(attribute, item.clone(), &mut report) else {
        let messages = report.tokens();
        return quote!(#item #messages);
    };
    let declarations = std::mem::take(&mut block.kernels);
    let entries: Vec<&str> = declarations.iter().flat_map(Declaration::entries).collect();
    let file = block.file.take();
    let source = file.and_then(|file| source::load(file, &entries, &mut report));
    let kernels: Vec<_> = declarations
        .into_iter()
        .map(|declaration| check::kernel(declaration, source.as_ref(), block.prove))
        .collect();
    let expansion = expand::block(&block, source.as_ref(), &kernels);
    let messages = expand::messages(&report, &kernels);
    let owner = kernels
        .first()
        .map(|kernel| kernel.declaration.ident.unraw().to_string());
    block.runtime.apply(quote!(#expansion #messages), owner)
}
