//! The mistakes that the macro itself finds: by the rules of `graph-plan`, and by the values of literals.

mod piece;
mod exit;
mod mention;
mod closure;
mod collective_shapes;
mod fixed;
pub(crate) mod mapped;
pub(crate) mod mutability;
mod launch;
mod copy;
mod bounds;

use super::ast::{Action, Attributes};
use super::resolve::{Graph, params};
use crate::report::{Report, error};
use graph_plan::{Code, Diagnostic, Outcome, Subject};
use proc_macro2::Span;

/// Checks the graph and reports every mistake.
pub(crate) fn check(graph: &Graph<'_>, report: &mut Report) -> Outcome {
    let outcome = graph_plan::check(&graph.draft);
    for diagnostic in outcome.errors.iter().chain(&outcome.warnings) {
        let silenced = diagnostic.code.is_warning() && allowed(graph, diagnostic);
        if !silenced && !depends_on_updates(graph, &outcome, diagnostic) {
            place(graph, diagnostic, report);
        }
    }
    unused_params(graph, report);
    mutability::arguments(graph, report);
    mapped::elements(graph, report);
    mention::values(graph, report);
    exit::exits(graph, report);
    fixed::params(graph, report);
    bounds::bounds(graph, report);
    for node in &graph.nodes {
        closure::names(graph, node, report);
        piece::pieces(node, report);
        if let Some(launch) = node.action.launch() {
            launch::limits(launch, report);
        }
        match &node.action {
            Action::Memcpy { from, to } => copy::shapes(graph, from, to, report),
            Action::Collective(collective) => collective_shapes::shapes(graph, node.kind, collective, report),
            _ => {}
        }
    }
    outcome
}

/// Whether only rustc can tell if a diagnostic holds: atomic updates may be written as reads.
fn depends_on_updates(graph: &Graph<'_>, outcome: &Outcome, diagnostic: &Diagnostic) -> bool {
    match (diagnostic.code, diagnostic.subject) {
        (Code::EndlessWhile, Subject::Node(node)) => !graph.updates_of_condition(node).is_empty(),
        (Code::DeadNode, _) => !graph.updates_of_dead(outcome).is_empty(),
        _ => false,
    }
}

/// Reports params whose setters would do nothing.
fn unused_params(graph: &Graph<'_>, report: &mut Report) {
    let used: Vec<usize> = graph.nodes.iter().flat_map(|node| params(graph, node)).collect();
    for (index, param) in graph.params.iter().enumerate() {
        let code = Code::UnusedResource;
        if !used.contains(&index) && !param.attributes.allow(code) && !graph.item.attributes.allow(code) {
            let diagnostic = error(code, format!("no node uses `{}`", param.name));
            report.push(param.name.span(), &diagnostic.help("remove it, or use it in a node"));
        }
    }
}

/// Whether the rule is silenced at the statement that the diagnostic is about, or for the whole graph.
fn allowed(graph: &Graph<'_>, diagnostic: &Diagnostic) -> bool {
    let allows = |attributes: &Attributes| attributes.allow(diagnostic.code);
    let node = match diagnostic.subject {
        Subject::Resource(index) => {
            return allows(&graph.resources[index].attributes) || allows(&graph.item.attributes);
        }
        Subject::Node(index) => index,
        Subject::Edge(index) => graph.draft.edges[index].to,
        Subject::Shift(index) => graph.draft.shifts[index].to,
        Subject::Access(index) => graph.draft.accesses[index].node,
    };
    graph.allows(node, diagnostic.code)
}

/// Reports a diagnostic of the draft at the tokens that it is about.
fn place(graph: &Graph<'_>, diagnostic: &Diagnostic, report: &mut Report) {
    match diagnostic.subject {
        Subject::Resource(index) => report.push(graph.resources[index].name.span(), diagnostic),
        Subject::Node(index) => report.push(graph.nodes[index].name.span(), diagnostic),
        Subject::Edge(index) => {
            let name = graph.edges.get(index).copied();
            let name = name.unwrap_or(&graph.nodes[graph.draft.edges[index].to].name); // of an inferred edge
            report.push(name.span(), diagnostic);
        }
        Subject::Shift(index) => {
            let written = graph.shifts[index];
            let end = written
                .iteration
                .as_ref()
                .map_or(written.name.span(), |iteration| iteration.end);
            report.push_between(written.name.span(), end, diagnostic);
        }
        Subject::Access(index) => {
            let (place, start) = graph.accesses[index];
            let first = (diagnostic.code == Code::AliasedArgument).then(|| first_alias(graph, index));
            report.push_between(first.flatten().unwrap_or(start), place.end, diagnostic);
        }
    }
}

/// The beginning of the first access of a node to memory that it gets again by a later one.
fn first_alias(graph: &Graph<'_>, later: usize) -> Option<Span> {
    let accesses = &graph.draft.accesses;
    let later = &accesses[later];
    let first = accesses
        .iter()
        .position(|first| first.node == later.node && first.aliases(later))?;
    Some(graph.accesses[first].1)
}
