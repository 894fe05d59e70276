//! The procedural macros `cuda_graph!` and `#[cuda_kernels]`; use them through `graph_runtime`, which re-exports both.
//!
//! Each macro is a pipeline over `proc_macro2` tokens that plain unit tests can run: `graph` parses, resolves, checks
//! (with `graph-plan`) and expands a graph; `kernels` parses declarations, checks them against their PTX (with `graph-ptx`)
//! and expands them.
#![forbid(unsafe_code)]

mod graph;
mod kernels;
mod report;

/// Declares a CUDA graph. See `docs/language.md` for the grammar and `docs/diagnostics.md` for every message.
#[proc_macro]
pub fn cuda_graph(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    graph::expand(input.into()).into()
}

/// Declares the kernels of a PTX file: goes on an `unsafe extern "C"` block.
#[proc_macro_attribute]
pub fn cuda_kernels(attribute: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    kernels::expand(attribute.into(), item.into()).into()
}
