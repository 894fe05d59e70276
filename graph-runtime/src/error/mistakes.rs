//! Diagnostics of the mistakes that `graph-plan` cannot see: about sizes, launches, names and places.

use graph_plan::{Code, Diagnostic, Draft, Edge, Subject, nearest};
use graph_ptx::declaration::{Mistake, Rule};

/// The differences between a kernel's declaration, or a call of it, and its PTX.
#[cold]
pub(crate) fn declarations(node: usize, name: &str, mistakes: &[Mistake]) -> Vec<Diagnostic> {
    let mistakes = mistakes.iter();
    mistakes.map(|mistake| declaration(node, name, mistake)).collect()
}

fn declaration(node: usize, name: &str, mistake: &Mistake) -> Diagnostic {
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

/// Memory that cannot be the texture or the surface that a kernel takes.
#[cold]
pub(crate) fn texels(node: usize, name: &str, memory: &str, misfit: &str) -> Diagnostic {
    let message = format!("node `{name}` takes `{memory}` as texels, but that memory {misfit}");
    Diagnostic::new(Code::Contract, Subject::Node(node), message)
}

/// Memory that begins where a kernel cannot access several elements at once.
#[cold]
pub(crate) fn misaligned(node: usize, name: &str, kernel: &str, memory: &str, bytes: u32) -> Diagnostic {
    let message = format!(
        "node `{name}` passes memory of `{memory}` from an address on that is no multiple of {bytes}, but the kernel \
         `{kernel}` accesses {bytes} bytes of it at once"
    );
    Diagnostic::new(Code::Contract, Subject::Node(node), message)
        .note("on a GPU such an access is a fault, and the proof of the kernel assumes that there is none")
        .help(format!(
            "pass `{memory}` from its beginning, or a part of it that begins at a multiple of {bytes} bytes"
        ))
}

/// An array whose address a kernel takes.
#[cold]
pub(crate) fn no_address(node: usize, name: &str, memory: &str) -> Diagnostic {
    let message = format!("node `{name}` takes the address of `{memory}`, which is an array");
    Diagnostic::new(Code::WrongMemory, Subject::Node(node), message)
        .note("an array has no address: kernels take it as `Texel`s and `Surfel`s")
        .help(format!("copy `{memory}` to `device` memory, and pass that"))
}

/// The reason why mistakes of arrays are about kernels.
const TEXELS: &str =
    "the parameters of the kernels say the type of an array's texels, the lengths of its rows, and its layers";

/// Two kernels that take an array as different texels.
#[cold]
pub(crate) fn other_texels(resource: usize, memory: &str, [one, other]: [&str; 2]) -> Diagnostic {
    let message = format!("nodes `{one}` and `{other}` take the array `{memory}` as different texels");
    Diagnostic::new(Code::WrongMemory, Subject::Resource(resource), message)
        .note(TEXELS)
        .help("declare both parameters with the same type of texels in the same dimensions")
}

/// A copy between two arrays that kernels take as different texels.
#[cold]
pub(crate) fn copied_texels(node: usize, name: &str, [from, to]: [&str; 2]) -> Diagnostic {
    let message = format!("node `{name}` copies the array `{from}` to `{to}`, whose texels are others");
    Diagnostic::new(Code::WrongMemory, Subject::Node(node), message)
        .note(TEXELS)
        .help("declare both parameters with the same type of texels in the same dimensions, or copy to `device` memory first")
}

/// An array that no kernel takes.
#[cold]
pub(crate) fn no_texels(resource: usize, memory: &str) -> Diagnostic {
    let message = format!("no kernel takes the array `{memory}`");
    Diagnostic::new(Code::WrongMemory, Subject::Resource(resource), message)
        .note(TEXELS)
        .help(format!("declare it as memory with addresses: `device {memory}: ..;`"))
}

/// A place of another graph.
#[cold]
pub(crate) fn foreign(node: usize, name: &str) -> Diagnostic {
    let message = format!("node `{name}` uses memory of another graph");
    Diagnostic::new(Code::UnknownResource, Subject::Node(node), message)
        .help("declare it in this graph, with `GraphBuilder::host` or `GraphBuilder::device`")
}

/// A place that reaches outside its memory, because of an index or a range.
#[cold]
pub(crate) fn outside(node: usize, name: &str, memory: &str, bytes: usize) -> Diagnostic {
    let message = format!("node `{name}` uses an index or range outside `{memory}`");
    Diagnostic::new(Code::OutOfBounds, Subject::Node(node), message).note(format!("`{memory}` has {bytes} bytes"))
}

/// A part of memory that is not in the memory that it is chosen from.
#[cold]
pub(crate) fn beyond(node: usize, name: &str, memory: &str) -> Diagnostic {
    let message = format!("node `{name}` uses a part of `{memory}` outside the memory that updates choose from");
    Diagnostic::new(Code::OutOfBounds, Subject::Node(node), message)
        .help("declare the node within all of the memory that it may touch")
}

/// A range that leaves memory of `len` elements.
#[cold]
pub(crate) fn outside_range(node: usize, name: &str, memory: &str, range: (usize, usize), len: usize) -> Diagnostic {
    let (start, end) = range;
    let plural = if len == 1 { "" } else { "s" };
    let message =
        format!("node `{name}`: range {start}..{end} is out of bounds of `{memory}`, which has {len} element{plural}");
    Diagnostic::new(Code::OutOfBounds, Subject::Node(node), message).help(format!("use a range within 0..{len}"))
}

/// A node that writes memory which is shared without `mut`.
#[cold]
pub(crate) fn read_only(node: usize, name: &str, memory: &str) -> Diagnostic {
    let message = format!("node `{name}` writes `{memory}`, which is shared without `mut`");
    Diagnostic::new(Code::Access, Subject::Node(node), message).help(format!(
        "share `{memory}` as `mut`: `true` as the last argument of `GraphBuilder::shared`, or `#[places(mut)]` on its field"
    ))
}

/// A condition in shared memory that overlaps other memory which the graph writes.
#[cold]
pub(crate) fn view_of_condition(draft: &Draft, node: usize, resource: usize) -> Diagnostic {
    let (node, memory) = (&draft.nodes[node].name, &draft.resources[resource].name);
    let message = format!(
        "`{memory}`, the condition of node `{node}`, is shared memory that overlaps other memory, and the graph writes \
         some of it"
    );
    Diagnostic::new(Code::AliasedArgument, Subject::Resource(resource), message)
        .help("share the condition apart from other memory, or use one name for both")
}

/// An early start of a kernel that gets shared memory which overlaps other memory that the graph writes.
#[cold]
pub(crate) fn view_of_early_kernel(draft: &Draft, edge: Edge, resource: usize) -> Diagnostic {
    let memory = &draft.resources[resource].name;
    let [from, to] = [edge.from, edge.to].map(|node| &draft.nodes[node].name);
    let message = format!(
        "node `{to}` may start before `{from}` has ended, and `{memory}` is shared memory that overlaps other memory, of \
         which the graph writes some"
    );
    Diagnostic::new(Code::AliasedArgument, Subject::Resource(resource), message)
        .help(format!("write `after {from}`, or share memory that does not overlap"))
}

/// Shared memory of another length than the graph declares, both in `units`.
#[cold]
pub(crate) fn wrong_length(resource: usize, name: &str, has: usize, expected: usize, units: &str) -> Diagnostic {
    let message = format!("`{name}` has {expected} {units}, but the memory shared as `{name}` has {has}");
    Diagnostic::new(Code::ShapeMismatch, Subject::Resource(resource), message)
}

/// Memory of other lengths, in words, than it was declared with.
#[cold]
pub(crate) fn wrong_lengths(resource: usize, name: &str, has: &str, expected: &str) -> Diagnostic {
    let message = format!("`{name}` has lengths {expected}, but the memory shared as `{name}` has {has}");
    Diagnostic::new(Code::ShapeMismatch, Subject::Resource(resource), message)
}

/// An edge from or to a node that does not exist.
#[cold]
pub(crate) fn unknown_node(draft: &Draft, from: usize, to: usize) -> Diagnostic {
    let nodes = draft.nodes.len();
    let message = match draft.nodes.get(to) {
        Some(node) => format!("node `{}` runs after node {from}, which does not exist", node.name),
        None => format!("node {to}, which does not exist, runs after node {from}"),
    };
    Diagnostic::new(Code::UnknownNode, Subject::Node(to.min(nodes)), message).note(format!("there are {nodes} nodes"))
}

/// A name that no node has.
#[cold]
pub(crate) fn no_node(draft: &Draft, name: &str) -> Diagnostic {
    let message = format!("no node is named `{name}`");
    let diagnostic = Diagnostic::new(Code::UnknownNode, Subject::Node(draft.nodes.len()), message);
    match nearest(name, draft.nodes.iter().map(|node| &*node.name)) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.note("`plan()` of the graph lists its nodes"),
    }
}

/// A param of another graph, which a node is given, or which is to be set.
#[cold]
pub(crate) fn foreign_param(node: usize, name: Option<&str>, param: &str) -> Diagnostic {
    let message = match name {
        Some(name) => format!("node `{name}` is given `{param}`, which is a param of another graph"),
        None => format!("`{param}` is a param of another graph"),
    };
    Diagnostic::new(Code::UnknownResource, Subject::Node(node), message)
        .help("pass what this graph's own builder has returned")
}

/// A name that no param has. `nodes` is the number of nodes.
#[cold]
pub(crate) fn no_param<'a>(nodes: usize, name: &str, mut names: impl Iterator<Item = &'a str> + Clone) -> Diagnostic {
    let message = format!("no param is named `{name}`");
    let diagnostic = Diagnostic::new(Code::UnknownResource, Subject::Node(nodes), message);
    match (nearest(name, names.clone()), names.next()) {
        (Some(near), _) => diagnostic.help(format!("did you mean `{near}`?")),
        (None, None) => diagnostic.note("the graph has no params; `GraphBuilder::param` declares one"),
        (None, Some(first)) => {
            diagnostic.note(names.fold(format!("it has `{first}`"), |all, name| format!("{all}, `{name}`")))
        }
    }
}

/// A value of another type than the param's. The types are the param's and the value's.
#[cold]
pub(crate) fn param_type(nodes: usize, name: &str, [param, value]: [&str; 2]) -> Diagnostic {
    let message = format!("the values of `{name}` are `{param}`, not `{value}`");
    Diagnostic::new(Code::Signature, Subject::Node(nodes), message)
}

/// Two params of one name.
#[cold]
pub(crate) fn same_param(draft: &Draft, name: &str) -> Diagnostic {
    let message = format!("two params are named `{name}`");
    Diagnostic::new(Code::DuplicateName, Subject::Node(draft.nodes.len()), message).help("rename one of them")
}

/// An edge from or to a node of another graph. Nodes of the graph itself are given by their indices; `words` are those
/// for the others, if they are known.
#[cold]
pub(crate) fn foreign_node(draft: &Draft, from: Option<usize>, to: Option<usize>, words: &[String]) -> Diagnostic {
    let name = |node: Option<usize>| match node.map(|node| draft.nodes.get(node).ok_or(node)) {
        Some(Ok(node)) => format!("node `{}`", node.name),
        Some(Err(index)) => format!("node {index}"),
        None => "a node of another graph".to_owned(),
    };
    let subject = Subject::Node(to.or(from).unwrap_or(usize::MAX).min(draft.nodes.len()));
    let message = format!("{} runs after {}", name(to), name(from));
    let diagnostic = Diagnostic::new(Code::UnknownNode, subject, message);
    let diagnostic = match words {
        [] => diagnostic,
        words => diagnostic.note(format!("that is {}", words.join(" and "))),
    };
    diagnostic
        .note("every graph has its own nodes: the ids that its builder returns")
        .help("order nodes of different graphs by events, or by memory that they share")
}

/// A node that runs after another iteration of `before`, which is not a node of the current iteration of `loops` loops.
#[cold]
pub(crate) fn other_iteration(draft: &Draft, node: usize, before: usize, loops: usize) -> Diagnostic {
    let name = |node: usize| {
        draft
            .nodes
            .get(node)
            .map_or_else(|| node.to_string(), |node| format!("`{}`", node.name))
    };
    let (s, before) = (if loops == 1 { "" } else { "s" }, name(before));
    let message = format!(
        "node {} runs after another iteration of {before}, given by {loops} number{s}, but {before} is no node of the current iteration of {loops} loop{s}",
        name(node)
    );
    Diagnostic::new(Code::UnknownNode, Subject::Node(node.min(draft.nodes.len())), message)
        .help("in the closure of `each`, name a node that it has just added, with a number for each loop around it")
}

/// A copy between different lengths. Each side is a resource and the number of its bytes that are copied.
#[cold]
pub(crate) fn other_length(draft: &Draft, node: usize, from: (usize, usize), to: (usize, usize)) -> Diagnostic {
    let side = |(resource, bytes): (usize, usize)| format!("{bytes} bytes of `{}`", draft.resources[resource].name);
    let name = &draft.nodes[node].name;
    let message = format!("node `{name}` copies {} to {}", side(from), side(to));
    Diagnostic::new(Code::ShapeMismatch, Subject::Node(node), message).help("copy between places of one length")
}

/// A rank that a collective names, and that its communicator does not have.
#[cold]
pub(crate) fn no_rank(node: usize, name: &str, rank: usize, ranks: usize) -> Diagnostic {
    let message = format!("node `{name}` names rank {rank}, but its communicator has {ranks}");
    Diagnostic::new(Code::OutOfBounds, Subject::Node(node), message)
        .help(format!("name a rank from 0 to {}", ranks.saturating_sub(1)))
}

/// A whole that does not have one part for each rank. Each side is a name and a number of bytes.
#[cold]
pub(crate) fn other_ranks(
    node: usize,
    name: &str,
    (part, bytes): (&str, usize),
    (whole, all): (&str, usize),
    ranks: usize,
) -> Diagnostic {
    let message = format!(
        "node `{name}`: `{whole}` has {all} bytes, but {ranks} ranks with {bytes} bytes of `{part}` each have {}",
        bytes.saturating_mul(ranks)
    );
    Diagnostic::new(Code::ShapeMismatch, Subject::Node(node), message).help(format!(
        "give `{whole}` one row for each rank, of the shape of `{part}`"
    ))
}

/// A copy between places of different lengths. Both sides are given as a resource and its lengths, in words.
#[cold]
pub(crate) fn other_lengths(draft: &Draft, node: usize, from: (usize, &str), to: (usize, &str)) -> Diagnostic {
    let (source, destination) = (&draft.resources[from.0].name, &draft.resources[to.0].name);
    let name = &draft.nodes[node].name;
    let message = format!(
        "node `{name}` copies {} elements of `{source}` to {} of `{destination}`",
        from.1, to.1
    );
    Diagnostic::new(Code::ShapeMismatch, Subject::Node(node), message).help("copy between places of one shape")
}

/// A copy between rectangles of different shapes. Each side is a resource, the number of rows, and the bytes of a row.
#[cold]
pub(crate) fn other_shape(draft: &Draft, node: usize, from: [usize; 3], to: [usize; 3]) -> Diagnostic {
    let side = |[resource, rows, width]: [usize; 3]| {
        format!("{rows} rows of {width} bytes of `{}`", draft.resources[resource].name)
    };
    let name = &draft.nodes[node].name;
    let message = format!("node `{name}` copies {} to {}", side(from), side(to));
    Diagnostic::new(Code::ShapeMismatch, Subject::Node(node), message).help("copy between places of one shape")
}
