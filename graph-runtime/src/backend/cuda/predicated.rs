//! Nodes of bodies that run as predicated kernels: kernels that return at once unless all their tests hold.
//!
//! Where they belong to a condition that its body writes, they test a copy of it, which a built-in kernel makes before
//! the body: so all of them see the value that was there when the body began.

use crate::driver::CUgraphNode;
use crate::shape::part::Part;
use std::collections::BTreeMap;

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
    /// The copy of it with this number.
    Latch(usize),
}

/// The nodes before a body, and the tests of its kernels.
#[derive(Clone, Copy, Default)]
pub(super) struct Entry<'a> {
    /// The nodes that those without predecessors in the body run after.
    pub(super) roots: &'a [CUgraphNode],
    pub(super) tests: &'a [Test],
    /// The node that copies the condition which is tested, if some of the nodes before did not wait for it.
    pub(super) latch: Option<CUgraphNode>,
}

/// A test as the argument of a kernel: [`graph_ptx::TEST_BYTES`].
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct TestArgument {
    pub(super) address: u64,
    pub(super) number: u32,
    pub(super) equal: u32,
}

const _: () = assert!(size_of::<TestArgument>() == graph_ptx::TEST_BYTES);

/// A node of CUDA for a node of the program in a body, and its tests.
pub(super) struct Placed {
    pub(super) handle: CUgraphNode,
    pub(super) tests: Vec<Test>,
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
        tests.iter().filter(is_latch).all(|test| self.tests.contains(test))
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
}
