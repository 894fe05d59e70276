//! The built-in kernels that start and advance the states of an `rng`.

use crate::kernel::source::{Ptx, Source};
use crate::kernel::{CallArgument, Kernel, KernelCall, KernelFacts, Launch};
use crate::memory::Philox;
use crate::shape::place::{OnDevice, Place};
use graph_plan::{GridDependency, KernelLimits, Mode, Param, ParamKind, Scalar};

/// The maximum number of threads in a block: `most` in `rng.cu` has room for as many.
const MAX_THREADS: usize = 256;

static PTX: Ptx = Ptx {
    path: "graph-runtime/kernels/rng.ptx",
    text: include_str!("../../../kernels/rng.ptx"),
};

const fn value(name: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Value(Scalar::U64),
    }
}

const fn words(name: &'static str, mode: Mode) -> Param {
    Param {
        name,
        kind: ParamKind::Buffer { unit: 8, mode },
    }
}

/// Declares kernels of `rng.ptx`. The lines of their loads and of an early exit are those of the file.
macro_rules! kernels {
    ($($(#[$doc:meta])* $kernel:ident = $name:literal {
        params: $params:expr, shared: $shared:literal, loads: $loads:expr, exit: $exit:expr
    })*) => {$(
        $(#[$doc])*
        enum $kernel {}

        // SAFETY: the facts are those of `rng.ptx`: a test below compares them.
        unsafe impl Kernel for $kernel {
            const FACTS: &'static KernelFacts = &KernelFacts {
                name: $name,
                entry: $name,
                source: Source::Ptx(&PTX),
                params: $params,
                contracts: &[],
                limits: KernelLimits::NONE,
                static_shared: $shared,
                target: "sm_70",
                variables: &[],
                loads: $loads,
                dependency: GridDependency {
                    early_exit: $exit,
                    ..GridDependency::NONE
                },
                places: &[],
                textures: &[],
                surfaces: &[],
                tuned: &[],
            };
        }
    )*};
}
kernels! {
    /// Sets states to begin where their generator is.
    Start = "graph_runtime_rng_start" {
        params: &[words("generator", Mode::Read), words("states", Mode::ReadWrite), value("count")],
        shared: 0, loads: &[(1, 45)], exit: Some(51)
    }
    /// Advances the states of one body.
    Advance = "graph_runtime_rng_advance" {
        params: &[words("states", Mode::ReadWrite), value("count"), value("scope"), value("step")],
        shared: 0, loads: &[(0, 84)], exit: Some(93)
    }
    /// Advances the generator and the states at the end of a launch.
    Finish = "graph_runtime_rng_finish" {
        params: &[
            words("generator", Mode::ReadWrite), words("states", Mode::ReadWrite), value("count"), value("step")
        ],
        shared: 2048, loads: &[(0, 118), (1, 133)], exit: Some(204)
    }
}

/// The memory of a generator in a graph, and the states of its uses.
pub(crate) struct States {
    pub(crate) generator: Place<Philox, OnDevice>,
    pub(crate) states: Place<[u64], OnDevice>,
    /// The number of states.
    pub(crate) count: usize,
    /// The number that all uses together draw at most.
    pub(crate) step: u64,
}

impl States {
    /// One thread for each state.
    fn launch(&self) -> Launch {
        Launch::new(self.count.div_ceil(MAX_THREADS), self.count.min(MAX_THREADS))
    }

    /// The launch that sets all states to begin where the generator is.
    pub(crate) fn start(&mut self) -> (Launch, KernelCall<3>) {
        let arguments = [
            CallArgument::read(&self.generator),
            CallArgument::write(&mut self.states),
            CallArgument::value(self.count as u64),
        ];
        // SAFETY: the arguments are those of `Start::FACTS`. The kernel reads one `Philox`, and touches as many states
        // as its last argument says, which are there.
        let call = unsafe { KernelCall::new::<Start>(arguments) };
        (self.launch(), call)
    }

    /// The launch that advances the states of `scope`.
    pub(crate) fn advance(&mut self, scope: usize) -> (Launch, KernelCall<4>) {
        let arguments = [
            CallArgument::write(&mut self.states),
            CallArgument::value(self.count as u64),
            CallArgument::value(scope as u64),
            CallArgument::value(self.step),
        ];
        // SAFETY: the arguments are those of `Advance::FACTS`. The kernel touches as many states as its second argument
        // says, which are there.
        let call = unsafe { KernelCall::new::<Advance>(arguments) };
        (self.launch(), call)
    }

    /// The launch that advances the generator past all draws, and sets all states to begin there.
    pub(crate) fn finish(&mut self) -> (Launch, KernelCall<4>) {
        let arguments = [
            CallArgument::write(&mut self.generator),
            CallArgument::write(&mut self.states),
            CallArgument::value(self.count as u64),
            CallArgument::value(self.step),
        ];
        // SAFETY: the arguments are those of `Finish::FACTS`. The kernel touches one `Philox`, and as many states as
        // its third argument says, which are there. It is launched as it must be: one block of a power of two of
        // threads, for which its shared memory has room.
        let call = unsafe { KernelCall::new::<Finish>(arguments) };
        (Launch::new(1, self.count.next_power_of_two().min(MAX_THREADS)), call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::source::with_summary;
    use graph_ptx::{parse, summarize};

    #[test]
    fn the_facts_are_those_of_the_ptx() {
        let module = parse(PTX.text).expect("the PTX can be read");
        let lines = |facts: &KernelFacts| format!("{} {:?} {:?}", facts.name, facts.loads, facts.dependency);
        let mut differs = Vec::new();
        for facts in [Start::FACTS, Advance::FACTS, Finish::FACTS] {
            let is_memory = |param: &Param| matches!(param.kind, ParamKind::Buffer { .. });
            let buffers: Vec<bool> = facts.params.iter().map(is_memory).collect();
            let summary = summarize(&module, facts.entry, &buffers).expect("the kernel is there");
            let read = with_summary(facts, &summary, &PTX);
            if format!("{facts:?}") != format!("{read:?}") {
                differs.push([lines(facts), lines(&read)]);
            }
        }
        assert!(differs.is_empty(), "{differs:#?}");
    }
}
