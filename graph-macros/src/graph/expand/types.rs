//! The types in a graph's interface: its generics, and the types of places and params. In a graph that is an
//! expression, these are type parameters.

use super::names::unseen;
use super::shape::Shape;
use crate::graph::ast::{Resource, ResourceKind, place_kind};
use crate::graph::resolve::{Entity, Graph, params};
use graph_plan::{Memory, Space};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{GenericParam, Generics, Lifetime, LifetimeParam, parse_quote};

/// The generics of the type: those of the item, or those made for an expression.
pub(super) fn generics(graph: &Graph<'_>) -> Generics {
    if graph.is_expression() {
        return expression_generics(graph);
    }
    graph.item.generics.clone()
}

/// The generics of the type of an expression: a parameter for each resource, param and child, and one for the closure.
pub(super) fn expression_generics(graph: &Graph<'_>) -> Generics {
    let mut generics = Generics::default();
    for resource in &graph.resources {
        let name = resource_type(graph, resource);
        let bound = match resource.kind {
            ResourceKind::Moved(_) => quote!(__p::MovedSlot),
            ResourceKind::Own(Memory::Host) => quote!(__p::HostSlot),
            ResourceKind::Own(Memory::Mapped) => quote!(__p::MappedSlot),
            ResourceKind::Rng => quote!(::core::borrow::Borrow<__g::Rng>),
            ResourceKind::Own(Memory::Array) => quote!(::core::marker::Sized),
            ResourceKind::Own(Memory::Device | Memory::Scratch | Memory::Constant | Memory::Variable)
            | ResourceKind::Shared { .. } => quote!(__p::Slot),
        };
        generics.params.push(parse_quote!(#name: #bound));
    }
    let params = (0..graph.params.len()).map(expression_param);
    let names = params.chain(children(graph).map(expression_child));
    let unbounded = names.map(|name| -> GenericParam { parse_quote!(#name) });
    generics.params.extend(unbounded);
    if changes(graph) {
        generics.params.push(nodes_parameter(graph));
    }
    generics
}

/// The generics of the type after a lifetime.
pub(super) fn generics_after(graph: &Graph<'_>, lifetime: &Lifetime) -> Generics {
    let mut generics = generics(graph);
    let first = GenericParam::Lifetime(LifetimeParam::new(lifetime.clone()));
    generics.params.insert(0, first);
    generics
}

/// The nodes that are child graphs, by index.
pub(super) fn children(graph: &Graph<'_>) -> impl Iterator<Item = usize> {
    (0..graph.nodes.len()).filter(|&node| graph.nodes[node].action.child().is_some())
}

/// The type parameter of the closure with the nodes that mention params.
pub(super) fn nodes_parameter(graph: &Graph<'_>) -> GenericParam {
    let types = (0..graph.params.len()).map(expression_param);
    parse_quote!(F: __p::Nodes<(#(#types,)*)>)
}

/// Whether some node mentions a param.
pub(super) fn changes(graph: &Graph<'_>) -> bool {
    graph.nodes.iter().any(|node| !params(graph, node).is_empty())
}

/// The field of the closure, if there is one.
pub(super) fn nodes_field(graph: &Graph<'_>) -> Option<TokenStream> {
    (graph.is_expression() && changes(graph)).then(|| quote!(__nodes: ::core::cell::RefCell<F>,))
}

/// The type of a param in the interface.
pub(super) fn param_type(graph: &Graph<'_>, param: usize) -> TokenStream {
    if graph.is_expression() {
        return expression_param(param).to_token_stream();
    }
    graph.params[param].ty.to_token_stream()
}

/// The type parameter for the type of a param.
pub(super) fn expression_param(param: usize) -> Ident {
    format_ident!("P{param}")
}

/// The type parameter for the graph of a child, by the index of its node.
pub(super) fn expression_child(node: usize) -> Ident {
    format_ident!("C{node}")
}

/// The bounds of the accessors of params. (If a type is not `Clone`, rustc reports that in the block; here, only the
/// accessors are missing then.)
pub(super) fn cloned(graph: &Graph<'_>) -> Option<TokenStream> {
    let params = (0..graph.params.len()).map(expression_param);
    graph
        .is_expression()
        .then(|| quote!(where #(#params: ::core::clone::Clone),*))
}

/// The type of the place of a resource.
pub(super) fn place_type(graph: &Graph<'_>, resource: &Resource) -> TokenStream {
    place_type_at(graph, resource, &quote!(__g))
}

/// The type of the place of a resource, in code that names the runtime `runtime`.
pub(super) fn place_type_at(graph: &Graph<'_>, resource: &Resource, runtime: &TokenStream) -> TokenStream {
    if graph.is_expression() {
        return resource_type(graph, resource).to_token_stream();
    }
    if resource.random.is_some() {
        return quote!(#runtime::Rng);
    }
    let shape = Shape::of(graph, resource).at(runtime);
    let memory = place_kind(resource.memory());
    if resource.is_field() {
        return quote!(#runtime::private::GroupField<#shape, #runtime::#memory>);
    }
    quote!(#runtime::Place<#shape, #runtime::#memory>)
}

/// The type parameter for the type of a resource: a place, or a moved local.
pub(super) fn resource_type(graph: &Graph<'_>, resource: &Resource) -> Ident {
    match graph.entity(&resource.name) {
        Some(Entity::Resource(index)) => format_ident!("R{index}"),
        _ => format_ident!("R"),
    }
}

/// The types that the accessors of a resource return, and the expressions that make them.
pub(super) struct Lent {
    pub(super) shared: TokenStream,
    pub(super) exclusive: TokenStream,
    pub(super) get: TokenStream,
    pub(super) get_mut: TokenStream,
}

pub(super) fn lent(graph: &Graph<'_>, resource: &Resource) -> Lent {
    let name = &resource.name;
    if graph.is_expression() {
        let ty = resource_type(graph, resource);
        return Lent {
            shared: quote!(<#ty as __p::Slot>::Ref<'_>),
            exclusive: quote!(<#ty as __p::Slot>::Mut<'_>),
            get: quote!(__p::Slot::lend(&self.#name, &self.__graph)),
            get_mut: quote!(__p::Slot::lend_mut(&mut self.#name, &mut self.__graph)),
        };
    }
    let shape = Shape::of(graph, resource);
    let is_shared = matches!(resource.kind, ResourceKind::Shared { .. });
    let (read, shared, exclusive) = match resource.space() {
        Space::Host if is_shared => (
            format_ident!("shared_host"),
            quote!(__g::HostRef<'_, #shape>),
            quote!(__g::HostMut<'_, #shape>),
        ),
        Space::Host => {
            let read = shape.function("host", Span::call_site());
            (read, shape.lent(false), shape.lent(true))
        }
        Space::Device => (
            format_ident!("device"),
            quote!(__g::DeviceRef<'_, #shape>),
            quote!(__g::DeviceMut<'_, #shape>),
        ),
    };
    let (field, write) = (unseen(name), format_ident!("{read}_mut"));
    Lent {
        get: quote!(__g::Graph::#read(&self.__graph, &self.#field)),
        get_mut: quote!(__g::Graph::#write(&mut self.__graph, &self.#field)),
        shared,
        exclusive,
    }
}

/// The type of host memory that is lent together with others, to write.
pub(super) fn memory_lent(graph: &Graph<'_>, resource: &Resource, lifetime: &Lifetime) -> TokenStream {
    if !graph.is_expression() {
        return Shape::of(graph, resource).lent_at(&quote!(::graph_runtime), Some(lifetime), true);
    }
    let ty = resource_type(graph, resource);
    quote!(<#ty as __p::HostSlot>::View<#lifetime>)
}

/// The field that uses every type and lifetime parameter, even if no resource does. Constants need none.
pub(super) fn marker(generics: &Generics) -> Option<TokenStream> {
    let mut used = generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(param) => {
            let name = &param.ident;
            Some(quote!(#name))
        }
        GenericParam::Lifetime(param) => {
            let lifetime = &param.lifetime;
            Some(quote!(&#lifetime ()))
        }
        GenericParam::Const(_) => None,
    });
    let first = used.next()?;
    Some(quote!(__marker: ::core::marker::PhantomData<fn() -> (#first, #(#used,)*)>,))
}

/// The value of that field.
pub(super) fn marker_value(generics: &Generics) -> Option<TokenStream> {
    marker(generics).map(|_| quote!(__marker: ::core::marker::PhantomData,))
}

/// The names of all generic parameters, as arguments.
pub(super) fn arguments(generics: &Generics) -> Vec<TokenStream> {
    let name = |param: &GenericParam| match param {
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
        GenericParam::Const(param) => param.ident.to_token_stream(),
    };
    generics.params.iter().map(name).collect()
}
