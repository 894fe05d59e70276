//! Addresses, and the instructions that access memory.

use super::{Guard, NumberType, Slot};

/// State spaces, as accesses are executed; `.const` is `Global`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Generic,
    Global,
    Shared,
    Local,
    /// The kernel's parameters.
    Param,
}

/// The number of lower bits of an address of shared memory that are an offset in a block's memory. The bits above are 0
/// for the memory of the block itself, else the rank of a block of the cluster, plus 1.
const OFFSET_BITS: u32 = 24;
/// The first address of shared memory that is none of the block itself.
pub(crate) const OWN_SHARED_END: u64 = 1 << OFFSET_BITS;
/// The most blocks of a cluster (CUDA programming guide, "thread block clusters").
pub(crate) const MAX_CLUSTER: u64 = 16;

/// The rank of the block that an address of shared memory names, and the offset in its memory. The rank is `None` if
/// the address names none.
#[inline(always)]
pub(crate) fn block_of(address: u64) -> (Option<usize>, u64) {
    match address >> OFFSET_BITS {
        block @ 1..=MAX_CLUSTER => (Some(block as usize - 1), address & ((1 << OFFSET_BITS) - 1)),
        _ => (None, address),
    }
}

/// The address of shared memory, or the generic address of it, that names the block of this rank. A rank that no block
/// has gives an address that no block has.
pub(crate) fn in_block(address: u64, rank: u32) -> u64 {
    let block = u64::from(rank).min(MAX_CLUSTER + 1) + 1;
    address & !(0xff << OFFSET_BITS) | block << OFFSET_BITS
}

/// The state space of a generic address, and the offset of that space's window.
#[inline(always)]
pub(crate) fn window(address: u64) -> (Space, u64) {
    let space = match address >> 32 {
        1 => Space::Shared,
        2 => Space::Local,
        3 => Space::Param,
        _ => Space::Global,
    };
    (space, space.window())
}

impl Space {
    /// The number to add to an address to make it generic: the upper half of a generic address says which space it is
    /// in.
    #[inline(always)]
    pub(crate) fn window(self) -> u64 {
        match self {
            Space::Shared => 1 << 32,
            Space::Local => 2 << 32,
            Space::Param => 3 << 32,
            Space::Global | Space::Generic => 0,
        }
    }

    /// The space that an address is in, and the address within that space.
    #[inline(always)]
    pub(crate) fn resolve(self, address: u64) -> (Space, u64) {
        match self {
            Space::Generic => {
                let (space, base) = window(address);
                (space, address - base)
            }
            space => (space, address),
        }
    }
}

/// The base that an address is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    R32(Slot),
    R64(Slot),
    /// The current frame in local memory.
    Frame,
    /// Zero.
    Absolute,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) base: Base,
    pub(crate) offset: i64,
}

/// A load or a store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub(crate) space: Space,
    pub(crate) address: Address,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub(crate) bytes: u8,
    /// Whether loaded values are sign-extended.
    pub(crate) signed: bool,
    /// The number of elements: 1, 2, 4 or 8.
    pub(crate) count: u8,
    /// Whether the registers are 64-bit slots.
    pub(crate) wide: bool,
    /// Whether it is `volatile`, `relaxed`, `acquire` or `release`: a loop may be waiting for it.
    pub(crate) strong: bool,
    /// Whether the elements are the halves of one register of 128 bits.
    pub(crate) whole: bool,
    pub(crate) values: [Slot; 8],
}

impl Address {
    /// The address that follows by `bytes`.
    pub(crate) fn after(self, bytes: i64) -> Address {
        let offset = self.offset.wrapping_add(bytes);
        Address { offset, ..self }
    }
}

impl Transfer {
    /// Bytes of all elements together, which is also the alignment needed.
    #[inline(always)]
    pub(crate) fn total(&self) -> u32 {
        u32::from(self.bytes) * u32::from(self.count)
    }
}

/// Operations that update memory, or combine the values of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicOp {
    Add,
    And,
    Or,
    Xor,
    Exchange,
    CompareExchange,
    Inc,
    Dec,
    Min,
    Max,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Atomic {
    pub(crate) op: AtomicOp,
    pub(crate) ty: NumberType,
    pub(crate) space: Space,
    pub(crate) address: Address,
    /// The register for the old value, or `DISCARD` for `red`.
    pub(crate) d: Slot,
    pub(crate) b: Slot,
    pub(crate) c: Slot,
}

/// `cp.async`, which is carried out at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AsyncCopy {
    pub(crate) to: Address,
    pub(crate) from: Address,
    pub(crate) bytes: u8,
    /// The number of bytes to read, or `DISCARD` for all; the others are set to zero.
    pub(crate) source_bytes: Slot,
    /// In lanes where this predicate holds, nothing is read and zeros are written.
    pub(crate) ignore: Option<Guard>,
}
