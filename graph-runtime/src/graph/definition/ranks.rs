//! The comparison of a graph with those of the other ranks, when it is built.

use super::Checked;
use crate::error::{Result, Site};
use crate::ownership::station::{CudaStation, Stations};
use crate::program::communicator::call::CollectiveCall;
use crate::program::communicator::seat::{Line, Seats};
use crate::program::{KernelOp, Op, Program, Work};
use graph_plan::deciding_nodes;
use std::collections::BTreeSet;

/// The collectives of a graph, by node.
fn calls(checked: &Checked) -> impl Iterator<Item = (usize, &CollectiveCall)> {
    let others = checked.data.program.others();
    others.filter_map(|(node, op)| Some((node, &**op.collective()?)))
}

/// The part of a graph in the meetings of its communicators.
pub(super) fn seats(checked: &Checked) -> Seats {
    Seats::new(&checked.data.draft.name, calls(checked).map(|(_, call)| call))
}

/// The stations of a graph's communicators, where ranks are GPUs.
pub(super) fn stations(checked: &Checked) -> Stations {
    let members = calls(checked).map(|(_, call)| &call.communicator.0);
    Stations::new(members.filter_map(|member| CudaStation::of(member.stations.get(member.rank)?)))
}

/// Compares the graph with those of the other ranks, for which it waits.
pub(super) fn join(seats: &Seats, checked: &Checked) -> Result<()> {
    if seats.is_empty() {
        return Ok(());
    }
    let draft = &checked.data.draft;
    let calls: Vec<(&str, &CollectiveCall)> = calls(checked)
        .map(|(node, call)| (&*draft.nodes[node].name, call))
        .collect();
    let joined = seats.join(&plan(checked), &calls);
    joined.map_err(|peer| peer.at(Site::graph(&draft.name)))
}

/// Waits until all ranks can launch the graph.
pub(super) fn ready(seats: &Seats, checked: &Checked) -> Result<()> {
    seats
        .ready()
        .map_err(|peer| peer.at(Site::graph(&checked.data.draft.name)))
}

/// The facts that are the same on all ranks: the nodes, what collectives do, and the values from which conditions are
/// computed that decide whether collectives run.
fn plan(checked: &Checked) -> Vec<Line> {
    let (draft, program) = (&checked.data.draft, &checked.data.program);
    let version = (
        "the version of graph-runtime".to_owned(),
        env!("CARGO_PKG_VERSION").to_owned(),
    );
    let name = ("the graph".to_owned(), draft.name.to_string());
    let deciding: BTreeSet<usize> = deciding_nodes(draft, &checked.order).into_iter().collect();
    let nodes = draft.nodes.iter().enumerate().map(|(index, node)| {
        let mut fact = match program.ops[index].collective() {
            Some(call) => call.described(),
            None => node.kind.keyword().to_owned(),
        };
        if let Some(owner) = draft.bodies[node.body].node {
            fact = format!("{fact} in `{}`", draft.nodes[owner].name);
        }
        if deciding.contains(&index) {
            fact = format!("{fact}{}", values(program, &program.ops[index]));
        }
        (format!("node `{}`", node.name), fact)
    });
    [version, name].into_iter().chain(nodes).collect()
}

/// The values that a node takes, in words.
fn values(program: &Program, op: &Op) -> String {
    match op.work() {
        Some(Work::Kernel(kernel)) => of_kernel(program, kernel),
        Some(Work::Memset(set)) => format!(" with the bytes {:?}", set.value.bytes()),
        Some(Work::Memcpy(_) | Work::Join) | None => String::new(),
    }
}

fn of_kernel(program: &Program, kernel: &KernelOp) -> String {
    let name = program.functions[kernel.function as usize].facts.name;
    let (grid, block) = (kernel.config.grid, kernel.config.block);
    let values = program.arguments(kernel).iter().filter_map(|argument| argument.value());
    let values: Vec<String> = values.map(|value| format!("{value:?}")).collect();
    format!(
        " of `{name}`<<<{grid:?}, {block:?}>>> with the values {}",
        values.join(" ")
    )
}
