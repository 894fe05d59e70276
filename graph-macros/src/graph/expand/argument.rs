//! Build arguments: what `build` takes besides the device, and what the graph keeps of it.

use crate::graph::ast::BuildArgument;
use crate::graph::resolve::{Graph, Scalar, Value, params, scalars};
use proc_macro2::TokenStream;
use quote::quote;

/// The parameters of `build` behind the device, in the order in which they are declared, each behind a comma.
pub(super) fn parameters(graph: &Graph<'_>) -> TokenStream {
    let parameter = |argument: &BuildArgument| match argument {
        BuildArgument::Value { name, ty } => quote!(, #name: #ty),
        BuildArgument::Memory(_) => TokenStream::new(),
    };
    graph.item.arguments.iter().map(parameter).collect()
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
