//! Nodes of bodies that run as predicated kernels: kernels that return at once unless all their tests hold.
//!
//! From compute capability 9.0 on, they wait for the kernels before them, and programmatic edges lead to them: so they
//! are on the GPU when those end. See [`super::programmatic`].
//!
//! Where they belong to a condition that its body writes, all of them must see the value that was there when the body
//! began. See [`super::passes`] for how nodes of a `while` do, mostly without a copy of the condition. Others test a
//! copy of it, which a built-in kernel makes before the body.

use crate::driver::CUgraphNode;
use crate::shape::part::Part;
use graph_ptx::GuardForm;
use std::collections::{BTreeMap, BTreeSet};

/// A test of a word in device memory, which a kernel makes before anything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Test {
    /// The conditional whose condition the word is.
    pub(super) owner: usize,
    pub(super) word: Word,
    pub(super) number: u32,
    /// Whether the word must equal `number`, or must not.
    pub(super) equal: bool,
}

/// The word that is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// The condition itself.
    Condition(Part),
    /// The copy of it with this number, or what a kernel that tested it stored there.
    Latch(usize),
    /// The word at this address, which is always 0: see [`Guard::decided`].
    Zero(u64),
}

/// What the kernel of a node does before anything else.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard {
    /// The kernel runs only if all of them hold.
    pub(super) tests: Vec<Test>,
    /// If the kernel writes a word that it tests, the number of the copy whose place is the ticket of its blocks.
    pub(super) ticket: Option<usize>,
    /// The number of the copy that the kernel makes of its decision.
    pub(super) keeps: Option<usize>,
    /// Whether the kernel may load memory before it knows whether it runs.
    pub(super) loads_first: bool,
    /// Whether the kernel waits for those before it, so that programmatic edges may lead to it.
    pub(super) waits: bool,
}

/// The guard of a kernel that does nothing before its own work.
pub(super) static UNGUARDED: Guard = Guard {
    tests: Vec::new(),
    ticket: None,
    keeps: None,
    loads_first: false,
    waits: false,
};

impl Guard {
    pub(super) fn form(&self) -> GuardForm {
        GuardForm {
            tests: self.tests.len(),
            ticket: self.ticket.is_some(),
            keeps: self.keeps.is_some(),
            loads_first: self.loads_first,
            waits: self.waits,
        }
    }

    /// The same guard, with tests that all hold or all fail, whatever the conditions are. `zero` is the address of a
    /// word that is always 0.
    pub(super) fn decided(&self, zero: u64, runs: bool) -> Self {
        let decided = |test: &Test| Test {
            word: Word::Zero(zero),
            number: 0,
            equal: runs,
            ..*test
        };
        Self {
            tests: self.tests.iter().map(decided).collect(),
            ..self.clone()
        }
    }
}

/// A guard, and whether its node is enabled. CUDA skips other nodes that are not; but one that keeps its decision does
/// that alone.
#[derive(Clone, Copy)]
pub(super) struct Guarded<'a> {
    pub(super) guard: &'a Guard,
    pub(super) runs: bool,
}

/// The nodes before a body, and the tests of its kernels.
#[derive(Clone, Copy, Default)]
pub(super) struct Entry<'a> {
    /// The nodes that those without predecessors in the body run after.
    pub(super) roots: &'a [CUgraphNode],
    pub(super) tests: &'a [Test],
    /// The node that copies the condition which is tested, if some of the nodes before did not wait for it.
    pub(super) latch: Option<CUgraphNode>,
    /// The node that writes the condition which it tests, and its ticket.
    pub(super) ticket: Option<(usize, usize)>,
    /// The node that copies its decision, and the copy.
    pub(super) keeper: Option<(usize, usize)>,
    /// Whether the nodes have run before, in an earlier pass of the same iteration.
    pub(super) repeats: bool,
}

impl Entry<'_> {
    /// Whether it is that of nodes outside of all bodies: they run after nothing else, and test nothing.
    pub(super) fn is_plain(&self) -> bool {
        let Self {
            roots,
            tests,
            latch,
            ticket,
            keeper,
            repeats,
        } = self;
        roots.is_empty() && tests.is_empty() && latch.is_none() && ticket.is_none() && keeper.is_none() && !repeats
    }

    /// The guard of the kernel of a node, whose predicated copies wait or not.
    pub(super) fn guard(&self, node: usize, waits: bool) -> Guard {
        let of_node = |pair: Option<(usize, usize)>| pair.filter(|(of, _)| *of == node).map(|(_, number)| number);
        let (ticket, keeps) = (of_node(self.ticket), of_node(self.keeper));
        Guard {
            tests: self.tests.to_vec(),
            ticket,
            keeps,
            loads_first: self.repeats && ticket.is_none() && keeps.is_none(),
            waits: waits && !self.tests.is_empty(),
        }
    }
}

/// A test, or another part of a guard, in the argument of a kernel: [`graph_ptx::TEST_BYTES`]. See [`GuardForm`].
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct TestArgument {
    pub(super) address: u64,
    pub(super) number: u32,
    pub(super) equal: u32,
}

const _: () = assert!(size_of::<TestArgument>() == graph_ptx::TEST_BYTES);

/// A node of CUDA for a node of the program in a body, and its guard.
pub(super) struct Placed {
    pub(super) handle: CUgraphNode,
    pub(super) guard: Guard,
}

/// A kernel that copies a condition.
pub(super) struct LatchNode {
    pub(super) handle: CUgraphNode,
    pub(super) owner: usize,
    pub(super) condition: Part,
    /// The number of the copy.
    pub(super) latch: usize,
}

impl Placed {
    /// Whether the node runs after the one that copies the condition which `tests` look at: it tests the same copy.
    pub(super) fn is_after_latch_of(&self, tests: &[Test]) -> bool {
        let is_latch = |test: &&Test| matches!(test.word, Word::Latch(_));
        tests
            .iter()
            .filter(is_latch)
            .all(|test| self.guard.tests.contains(test))
    }
}

/// The nodes of CUDA for bodies that run as predicated kernels.
#[derive(Default)]
pub(super) struct Predicated {
    /// By node of the program, all nodes of CUDA for it.
    pub(super) placed: BTreeMap<usize, Vec<Placed>>,
    /// By conditional, the last nodes of its bodies, or the nodes before it if these have none.
    pub(super) ends: BTreeMap<usize, Vec<CUgraphNode>>,
    pub(super) latches: Vec<LatchNode>,
    /// The nodes of CUDA that programmatic edges to kernels which wait may come from.
    pub(super) early: BTreeSet<CUgraphNode>,
    /// The number of copies and tickets that nodes have.
    copies: usize,
}

impl Predicated {
    /// The number of the next copy.
    pub(super) fn next_copy(&mut self) -> usize {
        self.copies += 1;
        self.copies - 1
    }
}
