//! `PLAN`: the graph as static data.

use crate::graph::resolve::Graph;
use graph_plan::{Mode, NodeKind, Outcome, Space};
use proc_macro2::TokenStream;
use quote::quote;

/// `PLAN` of a right graph.
pub(super) fn plan(graph: &Graph<'_>, outcome: &Outcome) -> TokenStream {
    let plan = quote!(::graph_runtime::private::plan);
    let name = graph.item.name.to_string();
    let resources = graph.resources.iter().map(|resource| {
        let (name, shape) = (resource.name.to_string(), &resource.shape);
        let space = match resource.space() {
            Space::Host => quote!(Host),
            Space::Device => quote!(Device),
        };
        quote!(#plan::PlanResource::new(#name, #plan::Space::#space, ::core::mem::size_of::<#shape>()))
    });
    let mut after = vec![Vec::new(); graph.nodes.len()];
    outcome
        .reduced(&graph.draft)
        .for_each(|edge| after[edge.to].push(edge.from));
    let mut accesses = vec![Vec::new(); graph.nodes.len()];
    for access in &graph.draft.accesses {
        let (resource, mode) = (access.resource, mode(access.mode));
        accesses[access.node].push(quote!(#plan::PlanAccess { resource: #resource, mode: #plan::Mode::#mode }));
    }
    let nodes = graph.nodes.iter().enumerate().map(|(index, node)| {
        let (name, kind) = (node.name.to_string(), kind(graph.draft.nodes[index].kind));
        let (accesses, after, level) = (&accesses[index], &after[index], outcome.order.level(index));
        quote!(#plan::PlanNode::new(#name, #plan::NodeKind::#kind, &[#(#accesses),*], &[#(#after),*], #level))
    });
    quote! {
        #[doc(hidden)]
        const __RESOURCES: &'static [#plan::PlanResource] = &[#(#resources),*];
        #[doc(hidden)]
        const __NODES: &'static [#plan::PlanNode] = &[#(#nodes),*];
        /// The graph as static data: nodes, what they touch, the edges that are lowered, levels.
        pub const PLAN: #plan::Plan = #plan::Plan::new(#name, Self::__RESOURCES, Self::__NODES);
    }
}

/// `PLAN` of a graph with mistakes.
pub(super) fn stub(graph: &Graph<'_>) -> TokenStream {
    let name = graph.item.name.to_string();
    quote! {
        /// The graph as static data.
        pub const PLAN: ::graph_runtime::private::plan::Plan = ::graph_runtime::private::plan::Plan::new(#name, &[], &[]);
    }
}

fn mode(mode: Mode) -> TokenStream {
    match mode {
        Mode::Read => quote!(Read),
        Mode::Write => quote!(Write),
        Mode::ReadWrite => quote!(ReadWrite),
    }
}

fn kind(kind: NodeKind) -> TokenStream {
    match kind {
        NodeKind::Kernel => quote!(Kernel),
        NodeKind::Memcpy => quote!(Memcpy),
        NodeKind::Memset => quote!(Memset),
        NodeKind::Call => quote!(Call),
        NodeKind::Graph => quote!(Graph),
        NodeKind::Capture => quote!(Capture),
        NodeKind::Raw => quote!(Raw),
        NodeKind::Join => quote!(Join),
        NodeKind::Record => quote!(Record),
        NodeKind::Wait => quote!(Wait),
        NodeKind::If => quote!(If),
        NodeKind::While => quote!(While),
        NodeKind::Switch => quote!(Switch),
    }
}
