//! Reports about a built graph: its memory, by kind, and the forms of its bodies.

use super::Graph;
use crate::devices::bodies::BodyForm;
use crate::devices::uploads::UploadForm;
use crate::memory::{MemoryReport, Pool};
use graph_plan::Memory;

impl Graph {
    /// The memory that the graph uses, in bytes, by kind, and the pool that it is built on. Does not wait for launches.
    pub fn memory_report(&self) -> MemoryReport {
        let share = self.data.shared.pool();
        let mut report = MemoryReport {
            graph: self.data.label(),
            scratch: share.map_or(self.data.arena.bytes, |share| share.bytes()),
            workspaces: self.executable.workspaces(),
            pool: share.and(self.pool()).map(Pool::memory_report),
            ..MemoryReport::default()
        };
        for (index, (resource, layout)) in self.data.draft.resources.iter().zip(&self.data.layouts).enumerate() {
            let is_shared = self.data.shared.find(index).is_some();
            let sum = match resource.memory {
                Memory::Scratch => continue,
                Memory::Constant => &mut report.variables,
                Memory::Device | Memory::Array | Memory::Variable if is_shared => &mut report.shared_device,
                Memory::Device | Memory::Array | Memory::Variable => &mut report.device,
                Memory::Host if is_shared => &mut report.shared_host,
                Memory::Host | Memory::Mapped => &mut report.host,
            };
            *sum += layout.map_or(0, |layout| layout.bytes);
        }
        report
    }

    /// The form that each `if`, `switch` and `while` has on the GPU, and why, in the order of their declaration: see
    /// [`Device::with_bodies`](crate::Device::with_bodies). Empty on the emulator and in debug mode, where the host
    /// chooses which bodies run.
    pub fn body_forms(&self) -> &[BodyForm] {
        self.executable.body_forms()
    }

    /// The form that each copy from the host has on the GPU, and why, in the order of their declaration: see
    /// [`Device::with_uploads`](crate::Device::with_uploads). Empty on the emulator and in debug mode.
    pub fn upload_forms(&self) -> &[UploadForm] {
        self.executable.upload_forms()
    }

    /// The pool that the graph was built on, by [`Device::with_pool`](crate::Device::with_pool): graphs that return
    /// equal pools share scratch memory. `None` if its scratch memory is its own.
    pub fn pool(&self) -> Option<&Pool> {
        self.data.device.pool.as_ref()
    }
}
