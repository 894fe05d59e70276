//! `PLAN`: the graph as static data.

use super::alias::{Kernels, kernels};
use super::scratch;
use super::shape::Shape;
use crate::graph::resolve::Graph;
use graph_plan::{Node, Outcome};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};
use std::collections::BTreeSet;
use std::fmt::Debug;

/// `PLAN` of a graph without mistakes. It is the result of a generic function, since rustc evaluates the constants in
/// such a function only where `PLAN` is used: evaluating the plan of a large graph takes as long as checking it.
pub(super) fn plan(graph: &Graph<'_>, outcome: &Outcome) -> TokenStream {
    let arena = scratch::arena(graph, outcome);
    let plan = called(graph, &resources(graph), &nodes(graph, outcome));
    let least = scratch::of_children(graph).map(|size| quote!(.with_least_arena(#size)));
    quote! {
        #arena
        /// The graph as static data: nodes, accesses, the edges that are lowered, levels, places of scratch memory.
        pub const PLAN: __g::Plan = Self::__plan::<()>();
        const fn __plan<Lazy>() -> __g::Plan { __g::Plan::#plan #least }
    }
}

/// The resources, as a reference to an array.
fn resources(graph: &Graph<'_>) -> TokenStream {
    let resources = graph.resources.iter().map(|resource| {
        let name = resource.name.to_string();
        let (shape, memory) = (Shape::of(graph, resource), variant(resource.memory()));
        match (scratch::offset(graph, resource), shape) {
            (Some(offset), shape) => {
                let bytes = shape.bytes().unwrap_or_else(|| quote!(0));
                quote!(__g::PlanResource::scratch(#name, #bytes, #offset))
            }
            (None, Shape::Fixed(shape)) => quote!(__p::plan_resource::<#shape>(#name, __g::MemoryKind::#memory)),
            (None, Shape::Dynamic { .. } | Shape::Table { .. } | Shape::Inferred) => {
                quote!(__g::PlanResource::new(#name, __g::MemoryKind::#memory, 0))
            }
        }
    });
    quote!(const { &[#(#resources),*] })
}

/// The nodes, as a reference to an array. All accesses and all edges are one flat array each, which rustc checks faster
/// than arrays in arrays, and the modes of the accesses are one literal.
fn nodes(graph: &Graph<'_>, outcome: &Outcome) -> TokenStream {
    let mut after = vec![Vec::new(); graph.nodes.len()];
    let mut programmatic = vec![Vec::new(); graph.nodes.len()];
    let mut inferred = vec![Vec::new(); graph.nodes.len()];
    for index in outcome.reduced_indices(&graph.draft) {
        let edge = graph.draft.edges[index];
        after[edge.to].push(number(edge.from));
        if graph.draft.is_programmatic(index) {
            programmatic[edge.to].push(number(edge.from));
        }
        if graph.draft.is_inferred(index) {
            inferred[edge.to].push(number(edge.from));
        }
    }
    let mut touched = vec![0; graph.nodes.len()];
    let mut ordered: Vec<_> = graph.draft.accesses.iter().collect();
    ordered.sort_by_key(|access| access.node);
    for access in &ordered {
        touched[access.node] += 1;
    }
    let modes: Vec<u8> = ordered.iter().map(|access| access.mode.letter()).collect();
    let modes = Literal::byte_string(&modes);
    let accessed = ordered.iter().map(|access| number(access.resource));
    let accesses = accesses(graph, &touched, quote!([#(#accessed),*], #modes));
    let nodes = graph.nodes.iter().enumerate().map(|(index, node)| {
        let (name, kind) = (node.name.to_string(), variant(graph.draft.nodes[index].kind));
        let [touched, after, level] =
            [touched[index], after[index].len(), outcome.order.level(index)].map(Literal::usize_unsuffixed);
        quote!((#name, #kind, #touched, #after, #level))
    });
    let edges = after.iter().flatten();
    let mut found = quote!(__p::PlanNodes::new([#(#nodes),*], const { &#accesses }, &[#(#edges),*]));
    let pairs = |of: fn(&Node) -> Option<usize>| -> Vec<TokenStream> {
        let pairs = graph.draft.nodes.iter().enumerate();
        let pairs = pairs.filter_map(|(index, node)| Some((number(index), number(of(node)?))));
        pairs.map(|(node, around)| quote!((#node, #around))).collect()
    };
    let bodies = pairs(|node| (node.body != 0).then_some(node.body));
    let loops = pairs(|node| node.in_loop);
    let lists = |lists: &[Vec<Literal>]| -> Vec<TokenStream> {
        let lists = lists.iter().enumerate().filter(|(_, before)| !before.is_empty());
        let lists = lists.map(|(index, before)| {
            let index = number(index);
            quote!((#index, &[#(#before),*]))
        });
        lists.collect()
    };
    let early = lists(&programmatic);
    let implied = lists(&inferred);
    for (function, said) in [
        ("in_bodies", bodies),
        ("in_loops", loops),
        ("waiting_for", early),
        ("inferred_after", implied),
    ] {
        if !said.is_empty() {
            let function = Ident::new(function, Span::call_site());
            found = quote!(#found.#function(&[#(#said),*]));
        }
    }
    // If the path of the runtime is wrong, rustc knows names that were imported from it, but none of a glob.
    let kinds: BTreeSet<Ident> = graph.draft.nodes.iter().map(|node| variant(node.kind)).collect();
    quote!(const {
        use __g::NodeKind::{#(#kinds),*};
        &#found.0
    })
}

/// The accesses with the modes that only constants of the kernels' types tell: atomic updates, and memory that is
/// initialised. `touched` has the number of accesses of each node.
fn accesses(graph: &Graph<'_>, touched: &[usize], written: TokenStream) -> TokenStream {
    let Kernels { types, of_nodes } = kernels(graph, |_| true);
    let mut start = 0;
    let mut launches = Vec::new();
    for (index, (kernel, touched)) in of_nodes.into_iter().zip(touched).enumerate() {
        if let (Some(kernel), 1..) = (kernel, *touched) {
            let (start, kernel) = (number(start), number(kernel));
            let passed = graph.nodes[index].action.arguments().into_iter().enumerate();
            let absent = passed
                .filter(|(_, argument)| argument.is_none())
                .map(|(index, _)| number(index));
            launches.push(quote!((#start, #kernel, &[#(#absent),*])));
        }
        start += touched;
    }
    if launches.is_empty() {
        return quote!(__p::plan_accesses(#written, &[], &[]));
    }
    quote!(__p::plan_accesses(#written, &[#(<#types as __g::Kernel>::FACTS),*], &[#(#launches),*]))
}

/// The call that makes the plan of these resources and nodes, with bodies and loops if there are any.
fn called(graph: &Graph<'_>, resources: &TokenStream, nodes: &TokenStream) -> TokenStream {
    let name = graph.item.name.to_string();
    if graph.draft.bodies.len() == 1 && graph.draft.loops.is_empty() {
        return quote!(new(#name, #resources, #nodes));
    }
    let bodies = graph.draft.bodies.iter().filter_map(|body| {
        let (node, role) = (number(body.node?), variant(body.role));
        Some(quote!(__g::PlanBody::new(#node, __g::Role::#role)))
    });
    let loops = graph.draft.loops.iter().map(|repeated| {
        let (variable, parent) = (&*repeated.variable.name, optional(repeated.parent));
        let constructor = format_ident!("{}", if repeated.parallel { "parallel" } else { "new" });
        quote!(__g::PlanLoop::#constructor(#variable, #parent))
    });
    let shifts = graph.draft.shifts.iter().map(|shift| {
        let ([from, to], steps) = ([shift.from, shift.to].map(number), &shift.steps);
        let steps = steps.iter().map(|&step| Literal::i64_unsuffixed(step));
        let constructor = format_ident!("{}", if shift.programmatic { "programmatic" } else { "new" });
        quote!(__g::PlanShift::#constructor(#from, #to, &[#(#steps),*]))
    });
    let with_shifts = (!graph.draft.shifts.is_empty()).then(|| quote!(.with_shifts(const { &[#(#shifts),*] })));
    quote! {
        nested(
            #name,
            #resources,
            #nodes,
            const { &[__g::PlanBody::GRAPH, #(#bodies),*] },
            const { &[#(#loops),*] },
        ) #with_shifts
    }
}

/// An `Option` as tokens.
fn optional(index: Option<usize>) -> TokenStream {
    match index.map(number) {
        None => quote!(::core::option::Option::None),
        Some(index) => quote!(::core::option::Option::Some(#index)),
    }
}

fn number(index: usize) -> Literal {
    Literal::usize_unsuffixed(index)
}

/// `PLAN` of a graph with mistakes.
pub(super) fn stub(graph: &Graph<'_>) -> TokenStream {
    let name = graph.item.name.to_string();
    quote! {
        /// The graph as static data.
        pub const PLAN: __g::Plan = __g::Plan::new(#name, &[], &[]);
    }
}

/// The name of an enum's variant without fields, as `Debug` shows it.
fn variant(value: impl Debug) -> Ident {
    format_ident!("{value:?}")
}
