//! Errors: the graph, node and memory that each is about and, if a driver call failed, CUDA's own name for the error.

pub(crate) mod mistakes;
mod site;

pub use site::{CudaError, Site};

use graph_plan::Diagnostic;
use std::fmt;

/// The result of every function of this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure. Its message names the graph, node and memory that it is about, and says what to do about it.
///
/// `Debug` writes the same message as `Display`, so a `main` that returns this [`Result`], and `unwrap`, show it well.
#[derive(Clone)]
#[non_exhaustive]
pub enum Error {
    /// No NVIDIA driver library is on this machine.
    NoDriver,
    /// The driver is older than CUDA 12.0, whose graph calls are used.
    DriverTooOld {
        /// The version of CUDA that the driver supports: 1000 x major + 10 x minor, as `cuDriverGetVersion` counts.
        version: u32,
    },
    /// There is no CUDA device of this number.
    NoDevice {
        /// The number asked for, counted from 0.
        ordinal: usize,
        /// The number of devices.
        devices: usize,
    },
    /// The CPU emulator was asked for, but this crate was built without its feature `emulator`.
    NoEmulator {
        /// If [`Device::any`](crate::Device::any) returns this, the reason why no CUDA device can be used.
        cuda: Option<Box<Error>>,
    },
    /// A driver call failed.
    Cuda {
        /// The graph, node or memory that the call was about.
        site: Site,
        /// The call, and CUDA's name of the error.
        source: CudaError,
    },
    /// The graph has mistakes. All of them are listed.
    Invalid {
        /// The graph's name.
        graph: Box<str>,
        /// Its mistakes, each with its [`Code`](crate::Code).
        diagnostics: Vec<Diagnostic>,
    },
    /// The device, or the emulator, cannot load the PTX.
    Module {
        /// The graph that it was loaded for.
        site: Site,
        /// The PTX file.
        path: &'static str,
        /// The message of the loader.
        message: String,
    },
    /// A CUDA source cannot be compiled, since NVRTC, NVIDIA's compiler for it, is not on this machine.
    NoNvrtc {
        /// The graph and the node that the source is for.
        site: Site,
        /// The CUDA source.
        path: &'static str,
        /// The folder of the cache of compiled sources, in which this one was not found.
        cache: String,
        /// The names and the folders in which NVRTC was not found, a sentence each.
        tried: Vec<String>,
    },
    /// A graph cannot be built by `Device::with_runtime_api`, which the feature `cudart` brings, since CUDA's runtime
    /// library is not on this machine.
    NoRuntime {
        /// The graph.
        site: Site,
        /// The names and the folders in which the library was not found, a sentence each.
        tried: Vec<String>,
    },
    /// NCCL, which carries the data of a communicator's collectives, is not on this machine.
    NoNccl {
        /// The reason why there is no communicator without NCCL, if the program has not asked for NCCL.
        reason: String,
        /// The names and the folders in which NCCL was not found, a sentence each.
        tried: Vec<String>,
    },
    /// NVRTC refuses a CUDA source.
    Compile {
        /// The graph and the node that the source is for.
        site: Site,
        /// The CUDA source.
        path: &'static str,
        /// The message of the compiler.
        message: String,
    },
    /// A kernel cannot run on the device, or not with these launch dimensions.
    Kernel {
        /// The node that launches it.
        site: Site,
        /// The kernel.
        kernel: &'static str,
        /// The reason, as the end of a sentence that begins with the kernel's name.
        message: String,
    },
    /// A node did something wrong while it ran, on the emulator or in [debug mode](crate::Device::with_debug). Every
    /// accessor returns this until a later launch succeeds.
    Fault {
        /// The node that was running.
        site: Site,
        /// The fault. On the emulator, with the thread, the line and the buffer; in debug mode, with the launch, its
        /// arguments and the loops around it.
        message: String,
    },
    /// A host function of the graph panicked. The nodes after it ran, and the graph can be launched again.
    Panicked {
        /// The `call` node.
        site: Site,
        /// The message of the panic.
        message: String,
    },
    /// The closure of a `capture` or `raw` node failed, or CUDA cannot make a node of its work.
    Node {
        /// The node.
        site: Site,
        /// The closure's error, or CUDA's message about its work.
        message: String,
    },
    /// Another rank of a communicator has failed, has left, is late, or runs something else. The communicator cannot be
    /// used any more.
    Peer {
        /// The graph and the node that waited for the rank.
        site: Site,
        /// The rank, counted in the communicator.
        rank: usize,
        /// The reason, which names the rank.
        message: String,
    },
    /// The processes that a launcher has started cannot join each other.
    Launcher {
        /// The reason, which names the variable of the environment, or the address and the port.
        message: String,
    },
    /// The host has too little memory. If a CUDA device has too little, the error is [`Error::Cuda`].
    OutOfMemory {
        /// The memory that could not be allocated.
        site: Site,
        /// The number of bytes asked for.
        bytes: usize,
    },
    /// A place of one graph was used with another.
    ForeignPlace {
        /// The graph it was used with.
        site: Site,
    },
    /// A node of one graph was used with another.
    ForeignNode {
        /// The graph it was used with.
        site: Site,
        /// The node and its graph, in words, if that graph lives: `` `copy` of graph `Other` ``.
        node: Option<Box<str>>,
    },
    /// A place reaches outside its memory.
    OutOfBounds {
        /// The memory.
        site: Site,
    },
    /// A slice and the memory that it is copied from or to have different lengths.
    Length {
        /// The memory.
        site: Site,
        /// The memory's length in bytes.
        expected: usize,
        /// The slice's length in bytes.
        given: usize,
    },
    /// Memory was taken from a [`HostSplit`](crate::HostSplit) twice.
    AlreadyTaken {
        /// The memory.
        site: Site,
    },
    /// Shared memory is in use: by a guard, by the launch that the call comes from or, if the call comes from a launch,
    /// by another thread.
    InUse {
        /// The memory.
        site: Site,
        /// Who uses it, as the rest of a sentence about the memory.
        message: &'static str,
    },
    /// Memory was lent to a [`Scope`](crate::Scope) that has ended, so its owner has it back. The graph does not launch
    /// until other memory has been bound.
    LoanEnded {
        /// The memory.
        site: Site,
    },
    /// Memory of another device cannot be used here.
    ForeignMemory {
        /// The memory.
        site: Site,
    },
    /// The graph has no such node.
    UnknownNode {
        /// The graph, and the node if the mistake is that a loop around it has no such iteration.
        site: Site,
        /// The index asked for, or the number of the iteration.
        index: usize,
        /// The number of nodes, or of iterations of the node.
        nodes: usize,
    },
    /// A `for` makes more nodes than a graph can have.
    TooManyNodes {
        /// The graph, and the first node of the `for`.
        site: Site,
        /// The maximum number of nodes.
        most: usize,
    },
    /// A graph cannot be launched on this stream.
    Stream {
        /// The graph.
        site: Site,
        /// The reason.
        message: &'static str,
    },
    /// An earlier change failed half-way, or a panic has ended it, so the graph does not launch until a change
    /// succeeds.
    HalfUpdated {
        /// The graph.
        site: Site,
        /// The name of the change.
        what: &'static str,
    },
    /// A graph was to be updated from a definition of another shape.
    OtherShape {
        /// The graph, and the first node that differs.
        site: Site,
        /// The difference.
        message: String,
    },
    /// A file cannot be written.
    File {
        /// The graph that it is about.
        site: Site,
        /// The file.
        path: String,
        /// The operating system's reason.
        message: String,
    },
    /// A graph file cannot be read or used.
    GraphFile {
        /// The graph, and the memory that it is about, if the file could be read.
        site: Site,
        /// The file.
        path: String,
        /// The reason.
        message: String,
    },
    /// The device, or this kind of graph, does not support what was asked for.
    Unsupported {
        /// The graph, node or memory that it is about.
        site: Site,
        /// The reason why it is not supported.
        message: &'static str,
    },
}

impl Error {
    /// The error of a graph with one mistake.
    pub(crate) fn mistake(graph: &str, mistake: Diagnostic) -> Self {
        Error::Invalid {
            graph: graph.into(),
            diagnostics: vec![mistake],
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoDriver => f.write_str("no NVIDIA driver (libcuda) was found"),
            Error::DriverTooOld { version } => write!(
                f,
                "the NVIDIA driver is too old: it supports CUDA {}.{}, but 12.0 is needed",
                version / 1000,
                version % 1000 / 10
            ),
            Error::NoDevice { ordinal, devices } => {
                write!(f, "there is no CUDA device {ordinal}; there are {devices}")
            }
            Error::NoEmulator { cuda } => {
                if let Some(cuda) = cuda {
                    writeln!(f, "{cuda}")?;
                    f.write_str("note: nor is there the CPU emulator in its place: ")?;
                } else {
                    f.write_str("there is no CPU emulator in this build: ")?;
                }
                f.write_str(
                    "`graph-runtime` was built without its feature `emulator`\n\
                     help: add it in `Cargo.toml`: `features = [\"emulator\", ..]`, or leave the default features on",
                )
            }
            Error::Cuda { site, source } if site.node.is_none() && source.is_of_kernel() => write!(
                f,
                "{site}{source}\n\
                 note: a kernel that ran before has failed; CUDA does not say which, and every later call fails{}\n\
                 help: run the program with `CUDA_GRAPH_DEBUG=1`, or build its graphs on `device.with_debug(..)`: then graphs run \
                 node by node, and the error names the node",
                source.notes
            ),
            Error::Cuda { site, source } => write!(f, "{site}{source}"),
            Error::Invalid { graph, diagnostics } => {
                let plural = if diagnostics.len() == 1 { "" } else { "s" };
                write!(f, "graph `{graph}` has {} mistake{plural}", diagnostics.len())?;
                diagnostics
                    .iter()
                    .try_for_each(|diagnostic| write!(f, "\n{diagnostic}"))
            }
            Error::Module { site, path, message } => write!(f, "{site}cannot load `{path}`: {message}"),
            Error::NoNvrtc {
                site,
                path,
                cache,
                tried,
            } => {
                write!(
                    f,
                    "{site}cannot compile `{path}`: NVRTC (libnvrtc), NVIDIA's compiler for that, was not found"
                )?;
                tried.iter().try_for_each(|tried| write!(f, "\nnote: {tried}"))?;
                write!(
                    f,
                    "\nnote: nor has it been compiled before: it is not in the cache, `{cache}`\n\
                     help: `cargo cuda-graph fetch` fetches it; or install the CUDA toolkit, and set `CUDA_HOME` if it is not \
                     in `/usr/local/cuda`; or `pip install nvidia-cuda-nvrtc`, and set `LD_LIBRARY_PATH` to its folder if it is \
                     not found; or compile the file with `cargo cuda-graph ptx`, check that in, and name it: \
                     `#[cuda_kernels(\"x.ptx\")]`"
                )
            }
            Error::NoRuntime { site, tried } => {
                write!(f, "{site}CUDA's runtime library (libcudart) was not found")?;
                tried.iter().try_for_each(|tried| write!(f, "\nnote: {tried}"))?;
                write!(
                    f,
                    "\nhelp: install the CUDA toolkit, and set `CUDA_HOME` if it is not in `/usr/local/cuda`; or \
                     `pip install nvidia-cuda-runtime`, and set `LD_LIBRARY_PATH` to its folder if it is not found; or build the graph \
                     without `with_runtime_api`: the driver's calls make the same one"
                )
            }
            Error::NoNccl { reason, tried } => {
                f.write_str("NCCL (libnccl.so.2), which carries the data of collectives between GPUs, was not found")?;
                if !reason.is_empty() {
                    write!(f, "\nnote: the GPUs do not reach each other without NCCL: {reason}")?;
                }
                tried.iter().try_for_each(|tried| write!(f, "\nnote: {tried}"))?;
                f.write_str(
                    "\nhelp: `pip install nvidia-nccl-cu13` (or `-cu12`), or install the package `libnccl2`, and set \
                     `LD_LIBRARY_PATH` to the library's folder if it is not found",
                )
            }
            Error::Compile { site, path, message } => write!(f, "{site}cannot compile `{path}`: {message}"),
            Error::Kernel { site, kernel, message } => write!(f, "{site}kernel `{kernel}` {message}"),
            Error::Fault { site, message } | Error::Node { site, message } | Error::Peer { site, message, .. } => {
                write!(f, "{site}{message}")
            }
            Error::Launcher { message } => f.write_str(message),
            Error::Panicked { site, message } => write!(f, "{site}the host function panicked: {message}"),
            Error::OutOfMemory { site, bytes } => write!(f, "{site}the host has no memory for {bytes} bytes"),
            Error::ForeignPlace { site } => write!(
                f,
                "{site}the place belongs to another graph\nhelp: pass what this graph's own builder has returned"
            ),
            Error::ForeignNode { site, node } => {
                write!(f, "{site}the node belongs to another graph")?;
                node.iter().try_for_each(|node| write!(f, "\nnote: it is {node}"))?;
                f.write_str("\nhelp: pass what this graph's own builder has returned")
            }
            Error::OutOfBounds { site } => write!(f, "{site}the place reaches outside"),
            Error::Length { site, expected, given } => {
                write!(f, "{site}has {expected} bytes, but the slice has {given}")
            }
            Error::AlreadyTaken { site } => write!(f, "{site}already taken from this split"),
            Error::UnknownNode { site, nodes, .. } if site.node.is_some() => {
                write!(
                    f,
                    "{site}the loop around it has no such iteration; the node is repeated {nodes} times"
                )
            }
            Error::UnknownNode { site, index, nodes } => {
                write!(f, "{site}no node has index {index}; there are {nodes}")
            }
            Error::LoanEnded { site } => {
                write!(
                    f,
                    "{site}was lent to a scope that has ended: bind other memory before launching"
                )
            }
            Error::ForeignMemory { site } => write!(
                f,
                "{site}the memory belongs to another device\nhelp: make it by the `Device` on which the graph is built, or by a \
                 clone of that: each `Device::emulator()` has memory of its own"
            ),
            Error::TooManyNodes { site, most } => write!(f, "{site}a loop makes more than {most} nodes"),
            Error::Stream { site, message } | Error::Unsupported { site, message } | Error::InUse { site, message } => {
                write!(f, "{site}{message}")
            }
            Error::OtherShape { site, message } => write!(f, "{site}{message}"),
            Error::File { site, path, message } => write!(f, "{site}cannot write `{path}`: {message}"),
            Error::GraphFile { site, path, message } => write!(f, "{site}graph file `{path}`: {message}"),
            Error::HalfUpdated { site, what } => write!(
                f,
                "{site}an update of `{what}` failed half-way; update `{what}` again before launching"
            ),
        }
    }
}

impl Error {
    /// The error of a communicator by NCCL, where there was a reason not to do without.
    pub(crate) fn after(mut self, why: &str) -> Self {
        if let Error::NoNccl { reason, .. } = &mut self {
            why.clone_into(reason);
        }
        self
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Cuda { source, .. } => Some(source),
            Error::NoEmulator { cuda: Some(cuda) } => Some(cuda),
            _ => None,
        }
    }
}

/// Adds to the error of a driver call what the call was about.
pub(crate) trait At<T> {
    fn at(self, site: impl FnOnce() -> Site) -> Result<T>;
}

impl<T> At<T> for Result<T, CudaError> {
    #[inline]
    fn at(self, site: impl FnOnce() -> Site) -> Result<T> {
        self.map_err(|source| Error::Cuda { site: site(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_graph_node_call_and_error() {
        let source = CudaError::new("cuGraphAddKernelNode_v2", "CUDA_ERROR_INVALID_VALUE", 1);
        let failed: Result<()> = Err(source).at(|| Site::graph("ForwardBackward").at_node("forward"));
        assert_eq!(
            failed.unwrap_err().to_string(),
            "graph `ForwardBackward`, node `forward`: cuGraphAddKernelNode_v2 failed: CUDA_ERROR_INVALID_VALUE (1)"
        );
        let outside = Error::Cuda {
            site: Site::default(),
            source,
        };
        assert_eq!(outside.to_string(), source.to_string());
    }

    #[test]
    fn errors_of_kernels_say_how_to_find_the_node() {
        let source = CudaError::new("cuStreamSynchronize", "CUDA_ERROR_ILLEGAL_ADDRESS", 700);
        let site = Site::graph("Train");
        let unnamed = Error::Cuda { site, source }.to_string();
        assert!(unnamed.contains("CUDA_GRAPH_DEBUG=1"), "{unnamed}");
        let site = Site::graph("Train").at_node("look_up");
        assert!(!Error::Cuda { site, source }.to_string().contains('\n'));
    }

    /// `fn main() -> Result<()>` and `unwrap` show errors by `Debug`.
    #[test]
    fn debug_is_the_message() {
        let error = Error::OutOfBounds {
            site: Site::graph("Train").at_memory("weights"),
        };
        assert_eq!(format!("{error:?}"), error.to_string());
    }

    #[test]
    fn errors_cross_threads() {
        fn check<T: Send + Sync + std::error::Error + 'static>() {}
        check::<Error>();
    }
}
