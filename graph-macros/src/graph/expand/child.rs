//! Child graphs: the calls of their functions, and the assertions about their bindings.

use super::alias::child_path;
use super::names::hidden;
use super::part::{borrow, spanned_call};
use crate::graph::ast::{Argument, Binding, Child, Node};
use crate::graph::constant::mentions;
use crate::graph::resolve::Graph;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Expr;
use syn::ext::IdentExt;

/// Adds a child that no param changes.
pub(super) fn add(graph: &Graph<'_>, node: &Node, child: &Child, builder: &TokenStream) -> TokenStream {
    let (name, path, slots) = (node.name.to_string(), child_path(graph, node, child), hidden("slots"));
    let bound = fill(graph, node, child, &slots);
    quote! {
        {
            #bound
            __p::child(#builder, #name, #slots, |builder, bound| #path::__declare(builder, bound));
        }
    }
}

/// Adds a child, or changes it. Its bindings mention params.
pub(super) fn apply(graph: &Graph<'_>, index: usize, node: &Node, child: &Child, target: &Ident) -> TokenStream {
    let (name, path, slots) = (node.name.to_string(), child_path(graph, node, child), hidden("slots"));
    let bound = fill(graph, node, child, &slots);
    quote! {
        {
            #bound
            let declare = |builder: &mut __g::GraphBuilder, bound| #path::__declare(builder, bound);
            __p::NodeTarget::child(#target, #index, #name, #slots, declare, #path::__update)
        }
    }
}

/// Fills the slots of a child. Only [`assertions`] report a name that the child does not have, or a type that is no
/// graph: here, functions of traits replace those that are missing.
fn fill(graph: &Graph<'_>, node: &Node, child: &Child, slots: &Ident) -> TokenStream {
    let path = child_path(graph, node, child);
    let functions: Vec<Ident> = child
        .bindings
        .iter()
        .map(|Binding { name, argument }| {
            let is_memory = matches!(argument, Argument::Borrow { .. }) && communicator(graph, argument).is_none();
            function(name, is_memory)
        })
        .collect();
    let calls = child.bindings.iter().zip(&functions).map(|(binding, function)| {
        let value = match (communicator(graph, &binding.argument), &binding.argument) {
            (Some(name), _) => quote_spanned!(name.span()=> ::core::clone::Clone::clone(&#name)),
            (None, Argument::Borrow { place, .. }) => borrow(graph, place, false),
            (None, Argument::Value(value)) => value.to_token_stream(),
        };
        quote_spanned!(binding.name.span()=> #slots.#function(#value);)
    });
    let mut missing: Vec<&Ident> = functions.iter().collect();
    missing.sort_unstable();
    missing.dedup();
    quote! {
        #[allow(dead_code)]
        trait __Missing { #(fn #missing<T>(&mut self, _: T) where Self: ::core::marker::Sized {})* }
        impl<T> __Missing for T {}
        #[allow(unused_imports)]
        use __p::NoGraph as _;
        #[allow(unused_mut)]
        let mut #slots = #path::__unbound();
        #(#calls)*
    }
}

/// The communicator that a binding is: `world` or `&world`.
fn communicator<'a>(graph: &Graph<'_>, argument: &'a Argument) -> Option<&'a Ident> {
    let name = match argument {
        Argument::Borrow { place, .. } if place.parts.is_empty() => Some(&*place.name),
        Argument::Borrow { .. } => None,
        Argument::Value(value) => match &**value {
            Expr::Path(path) => path.path.get_ident(),
            _ => None,
        },
    };
    name.filter(|name| graph.is_communicator(name))
}

/// The assertions about a node's bindings, each with the span that it is about.
pub(super) fn assertions(graph: &Graph<'_>, node: &Node) -> Vec<(Span, TokenStream)> {
    let Some(child) = node.action.child() else {
        return Vec::new();
    };
    let (path, name) = (child_path(graph, node, child), node.name.to_string());
    let interface = quote!({
        #[allow(unused_imports)]
        use __p::NoGraph as _;
        &#path::__INTERFACE
    });
    let bindings = child.bindings.iter().map(|binding| {
        let (bound, end) = match &binding.argument {
            argument if communicator(graph, argument).is_some() => ("Value", binding.name.span()),
            Argument::Borrow {
                mutable: None, place, ..
            } => ("Read", place.end),
            Argument::Borrow { place, .. } => ("Write", place.end),
            Argument::Value(value) if mentions(value.to_token_stream(), &graph.param_names()) => {
                ("Param", binding.name.span())
            }
            Argument::Value(_) => ("Value", binding.name.span()),
        };
        let bound = format_ident!("{bound}");
        let text = binding.name.unraw().to_string();
        let span = binding.name.span();
        let function = quote_spanned!(span=> __p::Interface::check_binding);
        let visible = is_visible(&path, &binding.name);
        let operands = quote!(#interface, #name, (#text, #visible), __p::Bound::#bound);
        (span, spanned_call(function, operands, end))
    });
    let names = child.bindings.iter().map(|binding| binding.name.unraw().to_string());
    let span = child.span();
    let function = quote_spanned!(span=> __p::Interface::check_bound);
    let all = spanned_call(function, quote!(#interface, #name, &[#(#names),*]), child.parens);
    let inside = conditional_around(graph, node).map(|owner| {
        let function = quote_spanned!(span=> __p::Interface::check_unconditional);
        let call = spanned_call(function, quote!(#interface, #owner), child.parens);
        (span, call)
    });
    bindings.chain([(span, all)]).chain(inside).collect()
}

/// Whether the constant is visible here that a child has for a name whose visibility is limited. The constants of the
/// trait replace those that the child does not have, or hides.
fn is_visible(path: &TokenStream, name: &Ident) -> TokenStream {
    let visible = visible(name);
    quote!({
        #[allow(non_upper_case_globals)]
        trait __Hidden { const #visible: bool = false; }
        impl<T> __Hidden for T {}
        #path::#visible
    })
}

/// The name of the conditional that a node is in, if any.
fn conditional_around(graph: &Graph<'_>, node: &Node) -> Option<String> {
    let index = graph.nodes.iter().position(|other| std::ptr::eq(*other, node))?;
    let mut bodies = graph.draft.bodies_around(index);
    let body = bodies.find(|&body| graph.draft.bodies[body].role.is_conditional())?;
    let owner = graph.draft.bodies[body].node?;
    Some(graph.draft.nodes[owner].name.to_string())
}

/// The size of a child's scratch memory, an `ArenaSize`.
pub(super) fn scratch(graph: &Graph<'_>, node: &Node, child: &Child) -> TokenStream {
    let path = child_path(graph, node, child);
    quote!({
        #[allow(unused_imports)]
        use __p::NoGraph as _;
        #path::__INTERFACE.scratch
    })
}

/// The name of the constant that is visible where the slot `name` may be filled.
pub(super) fn visible(name: &Ident) -> Ident {
    format_ident!("__visible_{}", name.unraw(), span = name.span())
}

/// The name of the function that fills the slot `name`, of memory or of a value.
pub(super) fn function(name: &Ident, memory: bool) -> Ident {
    let kind = if memory { "place" } else { "value" };
    format_ident!("__{kind}_{}", name.unraw(), span = name.span())
}
