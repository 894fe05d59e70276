//! Declarations of resources, and the initial values of params, in the function that declares a graph.

use super::names::local;
use super::rng;
use super::shape::Shape;
use super::types::memory_type;
use crate::graph::ast::{Resource, ResourceKind};
use crate::graph::resolve::Graph;
use graph_plan::Memory;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// The declaration of a resource, whose place becomes a local variable. `builder` is a `&mut GraphBuilder`; `bound` is
/// the struct of bound values, if the resource can be bound.
pub(super) fn declare(
    graph: &Graph<'_>,
    resource: &Resource,
    builder: &TokenStream,
    bound: Option<&Ident>,
) -> TokenStream {
    let (field, place, name) = (&resource.name, local(&resource.name), resource.name.to_string());
    // The type of a bound place tells the kind of memory.
    let (bound, memory) = if let Some(bound) = bound {
        (quote!(#bound.#field), quote!(_))
    } else {
        let memory = memory_type(resource);
        (quote!(::core::option::Option::None), quote!(__g::#memory))
    };
    let shape = Shape::of(graph, resource);
    let function = |fixed: &str| shape.function(fixed, resource.name.span());
    let length = shape.lengths().map(|lengths| quote!(, #lengths));
    let element = match &shape {
        Shape::Table { element, .. } => quote!(#element, _),
        Shape::Fixed(_) | Shape::Dynamic { .. } | Shape::Inferred => shape.element(),
    };
    match resource.kind {
        ResourceKind::Moved(_) => TokenStream::new(), // moved locals are not declared
        ResourceKind::Rng => {
            let rng = rng::declare(resource, builder);
            quote!(let #place = #rng;)
        }
        ResourceKind::Shared { .. } => {
            let require = match &shape {
                Shape::Table { .. } => quote!(require_lengths),
                Shape::Fixed(_) | Shape::Dynamic { .. } | Shape::Inferred => quote!(require_len),
            };
            let required = length.map(|length| quote!(#builder.#require(&#place #length);));
            quote! {
                let #place = __p::bound(#bound, #builder, #name)?;
                #required
            }
        }
        ResourceKind::Own(Memory::Constant | Memory::Variable) => {
            let symbol = &resource.symbol;
            quote!(let #place = #builder.constant::<#shape>(#name, #symbol);)
        }
        ResourceKind::Own(Memory::Scratch) => {
            let function = function("scratch");
            quote!(let #place = #builder.#function::<#element>(#name #length);)
        }
        ResourceKind::Own(Memory::Host | Memory::Device | Memory::Mapped | Memory::Array) => {
            let function = function("own");
            quote!(let #place = __p::#function::<#element, #memory>(#builder, #name, #bound #length);)
        }
    }
}

/// The params, as local variables with their initial values.
pub(super) fn initial(graph: &Graph<'_>) -> TokenStream {
    let initial = graph.params_in_order().into_iter().map(|param| {
        let param = graph.params[param];
        let (name, ty, value) = (&param.name, &param.ty, &param.initial);
        quote!(let #name: #ty = #value;)
    });
    initial.collect()
}
