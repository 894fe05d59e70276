//! The global memory that a launch may access: the buffers passed to it and the module's variables, as sorted ranges.

use std::sync::Arc;

use super::Memory;
use super::storage::Storage;
use crate::fault::{FaultKind, FaultyAccess, Operation};

/// A range of an [`Allocation`](crate::Allocation) passed to a kernel.
///
/// Ranges may be adjacent or overlap. An access to bytes of several ranges is permitted if one of them permits it.
#[derive(Clone, Copy, Debug)]
pub struct Buffer<'a> {
    /// Its name in fault messages.
    pub name: &'a str,
    /// The address of its first byte.
    pub address: u64,
    /// Its size in bytes.
    pub len: usize,
    /// The accesses that the kernel may make.
    pub access: Access,
}

/// The accesses that a kernel may make to a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Loads only.
    Read,
    /// Loads, stores and atomic operations.
    ReadWrite,
    /// Atomic operations only.
    Atomic,
    /// Loads and stores of 4 or 8 bytes that are `volatile` or stronger: the host accesses the buffer meanwhile, by
    /// [`Allocation::load_word`](crate::Allocation::load_word) and
    /// [`Allocation::store_word`](crate::Allocation::store_word).
    Mapped,
}

/// The global memory of a launch.
pub(crate) struct View {
    memory: Memory,
    /// The ranges as they were passed, for messages.
    passed: Vec<PassedRange>,
    /// Disjoint, sorted ranges; adjacent ones of one allocation are merged.
    readable: Vec<Region>,
    writable: Vec<Region>,
    /// The ranges that atomic operations may access.
    updatable: Vec<Region>,
    /// The ranges that the host accesses meanwhile.
    mapped: Vec<Region>,
    /// All ranges.
    all: Vec<Region>,
}

/// A range as it was passed, or a variable of the module.
pub(crate) struct PassedRange {
    pub(crate) name: String,
    pub(crate) address: u64,
    pub(crate) len: u64,
    pub(crate) access: Access,
    pub(crate) storage: Arc<Storage>,
}

/// A range of one allocation that may be accessed.
pub(crate) struct Region {
    start: u64,
    end: u64,
    storage: Arc<Storage>,
}

impl Region {
    #[inline(always)]
    pub(crate) fn contains(&self, address: u64, bytes: u64) -> bool {
        address >= self.start && address < self.end && self.end - address >= bytes
    }

    #[inline(always)]
    pub(crate) fn storage(&self) -> &Storage {
        &self.storage
    }
}

impl View {
    pub(crate) fn new(memory: Memory, passed: Vec<PassedRange>) -> View {
        let with = |access: &[Access]| merge(passed.iter().filter(|range| access.contains(&range.access)));
        View {
            memory,
            readable: with(&[Access::Read, Access::ReadWrite]),
            writable: with(&[Access::ReadWrite]),
            updatable: with(&[Access::ReadWrite, Access::Atomic]),
            mapped: with(&[Access::Mapped]),
            all: merge(passed.iter()),
            passed,
        }
    }

    #[inline(always)]
    pub(crate) fn readable(&self, address: u64, bytes: u64) -> Option<&Region> {
        self.readable.iter().find(|region| region.contains(address, bytes))
    }

    #[inline(always)]
    pub(crate) fn writable(&self, address: u64, bytes: u64) -> Option<&Region> {
        self.writable.iter().find(|region| region.contains(address, bytes))
    }

    #[inline(always)]
    pub(crate) fn updatable(&self, address: u64, bytes: u64) -> Option<&Region> {
        self.updatable.iter().find(|region| region.contains(address, bytes))
    }

    /// The range that permits an access of this kind.
    #[inline(always)]
    pub(crate) fn permitted(&self, operation: Operation, address: u64, bytes: u32) -> Option<&Region> {
        match operation {
            Operation::Load => self.readable(address, bytes.into()),
            Operation::Store => self.writable(address, bytes.into()),
            Operation::Atomic => self.updatable(address, bytes.into()),
        }
    }

    /// [`permitted`](Self::permitted), or the reason that there is no such range.
    #[inline(always)]
    pub(crate) fn find(&self, operation: Operation, address: u64, bytes: u32) -> Result<&Region, FaultKind> {
        let region = self.permitted(operation, address, bytes);
        region.ok_or_else(|| self.explain(operation, address, bytes))
    }

    /// The range of mapped memory that permits an access to elements of `element` bytes, if it is strong.
    #[inline(always)]
    pub(crate) fn mapped(&self, strong: bool, element: u8, address: u64, bytes: u64) -> Option<&Region> {
        let permitted = strong && matches!(element, 4 | 8);
        let mut mapped = self.mapped.iter().filter(|_| permitted);
        mapped.find(|region| region.contains(address, bytes))
    }

    /// The ranges: their address, their address in the allocation that owns the bytes, and their length.
    pub(crate) fn extents(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.all.iter().map(|region| {
            (
                region.start,
                region.storage.home(region.start),
                region.end - region.start,
            )
        })
    }

    /// The first range that was passed and has this address.
    fn passed_at(&self, address: u64) -> Option<&PassedRange> {
        let within = |range: &&PassedRange| address >= range.address && address - range.address < range.len;
        self.passed.iter().find(within)
    }

    /// The name of the range at an address of this view, and the offset in it.
    #[cold]
    pub(crate) fn locate(&self, address: u64) -> (Box<str>, u64) {
        match self.passed_at(address) {
            Some(range) => (quoted(&range.name), address - range.address),
            None => ("memory".into(), address),
        }
    }

    /// Marks all writable bytes as written, for launches that do not check which bytes they write.
    pub(crate) fn assume_written(&self) {
        for region in &self.updatable {
            if let Some(initialized) = region.storage.initialized() {
                let start = (region.start - region.storage.address()) as usize;
                initialized.set(start, (region.end - region.start) as usize);
            }
        }
    }

    /// The reason that this view does not permit an access: looks at the ranges that were passed, at the memory at the
    /// address, then at the memory nearby.
    #[cold]
    pub(crate) fn explain(&self, operation: Operation, address: u64, bytes: u32) -> FaultKind {
        let access = |name: &str, start: u64| FaultyAccess {
            operation,
            buffer: quoted(name),
            offset: address - start,
            bytes,
        };
        let beyond = |range: &PassedRange| FaultKind::OutOfBounds {
            operation,
            buffer: quoted(&range.name),
            offset: address.wrapping_sub(range.address) as i64,
            bytes,
            len: range.len,
        };
        if let Some(range) = self.passed_at(address) {
            let access = access(&range.name, range.address);
            return if self.mapped(true, 4, address, bytes.into()).is_some() {
                FaultKind::Mapped(access)
            } else if operation != Operation::Load && self.readable(address, bytes.into()).is_some() {
                FaultKind::ReadOnly(access)
            } else if operation != Operation::Atomic && self.updatable(address, bytes.into()).is_some() {
                FaultKind::AtomicOnly(access)
            } else {
                beyond(range)
            };
        }
        let nearest = self.nearest(address);
        let found = self.memory.find_before(address);
        if let Some(found) = found.filter(|found| address - found.address < found.len as u64) {
            let access = access(&found.name, found.address);
            return match (found.storage, nearest) {
                (Some(storage), Some(range)) if Arc::ptr_eq(&storage, &range.storage) => beyond(range),
                (Some(_), _) => FaultKind::NotPassed(access),
                (None, _) => FaultKind::Freed(access),
            };
        }
        match nearest {
            Some(range) if range.address.abs_diff(address) < range.len.saturating_add(MAX_OVERRUN) => beyond(range),
            _ => FaultKind::InvalidAddress {
                operation,
                address,
                bytes,
            },
        }
    }

    /// The passed range that is nearest to an address.
    fn nearest(&self, address: u64) -> Option<&PassedRange> {
        self.passed.iter().min_by_key(|range| {
            if address < range.address {
                range.address - address
            } else {
                address.saturating_sub(range.address + range.len)
            }
        })
    }
}

/// The greatest distance of an address from a buffer at which it counts as an overrun of the buffer.
const MAX_OVERRUN: u64 = 1 << 30;

fn quoted(name: &str) -> Box<str> {
    format!("`{name}`").into()
}

/// Sorts ranges, and merges those that overlap or touch within one allocation.
fn merge<'a>(ranges: impl Iterator<Item = &'a PassedRange>) -> Vec<Region> {
    let mut sorted: Vec<&PassedRange> = ranges.filter(|range| range.len > 0).collect();
    sorted.sort_by_key(|range| range.address);
    let mut regions: Vec<Region> = Vec::new();
    for range in sorted {
        let end = range.address + range.len;
        match regions.last_mut() {
            Some(last) if last.end >= range.address && Arc::ptr_eq(&last.storage, &range.storage) => {
                last.end = last.end.max(end);
            }
            _ => regions.push(Region {
                start: range.address,
                end,
                storage: range.storage.clone(),
            }),
        }
    }
    regions
}
