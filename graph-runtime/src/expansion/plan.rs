//! `PLAN` of a declared graph, made from arrays that rustc checks quickly.

use crate::kernel::KernelFacts;
use graph_plan::{Memory, Mode, NodeKind, ParamKind, PlanAccess, PlanNode, PlanResource};
use std::borrow::Cow;
use std::mem::{self, MaybeUninit};

/// A resource of shape `S`.
pub const fn resource<S>(name: &'static str, memory: Memory) -> PlanResource {
    PlanResource::new(name, memory, size_of::<S>())
}

/// The accesses of all nodes, in order: the indices of the resources, and the [letters](Mode::letter) of the modes, or
/// the modes that the kernels' types tell. For each node that launches one of `kernels`, `launches` has the index of
/// its first access, the index of the kernel, and the arguments that are `None`. A node's accesses are those to its
/// buffers, in order.
pub const fn accesses<const N: usize>(
    resources: [usize; N],
    modes: &[u8; N],
    kernels: &[&KernelFacts],
    launches: &[(usize, usize, &[usize])],
) -> [PlanAccess; N] {
    let mut found = [PlanAccess::new(0, Mode::Read); N];
    let mut index = 0;
    while index < N {
        found[index] = PlanAccess::new(resources[index], Mode::of_letter(modes[index]));
        index += 1;
    }
    let mut kernel = 0;
    while kernel < kernels.len() {
        if kernels[kernel].has_memory(Mode::Atomic) || kernels[kernel].has_memory(Mode::Write) {
            let mut launch = 0;
            while launch < launches.len() {
                let (first, launched, absent) = launches[launch];
                if launched == kernel {
                    set_modes(&mut found, first, kernels[kernel], absent);
                }
                launch += 1;
            }
        }
        kernel += 1;
    }
    found
}

/// Sets the modes of the accesses from `first` to those of the kernel's parameters. Arguments that are `absent`, in
/// order, are no accesses.
const fn set_modes(accesses: &mut [PlanAccess], first: usize, kernel: &KernelFacts, mut absent: &[usize]) {
    let (mut access, mut param) = (first, 0);
    while param < kernel.params.len() && access < accesses.len() {
        if let [next, rest @ ..] = absent
            && *next == param
        {
            absent = rest;
        } else if let ParamKind::Buffer { mode, .. } = kernel.params[param].kind {
            accesses[access].mode = mode;
            access += 1;
        }
        param += 1;
    }
}

/// The nodes of a plan.
pub struct PlanNodes<const N: usize>(pub [PlanNode; N]);

impl<const N: usize> PlanNodes<N> {
    /// The nodes: for each its name and kind, the number of its accesses, the number of nodes that it runs directly
    /// after, and its level. `accesses` and `after` have the accesses and the predecessors of all nodes, node by node.
    pub const fn new(
        nodes: [(&'static str, NodeKind, usize, usize, usize); N],
        mut accesses: &'static [PlanAccess],
        mut after: &'static [usize],
    ) -> Self {
        // The array is not filled first: each pointer that is replaced costs rustc time in proportion to the pointers
        // after it.
        let mut found = [const { MaybeUninit::uninit() }; N];
        let mut index = 0;
        while index < N {
            let (name, kind, touched, before, level) = nodes[index];
            let (own, rest) = accesses.split_at(touched);
            accesses = rest;
            let (earlier, rest) = after.split_at(before);
            after = rest;
            found[index] = MaybeUninit::new(PlanNode::new(name, kind, own, earlier, level));
            index += 1;
        }
        // SAFETY: the loop has initialised each of the `N` elements, and `MaybeUninit<T>` has the layout of `T`. The
        // copy replaces `found`, whose elements are never dropped.
        Self(unsafe { mem::transmute_copy::<[MaybeUninit<PlanNode>; N], [PlanNode; N]>(&found) })
    }

    /// Sets the bodies that nodes are in. Each pair is a node and its body.
    pub const fn in_bodies(mut self, bodies: &[(usize, usize)]) -> Self {
        let mut index = 0;
        while index < bodies.len() {
            self.0[bodies[index].0].body = bodies[index].1;
            index += 1;
        }
        self
    }

    /// Sets the loops that nodes are in. Each pair is a node and the innermost loop around it.
    pub const fn in_loops(mut self, loops: &[(usize, usize)]) -> Self {
        let mut index = 0;
        while index < loops.len() {
            self.0[loops[index].0].in_loop = Some(loops[index].1);
            index += 1;
        }
        self
    }

    /// Sets the programmatic edges of nodes. Each pair is a node and the nodes that it waits for in its own code.
    pub const fn waiting_for(mut self, before: &[(usize, &'static [usize])]) -> Self {
        let mut index = 0;
        while index < before.len() {
            set(
                &mut self.0[before[index].0].programmatic,
                Cow::Borrowed(before[index].1),
            );
            index += 1;
        }
        self
    }

    /// Sets the inferred edges of nodes. Each pair is a node and the nodes that it runs after since accesses imply it.
    pub const fn inferred_after(mut self, before: &[(usize, &'static [usize])]) -> Self {
        let mut index = 0;
        while index < before.len() {
            set(&mut self.0[before[index].0].inferred, Cow::Borrowed(before[index].1));
            index += 1;
        }
        self
    }
}

/// Replaces a value without dropping the old one, which a `const fn` cannot do. Nothing is lost: the old value only
/// borrows.
const fn set<T>(place: &mut T, value: T) {
    mem::forget(mem::replace(place, value));
}
