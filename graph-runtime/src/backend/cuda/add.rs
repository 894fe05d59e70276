//! One node of a program as one driver call: its parameters, adding it, and changing it in place.

use super::attribute;
use super::builtin::Builtin;
use super::fill::{Fill, FillArguments};
use super::forms::Forms;
use super::kernels::Kernels;
use super::predicated::{Guard, Guarded, TestArgument, Word};
use super::texture::{Described, Textures};
use crate::devices::cuda::Cuda;
use crate::devices::cuda_array::ArrayHandle;
use crate::driver::{CUgraph, CUgraphExec, CUgraphNode, ConditionalHandle, KernelHandle, KernelNodeParams};
use crate::error::CudaError;
use crate::kernel::KernelFacts;
use crate::ownership::storage::Storage;
use crate::program::{Argument, KernelOp, MemcpyOp, MemsetOp, Program, Work};
use crate::shape::part::Part;
use graph_plan::LaunchConfig;
use graph_ptx::GuardForm;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

/// Makes driver calls of nodes. It has scratch memory for their parameters, so that building does not allocate for
/// every node.
pub(super) struct Adder {
    pub(super) cuda: Arc<Cuda>,
    pub(super) resources: Vec<Address>,
    /// The addresses of the buffers among the arguments of the current node.
    buffers: Vec<u64>,
    pub(super) textures: Textures,
    /// The addresses of the arguments of the current node.
    pub(super) pointers: Vec<*mut c_void>,
    pub(super) fill: FillArguments,
    pub(super) copy: CopyArguments,
    condition: ConditionArguments,
    /// The forms of bodies, which decide how copies and memsets in them are made.
    pub(super) forms: Forms,
    /// The address of the copies of conditions and of tickets; 0 if there are none.
    pub(super) copies: u64,
    /// The argument for the guard of the current node.
    guard: Vec<TestArgument>,
}

/// The parameters of the built-in kernels that copy memory.
#[derive(Default)]
pub(super) struct CopyArguments {
    pub(super) to: u64,
    pub(super) from: u64,
    pub(super) count: u64,
    pub(super) to_pitch: u64,
    pub(super) from_pitch: u64,
    pub(super) rows: u64,
}

/// The address of a resource.
#[derive(Clone, Copy)]
pub(super) enum Address {
    Host(*mut u8),
    Device(u64),
    Array(ArrayHandle),
    Module,
}

impl Address {
    fn of(storage: &Storage) -> Self {
        if let Storage::Array(array) = storage {
            return Address::Array(array.handle());
        }
        if let Some(first) = storage.host() {
            return Address::Host(first.as_ptr());
        }
        match storage.device() {
            Some((memory, start)) => Address::Device(memory.address() + start as u64),
            None => Address::Module,
        }
    }

    /// The address of a byte of the resource in device memory.
    #[inline]
    fn at(&self, start: usize) -> u64 {
        match self {
            Address::Device(base) => base + start as u64,
            Address::Host(_) | Address::Array(..) | Address::Module => 0, // the plan has refused this
        }
    }

    /// The address of a byte of the resource as kernels reach it, in device memory or page-locked memory of the graph.
    pub(super) fn reached_at(&self, start: usize) -> u64 {
        match self {
            Address::Host(base) => base.addr() as u64 + start as u64, // kernels use the same addresses as the host
            Address::Device(_) | Address::Array(..) | Address::Module => self.at(start),
        }
    }
}

/// The parameters of the built-in kernels that set conditions.
#[derive(Default)]
struct ConditionArguments {
    handle: ConditionalHandle,
    flag: u64,
    number: u32,
}

impl Adder {
    pub(super) fn new(cuda: &Arc<Cuda>, storage: &[Storage]) -> Self {
        Self {
            cuda: cuda.clone(),
            resources: storage.iter().map(Address::of).collect(),
            buffers: Vec::new(),
            textures: Textures::default(),
            pointers: Vec::new(),
            fill: FillArguments::default(),
            copy: CopyArguments::default(),
            condition: ConditionArguments::default(),
            forms: Forms::default(),
            copies: 0,
            guard: Vec::new(),
        }
    }

    /// Takes the address of a resource from `storage` from now on.
    pub(super) fn rebind(&mut self, resource: usize, storage: &Storage) {
        self.resources[resource] = Address::of(storage);
    }

    /// Adds a node with this work to `graph`. Its kernel does first what the guard says.
    ///
    /// # Safety
    ///
    /// The graph and the nodes in `after` live and belong together, the context is current, and the kernels and the
    /// memory that `self` was made for outlive every launch of the graph.
    pub(super) unsafe fn add(
        &mut self,
        graph: CUgraph,
        after: &[CUgraphNode],
        program: &Program,
        kernels: &Kernels,
        (node, name): (usize, &str),
        (work, guard): (&Work, &Guard),
    ) -> Result<CUgraphNode, CudaError> {
        let guarded = Guarded { guard, runs: true };
        let lowered;
        let work = match work {
            Work::Kernel(_) => work, // as it is, and graphs have very many
            Work::Memcpy(_) | Work::Memset(_) | Work::Join => {
                lowered = program.lowered(node, work);
                &*lowered
            }
        };
        match work {
            Work::Kernel(kernel) => {
                // SAFETY: by the caller's promise.
                unsafe { self.add_kernel(graph, after, program, kernels, (node, name), (kernel, guarded)) }
            }
            Work::Memcpy(copy) if !copy.to.is_empty() && self.forms.has_guard(node, guard.form()) => {
                announce_node!(self.cuda, add_kernel_node, name, after, bytes = copy.to.part().bytes)?;
                let params = self.copy(kernels, copy, guarded);
                // SAFETY: by the caller's promise; `params` points into `self`, which is not touched until the call is
                // over.
                unsafe { self.cuda.api().add_kernel_node(graph, after, &params) }
            }
            Work::Memcpy(copy) if !copy.to.is_empty() => {
                let (bytes, rows) = (copy.to.part().bytes, copy.to.rows());
                announce_node!(self.cuda, add_memcpy_node, name, after, bytes = bytes, rows = rows)?;
                let params = self.memcpy(copy);
                // SAFETY: by the caller's promise.
                unsafe { self.cuda.api().add_memcpy_node(graph, after, &params, self.cuda.raw()) }
            }
            Work::Memset(set) => {
                let fill = self.fill_of(program, node, set);
                // SAFETY: by the caller's promise.
                unsafe { self.add_fill(graph, after, kernels, (&set.to, &fill), name, guarded) }
            }
            // A join and a copy of nothing become an empty node.
            Work::Join | Work::Memcpy(_) => {
                announce_node!(self.cuda, add_empty_node, name, after)?;
                // SAFETY: by the caller's promise.
                unsafe { self.cuda.api().add_empty_node(graph, after) }
            }
        }
    }

    /// As [`Adder::add`], of a node that launches a kernel.
    ///
    /// # Safety
    ///
    /// As for [`Adder::add`].
    #[inline]
    unsafe fn add_kernel(
        &mut self,
        graph: CUgraph,
        after: &[CUgraphNode],
        program: &Program,
        kernels: &Kernels,
        (node, name): (usize, &str),
        (kernel, guarded): (&KernelOp, Guarded<'_>),
    ) -> Result<CUgraphNode, CudaError> {
        let api = kernels.handle(kernel.function).api(self.cuda.api());
        let entry = || program.functions[kernel.function as usize].facts.entry;
        announce!(
            self.cuda,
            trace,
            node = name,
            entry = entry(),
            after = after.len(),
            "{}",
            api.names().add_kernel_node
        )?;
        // SAFETY: by the caller's promise.
        let params = unsafe { self.kernel(program, kernels, kernel, node, guarded) }?;
        // SAFETY: by the caller's promise; `params` points into `self`, which is not touched until the call is over.
        let added = unsafe { api.add_kernel_node(graph, after, &params) }?;
        if let Some(attributes) = &kernel.attributes {
            announce!(
                self.cuda,
                trace,
                node = name,
                ?attributes,
                "{}",
                self.cuda.api().names().set_attribute
            )?;
            // SAFETY: the node was just added.
            unsafe { attribute::set(&self.cuda, added, attributes) }?;
        }
        Ok(added)
    }

    /// Changes `handle` in `exec`, so that later launches do this work, which the program now has for `node`.
    ///
    /// # Safety
    ///
    /// As for [`Adder::add`]; `exec` was made of the graph in which `handle` is that node, of the same kind.
    pub(super) unsafe fn apply(
        &mut self,
        exec: CUgraphExec,
        handle: CUgraphNode,
        program: &Program,
        kernels: &Kernels,
        node: usize,
        (work, guard): (&Work, &Guard),
    ) -> Result<(), CudaError> {
        let guarded = Guarded {
            guard,
            runs: program.enabled[node],
        };
        match work {
            Work::Kernel(kernel) => {
                // SAFETY: by the caller's promise.
                let params = unsafe { self.kernel(program, kernels, kernel, node, guarded) }?;
                // SAFETY: by the caller's promise; `params` points into `self`, which is not touched until the call is
                // over.
                unsafe { self.cuda.api().set_kernel_node(exec, handle, &params) }
            }
            Work::Memset(set) => {
                let fill = self.fill_of(program, node, set);
                // SAFETY: by the caller's promise.
                unsafe { self.apply_fill(exec, handle, kernels, (&set.to, &fill), guarded) }
            }
            Work::Memcpy(copy) if !copy.to.is_empty() && self.forms.has(node) => {
                let params = self.copy(kernels, copy, guarded);
                // SAFETY: by the caller's promise; `params` points into `self`, which is not touched until the call is
                // over.
                unsafe { self.cuda.api().set_kernel_node(exec, handle, &params) }
            }
            Work::Memcpy(copy) if !copy.to.is_empty() && self.changes_in_place(copy) => {
                let params = self.memcpy(copy);
                // SAFETY: by the caller's promise.
                unsafe { self.cuda.api().set_memcpy_node(exec, handle, &params, self.cuda.raw()) }
            }
            // Nothing in these changes in place. For copies of arrays and of rows that lie apart, the whole graph is
            // instantiated again (`instantiate_again`).
            Work::Memcpy(_) | Work::Join => Ok(()),
        }
    }

    /// Whether CUDA can change a copy in an executable graph: not if one side has rows that lie apart, or is an array.
    pub(super) fn changes_in_place(&self, copy: &MemcpyOp) -> bool {
        [&copy.from, &copy.to].iter().all(|side| {
            let address = self.resources[side.part().resource as usize];
            side.is_one_row() && !matches!(address, Address::Array(..))
        })
    }

    /// The way in which a memset node sets its memory: by a kernel in a predicated body. `set` is the work of the node,
    /// as it is or as it will be.
    pub(super) fn fill_of(&self, program: &Program, node: usize, set: &MemsetOp) -> Fill {
        let fill = Fill::of_node(program, node, set);
        if self.forms.has(node) {
            fill.by_kernel(program, node, &set.to)
        } else {
            fill
        }
    }

    /// Whether the node is a CUDA memset that launches skip.
    pub(super) fn is_skipped_memset(&self, program: &Program, node: usize, set: &MemsetOp) -> bool {
        !program.enabled[node] && matches!(self.fill_of(program, node, set), Fill::Memset { .. })
    }

    pub(super) fn device(&self, part: Part) -> u64 {
        self.address(part.resource, part.start)
    }

    /// The address of a byte of a resource in device memory.
    #[inline]
    pub(super) fn address(&self, resource: u32, start: usize) -> u64 {
        self.resources[resource as usize].at(start)
    }

    /// The first resource among these arguments of a kernel, if they are not empty, whose address is no multiple of the
    /// number that is given with its parameter.
    /// (The plan knows only where a part of a resource begins, and not where the resource does. Arrays are at 0 here.)
    pub(super) fn misaligned(
        &self,
        program: &Program,
        kernel: &KernelOp,
        mut wanted: impl Iterator<Item = (usize, u32)>,
    ) -> Option<(usize, u32)> {
        let arguments = program.arguments(kernel);
        wanted.find_map(|(param, multiple)| match arguments.get(param)? {
            Argument::Buffer {
                resource, start, bytes, ..
            } if *bytes > 0 => {
                let address = self.address(*resource, *start);
                (!address.is_multiple_of(multiple.into())).then_some((*resource as usize, multiple))
            }
            Argument::Buffer { .. } | Argument::Value(_) => None,
        })
    }

    /// The parameters of a kernel node; they point into `self` and `program`.
    ///
    /// # Safety
    ///
    /// As for [`Adder::add`].
    #[inline]
    unsafe fn kernel(
        &mut self,
        program: &Program,
        kernels: &Kernels,
        kernel: &KernelOp,
        node: usize,
        guarded: Guarded<'_>,
    ) -> Result<KernelNodeParams, CudaError> {
        let arguments = program.arguments(kernel);
        let facts = program.functions[kernel.function as usize].facts;
        self.buffers.resize(arguments.len(), 0);
        for (argument, buffer) in arguments.iter().zip(&mut self.buffers) {
            if let Argument::Buffer { resource, start, .. } = argument {
                *buffer = self.resources[*resource as usize].at(*start);
            }
        }
        if facts.takes_texels() {
            // SAFETY: by the caller's promise.
            unsafe { self.put_textures(facts, arguments, node) }?;
        }
        self.pointers.resize(arguments.len(), ptr::null_mut());
        let places = arguments.iter().zip(&self.buffers);
        for ((argument, buffer), pointer) in places.zip(&mut self.pointers) {
            *pointer = match argument {
                Argument::Buffer { .. } => ptr::from_ref(buffer).cast::<c_void>().cast_mut(),
                Argument::Value(value) => value.bytes().as_ptr().cast::<c_void>().cast_mut(),
            };
        }
        self.push_guard(guarded);
        let handle = kernels.guarded(kernel.function, guarded.guard.form());
        Ok(launch(handle, &kernel.config, &mut self.pointers))
    }

    /// Adds the argument for the guard to those in `pointers`, as the last one, if there are any tests.
    pub(super) fn push_guard(&mut self, Guarded { guard, runs }: Guarded<'_>) {
        if guard.tests.is_empty() {
            return;
        }
        let tests = guard.tests.iter().map(|test| TestArgument {
            address: match test.word {
                Word::Condition(part) => self.device(part),
                Word::Latch(latch) => self.copy_address(latch),
                Word::Zero(address) => address,
            },
            number: test.number,
            equal: u32::from(test.equal),
        });
        let ticket = guard.ticket.map(|ticket| TestArgument {
            address: self.copy_address(ticket),
            ..TestArgument::default()
        });
        let keeps = guard.keeps.map(|copy| TestArgument {
            address: self.copy_address(copy),
            number: u32::from(runs),
            equal: 0,
        });
        let arguments: Vec<TestArgument> = tests.chain(ticket).chain(keeps).collect();
        self.guard = arguments;
        self.pointers.push(self.guard.as_mut_ptr().cast());
    }

    /// The address of the copy of a condition, or the ticket, with this number.
    fn copy_address(&self, copy: usize) -> u64 {
        self.copies + (COPY_BYTES * copy) as u64
    }

    /// The parameters of the kernel that copies a condition. They point into `self`.
    pub(super) fn latch_params(&mut self, kernels: &Kernels, condition: Part, latch: usize) -> KernelNodeParams {
        self.copy.from = self.device(condition);
        self.copy.to = self.copy_address(latch);
        self.pointers.clear();
        self.pointers.extend([
            (&raw mut self.copy.from).cast::<c_void>(),
            (&raw mut self.copy.to).cast(),
        ]);
        launch(
            kernels.builtin(Builtin::Latch, GuardForm::default()),
            &ONE_THREAD,
            &mut self.pointers,
        )
    }

    /// Replaces the addresses in `buffers` that are read through textures or surfaces by the handles of these.
    ///
    /// # Safety
    ///
    /// As for [`Adder::add`].
    unsafe fn put_textures(
        &mut self,
        facts: &KernelFacts,
        arguments: &[Argument],
        node: usize,
    ) -> Result<(), CudaError> {
        for (param, argument) in arguments.iter().enumerate() {
            let &Argument::Buffer { resource, bytes, .. } = argument else {
                continue;
            };
            let memory = match self.resources[resource as usize] {
                Address::Array(array) => Described::Array(array.handle),
                Address::Host(_) | Address::Device(_) | Address::Module => Described::Bytes(self.buffers[param], bytes),
            };
            // SAFETY: the context is current and the memory outlives every launch, by the caller's promise. (Memory
            // that is rebound does so too: fact 2 of `CudaExecutable`.)
            if let Some(handle) = unsafe { self.textures.handle(&self.cuda, (node, param), facts, memory) }? {
                self.buffers[param] = handle;
            }
        }
        Ok(())
    }

    /// The parameters of the kernel that sets a condition: to the value of `flag` or, if `number` is given, to whether
    /// the value equals that. They point into `self`.
    pub(super) fn condition(
        &mut self,
        kernels: &Kernels,
        handle: ConditionalHandle,
        flag: Part,
        number: Option<u32>,
    ) -> KernelNodeParams {
        self.condition = ConditionArguments {
            handle,
            flag: self.device(flag),
            number: number.unwrap_or_default(),
        };
        self.pointers.clear();
        self.pointers.extend([
            (&raw mut self.condition.handle).cast::<c_void>(),
            (&raw mut self.condition.flag).cast(),
            // The kernel without a number has one parameter less; CUDA does not read this pointer then.
            (&raw mut self.condition.number).cast(),
        ]);
        let setter = match number {
            Some(_) => Builtin::ConditionEqual,
            None => Builtin::Condition,
        };
        launch(
            kernels.builtin(setter, GuardForm::default()),
            &ONE_THREAD,
            &mut self.pointers,
        )
    }
}

/// The bytes of a copy of a condition, which are enough for a ticket as well.
pub(super) const COPY_BYTES: usize = 16;

/// The launch of a built-in kernel that needs one thread only.
pub(super) const ONE_THREAD: LaunchConfig = LaunchConfig {
    grid: [1; 3],
    block: [1; 3],
    shared: 0,
};

/// The parameters of a kernel node. `pointers` point to its arguments; the result points to `pointers`.
#[inline]
pub(super) fn launch(kernel: KernelHandle, config: &LaunchConfig, pointers: &mut [*mut c_void]) -> KernelNodeParams {
    KernelNodeParams {
        func: kernel.function,
        gridDimX: config.grid[0],
        gridDimY: config.grid[1],
        gridDimZ: config.grid[2],
        blockDimX: config.block[0],
        blockDimY: config.block[1],
        blockDimZ: config.block[2],
        sharedMemBytes: config.shared,
        kernelParams: pointers.as_mut_ptr(),
        extra: ptr::null_mut(),
        kern: kernel.kernel,
        ctx: ptr::null_mut(),
    }
}
