//! `if`, `while` and `switch` as CUDA nodes: kernels that set conditions, conditional nodes, and their bodies.
//!
//! Before CUDA 12.8 a conditional node has one body. There, `else` and `switch` become several nodes, each with its own
//! condition. All conditions are set before any body runs, since a body may write the memory that they are set from.
//!
//! Conditional nodes of one body run one after the other: driver 580 can hang if a `while` and another conditional node
//! run side by side in the body of a third (`xtask/faults.cpp` shows it). At the top of a graph they run side by side.

use super::CudaExecutable;
use super::failure::Failure;
use super::passes::Seen;
use super::predicated::{Entry, LatchNode, Placed, Test, Word};
use crate::driver::{self, CUgraph, CUgraphNode, ConditionalHandle, ConditionalType};
use crate::error::{At, CudaError, Error, Result, Site};
use crate::ownership::blueprint::Blueprint;
use crate::program::{Conditional, ConditionalKind, Program};
use crate::shape::part::Part;
use std::collections::HashSet;
use std::ptr;

/// The first CUDA version with conditional nodes.
const CONDITIONALS: u32 = 12_030;
/// The first CUDA version whose conditional nodes may have several bodies.
const SEVERAL_BODIES: u32 = 12_080;

/// The version of the driver, or the one that the builder asked for if that is older.
fn version(blueprint: &Blueprint<'_>) -> Result<u32, CudaError> {
    // SAFETY: the library is loaded, or there would be no context.
    Ok(unsafe { driver::context::driver_version() }?.min(blueprint.driver))
}

/// Refuses drivers without conditional nodes.
pub(super) fn check_driver(blueprint: &Blueprint<'_>, site: impl Fn() -> Site) -> Result<()> {
    if version(blueprint).at(&site)? >= CONDITIONALS {
        return Ok(());
    }
    Err(Error::Unsupported {
        site: site(),
        message: "`if`, `while` and `switch` need an NVIDIA driver of CUDA 12.3 or later",
    })
}

/// A condition, and the memory from which a kernel sets it.
#[derive(Clone, Copy)]
struct Setting {
    /// The node of the program that the condition belongs to.
    owner: usize,
    condition: Part,
    handle: ConditionalHandle,
    /// As [`Choice::number`].
    number: Option<u32>,
}

/// A kernel that sets a condition.
pub(super) struct Setter {
    node: CUgraphNode,
    setting: Setting,
}

/// A CUDA conditional node to add.
struct Choice {
    kind: ConditionalType,
    /// If this is given, the condition is set if the value equals it; otherwise it is set to the value.
    number: Option<u32>,
    /// The bodies, as indices into the draft's.
    bodies: Vec<usize>,
}

/// The CUDA nodes that a conditional becomes.
fn choices(kind: ConditionalKind, bodies: &[usize], version: u32) -> Vec<Choice> {
    let all = |kind| Choice {
        kind,
        number: None,
        bodies: bodies.to_vec(),
    };
    let single = |number, body| Choice {
        kind: ConditionalType::If,
        number,
        bodies: vec![body],
    };
    if bodies.is_empty() {
        return Vec::new();
    }
    let one_node = version >= SEVERAL_BODIES;
    match kind {
        ConditionalKind::While => vec![all(ConditionalType::While)],
        ConditionalKind::Switch if one_node => vec![all(ConditionalType::Switch)],
        ConditionalKind::Switch => {
            let cases = bodies.iter().zip(0..);
            cases.map(|(&body, number)| single(Some(number), body)).collect()
        }
        ConditionalKind::If => match *bodies {
            [then, otherwise] if !one_node => vec![single(None, then), single(Some(0), otherwise)],
            _ => vec![all(ConditionalType::If)],
        },
    }
}

/// The conditional node of a body that others of that body run after.
pub(super) enum Turn {
    /// Outside of bodies, conditional nodes run side by side.
    Free,
    /// In a body: the one that was added last.
    After(Option<CUgraphNode>),
}

impl Turn {
    /// The nodes that the next conditional node runs after, which are `after` outside of bodies.
    fn take(&self, after: &[CUgraphNode]) -> Vec<CUgraphNode> {
        let last = match self {
            Turn::After(Some(last)) if !after.contains(last) => Some(*last),
            Turn::Free | Turn::After(_) => None,
        };
        after.iter().copied().chain(last).collect()
    }

    fn pass(&mut self, added: CUgraphNode) {
        match self {
            Turn::Free => {}
            Turn::After(last) => *last = Some(added),
        }
    }
}

impl CudaExecutable {
    /// Adds a conditional node, its bodies, and the kernels that set its conditions. An error names its node.
    ///
    /// # Safety
    ///
    /// The graph and the nodes in `after` and `turn` live and belong together; the graph is of the context of `self`.
    pub(super) unsafe fn add_conditional(
        &mut self,
        blueprint: &Blueprint<'_>,
        graph: CUgraph,
        after: &[CUgraphNode],
        (node, conditional): (usize, &Conditional),
        turn: &mut Turn,
        tests: &[Test],
    ) -> Result<CUgraphNode, Failure> {
        let at_node = |error| (node, error);
        if self.adder.forms.is_predicated(node) {
            // SAFETY: by the caller's promise.
            unsafe { self.add_predicated(blueprint, graph, after, node, conditional, tests) }?;
            return Ok(ptr::null_mut());
        }
        let version = version(blueprint).map_err(at_node)?;
        let choices = choices(conditional.kind, &conditional.bodies, version);
        let mut settings = Vec::with_capacity(choices.len());
        let mut before = after.to_vec();
        for choice in &choices {
            // SAFETY: the graph lives, by the caller's promise, and the context is that of `self`.
            let handle = unsafe { self.cuda.api().create_handle(graph, self.cuda.raw()) }.map_err(at_node)?;
            let setting = Setting {
                owner: node,
                condition: conditional.condition(),
                handle,
                number: choice.number,
            };
            // SAFETY: by the caller's promise; the handle was made for this graph.
            before = vec![unsafe { self.add_setter(graph, &before, setting) }.map_err(at_node)?];
            settings.push(setting);
        }
        let mut added = Vec::with_capacity(choices.len());
        for (choice, setting) in choices.iter().zip(settings) {
            // SAFETY: by the caller's promise, and `turn` holds a node of this graph; the handle is given to this node
            // alone.
            let one = unsafe { self.add_choice(blueprint, graph, &turn.take(&before), choice, setting) }?;
            turn.pass(one);
            added.push(one);
        }
        match added[..] {
            [one] => Ok(one),
            _ => {
                let before = if added.is_empty() { after } else { &added };
                // SAFETY: by the caller's promise; `added` are nodes of the graph.
                Ok(unsafe { self.cuda.api().add_empty_node(graph, before) }.map_err(at_node)?)
            }
        }
    }

    /// Adds one CUDA conditional node and fills its bodies.
    ///
    /// # Safety
    ///
    /// As for [`CudaExecutable::add_conditional`]; the handle was made for the graph and is given to no other node.
    unsafe fn add_choice(
        &mut self,
        blueprint: &Blueprint<'_>,
        graph: CUgraph,
        after: &[CUgraphNode],
        choice: &Choice,
        setting: Setting,
    ) -> Result<CUgraphNode, Failure> {
        let at_node = |error| (setting.owner, error);
        let api = self.cuda.api();
        let (name, bodies) = (&blueprint.draft.nodes[setting.owner].name, choice.bodies.len());
        announce!(self.cuda, trace, node = %name, bodies, kind = ?choice.kind, "{}", api.names().add_conditional_node)
            .map_err(at_node)?;
        let context = self.cuda.raw();
        // SAFETY: by the caller's promise.
        let added = unsafe { api.add_conditional_node(graph, after, setting.handle, choice.kind, bodies, context) };
        let (added, graphs) = added.map_err(at_node)?;
        for (&body, graph) in choice.bodies.iter().zip(graphs) {
            // SAFETY: the body's graph lives as long as its node, and no node of it was added before.
            unsafe {
                self.add_prefix(
                    blueprint,
                    graph,
                    blueprint.order.sequence(body),
                    Entry::default(),
                    &mut Turn::After(None),
                )
            }?;
            let passes = self.adder.forms.of(setting.owner).map_or(1, |chosen| chosen.passes);
            for _ in 1..passes {
                // SAFETY: the nodes of the pass before are in the body's graph.
                unsafe { self.add_pass(blueprint, graph, setting, body) }?;
            }
            let last = self.last_of_body(blueprint, body);
            let closed = if choice.kind == ConditionalType::While {
                // SAFETY: `last` were just added to the body's graph; the handle is that of the node whose body it is.
                unsafe { self.add_setter(graph, &last, setting) }
            } else if last.is_empty() {
                // SAFETY: the body's graph lives. CUDA's documentation asks for a node in every body.
                unsafe { self.cuda.api().add_empty_node(graph, &[]) }
            } else {
                continue;
            };
            closed.map_err(at_node)?;
        }
        Ok(added)
    }

    /// Adds the nodes of the bodies of an `if` or a `switch` as predicated kernels, after `after`. `tests` are those of
    /// the body that it is in.
    ///
    /// # Safety
    ///
    /// As for [`CudaExecutable::add_conditional`].
    unsafe fn add_predicated(
        &mut self,
        blueprint: &Blueprint<'_>,
        graph: CUgraph,
        after: &[CUgraphNode],
        node: usize,
        conditional: &Conditional,
        tests: &[Test],
    ) -> Result<(), Failure> {
        let condition = conditional.condition();
        let (mut roots, mut word) = (after.to_vec(), Word::Condition(condition));
        if self.adder.forms.of(node).is_some_and(|chosen| chosen.latched) {
            // SAFETY: by the caller's promise.
            let (latched, latch) = unsafe { self.add_latch(graph, after, node, condition) }?;
            (roots, word) = (vec![latch], latched);
        }
        let mut ends = Vec::new();
        for (&body, number) in conditional.bodies.iter().zip(0..) {
            // An `if` runs its first body if the condition is not 0.
            let (number, equal) = match conditional.kind {
                ConditionalKind::If | ConditionalKind::While => (0, number != 0),
                ConditionalKind::Switch => (number, true),
            };
            let own = Test {
                owner: node,
                word,
                number,
                equal,
            };
            let tests: Vec<Test> = tests.iter().copied().chain([own]).collect();
            let sequence = blueprint.order.sequence(body);
            let entry = Entry {
                roots: &roots,
                tests: &tests,
                ..Entry::default()
            };
            // SAFETY: by the caller's promise, and `roots` are nodes of the graph; no node of the body was added to it
            // before. A predicated body has no conditional nodes, so no turns are taken.
            unsafe { self.add_prefix(blueprint, graph, sequence, entry, &mut Turn::Free) }?;
            ends.extend(self.last_of_body(blueprint, body));
        }
        if ends.is_empty() {
            ends = roots;
        }
        self.predicated.ends.insert(node, ends);
        Ok(())
    }

    /// Adds the nodes of the body of a `while` once more, as predicated kernels, after those of the last pass: see
    /// [`super::passes`].
    ///
    /// # Safety
    ///
    /// The graph is that of the body, and has the nodes of the last pass; `setting` is that of its node.
    unsafe fn add_pass(
        &mut self,
        blueprint: &Blueprint<'_>,
        graph: CUgraph,
        setting: Setting,
        body: usize,
    ) -> Result<(), Failure> {
        let last = self.last_of_body(blueprint, body);
        let test = |word| Test {
            owner: setting.owner,
            word,
            number: 0,
            equal: false,
        };
        let nodes = blueprint.order.sequence(body);
        let seen = self.adder.forms.of(setting.owner).map(|chosen| chosen.seen.clone());
        let Seen {
            direct, writer, keeper, ..
        } = seen.unwrap_or_default();
        let (direct, late): (Vec<usize>, Vec<usize>) = nodes.partition(|node| direct.contains(node));
        let has_direct = !direct.is_empty();
        let mut numbered = |node: Option<usize>| node.map(|node| (node, self.predicated.next_copy()));
        let (ticket, keeper) = (numbered(writer), numbered(keeper));
        let tests = [test(Word::Condition(setting.condition))];
        let entry = Entry {
            roots: &last,
            tests: &tests,
            latch: None,
            ticket,
            keeper,
            repeats: true,
        };
        // SAFETY: by the caller's promise; the nodes of the body come after those of the last pass, which they replace
        // in `nodes`. The predecessors of direct nodes are direct.
        unsafe { self.add_prefix(blueprint, graph, direct.into_iter(), entry, &mut Turn::Free) }?;
        if late.is_empty() {
            return Ok(());
        }
        let (word, latch) = match keeper {
            Some((_, copy)) => (Word::Latch(copy), None),
            None => {
                // SAFETY: as above.
                let (word, latch) = unsafe { self.add_latch(graph, &last, setting.owner, setting.condition) }?;
                (word, Some(latch))
            }
        };
        let tests = [test(word)];
        let entry = Entry {
            roots: latch.as_slice(), // all late nodes have predecessors if there is a keeper
            tests: &tests,
            latch: latch.filter(|_| has_direct),
            repeats: true,
            ..Entry::default()
        };
        // SAFETY: as above.
        unsafe { self.add_prefix(blueprint, graph, late.into_iter(), entry, &mut Turn::Free) }
    }

    /// Adds a kernel that copies a condition, and returns the copy.
    ///
    /// # Safety
    ///
    /// The graph and the nodes in `after` live and belong together; the graph is of the context of `self`.
    unsafe fn add_latch(
        &mut self,
        graph: CUgraph,
        after: &[CUgraphNode],
        owner: usize,
        condition: Part,
    ) -> Result<(Word, CUgraphNode), Failure> {
        let latch = self.predicated.next_copy();
        let params = self.adder.latch_params(&self.kernels, condition, latch);
        // SAFETY: by the caller's promise; `params` points into `self.adder`, which is not touched until the call is
        // over.
        let handle =
            unsafe { self.cuda.api().add_kernel_node(graph, after, &params) }.map_err(|error| (owner, error))?;
        self.predicated.early.insert(handle);
        self.predicated.latches.push(LatchNode {
            handle,
            owner,
            condition,
            latch,
        });
        Ok((Word::Latch(latch), handle))
    }

    /// The nodes of CUDA that were added last for a node of the program, and that its successors run after.
    pub(super) fn last_of(&self, node: usize) -> &[CUgraphNode] {
        match self.predicated.ends.get(&node) {
            Some(ends) => ends,
            None => std::slice::from_ref(&self.nodes[node]),
        }
    }

    /// The predicated kernel, or another node of CUDA, for a node of a predicated body: in the first pass of a `while`,
    /// or in a later one.
    pub(super) fn placed(&self, node: usize, repeats: bool) -> Option<&Placed> {
        let placed = self.predicated.placed.get(&node)?;
        if repeats { placed.last() } else { placed.first() }
    }

    /// The last nodes of a body that was added.
    pub(super) fn last_of_body(&self, blueprint: &Blueprint<'_>, body: usize) -> Vec<CUgraphNode> {
        let last = sinks(blueprint, body).flat_map(|sink| self.last_of(sink));
        last.copied().collect()
    }

    /// Adds the kernel that sets a condition.
    ///
    /// # Safety
    ///
    /// The graph and the nodes in `after` live and belong together; the handle is of that graph or one around it.
    unsafe fn add_setter(
        &mut self,
        graph: CUgraph,
        after: &[CUgraphNode],
        setting: Setting,
    ) -> Result<CUgraphNode, CudaError> {
        let Setting {
            condition,
            handle,
            number,
            ..
        } = setting;
        let params = self.adder.condition(&self.kernels, handle, condition, number);
        // SAFETY: by the caller's promise; `params` points into `self.adder`, which is not touched until the call is
        // over.
        let node = unsafe { self.cuda.api().add_kernel_node(graph, after, &params) }?;
        self.setters.push(Setter { node, setting });
        Ok(node)
    }

    /// Makes the kernels that set, copy or test the condition of `node` read from the memory's current address. The
    /// context is current.
    pub(super) fn apply_condition(&mut self, program: &Program, node: usize) -> Result<(), CudaError> {
        let Self {
            cuda,
            exec,
            adder,
            kernels,
            setters,
            predicated,
            ..
        } = self;
        for latch in predicated.latches.iter().filter(|latch| latch.owner == node) {
            let params = adder.latch_params(kernels, latch.condition, latch.latch);
            // SAFETY: as below.
            unsafe { cuda.api().set_kernel_node(*exec, latch.handle, &params) }?;
        }
        for (&member, placed) in &predicated.placed {
            let Some(work) = program.ops[member].work() else {
                continue;
            };
            for placed in placed
                .iter()
                .filter(|placed| placed.guard.tests.iter().any(|test| test.owner == node))
            {
                // SAFETY: facts 1, 2 and 5 of `CudaExecutable`; the handle is that of the program's node, made for work
                // of this kind.
                unsafe { adder.apply(*exec, placed.handle, program, kernels, member, (work, &placed.guard)) }?;
            }
        }
        for Setter { node, setting } in setters.iter().filter(|setter| setter.setting.owner == node) {
            let params = adder.condition(kernels, setting.handle, setting.condition, setting.number);
            // SAFETY: facts 1, 2 and 7 of `CudaExecutable`: `node` is a kernel of the graph that `exec` was made of, or
            // of a body in it, and `params` points into `adder`, which is not touched until the call is over.
            unsafe { cuda.api().set_kernel_node(*exec, *node, &params) }?;
        }
        Ok(())
    }
}

/// The last nodes of a body: no other of its nodes runs after them.
fn sinks(blueprint: &Blueprint<'_>, body: usize) -> impl Iterator<Item = usize> {
    let nodes: Vec<usize> = blueprint.order.sequence(body).collect();
    let before = nodes.iter().flat_map(|&node| blueprint.after.of(node));
    let before: HashSet<usize> = before.map(|&node| node as usize).collect();
    nodes.into_iter().filter(move |node| !before.contains(node))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(kind: ConditionalKind, bodies: &[usize], version: u32) -> Vec<(ConditionalType, Option<u32>, usize)> {
        let choices = choices(kind, bodies, version);
        let summary = choices
            .iter()
            .map(|choice| (choice.kind, choice.number, choice.bodies.len()));
        summary.collect()
    }

    #[test]
    fn drivers_with_several_bodies_get_one_node() {
        use ConditionalType::{If, Switch, While};
        assert_eq!(numbers(ConditionalKind::If, &[1], SEVERAL_BODIES), [(If, None, 1)]);
        assert_eq!(numbers(ConditionalKind::If, &[1, 2], SEVERAL_BODIES), [(If, None, 2)]);
        let expected = [(While, None, 1)];
        assert_eq!(numbers(ConditionalKind::While, &[1], SEVERAL_BODIES), expected);
        let expected = [(Switch, None, 3)];
        assert_eq!(numbers(ConditionalKind::Switch, &[1, 2, 3], SEVERAL_BODIES), expected);
        assert_eq!(numbers(ConditionalKind::Switch, &[], SEVERAL_BODIES), []);
    }

    #[test]
    fn older_drivers_get_one_node_a_body() {
        use ConditionalType::{If, While};
        assert_eq!(numbers(ConditionalKind::If, &[1], CONDITIONALS), [(If, None, 1)]);
        let expected = [(If, None, 1), (If, Some(0), 1)];
        assert_eq!(numbers(ConditionalKind::If, &[1, 2], CONDITIONALS), expected);
        assert_eq!(numbers(ConditionalKind::While, &[1], CONDITIONALS), [(While, None, 1)]);
        let expected = [(If, Some(0), 1), (If, Some(1), 1)];
        assert_eq!(numbers(ConditionalKind::Switch, &[1, 2], CONDITIONALS), expected);
    }
}
