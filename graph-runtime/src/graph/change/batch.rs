//! Changes that are made together: requested, but not made yet.

use crate::kernel::{Launch, Value};
use crate::memory::Beginning;
use crate::ownership::block::SharedMemory;
use crate::ownership::shared_resources::SharedResources;
use crate::program::{Argument, ChangedValue, KernelOp, Op, Program, Work};
use graph_plan::{Draft, LaunchConfig};
use std::fmt;

/// The new work of a node.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) node: usize,
    pub(crate) work: Work,
    /// The new arguments of a kernel node.
    pub(crate) arguments: Vec<Argument>,
    /// If a handle has chosen the launch dimensions of the kernel, those of its declaration.
    pub(crate) declared: Option<Box<Launch>>,
}

impl Change {
    /// Whether the node has this work already.
    pub(crate) fn is_made(&self, program: &Program) -> bool {
        let old = &program.ops[self.node];
        match &self.work {
            Work::Kernel(new) => old.kernel().is_some_and(|old| {
                let mut arguments = program.arguments(old).iter().zip(&self.arguments);
                new.config == old.config && arguments.all(|(old, new)| old.value() == new.value())
            }),
            Work::Memset(new) => matches!(old, Op::Work(Work::Memset(old)) if {
                new.to == old.to && new.value.bytes() == old.value.bytes()
            }),
            Work::Memcpy(new) => matches!(old, Op::Work(Work::Memcpy(old)) if new == old),
            Work::Join => false,
        }
    }
}

/// Launch dimensions that a handle chooses; `None` leaves one as it is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChosenLaunch {
    pub(crate) grid: Option<[i128; 3]>,
    pub(crate) block: Option<[i128; 3]>,
    pub(crate) shared: Option<i128>,
}

impl ChosenLaunch {
    /// A launch with these dimensions in the place of its own.
    pub(crate) fn over(self, launch: Launch) -> Launch {
        Launch {
            grid: self.grid.unwrap_or(launch.grid),
            block: self.block.unwrap_or(launch.block),
            shared: self.shared.unwrap_or(launch.shared),
            ..launch
        }
    }

    /// Both choices, of which the later one counts.
    fn then(self, later: Self) -> Self {
        Self {
            grid: later.grid.or(self.grid),
            block: later.block.or(self.block),
            shared: later.shared.or(self.shared),
        }
    }
}

/// The launch of a kernel node as it is.
pub(crate) fn launch_of(kernel: &KernelOp) -> Launch {
    let LaunchConfig { grid, block, shared } = kernel.config;
    Launch {
        grid: grid.map(i128::from),
        block: block.map(i128::from),
        shared: shared.into(),
        cluster: kernel.cluster().map(|blocks| blocks.map(i128::from)),
        cooperative: kernel.is_cooperative(),
    }
}

/// Changes that have been checked one by one, and not yet together.
#[derive(Default)]
pub(crate) struct Batch {
    /// New values of arguments, of which the last one counts. A node with new work has the same values in that.
    pub(crate) values: Vec<ChangedValue>,
    /// New work. The last of a node counts.
    pub(crate) work: Vec<Change>,
    /// New memory of shared resources, at most one for each.
    pub(crate) memory: Vec<(usize, SharedMemory)>,
    /// New generators of random numbers, whose memory is in `memory`; at most one for each.
    pub(crate) generators: Vec<(usize, Beginning)>,
    /// Whether nodes are to run, at most once for each node.
    pub(crate) enabled: Vec<(usize, bool)>,
    /// Launch dimensions that handles choose, at most one choice for each node.
    pub(crate) launches: Vec<(usize, ChosenLaunch)>,
    /// New values of params, at most one for each. The nodes that use them are changed after all others.
    pub(crate) params: Vec<(usize, Value)>,
    /// The draft with the accesses after the changes, if these are others, when they have been checked.
    pub(crate) draft: Option<Box<Draft>>,
    /// All shared memory with the new memory in it, when that has been checked.
    pub(crate) shared: Option<SharedResources>,
    /// The nodes whose work or memory changes, when that is known; sorted, each once.
    pub(crate) nodes: Vec<usize>,
}

impl Batch {
    /// Requests other memory for a shared resource.
    pub(crate) fn rebind(&mut self, resource: usize, memory: SharedMemory) {
        self.memory.retain(|(known, _)| *known != resource);
        self.memory.push((resource, memory));
    }

    /// Requests another generator for random numbers.
    pub(crate) fn begin_random(&mut self, index: usize, beginning: Beginning) {
        self.generators.retain(|(known, _)| *known != index);
        self.generators.push((index, beginning));
    }

    /// Requests another value for a param.
    pub(crate) fn set_param(&mut self, param: usize, value: Value) {
        self.params.retain(|(known, _)| *known != param);
        self.params.push((param, value));
    }

    /// Requests that a node runs, or does not.
    pub(crate) fn enable(&mut self, node: usize, enabled: bool) {
        match self.enabled.iter_mut().find(|(known, _)| *known == node) {
            Some((_, known)) => *known = enabled,
            None => self.enabled.push((node, enabled)),
        }
    }

    /// Requests launch dimensions for a kernel node.
    pub(crate) fn launch(&mut self, node: usize, chosen: ChosenLaunch) {
        match self.launches.iter_mut().find(|(known, _)| *known == node) {
            Some((_, known)) => *known = known.then(chosen),
            None => self.launches.push((node, chosen)),
        }
    }

    /// The dimensions that were requested for a node.
    pub(crate) fn launch_for(&self, node: usize) -> Option<ChosenLaunch> {
        let found = self.launches.iter().find(|(known, _)| *known == node);
        found.map(|(_, chosen)| *chosen)
    }

    /// Adds the changes of another batch, which count as later ones.
    pub(crate) fn append(&mut self, other: Self) {
        self.values.extend(other.values);
        self.work.extend(other.work);
        for (node, enabled) in other.enabled {
            self.enable(node, enabled);
        }
        for (resource, memory) in other.memory {
            self.rebind(resource, memory);
        }
        for (index, beginning) in other.generators {
            self.begin_random(index, beginning);
        }
        for (param, value) in other.params {
            self.set_param(param, value);
        }
        for (node, chosen) in other.launches {
            self.launch(node, chosen);
        }
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory: Vec<usize> = self.memory.iter().map(|(resource, _)| *resource).collect();
        f.debug_struct("Batch")
            .field("values", &self.values)
            .field("work", &self.work)
            .field("memory", &memory)
            .field("enabled", &self.enabled)
            .field("launches", &self.launches)
            .finish_non_exhaustive()
    }
}
