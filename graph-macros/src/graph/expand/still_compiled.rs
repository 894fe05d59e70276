//! The statements of a graph with mistakes that rustc still compiles: those without a mistake that rustc would report
//! again. So rustc's own errors about them are reported in the same run, and names that only they use count as used.
//! Nothing calls this code.

use super::interface::implementation;
use super::names::hidden;
use super::node::add;
use super::operands::{Operands, operands, operands_of};
use crate::graph::ast::{Action, Node, Param, Statement};
use crate::graph::resolve::{Entity, Graph, added, mentioned};
use crate::report::Report;
use graph_plan::Code;
use proc_macro2::{Ident, LineColumn, TokenStream};
use quote::{ToTokens, format_ident, quote};

/// The codes of mistakes that rustc would find again in the expansion of a statement.
const SHARED: [Code; 6] = [
    Code::Syntax,
    Code::UnknownResource,
    Code::WrongMemory,
    Code::ShapeMismatch,
    Code::AliasedArgument,
    Code::OutOfBounds,
];

/// The intact statements of a graph.
struct Intact<'a> {
    graph: &'a Graph<'a>,
    /// The positions of the names of all other statements.
    blamed: Vec<LineColumn>,
}

impl<'a> Intact<'a> {
    fn new(graph: &'a Graph<'a>, report: &Report) -> Self {
        let blamed = blamed(graph, report);
        Self { graph, blamed }
    }

    /// Whether a statement of this name with these expressions is intact.
    fn is(&self, name: &Ident, expressions: TokenStream) -> bool {
        !self.blamed.contains(&name.span().start()) && !self.graph.mentions_broken(expressions)
    }

    fn params(&self) -> impl Iterator<Item = (usize, &'a Param)> {
        let params = self.graph.params.iter().copied().enumerate();
        params.filter(|(_, param)| {
            self.graph.entity(&param.name) != Some(Entity::Broken)
                && self.is(&param.name, param.initial.to_token_stream())
        })
    }

    fn nodes(&self) -> impl Iterator<Item = (usize, &'a Node)> {
        let resolved = |node: &Node| {
            node.action
                .places()
                .iter()
                .all(|place| self.graph.resource(place).is_some())
        };
        let nodes = self.graph.nodes.iter().copied().enumerate();
        nodes.filter(move |(_, node)| {
            !matches!(node.action, Action::Join) && resolved(node) && self.is(&node.name, added(node))
        })
    }
}

/// A function for each param and each node that is intact.
pub(super) fn functions(graph: &Graph<'_>, report: &Report) -> TokenStream {
    let intact = Intact::new(graph, report);
    let params = intact.params().map(|(index, param)| initial(graph, index, param));
    let nodes = intact.nodes().map(|(index, node)| added_alone(graph, index, node));
    let (functions, kernels) = (implementation(graph, quote!(#(#params)* #(#nodes)*)), kernels(graph));
    quote!(#functions #kernels)
}

/// Uses of the kernels in launches that could not be parsed, so that their imports count as used.
fn kernels(graph: &Graph<'_>) -> TokenStream {
    let kernels = graph.item.kernels.iter();
    let used = kernels.map(|path| quote!(const _: ::core::marker::PhantomData<#path> = ::core::marker::PhantomData;));
    used.collect()
}

/// The intact nodes of a graph that is an expression. They are in its block, where its locals are visible.
pub(super) fn nodes(graph: &Graph<'_>, report: &Report, builder: &TokenStream) -> TokenStream {
    let intact = Intact::new(graph, report);
    let nodes = intact.nodes().map(|(index, node)| {
        let variables = graph.variables_up_to(graph.draft.loop_around(index));
        let add = add(graph, node, builder);
        quote!({ #(let #variables: ::core::primitive::usize = 0;)* #add })
    });
    nodes.chain([kernels(graph)]).collect()
}

/// A function with the initial value of a param.
fn initial(graph: &Graph<'_>, index: usize, param: &Param) -> TokenStream {
    let function = format_ident!("__initial_{index}");
    let (name, ty, value) = (&param.name, &param.ty, &param.initial);
    let known = Operands {
        nodes: Vec::new(),
        scalars: mentioned(graph, &value.to_token_stream()),
        around: None,
    };
    let operands = operands(graph, &known);
    quote! {
        fn #function(#operands) -> __g::Result<()> {
            let #name: #ty = #value;
            ::core::result::Result::Ok(())
        }
    }
}

/// A function that adds a node to a builder.
fn added_alone(graph: &Graph<'_>, index: usize, node: &Node) -> TokenStream {
    let (function, builder) = (format_ident!("__added_{index}"), hidden("builder"));
    let operands = operands(graph, &operands_of(graph, index, mentioned(graph, &added(node))));
    let add = add(graph, node, &builder.to_token_stream());
    quote! {
        fn #function(#builder: &mut __g::GraphBuilder, #operands) -> __g::Result<()> {
            #add
            ::core::result::Result::Ok(())
        }
    }
}

/// The positions of the names of the statements that mistakes are about: for each mistake, the nearest name before it.
fn blamed(graph: &Graph<'_>, report: &Report) -> Vec<LineColumn> {
    let mut starts: Vec<LineColumn> = graph.item.unparsed.iter().map(|name| name.span().start()).collect();
    Statement::visit(&graph.item.statements, &mut |statement| {
        starts.push(statement.name().span().start())
    });
    starts.sort_unstable();
    let nearest = |place: LineColumn| {
        starts[..starts.partition_point(|start| *start <= place)]
            .last()
            .copied()
    };
    report.places(&SHARED).filter_map(nearest).collect()
}
