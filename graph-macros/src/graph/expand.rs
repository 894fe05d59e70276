//! A checked graph to tokens. Expansion cannot fail; a graph with mistakes becomes a stub of the same interface.
//!
//! The expansion is thin calls into `graph_runtime`: a struct that holds the executable graph and its places, a `build` that
//! calls `GraphBuilder` once a node, accessors, and compile-time assertions for what only rustc can evaluate.

mod argument;
mod build;
mod interface;
mod node;
mod part;
mod plan;
mod shape;

use super::resolve::Graph;
use graph_plan::Outcome;
use proc_macro2::TokenStream;
use quote::quote;

/// A right graph.
pub(crate) fn graph(graph: &Graph<'_>, outcome: &Outcome) -> TokenStream {
    let bodies = interface::Bodies::Real;
    let interface = interface::interface(graph, bodies);
    let build = build::build(graph);
    let groups = build::group_functions(graph);
    let updates = build::updates(graph);
    let plan = plan::plan(graph, outcome);
    let assertions = node::assertions(graph, outcome);
    let aliases = node::aliases(graph);
    let implementation = interface::implementation(graph, quote!(#plan #build #groups #updates));
    quote! {
        #interface
        const _: () = {
            #aliases
            #implementation
            #assertions
        };
    }
}

/// A graph with mistakes: the same type and signatures, so that uses of it elsewhere give no further errors.
pub(crate) fn stub(graph: &Graph<'_>) -> TokenStream {
    let interface = interface::interface(graph, interface::Bodies::Stub);
    let (build, plan) = (build::stub(graph), plan::stub(graph));
    let implementation = interface::implementation(graph, quote!(#plan #build));
    let aliases = node::aliases(graph); // so that imports of the kernels are still used
    quote! {
        #interface
        #implementation
        const _: () = {
            #aliases
        };
    }
}
