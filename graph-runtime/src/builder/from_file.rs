//! The graph of a file as calls of the builder. So the rules that a file must keep are those of any graph, and `build`
//! checks them. Only what the types of Rust would say of other graphs is checked here.

use super::GraphBuilder;
use super::constant::DeclaredConstant;
use crate::device::Device;
use crate::graph::node::NodeId;
use crate::kernel::cubin::{FileModuleCode, FileModuleKernel};
use crate::kernel::module::Passed;
use crate::kernel::{ArgumentKind, CallArgument, Launch, Value};
use crate::ownership::block::SharedMemory;
use crate::program::transfer::{Memcpy, Memset};
use crate::program::{ConditionalKind, Op, Structure};
use crate::shape::NO_LENGTHS;
use crate::shape::bytes::Bytes;
use crate::shape::part::Layout;
use crate::shape::place::{OnDevice, Place, Span};
use graph_plan::{
    FileArgument, FileBody, FileKernel, FileMemory, FileNode, FileRows, FileWork, GraphFile, Memory, Mode, NodeKind,
    Origin, Role,
};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The maximum depth of bodies in each other.
const MAX_DEPTH: usize = 64;
/// The maximum alignment of elements.
const MAX_ALIGNMENT: u64 = 256;

type Checked<T> = std::result::Result<T, String>;

/// The graph of a file that is being declared.
struct FromFile<'f> {
    builder: GraphBuilder,
    file: &'f GraphFile,
    modules: &'f [FileModuleCode],
    /// All of each memory.
    places: Vec<Span>,
    /// Whether its kernels are proved, and not promised by somebody, to stay within their memory.
    proved: bool,
    /// The depth of each body that has been opened. Their numbers are those of the draft.
    depths: Vec<usize>,
    /// The number of bodies of each node so far.
    bodies: Vec<u32>,
    kernels: HashMap<(u32, &'f str), FileModuleKernel>,
}

impl GraphBuilder {
    /// Declares the graph of a file, and returns the span of each of its memories. `bound` returns memory that stands
    /// for the file's with this number, if there is some; other memory is the graph's own. `proved` says whether the
    /// kernels are proved to stay within their memory, which then must begin where proofs assume.
    ///
    /// # Errors
    /// The first mistake that no builder could make. All others are those of `build`.
    pub(crate) fn of_file(
        device: &Device,
        file: &GraphFile,
        modules: &[FileModuleCode],
        proved: bool,
        bound: impl Fn(usize) -> Option<SharedMemory>,
    ) -> Checked<(Self, Vec<Span>)> {
        let mut declared = FromFile {
            builder: GraphBuilder::new(device, file.name.clone()),
            file,
            modules,
            places: Vec::new(),
            proved,
            depths: vec![0],
            bodies: vec![0; file.nodes.len()],
            kernels: HashMap::new(),
        };
        for (index, memory) in file.memory.iter().enumerate() {
            declared.memory(memory, bound(index))?;
        }
        for node in &file.nodes {
            declared.node(node)?;
        }
        declared.open_bodies(file.bodies.len())?;
        declared.check_bodies()?;
        declared.edges();
        declared.builder.position.body = 0;
        Ok((declared.builder, declared.places))
    }
}

impl<'f> FromFile<'f> {
    fn memory(&mut self, memory: &FileMemory, bound: Option<SharedMemory>) -> Checked<()> {
        let FileMemory { name, bytes, align, .. } = memory;
        if !align.is_power_of_two() || *align > MAX_ALIGNMENT {
            return Err(format!("memory `{name}` has an alignment of {align} bytes"));
        }
        let (Ok(bytes), Ok(align)) = (usize::try_from(*bytes), usize::try_from(*align)) else {
            return Err(format!("memory `{name}` has more bytes than this machine can address"));
        };
        let place: Place<[u8], OnDevice> = match bound {
            Some(bound) => self.builder.share(name.clone(), bound, NO_LENGTHS, true),
            None => self.builder.resource(
                name.clone(),
                memory.memory,
                Layout {
                    bytes,
                    align,
                    float: None,
                },
            ),
        };
        let resource = place.span.resource;
        if memory.given {
            self.builder.draft.resources[resource].origin = Origin::Outside;
        }
        if memory.memory == Memory::Constant {
            self.builder.memory.constants.push(DeclaredConstant {
                resource,
                symbol: memory.symbol.clone(),
                align,
            });
        }
        self.places.push(place.span);
        Ok(())
    }

    fn node(&mut self, node: &'f FileNode) -> Checked<()> {
        let body = node.body as usize;
        self.open_bodies(body)?;
        self.builder.position.body = body;
        let name = node.name.clone();
        let added = match &node.work {
            FileWork::Kernel(kernel) => self.kernel(node, kernel)?,
            FileWork::Memcpy { from, to } => {
                // Copies of rows compare their numbers, so both sides are rows if one is.
                let rows = [from, to].iter().any(|side| side.width != side.bytes);
                let copy = Memcpy::of_bytes(self.rows(node, from, rows)?, self.rows(node, to, rows)?);
                self.builder.copy(name, &copy)
            }
            FileWork::Memset { to, value } => {
                let set = Memset {
                    to: self.rows(node, to, to.width != to.bytes)?,
                    value: Value::of_bytes(value),
                    within: None,
                    param: None,
                };
                if value.is_empty() || !to.width.is_multiple_of(value.len() as u64) {
                    let (width, len) = (to.width, value.len());
                    return Err(format!(
                        "node `{}` fills rows of {width} bytes by a value of {len}",
                        node.name
                    ));
                }
                self.builder.set(name, set)
            }
            FileWork::Join => self.builder.join(name),
            FileWork::Child => {
                self.builder.node(name, NodeKind::Graph);
                self.builder.push(Structure::Child(0)) // until its body is opened
            }
            FileWork::Conditional { kind, memory, start } => {
                let condition = self.span(*memory, *start, size_of::<u32>() as u64);
                if !start.is_multiple_of(size_of::<u32>() as u64) {
                    return Err(format!("the condition of node `{}` is not aligned", node.name));
                }
                let kind = match kind {
                    NodeKind::While => ConditionalKind::While,
                    NodeKind::Switch => ConditionalKind::Switch,
                    _ => ConditionalKind::If,
                };
                self.builder.conditional(name, kind, condition)
            }
        };
        if node.disabled {
            self.builder.disable(added);
        }
        Ok(())
    }

    /// Opens all bodies up to this one, in the order of their numbers, so that these are those of the draft.
    fn open_bodies(&mut self, last: usize) -> Checked<()> {
        let added = self.builder.program.ops.len();
        for (index, &FileBody { role, node }) in self
            .file
            .bodies
            .iter()
            .enumerate()
            .take(last)
            .skip(self.depths.len() - 1)
        {
            let owner = node as usize;
            if owner >= added {
                return Err(format!("body {} comes before the node whose body it is", index + 1));
            }
            let declared = &self.builder.draft.nodes[owner];
            let (depth, name) = (self.depths[declared.body] + 1, declared.name.clone());
            if depth > MAX_DEPTH {
                return Err(format!("node `{name}` is in more than {MAX_DEPTH} bodies"));
            }
            let number = self.bodies[owner];
            let op = &mut self.builder.program.ops[owner];
            let fits = match op {
                Op::Structure(Structure::Child(_)) => role == Role::Child && number == 0,
                Op::Structure(Structure::Conditional(conditional)) => match conditional.kind {
                    ConditionalKind::If => (role, number) == (Role::Then, 0) || (role, number) == (Role::Else, 1),
                    ConditionalKind::While => (role, number) == (Role::While, 0),
                    ConditionalKind::Switch => role == Role::Case,
                },
                Op::Work(_) | Op::External(_) => false,
            };
            if !fits {
                return Err(format!("node `{name}` has a body that nodes of its kind do not have"));
            }
            let body = self.builder.draft.body(owner, role);
            match op {
                Op::Structure(Structure::Child(slot)) => *slot = body,
                Op::Structure(Structure::Conditional(conditional)) => conditional.bodies.push(body),
                Op::Work(_) | Op::External(_) => {}
            }
            self.depths.push(depth);
            self.bodies[owner] += 1;
        }
        Ok(())
    }

    /// Refuses nodes without the body that they run.
    fn check_bodies(&self) -> Checked<()> {
        for (index, op) in self.builder.program.ops.iter().enumerate() {
            let needs = match op {
                Op::Structure(Structure::Child(_)) => true,
                Op::Structure(Structure::Conditional(conditional)) => conditional.kind != ConditionalKind::Switch,
                Op::Work(_) | Op::External(_) => false,
            };
            if needs && self.bodies[index] == 0 {
                let name = &self.builder.draft.nodes[index].name;
                return Err(format!("node `{name}` has no body"));
            }
        }
        Ok(())
    }

    fn edges(&mut self) {
        let graph = self.builder.id;
        for (index, node) in self.file.nodes.iter().enumerate() {
            let to = NodeId::of(graph, index);
            for edge in &node.after {
                let from = [NodeId::of(graph, edge.from as usize)];
                match edge.programmatic {
                    true => self.builder.after_programmatic(to, &from),
                    false => self.builder.after(to, &from),
                }
            }
        }
    }

    /// A part of memory. If it reaches outside, `build` reports that.
    fn span(&self, memory: u32, start: u64, bytes: u64) -> Span {
        let all = self.places[memory as usize];
        let part = usize::try_from(start).ok().zip(usize::try_from(bytes).ok());
        let inside = part.filter(|(start, bytes)| start.checked_add(*bytes).is_some_and(|end| end <= all.bytes));
        match inside {
            Some((start, bytes)) => Span { start, bytes, ..all },
            None => Span { outside: true, ..all },
        }
    }

    fn rows(&self, node: &FileNode, rows: &FileRows, is_rectangle: bool) -> Checked<Bytes> {
        let &FileRows {
            memory,
            start,
            bytes,
            width,
            pitch,
        } = rows;
        if bytes == 0 || width == bytes {
            return Ok(Bytes {
                is_rectangle: is_rectangle && bytes > 0,
                ..self.span(memory, start, bytes).into()
            });
        }
        let count = bytes
            .checked_div(width)
            .filter(|_| bytes.is_multiple_of(width) && pitch >= width);
        let Some(count) = count else {
            let name = &node.name;
            return Err(format!(
                "node `{name}` has {bytes} bytes in rows of {width}, each {pitch} after the last"
            ));
        };
        // All bytes from the first row to the end of the last.
        let extent = (count - 1)
            .checked_mul(pitch)
            .and_then(|before| before.checked_add(width));
        let all = self.span(memory, start, extent.unwrap_or(u64::MAX));
        let (Ok(width), Ok(pitch)) = (usize::try_from(width), usize::try_from(pitch)) else {
            return Err(format!(
                "node `{}` has rows that this machine cannot address",
                node.name
            ));
        };
        Ok(Bytes {
            all: Span {
                bytes: usize::try_from(bytes).unwrap_or(usize::MAX).min(all.bytes),
                ..all
            },
            width,
            pitch,
            is_rectangle: true,
        })
    }

    fn kernel(&mut self, node: &'f FileNode, kernel: &'f FileKernel) -> Checked<NodeId> {
        let mut arguments = Vec::with_capacity(kernel.arguments.len());
        let mut passed = Vec::with_capacity(kernel.arguments.len());
        for argument in &kernel.arguments {
            let kind = match argument {
                FileArgument::Value(bytes) => ArgumentKind::Value(Value::of_bytes(bytes)),
                &FileArgument::Memory {
                    memory,
                    start,
                    bytes,
                    mode,
                    ..
                } => ArgumentKind::Buffer(self.span(memory, start, bytes), mode),
            };
            passed.push(match argument {
                &FileArgument::Memory {
                    mode: Mode::Mapped,
                    unit,
                    ..
                } => Passed::Mapped(unit.into()),
                FileArgument::Memory { .. } | FileArgument::Value(_) => Passed::of(&kind),
            });
            arguments.push(CallArgument(kind));
        }
        let callee = match self.kernels.entry((kernel.module, &*kernel.entry)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => {
                let found = self.modules[kernel.module as usize].kernel(&kernel.entry);
                vacant.insert(found.map_err(|error| format!("node `{}`: {error}", node.name))?)
            }
        }
        .callee(passed, self.proved);
        let launch = Launch {
            grid: kernel.grid.map(i128::from),
            block: kernel.block.map(i128::from),
            shared: kernel.shared.into(),
            cluster: kernel.cluster.map(|sides| sides.map(i128::from)),
            cooperative: kernel.cooperative,
        };
        let added = self.builder.launch(node.name.clone(), launch, &callee, &mut arguments);
        if let Some(priority) = kernel.priority {
            self.builder.priority(added, priority);
        }
        Ok(added)
    }
}
