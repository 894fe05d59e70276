//! The arena of scratch memory. This module finds which resources may share addresses; rustc, which knows their sizes,
//! computes their offsets.

use super::alias::kernels;
use super::child;
use super::shape::Shape;
use crate::graph::ast::{Child, Node, Resource};
use crate::graph::resolve::Graph;
use graph_plan::{Draft, Memory, Mode, Outcome, Region, Sharing};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// The scratch resources, in order of declaration.
fn scratch<'a>(graph: &'a Graph<'_>) -> impl Iterator<Item = &'a Resource> {
    let resources = graph.resources.iter().copied();
    resources.filter(|resource| resource.memory() == Memory::Scratch)
}

/// The nodes that are child graphs. The scratch memory of each is one piece here.
fn children<'a>(graph: &'a Graph<'_>) -> impl Iterator<Item = (usize, &'a Node, &'a Child)> {
    let nodes = graph.nodes.iter().enumerate();
    nodes.filter_map(|(index, &node)| Some((index, node, node.action.child()?)))
}

/// Whether rustc computes the arena: there is scratch memory, and the sizes of the graph's own are constants. Otherwise
/// `build` computes it. So it does for graphs as expressions, whose type cannot name the types around them.
fn is_packed(graph: &Graph<'_>) -> bool {
    let dynamic = |resource: &Resource| graph.is_dynamic(resource);
    is_any(graph) && !scratch(graph).any(dynamic) && !graph.is_expression()
}

/// Whether the graph has scratch memory, or children that may have some.
fn is_any(graph: &Graph<'_>) -> bool {
    scratch(graph).next().is_some() || children(graph).next().is_some()
}

/// The draft, with a scratch resource for each child after all others.
fn with_children(graph: &Graph<'_>) -> Draft {
    let mut draft = graph.draft.clone();
    for (index, node, _) in children(graph) {
        let scratch = draft.resource(node.name.to_string(), Memory::Scratch);
        draft.access(index, scratch, Region::Whole, Mode::Write);
    }
    draft.accesses.sort_by_key(|access| access.node);
    draft
}

/// The packing, as a constant of the type, and the offset of each scratch resource.
pub(super) fn arena(graph: &Graph<'_>, outcome: &Outcome) -> TokenStream {
    if !is_packed(graph) {
        return TokenStream::new();
    }
    let sharing = Sharing::of(&with_children(graph), &outcome.order);
    let inner: Vec<TokenStream> = children(graph)
        .map(|(_, node, child)| child::scratch(graph, node, child))
        .collect();
    let sizes = sharing.resources().iter().map(|&resource| {
        let behind = resource.checked_sub(graph.draft.resources.len());
        match behind {
            Some(child) => {
                let size = &inner[child];
                Some(quote!(#size.bytes_or_none()))
            }
            None => Shape::of(graph, graph.resources[resource]).bytes(),
        }
    });
    let apart = sharing.apart().into_iter().map(|others| quote!(&[#(#others),*]));
    let (count, own) = (sharing.resources().len(), scratch(graph).count());
    // For each scratch resource in order of declaration, its position in the order of first use.
    let mut places: Vec<(usize, usize)> = sharing.resources().iter().copied().zip(0..).collect();
    places.sort_unstable();
    let places = places
        .into_iter()
        .take(own)
        .map(|(_, place)| quote!(Self::__PACKED.offsets[#place]));
    let plan = quote!(__p::plan);
    quote! {
        #[doc(hidden)]
        #[allow(long_running_const_eval)]
        const __PACKED: #plan::Arena<#count> = #plan::Arena::new([#(#sizes),*], &[#(#apart),*]);
        #[doc(hidden)]
        const __ARENA: #plan::Arena<#own> = #plan::Arena {
            offsets: [#(#places),*],
            bytes: Self::__PACKED.bytes,
        };
    }
}

/// The size of the arena, an `ArenaSize`; `None` without scratch memory.
pub(super) fn size(graph: &Graph<'_>) -> Option<TokenStream> {
    let size = quote!(__p::plan::ArenaSize);
    let parts = children(graph).map(|(_, node, child)| child::scratch(graph, node, child));
    is_any(graph).then(|| match is_packed(graph) {
        true => quote!(#size::of(Self::__PACKED.bytes) #(.with(#parts))*),
        false => quote!(#size::UNKNOWN),
    })
}

/// The size of the arena of a graph with children, which its own resources do not tell.
pub(super) fn of_children(graph: &Graph<'_>) -> Option<TokenStream> {
    children(graph).next().and_then(|_| size(graph))
}

/// The offset of a scratch resource in the arena.
pub(super) fn offset(graph: &Graph<'_>, resource: &Resource) -> Option<TokenStream> {
    let number = scratch(graph).position(|other| std::ptr::eq(other, resource))?;
    is_packed(graph).then(|| quote!(Self::__ARENA.offsets[#number]))
}

/// Gives the builder the offsets of scratch memory.
pub(super) fn places(graph: &Graph<'_>, outcome: &Outcome, builder: &Ident) -> TokenStream {
    // With children, the offsets inside their memory are not known here, so `build` computes all.
    if !is_packed(graph) || children(graph).next().is_some() {
        return TokenStream::new();
    }
    let declared = quote!(__p::Declare::arena(&mut #builder, &Self::__ARENA.offsets, Self::__ARENA.bytes););
    let kernels = overwriting(graph, outcome);
    match kernels.is_empty() {
        true => declared,
        // `build` packs what these kernels initialise: it may find a smaller arena.
        false => quote!(if !__p::overwrites(&[#(<#kernels as __g::Kernel>::FACTS),*]) { #declared }),
    }
}

/// The kernels that get scratch memory as `&mut`, if more could share addresses if they initialised it. Only constants
/// of their types tell whether they do.
fn overwriting(graph: &Graph<'_>, outcome: &Outcome) -> Vec<TokenStream> {
    let (draft, order) = (&graph.draft, &outcome.order);
    let kernels = kernels(graph, |_| true);
    let mut used = vec![false; kernels.types.len()];
    let mut initialising = draft.clone();
    for access in &mut initialising.accesses {
        let kernel = kernels.of_nodes[access.node].filter(|_| draft.is_scratch(access.resource));
        if let (Some(kernel), Mode::ReadWrite) = (kernel, access.mode) {
            access.mode = Mode::Write;
            used[kernel] = true;
        }
    }
    if !used.contains(&true) || Sharing::of(draft, order).apart() == Sharing::of(&initialising, order).apart() {
        return Vec::new();
    }
    let used = kernels.types.into_iter().zip(used);
    used.filter_map(|(kernel, used)| used.then_some(kernel)).collect()
}
