//! New values of params: the changes of the nodes that use them.

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::change::batch::{Batch, Change, launch_of};
use crate::kernel::{ArgumentKind, KernelFacts, Value, check_dimensions};
use crate::program::{Argument, ChangedValue, KernelOp, MemsetOp, Work};
use std::collections::BTreeMap;

/// The arguments of a node that are params with new values: the index, the facts of the kernel, and the value.
/// `None` for the value of a memset.
type NewValues = Vec<(Option<(usize, &'static KernelFacts)>, ArgumentKind)>;

/// Requests that all nodes that use these params get their new values: one change for each node. The batch has all
/// other changes already.
///
/// # Errors
/// [`Error::Invalid`] if a value breaks a contract, or does not fit; those of the executable about the change.
pub(super) fn request(graph: &Graph, batch: &mut Batch, params: &[(usize, Value)]) -> Result<()> {
    let mut nodes: BTreeMap<usize, NewValues> = BTreeMap::new();
    for (param, value) in params {
        for param_use in &graph.data.params[*param].uses {
            let new = (param_use.argument, (param_use.make)(value));
            nodes.entry(param_use.node).or_default().push(new);
        }
    }
    for (node, new) in nodes {
        let pending = batch.work.iter().rposition(|change| change.node == node);
        if pending.is_none() && values_alone(graph, batch, node, &new) {
            continue;
        }
        let base = match pending {
            Some(pending) => Some(&batch.work[pending].work),
            None => graph.data.program.ops[node].work(),
        };
        match base {
            Some(Work::Memset(set)) => {
                let work = Work::Memset(reset(set, new));
                push(graph, batch, node, work, Vec::new(), None)?;
            }
            Some(Work::Kernel(kernel)) => {
                let kernel = kernel.clone();
                let (arguments, declared) = match pending {
                    Some(pending) => {
                        let change = &batch.work[pending];
                        (change.arguments.clone(), change.declared.clone())
                    }
                    None => (
                        current(graph, batch, &kernel),
                        graph.chosen.get(&node).copied().map(Box::new),
                    ),
                };
                let (work, arguments) = relaunched(graph, node, &kernel, arguments, new)?;
                push(graph, batch, node, work, arguments, declared)?;
            }
            Some(Work::Memcpy(_) | Work::Join) | None => {} // never: such nodes use no params
        }
    }
    Ok(())
}

/// Requests the new arguments of a kernel as values, if they need no check. Otherwise requests nothing, and returns
/// false.
fn values_alone(graph: &Graph, batch: &mut Batch, node: usize, new: &NewValues) -> bool {
    let program = &graph.data.program;
    let Some(kernel) = program.ops[node].kernel() else {
        return false;
    };
    if !(graph.is_whole() && graph.chosen.is_empty() && batch.launches.is_empty()) {
        return false;
    }
    let function = &program.functions[kernel.function as usize];
    let mut values = Vec::with_capacity(new.len());
    for (argument, value) in new {
        let (Some((index, _)), ArgumentKind::Value(value)) = (argument, value) else {
            return false;
        };
        let Some(word) = value.word().filter(|_| function.is_free(*index)) else {
            return false;
        };
        let argument = kernel.arguments.start as usize + index;
        let before = program.arguments[argument].word();
        if before.is_none() {
            return false;
        }
        let is_changed = batch.values.iter().any(|changed| changed.argument == argument);
        if is_changed || before != Some(word) {
            values.push(ChangedValue { node, argument, word });
        }
    }
    batch.values.append(&mut values);
    true
}

/// The arguments of a kernel node, with the values that were requested.
fn current(graph: &Graph, batch: &Batch, kernel: &KernelOp) -> Vec<Argument> {
    let mut arguments = graph.data.program.arguments(kernel).to_vec();
    for changed in &batch.values {
        let index = changed.argument.checked_sub(kernel.arguments.start as usize);
        if let Some(Argument::Value(value)) = index.and_then(|index| arguments.get_mut(index)) {
            value.set_word(changed.word);
        }
    }
    arguments
}

/// The memset with its new value.
fn reset(set: &MemsetOp, new: NewValues) -> MemsetOp {
    let value = new.into_iter().rev().find_map(|(_, value)| match value {
        ArgumentKind::Value(value) => Some(value),
        ArgumentKind::Buffer(..) | ArgumentKind::Misfit(_) | ArgumentKind::Param(_) => None,
    });
    MemsetOp {
        value: value.unwrap_or_else(|| set.value.clone()),
        ..set.clone()
    }
}

/// The launch of a kernel with new arguments, which are checked with the contracts of the node's declaration.
fn relaunched(
    graph: &Graph,
    node: usize,
    kernel: &KernelOp,
    mut arguments: Vec<Argument>,
    new: NewValues,
) -> Result<(Work, Vec<Argument>)> {
    let draft = &graph.data.draft;
    let mut facts = graph.data.program.functions[kernel.function as usize].facts;
    let mut known: Vec<graph_plan::Argument> = arguments.iter().map(Argument::of_contract).collect();
    for (argument, value) in new {
        let Some((index, declared)) = argument else { continue };
        facts = declared;
        match value {
            ArgumentKind::Value(value) => {
                known[index] = value.of_contract();
                arguments[index] = Argument::Value(value);
            }
            ArgumentKind::Misfit(value) => known[index] = graph_plan::Argument::Int(value), // the check refuses it
            ArgumentKind::Buffer(..) | ArgumentKind::Param(_) => {}                         // never: a param is a value
        }
    }
    let memory = |index: usize| arguments[index].memory();
    let config = check_dimensions(draft, node, facts, launch_of(kernel), &known, memory)
        .map_err(|mistake| Error::mistake(&draft.name, mistake))?;
    let work = Work::Kernel(KernelOp {
        config,
        ..kernel.clone()
    });
    Ok((work, arguments))
}

fn push(
    graph: &Graph,
    batch: &mut Batch,
    node: usize,
    work: Work,
    arguments: Vec<Argument>,
    declared: Option<Box<crate::kernel::Launch>>,
) -> Result<()> {
    let data = &graph.data;
    graph.executable.check_change(&data.draft, &data.program, node, &work)?;
    batch.work.push(Change {
        node,
        work,
        arguments,
        declared,
    });
    Ok(())
}
