//! Launches of kernel nodes that are ready to be changed again: edits change the values of few nodes often.

use crate::backend::cuda::add::{Adder, launch};
use crate::backend::cuda::kernels::Kernels;
use crate::driver::{CUgraphExec, CUgraphNode, GraphApi, KernelNodeParams};
use crate::error::CudaError;
use crate::kernel::Value;
use crate::program::{Argument, KernelOp, Program};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

/// The launches of kernel nodes whose values were changed. They have copies of addresses and handles, so all of them
/// are forgotten when a node is changed in any other way.
#[derive(Default)]
pub(in crate::backend::cuda) struct PreparedLaunches {
    /// By node; empty before the first change.
    of: Vec<Option<Box<PreparedLaunch>>>,
}

/// The launch of one kernel node.
pub(in crate::backend::cuda) struct PreparedLaunch {
    handle: CUgraphNode,
    params: KernelNodeParams,
    /// The index of the first argument in [`Program::arguments`].
    first: usize,
    /// The bytes of each argument.
    bytes: Vec<ArgumentBytes>,
    /// The addresses of `bytes`, one by one; `params` points to them. Both are on the heap, and stay there.
    _pointers: Vec<*mut c_void>,
}

/// The bytes of a small value or of an address, with zeros after them.
type ArgumentBytes = [Cell<u64>; 2];

impl PreparedLaunches {
    #[inline]
    pub(in crate::backend::cuda) fn get(&self, node: usize) -> Option<&PreparedLaunch> {
        self.of.get(node)?.as_deref()
    }

    pub(in crate::backend::cuda) fn put(&mut self, node: usize, ready: Box<PreparedLaunch>) -> &PreparedLaunch {
        if self.of.len() <= node {
            self.of.resize_with(node + 1, || None);
        }
        self.of[node].insert(ready)
    }

    /// Forgets all launches.
    pub(in crate::backend::cuda) fn clear(&mut self) {
        self.of.clear();
    }
}

impl PreparedLaunch {
    /// The launch of a kernel node as it is now; `None` if it has arguments other than addresses and small values.
    pub(in crate::backend::cuda) fn of(
        program: &Program,
        kernel: &KernelOp,
        handle: CUgraphNode,
        kernels: &Kernels,
        adder: &Adder,
    ) -> Option<Box<Self>> {
        if program.functions[kernel.function as usize].facts.takes_texels() {
            return None;
        }
        let bytes = |argument: &Argument| match argument {
            Argument::Buffer { resource, start, .. } => Some([adder.address(*resource, *start), 0].map(Cell::new)),
            Argument::Value(Value::Small(bytes, _)) => Some(bytemuck::cast::<_, [u64; 2]>(*bytes).map(Cell::new)),
            Argument::Value(Value::Large(_)) => None,
        };
        let bytes = program.arguments(kernel).iter().map(bytes);
        let bytes: Vec<ArgumentBytes> = bytes.collect::<Option<_>>()?;
        let mut pointers: Vec<*mut c_void> = bytes
            .iter()
            .map(|bytes| ptr::from_ref(bytes).cast_mut().cast())
            .collect();
        Some(Box::new(Self {
            handle,
            params: launch(kernels.handle(kernel.function), &kernel.config, &mut pointers),
            first: kernel.arguments.start as usize,
            bytes,
            _pointers: pointers,
        }))
    }

    /// Gives an argument, by its index in [`Program::arguments`], another value of at most eight bytes.
    #[inline]
    pub(in crate::backend::cuda) fn take(&self, argument: usize, word: u64) {
        if let Some([bytes, _]) = self.bytes.get(argument.wrapping_sub(self.first)) {
            bytes.set(word);
        }
    }

    /// Makes later launches of `exec` run the node with the values that were taken over.
    ///
    /// # Safety
    ///
    /// `exec` lives, and was made of the graph in which `handle` is the node. Since `self` was made, nothing but values
    /// of the node has changed: not its kernel, its dimensions or the addresses of its memory, and not `handle`.
    #[inline]
    pub(in crate::backend::cuda) unsafe fn set(&self, api: GraphApi, exec: CUgraphExec) -> Result<(), CudaError> {
        // SAFETY: by the caller's promise; `params` points into `self`.
        unsafe { api.set_kernel_node(exec, self.handle, &self.params) }
    }
}
