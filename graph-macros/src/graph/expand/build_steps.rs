//! The steps of `build`, divided into functions that are not too long for rustc.

use super::names::{Source, copy, hidden, nodes_name};
use super::node::{add, loaded};
use super::node_attributes;
use super::operands;
use super::operands::{Operands, function_of, operands, operands_of, scalars_of};
use crate::graph::ast::Statement;
use crate::graph::resolve::{Graph, mentioned, params, scalars};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

/// The most steps of one function: rustc's type inference takes more than linear time in the length of a function.
const GROUP: usize = 128;

/// One thing that `build` does with its builder.
enum Step {
    /// Adds the node.
    Node(usize),
    /// Begins the next body of the newest conditional.
    Begin,
    /// Ends the body that was begun last.
    End,
    /// Repeats the steps of a `for`.
    For(usize, Vec<Step>),
    /// Calls the function of a group.
    Group(usize),
}

impl Step {
    /// The number of steps that this counts for in its function.
    fn length(&self) -> usize {
        match self {
            Step::For(_, steps) => 1 + length(steps),
            Step::Node(_) | Step::Begin | Step::End | Step::Group(_) => 1,
        }
    }
}

fn length(steps: &[Step]) -> usize {
    steps.iter().map(Step::length).sum()
}

/// Steps that form a function of their own.
struct Group {
    /// The innermost `for` around them.
    around: Option<usize>,
    steps: Vec<Step>,
}

/// All steps of `build`, with the nodes in order of their indices. In an expression they are not divided into
/// functions, since they see the locals around it.
pub(super) struct Steps<'g, 'a> {
    graph: &'g Graph<'a>,
    groups: Vec<Group>,
    steps: Vec<Step>,
}

impl<'g, 'a> Steps<'g, 'a> {
    pub(super) fn of(graph: &'g Graph<'a>) -> Self {
        let mut steps = Vec::new();
        collect(&graph.item.statements, &mut (0, 0), &mut steps);
        let mut groups = Vec::new();
        if !graph.is_expression() {
            steps = grouped(steps, None, &mut groups);
        }
        Self { graph, groups, steps }
    }

    /// The statements of `build`. `builder` is a `&mut GraphBuilder`.
    pub(super) fn tokens(&self, builder: &TokenStream) -> TokenStream {
        self.tokens_of(&self.steps, builder)
    }

    fn tokens_of(&self, steps: &[Step], builder: &TokenStream) -> TokenStream {
        steps.iter().map(|step| self.step(step, builder)).collect()
    }

    fn step(&self, step: &Step, builder: &TokenStream) -> TokenStream {
        match step {
            Step::Node(index) => {
                let added = add_or_apply(self.graph, *index, builder);
                node_attributes::around(self.graph.nodes[*index], &added, builder)
            }
            Step::Begin => quote!(__p::Declare::begin_body(#builder);),
            Step::End => quote!(__p::Declare::end_body(#builder);),
            Step::For(for_loop, steps) => self.repeat(*for_loop, steps, builder),
            Step::Group(group) => {
                let operands = self.operands(&self.groups[*group]);
                operands::call(self.graph, &group_function(*group), &operands, builder, None)
            }
        }
    }

    fn repeat(&self, for_loop: usize, steps: &[Step], builder: &TokenStream) -> TokenStream {
        let variable = self.graph.loops[for_loop].variable();
        let range = &self.graph.loops[for_loop].statement.range;
        let nodes = self.nodes(steps).into_iter().map(|node| {
            let (name, depth) = (self.graph.nodes[node].name.to_string(), self.depth(for_loop, node));
            quote!((#name, #depth))
        });
        let steps = self.tokens_of(steps, builder);
        let begin = match self.graph.loops[for_loop].statement.parallel {
            true => quote_spanned!(range.span()=> __p::Declare::begin_each),
            false => quote_spanned!(range.span()=> __p::Declare::begin_loop),
        };
        quote! {
            for #variable in #begin(#builder, &[#(#nodes),*], #range) {
                __p::Declare::begin_iteration(#builder, #variable);
                #steps
            }
            __p::Declare::end_loop(#builder);
        }
    }

    /// The number of `for`s around a node, counted from this one; 0 if the node is in a body of another of its nodes.
    fn depth(&self, for_loop: usize, node: usize) -> usize {
        let (draft, declared) = (&self.graph.draft, &self.graph.draft.nodes[node]);
        if declared.body != self.graph.loops[for_loop].body {
            return 0;
        }
        1 + draft
            .loops_around(declared.in_loop)
            .take_while(|&around| around != for_loop)
            .count()
    }

    /// The nodes that steps add.
    fn nodes(&self, steps: &[Step]) -> Vec<usize> {
        let of_step = |step: &Step| match step {
            Step::Node(index) => vec![*index],
            Step::Begin | Step::End => Vec::new(),
            Step::For(_, steps) => self.nodes(steps),
            Step::Group(group) => self.nodes(&self.groups[*group].steps),
        };
        steps.iter().flat_map(of_step).collect()
    }

    /// The ranges that steps count over.
    fn ranges(&self, steps: &[Step]) -> TokenStream {
        let of_step = |step: &Step| match step {
            Step::Node(_) | Step::Begin | Step::End => TokenStream::new(),
            Step::For(for_loop, steps) => {
                let (range, inner) = (&self.graph.loops[*for_loop].statement.range, self.ranges(steps));
                quote!(#range #inner)
            }
            Step::Group(group) => self.ranges(&self.groups[*group].steps),
        };
        steps.iter().map(of_step).collect()
    }

    fn operands(&self, group: &Group) -> Operands {
        let nodes = self.nodes(&group.steps);
        let mut scalars = scalars_of(self.graph, &nodes);
        scalars.extend(mentioned(self.graph, &self.ranges(&group.steps)));
        Operands {
            nodes,
            scalars: scalars.into_iter().collect(),
            around: group.around,
        }
    }

    /// The function of a group.
    fn function(&self, group: usize) -> TokenStream {
        let (function, builder) = (group_function(group), hidden("builder"));
        let group = &self.groups[group];
        let operands = operands(self.graph, &self.operands(group));
        let steps = self.tokens_of(&group.steps, &builder.to_token_stream());
        quote! {
            fn #function(#builder: &mut __g::GraphBuilder, #operands) -> __g::Result<()> {
                #steps
                ::core::result::Result::Ok(())
            }
        }
    }
}

/// The functions of all groups.
pub(super) fn group_functions(graph: &Graph<'_>) -> TokenStream {
    let steps = Steps::of(graph);
    (0..steps.groups.len()).map(|group| steps.function(group)).collect()
}

/// The steps of statements. `next` are the indices of their first node and of their first `for`.
fn collect(statements: &[Statement], next: &mut (usize, usize), found: &mut Vec<Step>) {
    for statement in statements {
        match statement {
            Statement::Node(node) => {
                found.push(Step::Node(next.0));
                next.0 += 1;
                for (_, body) in node.action.bodies() {
                    found.push(Step::Begin);
                    collect(&body.statements, next, found);
                    found.push(Step::End);
                }
            }
            Statement::For(for_loop) => {
                let (index, mut steps) = (next.1, Vec::new());
                next.1 += 1;
                collect(&for_loop.statements, next, &mut steps);
                found.push(Step::For(index, steps));
            }
            Statement::Resource(_) | Statement::Param(_) | Statement::Let(_) => {}
        }
    }
}

/// The steps, or calls of groups, if they are too many for one function.
fn grouped(steps: Vec<Step>, around: Option<usize>, groups: &mut Vec<Group>) -> Vec<Step> {
    let shorten = |step| match step {
        Step::For(for_loop, steps) => Step::For(for_loop, grouped(steps, Some(for_loop), groups)),
        other => other,
    };
    let steps: Vec<Step> = steps.into_iter().map(shorten).collect();
    if length(&steps) <= GROUP {
        return steps;
    }
    let mut parts: Vec<Vec<Step>> = vec![Vec::new()];
    for step in steps {
        if parts
            .last()
            .is_some_and(|part| !part.is_empty() && length(part) + step.length() > GROUP)
        {
            parts.push(Vec::new());
        }
        parts.last_mut().expect("it never is empty").push(step);
    }
    let calls = parts.into_iter().map(|steps| {
        groups.push(Group { around, steps });
        Step::Group(groups.len() - 1)
    });
    calls.collect()
}

/// The name of a group's function.
fn group_function(group: usize) -> Ident {
    format_ident!("__nodes_{group}")
}

/// The statements that add all nodes. `builder` is a `&mut GraphBuilder`.
pub(super) fn nodes(graph: &Graph<'_>, builder: &TokenStream) -> TokenStream {
    Steps::of(graph).tokens(builder)
}

/// Adds a node: directly, or through its function if it mentions params. `builder` is a `&mut GraphBuilder`.
pub(super) fn add_or_apply(graph: &Graph<'_>, index: usize, builder: &TokenStream) -> TokenStream {
    let node = graph.nodes[index];
    if params(graph, node).is_empty() {
        return add(graph, node, builder);
    }
    if graph.is_expression() {
        return add_in_expression(graph, index, builder);
    }
    let loaded = loaded(node).map(|function| quote!(::core::option::Option::Some(#function)));
    operands::call(
        graph,
        &function_of(index),
        &operands_of(graph, index, scalars(graph, node)),
        builder,
        loaded,
    )
}

/// Adds a node that mentions params.
pub(super) fn add_in_expression(graph: &Graph<'_>, index: usize, builder: &TokenStream) -> TokenStream {
    let nodes = nodes_name();
    let loaded = match loaded(graph.nodes[index]) {
        Some(function) => quote!(::core::option::Option::Some(#function)),
        None => quote!(::core::option::Option::None),
    };
    let values = graph.params.iter().map(|param| copy(&param.name, &Source::Variable));
    quote!(__p::Nodes::add(&mut #nodes, #builder, #index, #loaded, (#(#values,)*));)
}
