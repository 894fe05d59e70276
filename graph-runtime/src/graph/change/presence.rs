//! Optional memory: arguments of kernels that were null pointers and become memory, or the other way round. The graph
//! then has other accesses, so that its rules are checked again, with the nodes and edges that it has.

use crate::error::{Error, Result, Site, mistakes};
use crate::graph::change::batch::Change;
use crate::graph::change::rebind_checks::mistakes_of_views;
use crate::graph::{Graph, GraphData};
use crate::ownership::shared_resources::SharedResources;
use crate::program::{Argument, Conditional, Program};
use crate::shape::part::Layout;
use graph_plan::{Access, Draft, Region};

/// The draft of a graph with the accesses that it has after changes of nodes; `None` if they stay.
pub(super) fn draft_after(data: &GraphData, work: &[Change]) -> Option<Draft> {
    let mut changed = None;
    for (change, before) in changes(&data.program, work) {
        let draft = changed.get_or_insert_with(|| data.draft.clone());
        replace(draft, change, before, &data.layouts);
    }
    changed
}

/// The changes by which memory takes the place of null pointers, or these the place of memory, each with the arguments
/// of the node before.
fn changes<'a>(program: &'a Program, work: &'a [Change]) -> impl Iterator<Item = (&'a Change, &'a [Argument])> {
    work.iter().filter_map(|change| {
        let before = program.arguments(program.ops[change.node].kernel()?);
        change.work.kernel()?;
        changed(before, change).next().map(|_| (change, before))
    })
}

/// The arguments of which only the one before or the one after is memory: that one.
fn changed<'a>(before: &'a [Argument], change: &'a Change) -> impl Iterator<Item = (&'a Argument, &'a Argument)> {
    let pairs = before.iter().zip(&change.arguments);
    pairs.filter(|(before, after)| before.memory().is_some() != after.memory().is_some())
}

/// Replaces the accesses of a node by those that it has after a change.
fn replace(draft: &mut Draft, change: &Change, before: &[Argument], layouts: &[Option<Layout>]) {
    let node = change.node;
    let accesses = &draft.accesses;
    let start = accesses.iter().position(|access| access.node == node);
    let start = start.unwrap_or_else(|| {
        let next = accesses.iter().position(|access| access.node > node);
        next.unwrap_or(accesses.len())
    });
    let own = accesses[start..].iter().take_while(|access| access.node == node);
    let own: Vec<Access> = own.cloned().collect();
    let end = start + own.len();
    // A node's first accesses are those of its arguments, in their order.
    let mut own = own.into_iter();
    let mut new = Vec::new();
    for (before, after) in before.iter().zip(&change.arguments) {
        let known = before.memory().and_then(|_| own.next());
        let Argument::Buffer {
            resource,
            mode,
            start,
            bytes,
        } = *after
        else {
            continue;
        };
        let resource = resource as usize;
        let is_whole = start == 0 && bytes > 0 && layouts[resource].is_some_and(|layout| layout.bytes == bytes);
        new.push(known.unwrap_or_else(|| Access {
            node,
            resource,
            region: if is_whole {
                Region::Whole
            } else {
                Region::span(start as u64, (start + bytes) as u64)
            },
            mode,
            by_name: false,
            line: None,
        }));
    }
    new.extend(own);
    draft.accesses.splice(start..end, new);
}

/// Checks a graph with the accesses in `draft` and the memory in `shared`, which it has after changes. `enabled` are
/// nodes that the same changes enable or disable.
pub(super) fn check(
    graph: &Graph,
    draft: &mut Draft,
    work: &[Change],
    shared: &SharedResources,
    enabled: &[(usize, bool)],
) -> Result<()> {
    let data = &graph.data;
    let mut program = data.program.clone();
    for (change, before) in changes(&data.program, work) {
        let site = || Site::graph(&draft.name).at_node(&draft.nodes[change.node].name);
        for (before, after) in changed(before, change) {
            if is_condition(&data.program, before.memory().or(after.memory())) {
                let message = "an update can neither give a node the condition of a body, nor take it away";
                let site = site();
                return Err(Error::Unsupported { site, message });
            }
            check_shared(graph, draft, shared, change.node, after)?;
        }
        if let Some(kernel) = data.program.ops[change.node].kernel() {
            let range = kernel.arguments.start as usize..kernel.arguments.end as usize;
            program.arguments[range].clone_from_slice(&change.arguments);
        }
    }
    let views = shared.views(&graph.device_used().backend);
    let diagnostics = mistakes_of_views(draft, &program, &views);
    if !diagnostics.is_empty() {
        return Err(Error::Invalid {
            graph: draft.name.as_ref().into(),
            diagnostics,
        });
    }
    let is_scratch = |argument: &Argument| argument.memory().is_some_and(|resource| draft.is_scratch(resource));
    let mut changes = changes(&data.program, work);
    let scratch = changes.find(|(change, before)| {
        changed(before, change).any(|(before, after)| is_scratch(before) || is_scratch(after))
    });
    let Some((change, _)) = scratch else {
        return Ok(());
    };
    let runs = |node: usize| {
        let found = enabled.iter().find(|(changed, _)| *changed == node);
        found.map_or(program.enabled[node], |(_, enabled)| *enabled)
    };
    match data.arena.fault(draft, &data.layouts, &program, runs) {
        Some(message) => Err(Error::Unsupported {
            site: Site::graph(&draft.name).at_node(&draft.nodes[change.node].name),
            message,
        }),
        None => Ok(()),
    }
}

/// Whether memory is the condition of a body. The forms of bodies were chosen by the nodes that write their conditions.
fn is_condition(program: &Program, memory: Option<usize>) -> bool {
    let is_it = |conditional: &Conditional| Some(conditional.condition().resource as usize) == memory;
    let mut others = program.others();
    others.any(|(_, op)| op.conditional().is_some_and(is_it))
}

/// Refuses shared memory that a node would write though it is shared, or lent, to be read.
fn check_shared(
    graph: &Graph,
    draft: &Draft,
    shared: &SharedResources,
    node: usize,
    argument: &Argument,
) -> Result<()> {
    let &Argument::Buffer { resource, mode, .. } = argument else {
        return Ok(());
    };
    let Some(share) = shared.find(resource as usize) else {
        return Ok(());
    };
    let (name, memory) = (&draft.nodes[node].name, &draft.resources[resource as usize].name);
    if mode.writes() && !share.mutable {
        return Err(Error::mistake(&draft.name, mistakes::read_only(node, name, memory)));
    }
    let site = || Site::graph(&draft.name).at_memory(memory);
    share.memory.check(&graph.device_used().backend, mode.writes(), site)
}
