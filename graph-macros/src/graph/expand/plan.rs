//! `PLAN`: the graph as static data.

use super::scratch;
use super::shape::Shape;
use crate::graph::resolve::Graph;
use graph_plan::Outcome;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use std::fmt::Debug;

/// `PLAN` of a right graph.
pub(super) fn plan(graph: &Graph<'_>, outcome: &Outcome) -> TokenStream {
    let plan = quote!(::graph_runtime::private::plan);
    let resources = graph.resources.iter().map(|resource| {
        let name = resource.name.to_string();
        let bytes = Shape::of(graph, resource).bytes().unwrap_or_else(|| quote!(0));
        let space = variant(resource.space());
        match scratch::offset(graph, resource) {
            Some(offset) => quote!(#plan::PlanResource::scratch(#name, #bytes, #offset)),
            None => quote!(#plan::PlanResource::new(#name, #plan::Space::#space, #bytes)),
        }
    });
    let arena = scratch::arena(graph, outcome);
    let mut after = vec![Vec::new(); graph.nodes.len()];
    let mut programmatic = vec![Vec::new(); graph.nodes.len()];
    for index in outcome.reduced_indices(&graph.draft) {
        let edge = graph.draft.edges[index];
        after[edge.to].push(edge.from);
        if graph.draft.is_programmatic(index) {
            programmatic[edge.to].push(edge.from);
        }
    }
    let mut accesses = vec![Vec::new(); graph.nodes.len()];
    for access in &graph.draft.accesses {
        let (resource, mode) = (access.resource, variant(access.mode));
        accesses[access.node].push(quote!(#plan::PlanAccess { resource: #resource, mode: #plan::Mode::#mode }));
    }
    let nodes = graph.nodes.iter().enumerate().map(|(index, node)| {
        let (name, kind) = (node.name.to_string(), variant(graph.draft.nodes[index].kind));
        let (accesses, after, level) = (&accesses[index], &after[index], outcome.order.level(index));
        let body = graph.draft.nodes[index].body;
        let body = (body != 0).then(|| quote!(.in_body(#body)));
        let repeated = graph.draft.nodes[index]
            .repeated
            .map(|repeated| quote!(.in_loop(#repeated)));
        let early = &programmatic[index];
        let early = (!early.is_empty()).then(|| quote!(.waiting_for(&[#(#early),*])));
        quote!(#plan::PlanNode::new(#name, #plan::NodeKind::#kind, &[#(#accesses),*], &[#(#after),*], #level) #body #repeated #early)
    });
    let (bodies, plan_of) = bodies(graph, &plan);
    let least = scratch::of_children(graph).map(|bytes| quote!(.with_least_arena(#bytes)));
    quote! {
        #arena
        #[doc(hidden)]
        const __RESOURCES: &'static [#plan::PlanResource] = &[#(#resources),*];
        #[doc(hidden)]
        const __NODES: &'static [#plan::PlanNode] = &[#(#nodes),*];
        #bodies
        /// The graph as static data: nodes, what they touch, the edges that are lowered, levels, where scratch memory lies.
        pub const PLAN: #plan::Plan = #plan::Plan::#plan_of #least;
    }
}

/// Bodies and `for`s as static data, and the call that makes the plan; a graph without any needs neither.
fn bodies(graph: &Graph<'_>, plan: &TokenStream) -> (TokenStream, TokenStream) {
    let name = graph.item.name.to_string();
    let bodies = graph.draft.bodies.iter().filter_map(|body| {
        let (node, role) = (body.node?, variant(body.role));
        Some(quote!(#plan::PlanBody::new(#node, #plan::Role::#role)))
    });
    let loops = graph.draft.loops.iter().map(|repeated| {
        let (variable, parent) = (&*repeated.variable, optional(repeated.parent));
        quote!(#plan::PlanLoop::new(#variable, #parent))
    });
    if graph.draft.bodies.len() == 1 && graph.draft.loops.is_empty() {
        return (TokenStream::new(), quote!(new(#name, Self::__RESOURCES, Self::__NODES)));
    }
    let declared = quote! {
        #[doc(hidden)]
        const __BODIES: &'static [#plan::PlanBody] = &[#plan::PlanBody::GRAPH, #(#bodies),*];
        #[doc(hidden)]
        const __LOOPS: &'static [#plan::PlanLoop] = &[#(#loops),*];
    };
    let call = quote!(nested(#name, Self::__RESOURCES, Self::__NODES, Self::__BODIES, Self::__LOOPS));
    (declared, call)
}

/// An `Option` as tokens.
fn optional(index: Option<usize>) -> TokenStream {
    index.map_or_else(
        || quote!(::core::option::Option::None),
        |index| quote!(::core::option::Option::Some(#index)),
    )
}

/// `PLAN` of a graph with mistakes.
pub(super) fn stub(graph: &Graph<'_>) -> TokenStream {
    let name = graph.item.name.to_string();
    quote! {
        /// The graph as static data.
        pub const PLAN: ::graph_runtime::private::plan::Plan = ::graph_runtime::private::plan::Plan::new(#name, &[], &[]);
    }
}

/// The name of an enum's variant without fields, which is how `Debug` shows it.
fn variant(value: impl Debug) -> Ident {
    format_ident!("{value:?}")
}
