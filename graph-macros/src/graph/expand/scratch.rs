//! The arena of scratch memory: which may share addresses is found here, where they lie is found by rustc, which knows their sizes.

use super::shape::Shape;
use crate::graph::ast::{Resource, ResourceKind};
use crate::graph::resolve::Graph;
use graph_plan::{Outcome, Sharing};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// The scratch resources, in order of declaration.
fn scratch<'a>(graph: &'a Graph<'_>) -> impl Iterator<Item = &'a Resource> {
    let resources = graph.resources.iter().copied();
    resources.filter(|resource| resource.kind == ResourceKind::Scratch)
}

/// Are there scratch resources, and are the sizes of all of them constants? Else `build` finds their places, and so it does for graphs
/// as expressions, whose type cannot name the types around them.
fn is_packed(graph: &Graph<'_>) -> bool {
    let dynamic = |resource: &Resource| graph.is_dynamic(resource);
    scratch(graph).next().is_some() && !scratch(graph).any(dynamic) && !graph.is_expression()
}

/// The packing, as a constant of the type, and the place of each scratch resource in it.
pub(super) fn arena(graph: &Graph<'_>, outcome: &Outcome) -> TokenStream {
    if !is_packed(graph) {
        return TokenStream::new();
    }
    let sharing = Sharing::of(&graph.draft, &outcome.order);
    let sizes = sharing
        .resources()
        .iter()
        .map(|&resource| Shape::of(graph, graph.resources[resource]).bytes());
    let apart = sharing.apart().into_iter().map(|others| quote!(&[#(#others),*]));
    let count = sharing.resources().len();
    // By declaration, where each is in the order of first use.
    let mut places: Vec<(usize, usize)> = sharing.resources().iter().copied().zip(0..).collect();
    places.sort_unstable();
    let places = places
        .into_iter()
        .map(|(_, place)| quote!(Self::__PACKED.offsets[#place]));
    let plan = quote!(::graph_runtime::private::plan);
    quote! {
        #[doc(hidden)]
        #[allow(long_running_const_eval)]
        const __PACKED: #plan::Arena<#count> = #plan::Arena::new([#(#sizes),*], &[#(#apart),*]);
        #[doc(hidden)]
        const __ARENA: #plan::Arena<#count> = #plan::Arena {
            offsets: [#(#places),*],
            bytes: Self::__PACKED.bytes,
        };
    }
}

/// Where a scratch resource begins in the arena.
pub(super) fn offset(graph: &Graph<'_>, resource: &Resource) -> Option<TokenStream> {
    let number = scratch(graph).position(|other| std::ptr::eq(other, resource))?;
    is_packed(graph).then(|| quote!(Self::__ARENA.offsets[#number]))
}

/// Tells the builder where scratch memory lies.
pub(super) fn places(graph: &Graph<'_>, builder: &Ident) -> TokenStream {
    if !is_packed(graph) {
        return TokenStream::new();
    }
    quote! {
        ::graph_runtime::GraphBuilder::arena(&mut #builder, &Self::__ARENA.offsets, Self::__ARENA.bytes);
    }
}
