//! The mistakes that `graph-plan` cannot see, as diagnostics: those about sizes, launches, names and places.

use crate::graph::shares::Share;
use crate::kernel::{KernelCall, KernelFacts, Launch, Value};
use crate::shape::place::Span;
use crate::shape::rectangle::Area;
use graph_plan::{Code, Diagnostic, Draft, LaunchConfig, Subject};
use graph_ptx::declaration::{Mistake, Rule};

/// The checked dimensions of a launch, or why they are wrong.
pub(crate) fn launch_mistake<const N: usize>(
    name: &str,
    node: usize,
    facts: &KernelFacts,
    launch: Launch,
    call: &KernelCall<N>,
) -> Result<LaunchConfig, Diagnostic> {
    let checked = facts
        .code()
        .check_launch(name, &launch.request(), &call.contract_arguments(), true);
    checked.map_err(|text| Diagnostic::parse(Subject::Node(node), text.as_str()))
}

/// What a kernel's declaration says and the PTX that its CUDA source was compiled to does not.
#[cold]
pub(crate) fn declaration(node: usize, name: &str, mistake: &Mistake) -> Diagnostic {
    let code = match mistake.rule {
        Rule::MissingKernel => Code::MissingKernel,
        Rule::Signature => Code::Signature,
        Rule::Access => Code::Access,
        Rule::NeedlessMut => Code::NeedlessMut,
    };
    let message = format!("node `{name}`: {}", mistake.message);
    let diagnostic = Diagnostic::new(code, Subject::Node(node), message);
    let diagnostic = mistake.notes.iter().fold(diagnostic, Diagnostic::note);
    Diagnostic {
        help: mistake.help.clone(),
        ..diagnostic
    }
}

/// A place of another graph.
#[cold]
pub(crate) fn foreign(node: usize, name: &str) -> Diagnostic {
    let message = format!("node `{name}` uses memory of another graph");
    Diagnostic::new(Code::UnknownResource, Subject::Node(node), message)
        .help("declare it in this graph, with `GraphBuilder::host` or `GraphBuilder::device`")
}

/// A place that an index or a range has led out of its memory.
#[cold]
pub(crate) fn outside(node: usize, name: &str, memory: &str, bytes: usize) -> Diagnostic {
    let message = format!("node `{name}` uses an index or range outside `{memory}`");
    Diagnostic::new(Code::OutOfBounds, Subject::Node(node), message).note(format!("`{memory}` has {bytes} bytes"))
}

/// A copy between different lengths.
#[cold]
pub(crate) fn mismatch(draft: &Draft, node: usize, from: Span, to: Span) -> Diagnostic {
    let name = |span: Span| &draft.resources[span.resource].name;
    let message = format!(
        "node `{}` copies {} bytes of `{}` to {} bytes of `{}`",
        draft.nodes[node].name,
        from.bytes,
        name(from),
        to.bytes,
        name(to)
    );
    Diagnostic::new(Code::ShapeMismatch, Subject::Node(node), message).help("copy between places of one length")
}

/// A copy between different numbers of rows, or of bytes in each.
#[cold]
pub(crate) fn other_rectangle(draft: &Draft, node: usize, from: Area, to: Area) -> Diagnostic {
    let side = |area: Area| {
        let name = &draft.resources[area.span.resource].name;
        format!("{} rows of {} bytes of `{name}`", area.rows(), area.width)
    };
    let name = &draft.nodes[node].name;
    let message = format!("node `{name}` copies {} to {}", side(from), side(to));
    Diagnostic::new(Code::ShapeMismatch, Subject::Node(node), message).help("copy between places of one shape")
}

/// A node that writes memory which is shared to be read.
#[cold]
pub(crate) fn read_only(node: usize, name: &str, memory: &str) -> Diagnostic {
    let message = format!("node `{name}` writes `{memory}`, which is shared without `mut`");
    Diagnostic::new(Code::Access, Subject::Node(node), message).help(format!("share `{memory}` as `mut`"))
}

/// Memory that a graph shares under two names.
#[cold]
pub(crate) fn overlap(draft: &Draft, first: &Share, second: &Share, bytes: u64) -> Diagnostic {
    let name = |share: &Share| &draft.resources[share.resource].name;
    let written = if first.write { first } else { second };
    let message = format!(
        "`{}` and `{}` are shared memory that overlaps, and the graph writes `{}`",
        name(first),
        name(second),
        name(written)
    );
    Diagnostic::new(Code::AliasedArgument, Subject::Resource(second.resource), message)
        .note(format!("{bytes} bytes belong to both"))
        .help("share memory that does not overlap, or use one name for both")
}

/// Shared memory of another length, in `units`, than asked for.
#[cold]
pub(crate) fn wrong_length(resource: usize, name: &str, has: usize, expected: usize, units: &str) -> Diagnostic {
    let message = format!("`{name}` has {expected} {units}, but the memory shared as `{name}` has {has}");
    Diagnostic::new(Code::ShapeMismatch, Subject::Resource(resource), message)
}

/// A node that does not exist, before or after another.
#[cold]
pub(crate) fn unknown_node(draft: &Draft, from: usize, to: usize) -> Diagnostic {
    let nodes = draft.nodes.len();
    let message = match draft.nodes.get(to) {
        Some(node) => format!("node `{}` runs after node {from}, which does not exist", node.name),
        None => format!("node {to}, which does not exist, runs after node {from}"),
    };
    Diagnostic::new(Code::UnknownNode, Subject::Node(to.min(nodes)), message).note(format!("there are {nodes} nodes"))
}

/// Have the two values one length?
pub(crate) fn same_length(a: &Value, b: &Value) -> bool {
    a.bytes().len() == b.bytes().len()
}
