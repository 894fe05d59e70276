//! The procedural macros `cuda_graph!`, `#[cuda_kernels]` and `#[derive(Places)]`; use them through `graph_runtime`,
//! which re-exports them.
//!
//! Each macro is a pipeline over `proc_macro2` tokens that plain unit tests can run: `graph` parses, resolves, checks
//! (with `graph-plan`) and expands a graph; `kernels` parses declarations, checks them against their PTX (with
//! `graph-ptx`) and expands them.
#![forbid(unsafe_code)]

#[cfg(test)]
mod mutations;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod calls;
mod graph;
mod kernels;
mod places;
mod runtime;
mod report;
mod text;
mod span;

// The documentation of the macros is where users find them: on the re-exports of `graph_runtime`.
#[expect(missing_docs, reason = "documented on the re-export of graph_runtime")]
#[proc_macro]
pub fn cuda_graph(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    graph::expand(input.into()).into()
}

#[expect(missing_docs, reason = "documented on the re-export of graph_runtime")]
#[proc_macro_attribute]
pub fn cuda_kernels(attribute: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    kernels::expand(attribute.into(), item.into()).into()
}

#[expect(missing_docs, reason = "documented on the re-export of graph_runtime")]
#[proc_macro_derive(Places, attributes(places))]
pub fn places(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    places::expand(input.into()).into()
}
