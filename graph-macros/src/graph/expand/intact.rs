//! What rustc still compiles of a graph with mistakes: the statements that have none of those that rustc would tell
//! once more. So what rustc has to say of them is said at once, and what only they name counts as used. Nothing calls
//! it.

use super::interface::implementation;
use super::names::hidden;
use super::node::{add, places};
use super::operands::{Operands, operands, operands_of};
use crate::graph::ast::{Action, Node, Param, Statement};
use crate::graph::resolve::{Entity, Graph, added, mentioned};
use crate::report::Report;
use graph_plan::Code;
use proc_macro2::{Ident, LineColumn, TokenStream};
use quote::{ToTokens, format_ident, quote};

/// The mistakes that rustc would find, too, in what a statement becomes.
const SHARED: [Code; 6] = [
    Code::Syntax,
    Code::UnknownResource,
    Code::WrongMemory,
    Code::ShapeMismatch,
    Code::AliasedArgument,
    Code::OutOfBounds,
];

/// Which statements these are.
struct Intact<'a> {
    graph: &'a Graph<'a>,
    /// Where the names stand of the others.
    blamed: Vec<LineColumn>,
}

impl<'a> Intact<'a> {
    fn new(graph: &'a Graph<'a>, report: &Report) -> Self {
        let blamed = blamed(graph, report);
        Self { graph, blamed }
    }

    /// Is this so of a statement of this name with these expressions?
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
        let resolved = |node: &Node| places(node).iter().all(|place| self.graph.resource(place).is_some());
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

/// Uses of the kernels that stand in launches which could not be parsed, so that their imports count as used.
fn kernels(graph: &Graph<'_>) -> TokenStream {
    let kernels = graph.item.kernels.iter();
    let used = kernels.map(|path| quote!(const _: ::core::marker::PhantomData<#path> = ::core::marker::PhantomData;));
    used.collect()
}

/// The nodes of a graph that is an expression, where its locals are.
pub(super) fn nodes(graph: &Graph<'_>, report: &Report, builder: &TokenStream) -> TokenStream {
    let intact = Intact::new(graph, report);
    let nodes = intact.nodes().map(|(index, node)| {
        let (variables, add) = (
            graph.variables_up_to(graph.draft.loop_around(index)),
            add(graph, node, builder),
        );
        quote!({ #(let #variables: ::core::primitive::usize = 0;)* #add })
    });
    nodes.chain([kernels(graph)]).collect()
}

/// The initial value of a param.
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

/// The node as it is added to a builder.
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

/// Where the names of the statements stand that mistakes are about: the nearest before each.
fn blamed(graph: &Graph<'_>, report: &Report) -> Vec<LineColumn> {
    let mut starts: Vec<LineColumn> = graph.item.unparsed.iter().map(|name| name.span().start()).collect();
    starts_of(&graph.item.statements, &mut starts);
    starts.sort_unstable();
    let nearest = |place: LineColumn| {
        starts[..starts.partition_point(|start| *start <= place)]
            .last()
            .copied()
    };
    report.places(&SHARED).filter_map(nearest).collect()
}

fn starts_of(statements: &[Statement], found: &mut Vec<LineColumn>) {
    for statement in statements {
        found.push(statement.name().span().start());
        match statement {
            Statement::Node(node) => {
                for (_, body) in node.action.bodies() {
                    starts_of(&body.statements, found);
                }
            }
            Statement::For(repeated) => starts_of(&repeated.statements, found),
            Statement::Resource(_) | Statement::Param(_) => {}
        }
    }
}
