//! Declarations of resources, and the initial values of params, in the function that declares a graph.

use super::checked::checked;
use super::names::local;
use super::rng;
use super::shape::Shape;
use crate::graph::ast::{Resource, ResourceKind};
use crate::graph::resolve::Graph;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::Expr;

/// The declaration of a resource, whose place becomes a local variable. `builder` is a `&mut GraphBuilder`; `bound` is
/// the struct of bound values, if the resource can be bound.
pub(super) fn declare(
    graph: &Graph<'_>,
    resource: &Resource,
    builder: &TokenStream,
    bound: Option<&Ident>,
) -> TokenStream {
    let (field, place, name) = (&resource.name, local(&resource.name), resource.name.to_string());
    // Memory of a parent graph is as uniform as that says.
    let uniform = resource.uniform.as_ref().map(|_| match bound {
        Some(bound) => quote!(if ::core::option::Option::is_none(&#bound.#field) { #builder.uniform(&#place); }),
        None => quote!(#builder.uniform(&#place);),
    });
    let bound = match bound {
        Some(bound) => quote!(#bound.#field),
        None => quote!(::core::option::Option::None),
    };
    let shape = Shape::of(graph, resource);
    let length = shape.lengths(graph).map(|lengths| quote!(, #lengths));
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
            let of_field = resource.is_field();
            let borrowed = (!of_field).then(|| quote!(&)); // the places of a field are borrowed already
            let required = length.map(|length| quote!(#builder.#require(#borrowed #place #length);));
            if let (true, Some(groups)) = (of_field, resource.shape.lengths.first()) {
                return of_groups(
                    graph,
                    resource,
                    groups,
                    quote!(__p::Interface::bound(#bound, #builder, #name)?),
                    required,
                );
            }
            quote! {
                let #place = __p::Interface::bound(#bound, #builder, #name)?;
                #required
            }
        }
        ResourceKind::Own(memory) => {
            if let Some(symbol) = &resource.symbol {
                return quote!(let #place = #builder.constant::<#shape>(#name, #symbol););
            }
            let function = shape.function("own", resource.name.span());
            let memory = format_ident!("{memory:?}");
            quote! {
                let #place = __p::#function::<#element, __p::kind::#memory>(#builder, #name, #bound #length);
                #uniform
            }
        }
    }
}

/// The declaration of a field of groups. `required` compares the lengths of the place of one group.
fn of_groups(
    graph: &Graph<'_>,
    field: &Resource,
    groups: &Expr,
    given: TokenStream,
    required: Option<TokenStream>,
) -> TokenStream {
    let (place, groups) = (local(&field.name), checked(graph, groups));
    let required = required.map(|required| quote!(for #place in __p::GroupField::places(&#place) { #required }));
    quote! {
        let #place = #given;
        __p::GroupField::require(&#place, #groups)?;
        #required
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
