//! The words that the nodes of a `while` test in the passes after the first one of an iteration of its node.
//!
//! A pass does nothing if the condition was 0 when the pass began, but nodes of the pass write the condition. That all
//! of its nodes decide alike follows from the plan, which `build` looks at again here:
//!
//! 1. *Passes follow each other.* The nodes that have no predecessors in the body run after all last nodes of the pass
//!    before, by plain edges, or by programmatic ones to kernels that wait for the end of these before they do anything
//!    ([`graph_ptx::GuardForm`]). So whatever begins to do something in a pass sees all that the passes before have
//!    written, and no node of the next pass has done anything. The same holds of all edges to such kernels below.
//! 2. *A direct node sees the condition as it was.* Every writer of the condition in the body, other than the node
//!    itself, comes after it. Such a writer writes only when the node has ended: the edges between them are plain, or
//!    the writer waits for the end of its predecessors before it touches memory that nodes write (the rule of
//!    programmatic edges). If the node itself is a writer, its blocks decide by a ticket ([`graph_ptx::GuardForm`]).
//!    There is at most one such node: of two, each would come after the other. Blocks that take a ticket wait for each
//!    other's words, so a writer of several blocks is late if another direct node can be the keeper for it: that one
//!    has ended before the writer begins, and nothing else in the pass writes what it has stored, so all blocks of the
//!    writer load the same. A node with bodies is never direct if
//!    something in them writes the condition, since that does not come after it.
//! 3. *The predecessors of a direct node are direct*, since its writers come after them as well. The writer that is
//!    late for its blocks' sake is none of them: other direct nodes come before all writers.
//! 4. *The late nodes*, all others, may run beside a writer or after it. They test a copy. A direct node that has ended
//!    before any late one begins can store its decision for them, and is the keeper. If there is none, a kernel of its
//!    own copies the condition, beside the direct nodes. Then a writer is late itself, as it may write before the copy
//!    is made.

use crate::ownership::blueprint::Blueprint;
use crate::program::{Op, Work};
use graph_ptx::GuardForm;
use std::collections::BTreeSet;

/// The words that the nodes of one body test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// The nodes that test the condition itself.
    pub(super) direct: BTreeSet<usize>,
    /// The direct node that writes the condition.
    pub(super) writer: Option<usize>,
    /// The direct node that stores its decision for late nodes.
    pub(super) keeper: Option<usize>,
    /// Whether a kernel copies the condition for late nodes.
    pub(super) copied: bool,
}

impl Seen {
    /// For a body whose nodes, or nodes in them, write the condition: these are `writers`.
    pub(super) fn of(blueprint: &Blueprint<'_>, body: usize, writers: &BTreeSet<usize>) -> Self {
        let order = blueprint.order;
        let nodes: Vec<usize> = order.sequence(body).collect();
        let is_direct = |node: usize| {
            let mut others = writers.iter().filter(|writer| **writer != node);
            others.all(|&writer| order.before(node, writer))
        };
        let (mut direct, mut late): (Vec<usize>, Vec<usize>) = nodes.iter().partition(|node| is_direct(**node));
        // What writes with nodes of its own, or by code of others, is in no body that is repeated.
        let is_writer = |node: &usize| writers.contains(node);
        let keeper = |direct: &[usize], late: &[usize]| {
            let keeps =
                |node: &usize| is_always_one_kernel(blueprint, *node) && is_over_before(blueprint, *node, &nodes, late);
            direct.iter().copied().find(keeps)
        };
        let mut writer = direct.iter().copied().find(is_writer);
        if let Some(several) = writer.filter(|writer| !is_one_block(blueprint, *writer)) {
            let others: Vec<usize> = direct.iter().copied().filter(|node| *node != several).collect();
            let with_it: Vec<usize> = late.iter().copied().chain([several]).collect();
            if keeper(&others, &with_it).is_some() {
                (direct, late, writer) = (others, with_it, None);
            }
        }
        let keeper = if late.is_empty() { None } else { keeper(&direct, &late) };
        let copied = keeper.is_none() && !late.is_empty();
        Self {
            direct: direct.into_iter().filter(|node| !(copied && is_writer(node))).collect(),
            writer: writer.filter(|_| !copied),
            keeper,
            copied,
        }
    }

    /// The form of the guard of a node of the body. A node that has nothing else to do may load memory before it tests
    /// the condition: it has run in the first pass, with the same arguments.
    pub(super) fn guard(&self, node: usize, tests: usize) -> GuardForm {
        let (ticket, keeps) = (self.writer == Some(node), self.keeper == Some(node));
        GuardForm {
            tests,
            ticket,
            keeps,
            loads_first: !(ticket || keeps),
            waits: false,
        }
    }

    /// The number of copies and tickets in a pass.
    pub(super) fn copies(&self) -> usize {
        [self.writer.is_some(), self.keeper.is_some(), self.copied]
            .into_iter()
            .map(usize::from)
            .sum()
    }
}

/// Whether a node is a kernel of one block, which takes no ticket.
pub(super) fn is_one_block(blueprint: &Blueprint<'_>, node: usize) -> bool {
    matches!(&blueprint.program.ops[node], Op::Work(Work::Kernel(kernel)) if kernel.config.blocks() == 1)
}

/// Whether the node, in a predicated body, is always one kernel, which a change of the graph never makes an empty node.
pub(super) fn is_always_one_kernel(blueprint: &Blueprint<'_>, node: usize) -> bool {
    match &blueprint.program.ops[node] {
        Op::Work(Work::Kernel(_)) => true,
        Op::Work(work @ (Work::Memset(_) | Work::Memcpy(_))) => {
            blueprint.program.reach(node).is_none() && !work.is_idle()
        }
        Op::Work(Work::Join) | Op::Structure(_) | Op::External(_) => false,
    }
}

/// Whether a node has ended before any of `late` begins. `nodes` are all of the body, in order. A node with a
/// programmatic edge begins when its predecessor has begun, so it is over before what is over before that one.
fn is_over_before(blueprint: &Blueprint<'_>, first: usize, nodes: &[usize], late: &[usize]) -> bool {
    let mut after = BTreeSet::new();
    for &node in nodes {
        let mut before = blueprint.after.of(node).iter();
        let is_over = before.any(|&before| {
            let reached = after.contains(&(before as usize));
            match blueprint.programmatic.contains(before, node) {
                true => reached,
                false => reached || before as usize == first || blueprint.order.before(first, before as usize),
            }
        });
        if is_over {
            after.insert(node);
        }
    }
    late.iter().all(|node| after.contains(node))
}
