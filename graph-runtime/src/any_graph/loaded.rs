//! Graphs that were saved as files: opening, binding memory by name, launching.

mod proof;

use crate::builder::GraphBuilder;
use crate::device::Device;
use crate::driver::CudaStream;
use crate::error::{Error, Result, Site};
use crate::graph::Graph;
use crate::graph::change::rebind::Rebound;
use crate::kernel::cubin::FileModuleCode;
use crate::kernel::mapped::Word;
use crate::memory::MappedHost;
use crate::ownership::block::{Shareable, SharedMemory};
use crate::shape::place::{OnDevice, OnHost, OnMapped, Place, Span};
use crate::shape::{Element, NO_LENGTHS};
use graph_plan::{FileArgument, FileMemory, FileNode, FileWork, GraphFile, Memory, Plan, Space, nearest};
use std::ffi::c_void;
use std::fmt;
use std::fs;
use std::path::Path;

/// A graph that was saved as a file, by [`Plan::save`]. It runs without the code that declared it, and computes the
/// same bits.
///
/// ```
/// use graph_runtime::{Device, GraphBuilder, Loaded};
///
/// let device = Device::emulator();
/// let x = device.alloc_slice::<f32>(4)?;
/// let mut builder = GraphBuilder::new(&device, "Double");
/// let mut place = builder.shared("x", &x, true);
/// let mut first = builder.host::<[f32; 2]>("first");
/// let ones = builder.memset("ones", &mut place.rows(..1), 1.0_f32);
/// let down = builder.memcpy("down", &place.rows_from::<2>(0), &mut first);
/// builder.after(down, &[ones]);
/// let path = std::env::temp_dir().join("double.cugraph");
/// builder.build()?.plan().save(&path).expect("the folder is there");
///
/// let mut graph = Loaded::open(&device, &path)?;
/// let y = device.alloc_slice::<f32>(4)?;
/// y.copy_from(&[5.0, 6.0, 7.0, 8.0])?;
/// graph.bind("x", &y)?;
/// graph.launch()?;
/// assert_eq!(y.read_vec()?, [1.0, 6.0, 7.0, 8.0]);
/// assert_eq!(graph.read::<f32>("first")?, [1.0, 6.0]);
/// # std::fs::remove_file(path).expect("it was written");
/// # Ok::<(), graph_runtime::Error>(())
/// ```
///
/// Nothing in a file is trusted. It is read into a [`GraphBuilder`], so a file that says something that no graph may
/// say is refused with the same messages. The PTX of its kernels tells what each does with its arguments. Where a
/// kernel that leaves its memory would be undefined behaviour, on a GPU, [`Loaded::open`] also has each launch proved
/// to stay within the memory that it gets, for any contents of memory. Of a [`Cubin`](crate::Cubin), the file has what
/// its calls declared, and nothing is proved.
pub struct Loaded {
    device: Device,
    path: String,
    file: GraphFile,
    modules: Vec<FileModuleCode>,
    /// Whether its launches must be proved.
    proved: bool,
    plan: Plan,
    /// The memory that was bound, by the number in the file.
    bound: Vec<Option<SharedMemory>>,
    built: Option<Built>,
}

struct Built {
    graph: Graph,
    /// All of each memory.
    places: Vec<Span>,
}

/// Memory of a [`Loaded`] graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadedMemory<'g> {
    /// Its name.
    pub name: &'g str,
    /// Its kind.
    pub memory: Memory,
    /// Its size in bytes.
    pub bytes: u64,
    /// Whether it must be bound before the first launch: it was an argument of the graph that was saved.
    pub given: bool,
    /// Whether some node writes it.
    pub written: bool,
}

impl Loaded {
    /// Reads a file, and checks its graph for a device. Memory is allocated, and kernels are loaded, by the first call
    /// that needs them: [`Loaded::launch`], [`Loaded::read`] or [`Loaded::write`].
    ///
    /// # Errors
    /// * [`Error::GraphFile`] if the file cannot be read, is none of a graph, or is damaged; on a GPU, also if a launch
    ///   is not proved to stay within its memory: see [`Loaded::open_trusted`];
    /// * [`Error::Invalid`] if the graph has mistakes; on a GPU, also if a kernel that accesses several elements at
    ///   once gets memory that does not begin at a multiple of them;
    /// * as [`GraphBuilder::define`].
    pub fn open(device: &Device, path: impl AsRef<Path>) -> Result<Self> {
        Self::read_file(device, path.as_ref(), !device.is_emulator())?.checked()
    }

    /// As [`Loaded::open`], of the bytes of a file, which `name` stands for in messages.
    ///
    /// # Errors
    /// As [`Loaded::open`].
    pub fn from_bytes(device: &Device, name: &str, bytes: &[u8]) -> Result<Self> {
        Self::decoded(device, name.to_owned(), bytes, !device.is_emulator())?.checked()
    }

    /// The graph, if its kernels stay within their memory. On the emulator, each access is checked.
    fn checked(self) -> Result<Self> {
        if self.proved {
            self.prove()?;
        }
        Ok(self)
    }

    /// As [`Loaded::open`], without proofs: for kernels that are too hard to prove.
    ///
    /// # Safety
    ///
    /// Each launch of the file stays within the memory of its arguments, for any contents of memory; and writes
    /// elements of memory that it only writes before it or another node reads them. If the file is one that this
    /// program, or one that its author trusts, has saved, then that is what the author of each kernel has promised.
    ///
    /// # Errors
    /// As [`Loaded::open`].
    pub unsafe fn open_trusted(device: &Device, path: impl AsRef<Path>) -> Result<Self> {
        Self::read_file(device, path.as_ref(), false)
    }

    fn read_file(device: &Device, path: &Path, proved: bool) -> Result<Self> {
        let path_name = path.display().to_string();
        let bytes = fs::read(path).map_err(|error| Error::GraphFile {
            site: Site::default(),
            path: path_name.clone(),
            message: format!("cannot be read: {error}"),
        })?;
        Self::decoded(device, path_name, &bytes, proved)
    }

    fn decoded(device: &Device, path: String, bytes: &[u8], proved: bool) -> Result<Self> {
        match GraphFile::decode(bytes) {
            Ok(file) => Self::new(device, path, file, proved),
            Err(error) => Err(Error::GraphFile {
                site: Site::default(),
                path,
                message: error.to_string(),
            }),
        }
    }

    /// Checks the graph of a file.
    fn new(device: &Device, path: String, file: GraphFile, proved: bool) -> Result<Self> {
        let failed = |message: String| Error::GraphFile {
            site: Site::graph(&file.name),
            path: path.clone(),
            message,
        };
        let read = |module: &graph_plan::FileModule| {
            FileModuleCode::new(&module.name, &module.code)
                .map_err(|message| failed(format!("`{}`: {message}", module.name)))
        };
        let modules = file.modules.iter().map(read).collect::<Result<Vec<_>>>()?;
        let (builder, _) = GraphBuilder::of_file(device, &file, &modules, proved, |_| None).map_err(failed)?;
        let plan = builder.define()?.plan().with_file(Ok(file.clone()));
        Ok(Self {
            device: device.clone(),
            bound: vec![None; file.memory.len()],
            path,
            file,
            modules,
            proved,
            plan,
            built: None,
        })
    }

    /// The graph's name.
    pub fn name(&self) -> &str {
        &self.file.name
    }

    /// The graph as data. It can be saved again.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The memory of the graph, in the order of its declaration.
    pub fn memory(&self) -> impl Iterator<Item = LoadedMemory<'_>> {
        let memory = self.file.memory.iter().enumerate();
        memory.map(|(index, memory)| LoadedMemory {
            name: &memory.name,
            memory: memory.memory,
            bytes: memory.bytes,
            given: memory.given,
            written: self.file.nodes.iter().any(|node| writes(node, index)),
        })
    }

    /// Lets later launches use `buffer` as the memory of this name. Memory that the graph shared when it was saved must
    /// be bound before the first launch. The graph's own device and host memory can be bound until then, so that others
    /// share it.
    ///
    /// # Errors
    /// * [`Error::GraphFile`] if the graph has no such memory, or `buffer` has another length or is on the other side;
    /// * as [`Graph::rebind`], if the graph has been launched.
    pub fn bind<B: Shareable>(&mut self, name: &str, buffer: &B) -> Result<()> {
        let index = self.find(name)?;
        let memory = SharedMemory::of(buffer);
        self.check_bound(index, &memory)?;
        if let Some(built) = &mut self.built {
            let span = built.places[index];
            built.graph.rebind_memory([Rebound {
                span,
                memory: memory.clone(),
                lengths: (NO_LENGTHS, NO_LENGTHS),
            }])?;
        }
        self.bound[index] = Some(memory);
        Ok(())
    }

    /// Refuses memory that cannot stand for memory of the file.
    fn check_bound(&self, index: usize, memory: &SharedMemory) -> Result<()> {
        let declared = &self.file.memory[index];
        let (space, addresses) = memory.addresses();
        let side = match declared.memory {
            Memory::Host => Some(Space::Host),
            Memory::Device => Some(Space::Device),
            _ => None,
        };
        let described = |space| match space {
            Space::Host => "host",
            Space::Device => "device",
        };
        let bytes = memory.bytes() as u64;
        let message = match side {
            None => format!("is {}, which cannot be bound", declared.memory.described()),
            Some(side) if side != space => {
                format!(
                    "is {} memory, and what is bound is {} memory",
                    described(side),
                    described(space)
                )
            }
            Some(_) if bytes != declared.bytes => {
                format!("has {} bytes, and what is bound has {bytes}", declared.bytes)
            }
            Some(_) if bytes > 0 && !addresses.start.is_multiple_of(declared.align) => {
                let align = declared.align;
                format!("begins at a multiple of {align} bytes, and what is bound does not")
            }
            Some(_) => {
                let written = self.file.nodes.iter().any(|node| writes(node, index));
                return memory.check(&self.device.backend, written, || self.site(declared));
            }
        };
        Err(self.failed(Some(declared), message))
    }

    /// Starts the graph and returns without waiting for it: see [`Graph::launch`].
    ///
    /// # Errors
    /// [`Error::GraphFile`] if memory has not been bound; as [`GraphBuilder::build`] at the first call, and as
    /// [`Graph::launch`].
    pub fn launch(&mut self) -> Result<()> {
        self.built()?.graph.launch()
    }

    /// Starts the graph on a stream of the same context: see [`Graph::launch_on`].
    ///
    /// # Errors
    /// As [`Loaded::launch`] and [`Graph::launch_on`].
    pub fn launch_on(&mut self, stream: &CudaStream) -> Result<()> {
        self.built()?.graph.launch_on(stream)
    }

    /// Starts the graph on a stream of any bindings to CUDA: see [`Graph::launch_on_raw`].
    ///
    /// # Safety
    ///
    /// As for [`Graph::launch_on_raw`].
    ///
    /// # Errors
    /// As [`Loaded::launch_on`].
    pub unsafe fn launch_on_raw(&mut self, stream: *mut c_void) -> Result<()> {
        let graph = &mut self.built()?.graph;
        // SAFETY: by the caller's promise.
        unsafe { graph.launch_on_raw(stream) }
    }

    /// Waits for all launches.
    ///
    /// # Errors
    /// As [`Graph::synchronize`].
    pub fn synchronize(&self) -> Result<()> {
        self.built.as_ref().map_or(Ok(()), |built| built.graph.synchronize())
    }

    /// Waits for all launches, and returns a copy of host or device memory: its own, or what was bound.
    ///
    /// # Errors
    /// [`Error::GraphFile`] if the graph has no such memory, or if the memory is no whole number of elements; as
    /// [`Loaded::launch`]; and as [`Graph::device`].
    pub fn read<T: Element>(&mut self, name: &str) -> Result<Vec<T>> {
        let index = self.find_elements::<T>(name)?;
        let is_bound = self.bound[index].is_some();
        let Built { graph, places } = self.built()?;
        let span = places[index];
        match graph.data.draft.resources[span.resource].memory {
            Memory::Host if is_bound => {
                let bytes = graph.shared_host(&Place::<[u8], OnHost>::new(span))?;
                Ok(bytemuck::pod_collect_to_vec(&bytes))
            }
            Memory::Host => {
                let bytes = graph.host_slice(&Place::<[u8], OnHost>::new(span))?;
                Ok(bytemuck::pod_collect_to_vec(bytes))
            }
            _ => graph.device(&Place::<[T], OnDevice>::new(span))?.read_vec(),
        }
    }

    /// Waits for all launches, and replaces the contents of host or device memory.
    ///
    /// # Errors
    /// [`Error::Length`] if there are more or fewer elements; as [`Loaded::read`].
    pub fn write<T: Element>(&mut self, name: &str, elements: &[T]) -> Result<()> {
        let index = self.find_elements::<T>(name)?;
        let given = size_of_val(elements);
        if given as u64 != self.file.memory[index].bytes {
            return Err(Error::Length {
                site: self.site(&self.file.memory[index]),
                expected: self.file.memory[index].bytes as usize,
                given,
            });
        }
        let is_bound = self.bound[index].is_some();
        let Built { graph, places } = self.built()?;
        let (span, bytes) = (places[index], bytemuck::cast_slice::<T, u8>(elements));
        match graph.data.draft.resources[span.resource].memory {
            Memory::Host if is_bound => {
                let mut to = graph.shared_host_mut(&Place::<[u8], OnHost>::new(span))?;
                to.copy_from_slice(bytes);
            }
            Memory::Host => graph
                .host_slice_mut(&Place::<[u8], OnHost>::new(span))?
                .copy_from_slice(bytes),
            _ => graph
                .device_mut(&Place::<[u8], OnDevice>::new(span))?
                .copy_from(bytes)?,
        }
        Ok(())
    }

    /// Returns a handle to mapped memory: see [`Graph::mapped`].
    ///
    /// # Errors
    /// [`Error::GraphFile`] if the graph has no such memory; as [`Loaded::launch`] and [`Graph::mapped`].
    pub fn mapped<T: Word>(&mut self, name: &str) -> Result<MappedHost<T>> {
        let index = self.find(name)?;
        if self.file.memory[index].align < align_of::<T>() as u64 {
            let message = format!("is not aligned for words of {} bytes", size_of::<T>());
            return Err(self.failed(Some(&self.file.memory[index]), message));
        }
        let Built { graph, places } = self.built()?;
        graph.mapped(&Place::<[T], OnMapped>::new(places[index]))
    }

    /// The number of the memory of this name.
    fn find(&self, name: &str) -> Result<usize> {
        let names = || self.file.memory.iter().map(|memory| &*memory.name);
        names().position(|known| known == name).ok_or_else(|| {
            let near = nearest(name, names());
            let help = near.map_or_else(String::new, |near| format!("\nhelp: there is `{near}`"));
            self.failed(None, format!("it has no memory `{name}`{help}"))
        })
    }

    /// The number of the memory of this name, whose elements are `T`.
    fn find_elements<T>(&self, name: &str) -> Result<usize> {
        let index = self.find(name)?;
        let memory = &self.file.memory[index];
        let message = match memory.memory {
            Memory::Scratch => "is scratch memory, which keeps nothing after a launch".to_owned(),
            Memory::Mapped => "is mapped memory: `loaded.mapped(..)` returns a handle to it".to_owned(),
            _ if size_of::<T>() == 0 || !memory.bytes.is_multiple_of(size_of::<T>() as u64) => {
                let (bytes, size) = (memory.bytes, size_of::<T>());
                format!("has {bytes} bytes, which are no whole number of elements of {size}")
            }
            _ => return Ok(index),
        };
        Err(self.failed(Some(memory), message))
    }

    /// The built graph. The first call builds it.
    fn built(&mut self) -> Result<&mut Built> {
        if self.built.is_none() {
            self.built = Some(self.build()?);
        }
        let unbuilt = || Error::GraphFile {
            site: Site::graph(&self.file.name),
            path: self.path.clone(),
            message: "it was not built".to_owned(),
        };
        self.built.as_mut().ok_or_else(unbuilt)
    }

    fn build(&self) -> Result<Built> {
        let mut memory = self.file.memory.iter().zip(&self.bound);
        if let Some((missing, _)) = memory.find(|(memory, bound)| memory.given && bound.is_none()) {
            let FileMemory { name, bytes, .. } = missing;
            let side = if missing.memory == Memory::Host {
                "host"
            } else {
                "device"
            };
            let message = format!(
                "nothing is bound\nhelp: `loaded.bind(\"{name}\", &buffer)?` before the first launch, with {bytes} bytes of \
                 {side} memory"
            );
            return Err(self.failed(Some(missing), message));
        }
        let bound = |index: usize| self.bound[index].clone();
        let declared = GraphBuilder::of_file(&self.device, &self.file, &self.modules, self.proved, bound);
        let (builder, places) = declared.map_err(|message| self.failed(None, message))?;
        let mut graph = builder.build()?;
        for (index, memory) in self.file.memory.iter().enumerate() {
            if !memory.contents.is_empty() && self.bound[index].is_none() {
                let place = Place::<[u8], OnDevice>::new(places[index]);
                graph.device_mut(&place)?.copy_from(&memory.contents)?;
            }
        }
        Ok(Built { graph, places })
    }

    fn site(&self, memory: &FileMemory) -> Site {
        Site::graph(&self.file.name).at_memory(&memory.name)
    }

    /// An error about the file, or memory of it.
    fn failed(&self, memory: Option<&FileMemory>, message: String) -> Error {
        let graph = || Site::graph(&self.file.name);
        Error::GraphFile {
            site: memory.map_or_else(graph, |memory| self.site(memory)),
            path: self.path.clone(),
            message,
        }
    }
}

/// Whether a node writes the memory with this number.
fn writes(node: &FileNode, index: usize) -> bool {
    match &node.work {
        FileWork::Kernel(kernel) => kernel.arguments.iter().any(|argument| match argument {
            FileArgument::Memory { memory, mode, .. } => *memory as usize == index && mode.writes(),
            FileArgument::Value(_) => false,
        }),
        FileWork::Memcpy { to, .. } | FileWork::Memset { to, .. } => to.memory as usize == index,
        FileWork::Join | FileWork::Child | FileWork::Conditional { .. } => false,
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, nodes) = (&self.file.name, self.file.nodes.len());
        write!(f, "Loaded({name}, {nodes} nodes, {:?})", self.device)
    }
}
