//! The devices: their memory and their limits.

use graph_emulator::Memory;
use std::sync::LazyLock;

/// The memory of all devices.
pub(crate) static MEMORY: LazyLock<Memory> = LazyLock::new(Memory::new);

/// The most shared memory of a block without `cuFuncSetAttribute`, and with it.
pub(crate) const SHARED: u32 = 48 << 10;
pub(crate) const MAX_SHARED: u32 = 227 << 10;
/// The processors: as many blocks are resident as the emulator runs at the same time.
pub(crate) const PROCESSORS: i32 = 8;
