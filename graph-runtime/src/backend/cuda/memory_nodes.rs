//! Copies and memsets as driver calls: their parameters, adding memsets, and changing these in place.

use super::add::{Adder, Address, launch};
use super::builtin::Builtin;
use super::fill::Fill;
use super::kernels::Kernels;
use super::predicated::Guarded;
use crate::driver::copy::{Copy3d, CopySide};
use crate::driver::{CUgraph, CUgraphExec, CUgraphNode, KernelNodeParams, MemsetNodeParams};
use crate::error::CudaError;
use crate::program::{MemcpyOp, Program, Work};
use crate::shape::part::{ByteRectangle, Part};
use graph_plan::LaunchConfig;
use std::ffi::c_void;

/// The most blocks of a fill for one row. If there are more units, each thread sets several.
const MAX_FILL_BLOCKS: u64 = 1 << 14;
/// The most rows of blocks of a fill. If there are more rows, each block sets several.
const MAX_FILL_ROWS: u64 = 1 << 12;
/// The number of threads in each block of a fill.
const FILL_BLOCK: u64 = 256;

impl Adder {
    /// Adds a memset node.
    ///
    /// # Safety
    ///
    /// As for [`Adder::add`].
    pub(super) unsafe fn add_fill(
        &mut self,
        graph: CUgraph,
        after: &[CUgraphNode],
        kernels: &Kernels,
        (to, fill): (&ByteRectangle, &Fill),
        name: &str,
        guarded: Guarded<'_>,
    ) -> Result<CUgraphNode, CudaError> {
        match fill {
            Fill::Memset { size, value } => {
                announce_node!(self.cuda, add_memset_node, name, after, bytes = to.part().bytes)?;
                let params = self.memset(to, *size, *value);
                // SAFETY: by the caller's promise.
                unsafe { self.cuda.api().add_memset_node(graph, after, &params, self.cuda.raw()) }
            }
            Fill::Kernel { pattern, words } => {
                announce_node!(self.cuda, add_kernel_node, name, after, bytes = to.part().bytes)?;
                let params = self.fill(kernels, to, (pattern, *words), guarded);
                // SAFETY: by the caller's promise; `params` points into `self`, which is not touched until the call is
                // over.
                unsafe { self.cuda.api().add_kernel_node(graph, after, &params) }
            }
            // `TooLong` was refused before.
            Fill::Nothing | Fill::TooLong => {
                announce_node!(self.cuda, add_empty_node, name, after)?;
                // SAFETY: by the caller's promise.
                unsafe { self.cuda.api().add_empty_node(graph, after) }
            }
        }
    }

    /// Changes a memset node in `exec`, so that later launches set `to` as `fill` says.
    ///
    /// # Safety
    ///
    /// As for [`Adder::apply`].
    pub(super) unsafe fn apply_fill(
        &mut self,
        exec: CUgraphExec,
        handle: CUgraphNode,
        kernels: &Kernels,
        (to, fill): (&ByteRectangle, &Fill),
        guarded: Guarded<'_>,
    ) -> Result<(), CudaError> {
        match fill {
            Fill::Memset { size, value } => {
                let params = self.memset(to, *size, *value);
                // SAFETY: by the caller's promise.
                unsafe { self.cuda.api().set_memset_node(exec, handle, &params, self.cuda.raw()) }
            }
            Fill::Kernel { pattern, words } => {
                let params = self.fill(kernels, to, (pattern, *words), guarded);
                // SAFETY: by the caller's promise; `params` points into `self`, which is not touched until the call is
                // over.
                unsafe { self.cuda.api().set_kernel_node(exec, handle, &params) }
            }
            Fill::Nothing | Fill::TooLong => Ok(()),
        }
    }

    /// Changes the addresses of a copy or memset in the graph itself, from which `exec` is made: instantiation checks
    /// them. (Kernels are changed in the executable graph only.)
    ///
    /// # Safety
    ///
    /// `handle` is the program's node, of the same kind, and its graph lives.
    pub(super) unsafe fn move_node(
        &self,
        handle: CUgraphNode,
        program: &Program,
        node: usize,
    ) -> Result<(), CudaError> {
        let Some(work) = program.ops[node].work().filter(|_| !self.forms.has(node)) else {
            return Ok(());
        };
        match &*program.lowered(node, work) {
            Work::Memcpy(copy) if !copy.to.is_empty() => {
                let params = self.memcpy(copy);
                // SAFETY: by the caller's promise.
                unsafe { self.cuda.api().move_memcpy_node(handle, &params) }
            }
            Work::Memset(set) => match self.fill_of(program, node, set) {
                Fill::Memset { size, value } => {
                    let params = self.memset(&set.to, size, value);
                    // SAFETY: by the caller's promise.
                    unsafe { self.cuda.api().move_memset_node(handle, &params) }
                }
                Fill::Kernel { .. } | Fill::Nothing | Fill::TooLong => Ok(()),
            },
            Work::Kernel(_) | Work::Memcpy(_) | Work::Join => Ok(()),
        }
    }

    /// The parameters of a fill by the built-in kernel; they point into `self`.
    fn fill(
        &mut self,
        kernels: &Kernels,
        to: &ByteRectangle,
        (pattern, words): (&[u8], bool),
        guarded: Guarded<'_>,
    ) -> KernelNodeParams {
        self.fill.to = self.device(to.part());
        // The offsets in the memory are multiples of a word, but the memory may be a part of another from any byte on.
        let words = words && self.fill.to.is_multiple_of(4);
        let unit = if words { 4 } else { 1 };
        let (count, rows) = ((to.width() / unit) as u64, to.rows() as u64);
        (self.fill.pitch, self.fill.rows) = (to.pitch() as u64, rows);
        self.fill.count = count;
        self.fill.period = (pattern.len() / unit) as u32;
        self.fill.pattern[..pattern.len()].copy_from_slice(pattern);
        self.pointers.clear();
        self.pointers.extend([
            (&raw mut self.fill.to).cast::<c_void>(),
            (&raw mut self.fill.count).cast(),
            (&raw mut self.fill.period).cast(),
            (&raw mut self.fill.pattern).cast(),
            (&raw mut self.fill.pitch).cast(),
            (&raw mut self.fill.rows).cast(),
        ]);
        self.push_guard(guarded);
        let kernel = if words { Builtin::FillWords } else { Builtin::FillBytes };
        launch(
            kernels.builtin(kernel, guarded.guard.form()),
            &units_config(count, rows),
            &mut self.pointers,
        )
    }

    /// The parameters of a copy by the built-in kernel; they point into `self`. Both sides have an address.
    pub(super) fn copy(&mut self, kernels: &Kernels, copy: &MemcpyOp, guarded: Guarded<'_>) -> KernelNodeParams {
        let MemcpyOp { from, to } = copy;
        let address = |part: Part| self.resources[part.resource as usize].reached_at(part.start);
        let addresses = [to, from].map(|side| address(side.part()));
        let sizes = [to.width(), to.pitch(), from.pitch()];
        let mut numbers = addresses.into_iter().chain(sizes.map(|size| size as u64));
        let words = numbers.all(|number| number.is_multiple_of(4));
        let unit = if words { 4 } else { 1 };
        let (count, rows) = ((to.width() / unit) as u64, to.rows() as u64);
        [self.copy.to, self.copy.from] = addresses;
        (self.copy.count, self.copy.rows) = (count, rows);
        (self.copy.to_pitch, self.copy.from_pitch) = (to.pitch() as u64, from.pitch() as u64);
        self.pointers.clear();
        self.pointers.extend([
            (&raw mut self.copy.to).cast::<c_void>(),
            (&raw mut self.copy.from).cast(),
            (&raw mut self.copy.count).cast(),
            (&raw mut self.copy.to_pitch).cast(),
            (&raw mut self.copy.from_pitch).cast(),
            (&raw mut self.copy.rows).cast(),
        ]);
        self.push_guard(guarded);
        let kernel = if words { Builtin::CopyWords } else { Builtin::CopyBytes };
        launch(
            kernels.builtin(kernel, guarded.guard.form()),
            &units_config(count, rows),
            &mut self.pointers,
        )
    }

    /// The parameters of a memset of rows of elements of `size` bytes.
    fn memset(&self, to: &ByteRectangle, size: u32, value: u32) -> MemsetNodeParams {
        MemsetNodeParams {
            dst: self.device(to.part()),
            pitch: to.pitch(),
            value,
            elementSize: size,
            width: to.width() / size as usize,
            height: to.rows(),
        }
    }

    /// A copy of rows, or of an array.
    pub(super) fn memcpy(&self, copy: &MemcpyOp) -> Copy3d {
        let MemcpyOp { from, to } = copy;
        let address = |side: &ByteRectangle| self.resources[side.part().resource as usize];
        // Memory in one piece is copied as one row: CUDA cannot change other copies in place. Between memory in one
        // piece and an array, the rows are those of the array.
        let array = [from, to].into_iter().find_map(|side| match address(side) {
            Address::Array(array) => Some(array),
            Address::Host(_) | Address::Device(_) | Address::Module => None,
        });
        let side = |rectangle: &ByteRectangle| {
            let start = rectangle.part().start;
            let pitch = array.map_or(rectangle.pitch(), |array| array.sides[0]);
            match address(rectangle) {
                Address::Host(base) => CopySide::Host(base.wrapping_add(start).cast::<c_void>(), pitch),
                Address::Device(base) => CopySide::Device(base + start as u64, pitch),
                Address::Array(array) => CopySide::Array(array.handle),
                Address::Module => CopySide::Device(0, pitch), // the plan has refused this
            }
        };
        Copy3d {
            from: side(from),
            to: side(to),
            sides: array.map_or([to.width(), to.rows(), 1], |array| array.sides),
            texel: array.map_or(1, |array| array.texel),
        }
    }
}

/// The launch of a built-in kernel that sets or copies `count` units of each of `rows` rows.
fn units_config(count: u64, rows: u64) -> LaunchConfig {
    let blocks = count.div_ceil(FILL_BLOCK).clamp(1, MAX_FILL_BLOCKS);
    LaunchConfig {
        grid: [blocks as u32, rows.clamp(1, MAX_FILL_ROWS) as u32, 1],
        block: [FILL_BLOCK as u32, 1, 1],
        shared: 0,
    }
}
