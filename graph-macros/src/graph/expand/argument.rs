//! Build arguments: what `build` takes besides the device, and what the graph keeps of it.

use super::interface::Bodies;
use super::part::local;
use super::shape::Shape;
use crate::graph::ast::{BuildArgument, Resource};
use crate::graph::resolve::{Graph, Scalar, Value, params, scalars};
use graph_plan::Space;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;

/// The parameters of `build` behind the device, in the order in which they are declared, each behind a comma.
pub(super) fn parameters(graph: &Graph<'_>) -> TokenStream {
    let parameter = |argument: &BuildArgument| match argument {
        BuildArgument::Value { name, ty } => quote!(, #name: #ty),
        BuildArgument::Memory(memory) => {
            let (name, ty) = (&memory.name, argument_type(graph, memory));
            quote!(, #name: #ty)
        }
        BuildArgument::Unknown(_) => quote!(, _: impl ::core::marker::Sized),
    };
    graph.item.arguments.iter().map(parameter).collect()
}

/// What is taken for shared memory.
fn argument_type(graph: &Graph<'_>, memory: &Resource) -> TokenStream {
    let shape = Shape::of(graph, memory);
    match memory.space() {
        Space::Host => quote!(impl ::graph_runtime::HostShare<#shape>),
        Space::Device => quote!(impl ::graph_runtime::DeviceShare<#shape>),
    }
}

/// The declaration of shared memory in `build`, whose place becomes a local variable.
pub(super) fn declare(graph: &Graph<'_>, memory: &Resource, builder: &TokenStream) -> TokenStream {
    let (variable, place, name) = (&memory.name, local(&memory.name), memory.name.to_string());
    let (shape, mutable) = (Shape::of(graph, memory), memory.is_mutable());
    let function = match memory.space() {
        Space::Host => quote!(host_argument),
        Space::Device => quote!(device_argument),
    };
    let length = match &shape {
        Shape::Fixed(_) | Shape::Inferred => TokenStream::new(),
        Shape::Dynamic { length, .. } => {
            quote!(::graph_runtime::GraphBuilder::require_len(#builder, &#place, #length);)
        }
    };
    quote! {
        let #place = ::graph_runtime::GraphBuilder::#function::<#shape>(#builder, #name, #variable, #mutable);
        #length
    }
}

/// `rebind_x` of shared memory.
pub(super) fn rebind(graph: &Graph<'_>, memory: &Resource, bodies: Bodies) -> TokenStream {
    let (name, argument) = (&memory.name, argument_type(graph, memory));
    let function = match memory.space() {
        Space::Host => quote!(rebind_host),
        Space::Device => quote!(rebind_device),
    };
    let rebind = Ident::new(&format!("rebind_{}", name.unraw()), name.span());
    let summary = format!(" Puts other memory in the place of `{name}` for later launches: see `Graph::rebind`.");
    let body = bodies.of(quote!(::graph_runtime::Graph::#function(&mut self.__graph, &self.#name, memory)));
    quote! {
        #[doc = #summary]
        pub fn #rebind(&mut self, memory: #argument) -> ::graph_runtime::Result<()> { #body }
    }
}

/// The plain values that setters need again: those of nodes that mention a param.
pub(super) fn kept<'a>(graph: &Graph<'a>) -> Vec<Value<'a>> {
    let changing = graph.nodes.iter().filter(|node| !params(graph, node).is_empty());
    let mut used: Vec<Scalar> = changing.flat_map(|node| scalars(graph, node)).collect();
    used.sort_unstable();
    used.dedup();
    let value = |scalar: &&Scalar| matches!(scalar, Scalar::Value(_));
    used.iter().filter(value).map(|&scalar| graph.scalar(scalar)).collect()
}
