//! `build`, and the setters of params.
//!
//! A node that mentions a param becomes a function, generic over its target: `build` calls it to add the node, and
//! `set_x` to update the node. So the user's expression is compiled once. If such a node also mentions build arguments,
//! the graph keeps these.

use super::argument;
use super::argument::{names, parameters};
use super::child_interface;
use super::interface::Bodies;
use super::names::hidden;
use super::promise;
use super::scratch;
use crate::graph::ast::BuildArgument;
use crate::graph::resolve::Graph;
use crate::text::plain;
use graph_plan::Outcome;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::Type;

/// The documentation of every `build`.
const SUMMARY: &str = " Allocates the graph's memory, zeroed, builds it on the device and uploads it.";
/// The documentation of every `define`.
const DEFINE: &str = " Checks the graph as `build` does, for graphs to be instantiated later.";

/// `build` and `define` of a graph with mistakes.
pub(super) fn stub(graph: &Graph<'_>) -> TokenStream {
    let body = || Bodies::Stub.of(TokenStream::new());
    methods(graph, body(), body())
}

/// `build` and `define`, with these bodies.
fn methods(graph: &Graph<'_>, build: TokenStream, define: TokenStream) -> TokenStream {
    let (arguments, device, promise) = (parameters(graph), hidden("device"), promise::mention(graph));
    quote! {
        #[doc = #SUMMARY]
        #promise
        pub fn build(#device: &__g::Device #arguments) -> __g::Result<Self> { #build }
        #[doc = #DEFINE]
        #promise
        pub fn define(#device: &__g::Device #arguments) -> __g::Result<__g::Definition<Self>> { #define }
    }
}

/// `build` and `define` of a graph without mistakes. `define` makes a builder, binds the build arguments, and calls the
/// function that declares the nodes.
pub(super) fn build(graph: &Graph<'_>, outcome: &Outcome, asserted: &TokenStream) -> TokenStream {
    let (name, names) = (graph.item.name.to_string(), names(graph));
    let (device, builder, bound) = (hidden("device"), hidden("builder"), hidden("bound"));
    // The assertions are mentioned here, too, so that a failure names the user's call of `build`.
    let assert = child_interface::assert(graph, asserted);
    let arena = scratch::places(graph, outcome, &builder);
    let values = argument::bound(graph, &builder, &bound);
    let unbound = quote!(Self::__unbound());
    let (bind, bound) = if values.is_empty() {
        (None, unbound)
    } else {
        (Some(quote!(let mut #bound = #unbound;)), bound.into_token_stream())
    };
    let told = told(graph, &builder);
    let builder_mutably = (!arena.is_empty() || has_memory(graph) || told.is_some()).then(|| quote!(mut));
    let build = quote! {
        #assert
        __g::Definition::build(Self::define(#device #names)?)
    };
    let made = quote!(__g::GraphBuilder::new(#device, #name));
    let define = match (&builder_mutably, &bind) {
        (None, None) => quote!(Self::__declare(#made, #bound)),
        _ => quote! {
            let #builder_mutably #builder = #made;
            #told
            #arena
            #bind
            #values
            Self::__declare(#builder, #bound)
        },
    };
    methods(graph, build, define)
}

/// The call that tells the builder the build arguments by which reports tell graphs of one type apart: those of Rust's
/// own types that can be shown.
fn told(graph: &Graph<'_>, builder: &Ident) -> Option<TokenStream> {
    const SHOWN: [&str; 17] = [
        "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128",
        "usize", "String",
    ];
    let is_shown = |ty: &Type| matches!(ty, Type::Path(path) if SHOWN.iter().any(|shown| path.path.is_ident(shown)));
    let told = graph.item.arguments.iter().filter_map(|argument| match argument {
        BuildArgument::Value { name, ty } if is_shown(ty) => {
            let text = plain(name);
            Some(quote!((#text, &#name)))
        }
        BuildArgument::Value { .. } | BuildArgument::Communicator { .. } => None,
        BuildArgument::Memory(_) | BuildArgument::Group(_) | BuildArgument::Unknown(_) => None,
    });
    let told: Vec<TokenStream> = told.collect();
    (!told.is_empty()).then(|| quote!(__p::Declare::arguments(&mut #builder, &[#(#told),*]);))
}

/// Whether the graph takes memory when it is built.
fn has_memory(graph: &Graph<'_>) -> bool {
    let mut arguments = graph.item.arguments.iter();
    arguments.any(|argument| matches!(argument, BuildArgument::Memory(_) | BuildArgument::Group(_)))
}
