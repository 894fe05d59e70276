//! Options of the emulator, of debug mode, and of instantiating a graph.

use crate::error::{Error, Result, Site};
use std::env;
use std::ffi::{OsStr, OsString};
use std::time::Duration;

/// Options of the [emulator](crate::Device::emulator_with): how it runs graphs, and which mistakes it reports.
///
/// With any options, the emulator finds every access out of bounds, misaligned, through a null pointer, to freed memory
/// or to memory that was not passed to the kernel, every store to memory passed as `&`, deadlocks and divergent
/// barriers. The `check_` options find more. They cost time, so they are off by default. A finding is an
/// [`Error::Fault`](crate::Error::Fault), which names graph, node, kernel, block, thread, the line in the PTX, the
/// memory and, if the PTX tells, the line in the source.
///
/// More fields may come: end literals with `..Default::default()`.
///
/// ```
/// use graph_runtime::{Device, EmulatorOptions};
///
/// let device = Device::emulator_with(EmulatorOptions {
///     seed: Some(3),
///     check_shared_races: true,
///     ..Default::default()
/// });
/// assert!(device.is_emulator());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmulatorOptions {
    /// The most instructions that the warps of a block may execute, together; a launch that exceeds it ends with a
    /// fault. It ends a block that waits for a later block: blocks start in order, and only `threads` of them run at a
    /// time. `None` is no limit. The default is 2^29, less than 10 seconds of one processor if the emulator is
    /// compiled with optimization.
    pub step_limit: Option<u64>,
    /// The most iterations of all `while` nodes in one launch of a graph, together; a launch that exceeds it ends with
    /// a fault. (On a GPU nothing ends a `while` whose condition stays set.) `None` is no limit. The default is 2^20,
    /// some seconds if the bodies are small.
    pub iteration_limit: Option<u64>,
    /// The longest time after the beginning of a launch at which a `while` node still begins an iteration; a launch
    /// that exceeds it ends with a fault. `None` is no limit. The default is 10 seconds.
    pub time_limit: Option<Duration>,
    /// The number of host threads that run the blocks of a kernel. `None`: the threads of rayon's current pool, by
    /// default one for each processor.
    pub threads: Option<usize>,
    /// If given, nodes run in a random order that the graph allows. Each launch draws another order; the same seed
    /// gives the same sequence of orders. `None`: all launches use one order.
    pub seed: Option<u64>,
    /// Whether to find reads of memory that nothing has written: in a block's shared memory, and in `scratch` memory
    /// since the launch began.
    pub check_uninitialized: bool,
    /// Whether to find races in a block's shared memory: two threads touch the same bytes, one of them writes, and
    /// there is no barrier in between. Two accesses do not race if both are atomic or `volatile`, if one is atomic and
    /// the other a load, or if both store the same value. Atomic accesses order others as locks do.
    pub check_shared_races: bool,
    /// Whether to find races of two threads of a block in device memory, in the same way. Atomic and `volatile` loads
    /// of device memory order all accesses before them. Races of threads of different blocks are not found.
    pub check_device_races: bool,
    /// Whether to find threads that are apart where they should be together: `__shfl_sync` that reads from a lane which
    /// takes no part, so that the value is undefined, and `__syncthreads()` of which some threads of a block reach
    /// another one than the others. (A thread that has exited counts as arrived.)
    pub check_divergence: bool,
    /// Whether to find races between nodes: two nodes touch the same bytes, one of them writes, and the graph does not
    /// order them. `build` rules this out for memory that nodes name; this also finds memory that kernels reach by
    /// pointers stored in memory.
    pub check_unordered: bool,
}

impl Default for EmulatorOptions {
    fn default() -> Self {
        Self {
            step_limit: Some(1 << 29),
            iteration_limit: Some(1 << 20),
            time_limit: Some(Duration::from_secs(10)),
            threads: None,
            seed: None,
            check_uninitialized: false,
            check_shared_races: false,
            check_device_races: false,
            check_divergence: false,
            check_unordered: false,
        }
    }
}

/// Options of [debug mode](crate::Device::with_debug), in which graphs on a GPU run node by node.
///
/// More fields may come: end literals with `..Default::default()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DebugOptions {
    /// The longest time that one node may take. A node that takes longer is named in the error. CUDA cannot end a
    /// kernel, so nothing in this process can use the GPU after that: every later call fails, and memory is not freed.
    /// `None` is no limit. The default is a minute.
    pub time_limit: Option<Duration>,
    /// The most iterations of all `while` nodes in one launch of a graph, together. A launch that exceeds it ends with
    /// an error that names the `while`, and the graph can be launched again. `None` is no limit. The default is 2^20.
    pub iteration_limit: Option<u64>,
    /// Whether to find the first value that is not finite: a node that writes infinity or NaN to device memory of
    /// `f32`, `f64` or the types of the crate `half`, where other bits were before, ends the launch with an error that
    /// names the node, the memory and the element. It copies this memory before and after each node that may write
    /// it. On the emulator, too. The default is false.
    pub check_finite: bool,
    /// Whether to find writes through `&`: a kernel that changes device memory which it may only read ends the launch
    /// with an error that names the node and the memory. It copies this memory before and after each kernel. The
    /// emulator checks each access anyway. The default is false.
    pub check_writes: bool,
    /// The most bytes of device memory of a graph that are copied to the host before each launch. After a fault, one
    /// launch on these copies on the CPU emulator finds the line in the source. Nothing is copied of a graph with more
    /// memory. The default is 256 MiB; 0 copies nothing.
    pub copy_limit: usize,
}

impl Default for DebugOptions {
    fn default() -> Self {
        Self {
            time_limit: Some(Duration::from_secs(60)),
            iteration_limit: Some(1 << 20),
            check_finite: false,
            check_writes: false,
            copy_limit: 256 << 20,
        }
    }
}

/// Options of [instantiating](crate::Definition::instantiate) a graph: the flags of CUDA's `cuGraphInstantiate`.
///
/// On the emulator and in [debug mode](crate::Device::with_debug) there is nothing to instantiate: `upload`,
/// `auto_free_on_launch` and `node_priority` make no difference there, and `device_launch` is refused.
///
/// More fields may come: end literals with `..Default::default()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstantiateOptions {
    /// Whether the graph is uploaded to the device, so that the first launch costs as much as the others. The default
    /// is true. If false, [`Graph::upload`](crate::Graph::upload) or the first launch does it.
    pub upload: bool,
    /// Whether a launch first frees the memory that allocation nodes of the launch before have left
    /// (`CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`). Only [`raw`](crate::GraphBuilder::raw) nodes and nodes that
    /// [`Definition::change`](crate::Definition::change) adds allocate. The default is false.
    pub auto_free_on_launch: bool,
    /// Whether kernels may launch the graph, too (`CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH`): they take
    /// [`RawGraph::exec`](crate::RawGraph). Such a graph has kernels, copies, memsets and child graphs only. The
    /// default is false.
    pub device_launch: bool,
    /// Whether nodes run with their own [priorities](crate::GraphBuilder::priority)
    /// (`CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY`), or with that of the stream. `None`, the default: with their
    /// own if any node has one.
    pub node_priority: Option<bool>,
}

impl Default for InstantiateOptions {
    fn default() -> Self {
        Self {
            upload: true,
            auto_free_on_launch: false,
            device_launch: false,
            node_priority: None,
        }
    }
}

/// The variable that turns debug mode on.
const DEBUG: &str = "CUDA_GRAPH_DEBUG";
/// The variable with the time limit, in seconds.
const TIMEOUT: &str = "CUDA_GRAPH_DEBUG_TIMEOUT";
/// The variable with the limit of iterations.
const ITERATIONS: &str = "CUDA_GRAPH_DEBUG_ITERATIONS";

impl DebugOptions {
    /// The options that the environment asks for, if it asks for debug mode.
    pub(crate) fn of_environment() -> Result<Option<Self>> {
        Self::of_variables(|name| env::var_os(name))
    }

    fn of_variables(variable: impl Fn(&str) -> Option<OsString>) -> Result<Option<Self>> {
        if variable(DEBUG).is_none_or(|value| value.is_empty() || value == "0") {
            return Ok(None);
        }
        let number = |name, message| {
            let value = variable(name).filter(|value| !value.is_empty());
            let number = value.map(|value| value.to_str().and_then(|value| value.parse::<f64>().ok()));
            match number {
                None => Ok(None),
                Some(Some(number)) if number >= 0.0 => Ok(Some(number)),
                Some(_) => Err(Error::Unsupported {
                    site: Site::default(),
                    message,
                }),
            }
        };
        let limit = |seconds: f64| {
            (seconds > 0.0)
                .then(|| Duration::try_from_secs_f64(seconds).ok())
                .flatten()
        };
        let asked = variable(DEBUG);
        let asked = asked.as_deref().and_then(OsStr::to_str).unwrap_or_default();
        let asks_for = |check| asked.split(',').any(|word| word.trim() == check);
        let seconds = number(TIMEOUT, "`CUDA_GRAPH_DEBUG_TIMEOUT` is not a number of seconds")?;
        let iterations = number(ITERATIONS, "`CUDA_GRAPH_DEBUG_ITERATIONS` is not a number")?;
        let Self {
            time_limit,
            iteration_limit,
            ..
        } = Self::default();
        Ok(Some(Self {
            time_limit: seconds.map_or(time_limit, limit),
            iteration_limit: iterations.map_or(iteration_limit, |most| (most > 0.0).then_some(most as u64)),
            check_finite: asks_for("nan"),
            check_writes: asks_for("writes"),
            ..Self::default()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(set: &[(&str, &str)]) -> Result<Option<DebugOptions>> {
        DebugOptions::of_variables(|name| {
            let found = set.iter().find(|(set, _)| *set == name);
            found.map(|(_, value)| value.into())
        })
    }

    #[test]
    fn the_environment_turns_debug_mode_on() {
        assert_eq!(with(&[]).unwrap(), None);
        assert_eq!(with(&[(DEBUG, "0"), (TIMEOUT, "5")]).unwrap(), None);
        assert_eq!(with(&[(DEBUG, "")]).unwrap(), None);
        assert_eq!(with(&[(DEBUG, "1")]).unwrap(), Some(DebugOptions::default()));
        assert!(
            with(&[(DEBUG, "nan")])
                .unwrap()
                .is_some_and(|options| options.check_finite)
        );
        let both = with(&[(DEBUG, "nan,writes")]).unwrap().unwrap();
        assert!(both.check_finite && both.check_writes);
        let one = with(&[(DEBUG, "writes")]).unwrap().unwrap();
        assert!(!one.check_finite && one.check_writes);
        let limits = with(&[(DEBUG, "1"), (TIMEOUT, "2.5"), (ITERATIONS, "1000")])
            .unwrap()
            .unwrap();
        assert_eq!(limits.time_limit, Some(Duration::from_millis(2500)));
        assert_eq!(limits.iteration_limit, Some(1000));
        let limits = with(&[(DEBUG, "1"), (TIMEOUT, "0"), (ITERATIONS, "0")])
            .unwrap()
            .unwrap();
        assert_eq!((limits.time_limit, limits.iteration_limit), (None, None));
        for wrong in ["soon", "-1", "NaN"] {
            let error = with(&[(DEBUG, "1"), (TIMEOUT, wrong)]).unwrap_err();
            let expected = "`CUDA_GRAPH_DEBUG_TIMEOUT` is not a number of seconds";
            assert_eq!(error.to_string(), expected);
        }
    }
}
