//! The accesses of nodes to memory.

use super::{Entity, Graph, communicators, order, rng, scalar};
use crate::graph::ast::{Action, Argument, CallParameter, Child, Launch, Move, Name, Node, Part, Place, Range};
use crate::graph::constant::mentions;
use crate::report::{Report, error};
use crate::span::line;
use graph_plan::{Affine, Bound, Code, Diagnostic, Memory, Mode, NodeKind, Region};
use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::{Expr, Path};

/// Enters the accesses of a node into the draft.
pub(super) fn accesses<'a>(graph: &mut Graph<'a>, index: usize, node: &'a Node, report: &mut Report) {
    match &node.action {
        Action::Kernel(launch) => {
            launched_value(graph, launch, report);
            graph.draft.nodes[index].opaque = launch.unsafety.is_some();
            for (param, argument) in launch.arguments.iter().enumerate() {
                let entered = argument_access(graph, index, argument, report);
                if let (Some(access), Some(path)) = (entered, launch.path()) {
                    graph.updates.push(access, index, param, path, param.to_string());
                }
            }
        }
        Action::Memcpy { from, to } => {
            access(graph, index, from, from.name.span(), Mode::Read, report);
            access(graph, index, to, to.name.span(), Mode::Write, report);
        }
        Action::Memset { to, .. } => access(graph, index, to, to.name.span(), Mode::Write, report),
        Action::Call(call) => {
            for CallParameter { and, mutable, place } in &call.parameters {
                borrow(graph, index, place, and.span, mutable.is_some(), report);
            }
        }
        Action::Library(library) => {
            graph.draft.nodes[index].opaque = true;
            for argument in &library.arguments {
                argument_access(graph, index, argument, report);
            }
        }
        Action::Graph(child) => child_accesses(graph, index, child, report),
        Action::Conditional(conditional) => {
            let flag = &conditional.condition;
            access(graph, index, flag, flag.name.span(), Mode::Read, report);
        }
        Action::Collective(collective) => {
            for Move { place, mode, .. } in &collective.moves {
                access(graph, index, place, place.name.span(), *mode, report);
            }
            communicators::over(graph, index, &collective.communicator, report);
        }
        Action::Join | Action::Event(_) => {}
    }
    graph.draft.nodes[index].rank_dependent = communicators::takes_values(graph, node);
}

/// Enters the accesses of a child. The accesses of its own nodes to its own memory are not known here.
fn child_accesses<'a>(graph: &mut Graph<'a>, node: usize, child: &'a Child, report: &mut Report) {
    graph.draft.nodes[node].opaque = true;
    for (index, binding) in child.bindings.iter().enumerate() {
        let name = &binding.name;
        if child.bindings[..index].iter().any(|other| other.name == *name) {
            let message = format!("node `{}` binds `{name}` twice", graph.nodes[node].name);
            report.push(
                name.span(),
                &error(Code::Signature, message).help("remove one of the two"),
            );
        }
        if let Some(access) = argument_access(graph, node, &binding.argument, report) {
            graph.updates.push(access, node, index, &child.path, name.to_string());
        }
    }
}

/// Enters a node's access to a place as `&` or `&mut`.
fn borrow<'a>(graph: &mut Graph<'a>, node: usize, place: &'a Place, start: Span, mutable: bool, report: &mut Report) {
    let mode = if mutable { Mode::ReadWrite } else { Mode::Read };
    access(graph, node, place, start, mode, report);
}

/// Enters the access of an argument. Returns its index if it is written `&x`.
fn argument_access<'a>(
    graph: &mut Graph<'a>,
    node: usize,
    argument: &'a Argument,
    report: &mut Report,
) -> Option<usize> {
    match argument {
        Argument::Borrow { place, .. } if communicators::is_passed(graph, node, place) => None,
        Argument::Borrow { and, mutable, place } => {
            let next = graph.accesses.len();
            borrow(graph, node, place, and.span, mutable.is_some(), report);
            let entered = graph
                .draft
                .accesses
                .get(next)
                .filter(|access| access.mode == Mode::Read);
            entered.map(|_| next)
        }
        Argument::Value(value) => {
            communicators::passed_by_value(graph, node, value);
            if let Some(name) = resource_by_value(graph, value) {
                let user = match graph.draft.nodes[node].kind {
                    NodeKind::Kernel => "kernel",
                    _ => "node",
                };
                let random = graph
                    .resource_of(name)
                    .is_some_and(|resource| resource.random.is_some());
                let help = match random {
                    true => format!("borrow it: `&{name}`"),
                    false => format!("borrow it: `&{name}` if the {user} only reads it, `&mut {name}` if it writes"),
                };
                let diagnostic = error(Code::Syntax, format!("resource `{name}` is passed by value")).help(help);
                report.push(name.span(), &diagnostic);
            }
            None
        }
    }
}

/// The resource that a by-value argument is, if it is only a name.
fn resource_by_value<'e>(graph: &Graph<'_>, value: &'e Expr) -> Option<&'e Ident> {
    let Expr::Path(path) = value else { return None };
    let name = path.path.get_ident()?;
    matches!(graph.entity(name), Some(Entity::Resource(_))).then_some(name)
}

/// Enters a node's access to a place, or reports why there is none.
fn access<'a>(graph: &mut Graph<'a>, node: usize, place: &'a Place, start: Span, mode: Mode, report: &mut Report) {
    let name = &place.name;
    let (message, help) = match graph.entity(name) {
        Some(Entity::Resource(resource)) => {
            if let Some(mistake) = rng::misuse(graph, node, place, resource, mode) {
                report.push_between(start, place.end, &mistake);
                return;
            }
            fixed(graph, node, place, report);
            let region = region(graph, node, place);
            let mode = mapped(graph, node, resource, mode);
            let access = graph.draft.access(node, resource, region, mode);
            graph.draft.accesses[access].line = line(name.span()).and_then(|line| u32::try_from(line).ok());
            graph.accesses.push((place, start));
            return;
        }
        Some(Entity::Broken) => return,
        Some(Entity::Node(_)) => (
            format!("`{name}` is a node, not a resource"),
            "name the resource that it writes".to_owned(),
        ),
        Some(Entity::Value(_)) => (
            format!("`{name}` is a plain value, not a resource"),
            format!("values are passed without `&`; shared memory is declared as `{name}: device [f32; 1024]`"),
        ),
        Some(Entity::Param(_)) => (
            format!("`{name}` is a `param`, not a resource"),
            match graph.draft.nodes[node].kind {
                kind if kind.is_conditional() => {
                    format!("set device memory to it, `memset set = ... <- {name}`, and let that be the condition")
                }
                NodeKind::Call => "keep the value in host memory instead, and borrow that".to_owned(),
                _ => format!("params are passed by value: `{name}` without `&`"),
            },
        ),
        Some(Entity::Group(group)) => (
            format!("`{name}` is a group of memory, of which a node takes one field"),
            match graph.groups[group].fields.first().and_then(|field| field.name.path()) {
                Some((argument, field)) => format!("name a field, as in `{argument}[i].{field}`"),
                None => "name a field".to_owned(),
            },
        ),
        Some(Entity::Variable) => (
            format!(
                "`{name}` is the variable of {}, not a resource",
                variable_of(graph, name)
            ),
            format!("it is passed by value: `{name} as u32` without `&`"),
        ),
        None if name.path().is_some() => {
            if let Some(mistake) = unknown_field(graph, name) {
                report.push_between(name.span(), place.end, &mistake);
            }
            return;
        }
        None => {
            let resources = graph.resources.iter().map(|resource| resource.name.to_string());
            let unknown = error(Code::UnknownResource, format!("no resource is named `{name}`"));
            report.push(
                name.span(),
                &order::suggest(unknown, name, &resources.collect::<Vec<_>>()),
            );
            return;
        }
    };
    report.push(name.span(), &error(Code::UnknownResource, message).help(help));
}

/// The mistake of a field that is none; `None` if another mistake explains it.
fn unknown_field(graph: &Graph<'_>, name: &Name) -> Option<Diagnostic> {
    let (argument, field) = name.path()?;
    let unknown = |message: String| error(Code::UnknownResource, message);
    let declare = format!(
        "declare `group Layer {{ {field}: device [f32; 64] }}` beside the graph, and `{argument}: [Layer; n]` as its argument"
    );
    Some(match graph.entity(argument) {
        Some(Entity::Broken) => return None,
        Some(Entity::Group(group)) => {
            let group = graph.groups[group];
            let fields = group.fields.iter().filter_map(|field| field.name.path());
            let fields: Vec<String> = fields.map(|(_, field)| field.to_string()).collect();
            let message = format!("the group `{}` has no field `{field}`", group.group);
            order::suggest(unknown(message), field, &fields)
        }
        Some(Entity::Value(_)) => unknown(format!(
            "`{argument}` is a plain value, and no group of memory, so it has no field `{field}`"
        ))
        .help(declare),
        Some(_) => unknown(format!(
            "`{argument}` is no group of memory, so it has no field `{field}`"
        ))
        .help(declare),
        None if graph.is_expression() => unknown(format!("no group is named `{argument}`"))
            .note("groups are arguments of graphs that are items; an expression moves whole buffers")
            .help(format!(
                "name the buffer by a local of its own, or declare `graph Name({argument}: [Layer; n]) {{ .. }}`"
            )),
        None => unknown(format!("no group is named `{argument}`")).help(declare),
    })
}

/// The mode of an access that is written as one of this mode: kernels and children access mapped memory as such.
fn mapped(graph: &Graph<'_>, node: usize, resource: usize, mode: Mode) -> Mode {
    let takes = matches!(graph.draft.nodes[node].kind, NodeKind::Kernel | NodeKind::Graph);
    let is_mapped = graph.draft.resources[resource].memory == Memory::Mapped;
    if is_mapped && takes && mode == Mode::Read {
        Mode::Mapped
    } else {
        mode
    }
}

/// The loop that a name is the variable of, for messages.
fn variable_of(graph: &Graph<'_>, name: &Ident) -> &'static str {
    let own = graph.loops.iter().find(|for_loop| for_loop.variable() == name);
    match own.is_some_and(|for_loop| for_loop.statement.parallel) {
        true => "an `each`",
        false => "a `for`",
    }
}

/// Marks nodes that copy or set a range that params choose. Reports all other params in indices and ranges: places are
/// fixed when the graph is built.
fn fixed(graph: &mut Graph<'_>, node: usize, place: &Place, report: &mut Report) {
    let params = graph.param_names();
    if !mentions(scalar::bounds(place), &params) {
        return;
    }
    let is_index = |part: &Part| matches!(part, Part::Index(index) if mentions(index.to_token_stream(), &params));
    let of_index = place.parts.iter().any(is_index);
    let node = &mut graph.draft.nodes[node];
    let may_be_partial = matches!(node.kind, NodeKind::Memcpy | NodeKind::Memset);
    if may_be_partial && !of_index {
        node.partial = true;
        return;
    }
    let message = format!("a `param` selects a part of `{}`", place.name);
    let diagnostic = error(Code::Syntax, message)
        .note("the memory a node touches is fixed when the graph is built; params change between launches")
        .help(match (of_index, may_be_partial) {
            (true, true) => "use a literal, a constant or a const generic; or a range, whose ends may be params here",
            (true, false) => "use a literal, a constant or a const generic",
            (false, _) => {
                "use a literal, a constant or a const generic; only copies and memsets take the range of a `param`"
            }
        });
    report.push_between(place.name.span(), place.end, &diagnostic);
}

/// Reports a value that is launched as if it were a declared kernel.
fn launched_value(graph: &Graph<'_>, launch: &Launch, report: &mut Report) {
    if let Some(name) = launch.path().and_then(Path::get_ident)
        && graph.is_function_value(name)
    {
        let diagnostic = error(Code::Syntax, format!("`{name}` is a value, no declared kernel"));
        let help = format!("launch it as `unsafe ({name})<<<grid, block>>>(arguments)`");
        report.push(name.span(), &diagnostic.help(help));
    }
}

/// The part of the resource that a place is, as far as the text tells.
fn region(graph: &Graph<'_>, node: usize, place: &Place) -> Region {
    match &place.parts[..] {
        [] => Region::Whole,
        [part] => selected(graph, node, part),
        [part, inner, ..] => Region::Parts(Box::new([part, inner].map(|part| selected(graph, node, part)))),
    }
}

/// The region that a part selects from its dimension.
fn selected(graph: &Graph<'_>, node: usize, part: &Part) -> Region {
    let bound = |expr: &Expr| graph.bound(node, expr);
    match part {
        Part::Index(index) => Region::Index(bound(index)),
        Part::Range(range) if range.is_full() => Region::Whole,
        Part::Range(Range { start, end, inclusive }) => {
            let start = start.as_ref().map_or(Bound::Known(0), |start| bound(start));
            let end = match end.as_ref().map_or(Bound::End, |end| bound(end)) {
                Bound::Known(last) if *inclusive => Bound::Known(last.saturating_add(1)),
                Bound::Affine(last) if *inclusive => {
                    let end = Affine::literal(1).and_then(|one| one.plus(&last));
                    end.map_or(Bound::Unknown, |end| Bound::Affine(Box::new(end)))
                }
                Bound::Symbol(_) | Bound::Iteration(..) if *inclusive => Bound::Unknown,
                end => end,
            };
            Region::Range(start, end)
        }
    }
}
