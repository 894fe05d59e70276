//! What the macro can decide itself: the rules of `graph-plan` over the draft, and whatever literals tell.

mod attribute;
mod bounds;
mod piece;
mod mention;
mod closure;
mod length;
mod shared;

use super::ast::{Action, Attributes, Extent, Launch, Part, Place, Shape};
use super::constant::value;
use super::resolve::{Graph, params};
use crate::report::{Report, error};
use crate::span::last_span;
use crate::text::plain;
use graph_plan::{Code, Diagnostic, LaunchConfig, LaunchFault, Outcome, Subject, Text};
use quote::ToTokens;
use syn::Expr;
use syn::spanned::Spanned;

/// Checks the graph and reports every mistake.
pub(crate) fn check(graph: &Graph<'_>, report: &mut Report) -> Outcome {
    let outcome = graph_plan::check(&graph.draft);
    for diagnostic in outcome.errors.iter().chain(&outcome.warnings) {
        if !(diagnostic.code.is_warning() && allowed(graph, diagnostic)) {
            place(graph, diagnostic, report);
        }
    }
    unused_params(graph, report);
    shared::shared(graph, report);
    mention::values(graph, report);
    for resource in &graph.resources {
        length::lengths(graph, resource, report);
    }
    bounds::bounds(graph, report);
    for node in &graph.nodes {
        closure::names(graph, node, report);
        attribute::attributes(graph, node, report);
        piece::pieces(node, report);
        match &node.action {
            Action::Kernel(launch) => launch_limits(launch, report),
            Action::Memcpy { from, to } => shapes(graph, from, to, report),
            _ => {}
        }
    }
    outcome
}

/// Params whose setters would do nothing.
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

/// Is the rule silenced at the statement it is about, or for the whole graph?
fn allowed(graph: &Graph<'_>, diagnostic: &Diagnostic) -> bool {
    let allows = |attributes: &Attributes| attributes.allow(diagnostic.code);
    let node = match diagnostic.subject {
        Subject::Resource(index) => {
            return allows(&graph.resources[index].attributes) || allows(&graph.item.attributes);
        }
        Subject::Node(index) => index,
        Subject::Edge(index) => graph.draft.edges[index].to,
        Subject::Access(index) => graph.draft.accesses[index].node,
    };
    graph.allows(node, diagnostic.code)
}

/// Reports a diagnostic of the draft at the tokens it is about.
fn place(graph: &Graph<'_>, diagnostic: &Diagnostic, report: &mut Report) {
    match diagnostic.subject {
        Subject::Resource(index) => report.push(graph.resources[index].name.span(), diagnostic),
        Subject::Node(index) => report.push(graph.nodes[index].name.span(), diagnostic),
        Subject::Edge(index) => report.push(graph.edges[index].span(), diagnostic),
        Subject::Access(index) => {
            let (place, start) = graph.accesses[index];
            report.push_between(start, place.end, diagnostic);
        }
    }
}

/// Literal launch dimensions against CUDA's limits, each side once.
fn launch_limits(launch: &Launch, report: &mut Report) {
    let one = [1; 3];
    let mut check = |tokens: &Expr, config: Result<LaunchConfig, LaunchFault>| {
        if let Err(fault) = config {
            let text = fault.describe(Text::new());
            let help = match fault {
                LaunchFault::TooLarge { dimension, .. } | LaunchFault::TooSmall { dimension, .. }
                    if dimension == "shared" =>
                {
                    "the third operand is dynamic shared memory in bytes"
                }
                LaunchFault::TooManyThreads { .. } => "use more blocks of fewer threads",
                LaunchFault::TooLarge { dimension, .. } if dimension.starts_with("block") => {
                    "use more blocks of fewer threads"
                }
                LaunchFault::TooLarge { .. } => {
                    "spread the work over the other dimensions, or over a loop in the kernel"
                }
                _ => "a launch is `<<<blocks, threads per block>>>`",
            };
            let diagnostic = error(Code::LaunchConfig, text.as_str()).help(help);
            report.push_between(tokens.span(), last_span(tokens), &diagnostic);
        }
    };
    check(&launch.grid.whole, LaunchConfig::new(literals(&launch.grid), one, 0));
    check(&launch.block.whole, LaunchConfig::new(one, literals(&launch.block), 0));
    if let Some(shared) = &launch.shared {
        check(shared, LaunchConfig::new(one, one, value(shared).unwrap_or(0)));
    }
}

/// The values of an extent; 1 where a part is no literal or missing.
fn literals(extent: &Extent) -> [i128; 3] {
    let mut values = [1; 3];
    for (value_slot, part) in values.iter_mut().zip(&extent.parts) {
        *value_slot = value(part).unwrap_or(1);
    }
    values
}

/// A copy between shapes that differ whatever the types are: rank or literal lengths of the same element type.
fn shapes(graph: &Graph<'_>, from: &Place, to: &Place, report: &mut Report) {
    let (Some(source), Some(destination)) = (selected(graph, from), selected(graph, to)) else {
        return;
    };
    let same_element =
        source.element.to_token_stream().to_string() == destination.element.to_token_stream().to_string();
    let ranks_differ = source.lengths.len() != destination.lengths.len();
    let lengths_differ = source
        .lengths
        .iter()
        .zip(&destination.lengths)
        .any(|(a, b)| matches!((a, b), (Some(a), Some(b)) if a != b));
    if !same_element || !(ranks_differ || lengths_differ) {
        return;
    }
    let message = format!(
        "a memcpy from `{}` to `{}` changes the shape",
        source.text, destination.text
    );
    let diagnostic = error(Code::ShapeMismatch, message)
        .note(format!(
            "`{}` is `{}`, `{}` is `{}`",
            from.name,
            written(graph, from),
            to.name,
            written(graph, to)
        ))
        .help("copy between resources of one shape, or between ranges of one length");
    report.push_between(from.name.span(), to.end, &diagnostic);
}

/// The shape of a place, as far as the text tells.
struct Selected<'a> {
    element: &'a syn::Type,
    /// `None` where a length is no literal.
    lengths: Vec<Option<i128>>,
    text: String,
}

fn selected<'a>(graph: &Graph<'a>, place: &Place) -> Option<Selected<'a>> {
    let shape: &Shape = &graph.resources[graph.resource(place)?].shape;
    let mut lengths: Vec<(Option<i128>, String)> = shape
        .lengths
        .iter()
        .map(|length| (value(length), plain(length)))
        .collect();
    let mut dimension = 0;
    for part in &place.parts {
        let (whole, _) = lengths.get(dimension)?;
        match part {
            Part::Index(_) => drop(lengths.remove(dimension)),
            Part::Range {
                start: None, end: None, ..
            } => dimension += 1,
            Part::Range { start, end, inclusive } => {
                let start = start.as_ref().map_or(Some(0), |start| value(start));
                let end = end
                    .as_ref()
                    .map_or(*whole, |end| value(end).map(|end| end + i128::from(*inclusive)));
                let length = start.zip(end).map(|(start, end)| end - start);
                lengths[dimension] = (
                    length,
                    length.map_or_else(|| "_".to_owned(), |length| length.to_string()),
                );
                dimension += 1;
            }
        }
    }
    let element = plain(&shape.element);
    let text = lengths
        .iter()
        .rev()
        .fold(element, |inner, (_, length)| format!("[{inner}; {length}]"));
    Some(Selected {
        element: &shape.element,
        lengths: lengths.into_iter().map(|(value, _)| value).collect(),
        text,
    })
}

fn written(graph: &Graph<'_>, place: &Place) -> String {
    graph.resource(place).map_or_else(String::new, |index| {
        let shape = &graph.resources[index].shape;
        shape.lengths.iter().rev().fold(plain(&shape.element), |inner, length| {
            format!("[{inner}; {}]", plain(length))
        })
    })
}
