//! Memory by address, CUDA arrays, and copies and fills of rows.

use crate::code::{Done, ILLEGAL_ADDRESS, OUT_OF_MEMORY, fail, refuse};
use crate::device::MEMORY;
use crate::handle::Handle;
use crate::module::Loaded;
use crate::settings::SETTINGS;
use graph_emulator::{Allocation, Channel, Extent};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The kind of memory at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Device,
    /// Memory that was mapped to reserved addresses.
    Mapped,
    /// Page-locked memory of the host that the driver allocated.
    Host,
    /// Memory that host and device share.
    Managed,
    /// Memory of the user that is page-locked.
    Registered,
    /// A variable of a module.
    Variable,
}

impl Kind {
    /// Whether the host reaches it by its address.
    pub(crate) fn is_host(self) -> bool {
        matches!(self, Kind::Host | Kind::Managed | Kind::Registered)
    }
}

/// The keeper of memory.
#[derive(Clone)]
pub(crate) enum Hold {
    Own(Arc<Allocation>),
    Host(Arc<HostMemory>),
    Module(Arc<Loaded>, String),
}

/// Memory of the host, and the allocation that kernels reach it by.
pub(crate) struct HostMemory {
    allocation: Option<Allocation>,
    /// The layout, if the driver allocated it.
    own: Option<(NonNull<u8>, Layout)>,
}

// SAFETY: the pointer is used to free the memory alone.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl Drop for HostMemory {
    fn drop(&mut self) {
        self.allocation = None;
        if let Some((first, layout)) = self.own {
            // SAFETY: it was allocated so, and nothing refers to it any more.
            unsafe { dealloc(first.as_ptr(), layout) };
        }
    }
}

impl Hold {
    pub(crate) fn allocation(&self) -> Option<&Allocation> {
        match self {
            Hold::Own(allocation) => Some(allocation),
            Hold::Host(memory) => memory.allocation.as_ref(),
            Hold::Module(module, name) => module.module.variable(name),
        }
    }
}

/// A piece of memory.
#[derive(Clone)]
pub(crate) struct Block {
    pub(crate) address: u64,
    pub(crate) bytes: usize,
    pub(crate) kind: Kind,
    pub(crate) context: Handle,
    pub(crate) hold: Hold,
}

/// All memory, by address, and the addresses that are reserved.
#[derive(Default)]
pub(crate) struct Blocks {
    all: BTreeMap<u64, Block>,
    pub(crate) reserved: BTreeMap<u64, Arc<Allocation>>,
    /// Memory that nodes of graphs allocate when they run: their addresses and sizes.
    pub(crate) promised: BTreeMap<u64, usize>,
    /// The bytes of memory without addresses of its own.
    pub(crate) physical: usize,
}

impl Blocks {
    /// The block that holds all of these bytes.
    pub(crate) fn find(&self, address: u64, bytes: usize) -> Option<&Block> {
        let (_, block) = self.all.range(..=address).next_back()?;
        let offset = address - block.address;
        let fits = offset < block.bytes as u64 || bytes == 0 && offset == block.bytes as u64;
        (fits && bytes as u64 <= block.bytes as u64 - offset).then_some(block)
    }

    /// Whether there are all of these bytes, or will be.
    pub(crate) fn has(&self, address: u64, bytes: usize) -> bool {
        let promised = self.promised.range(..=address).next_back();
        self.find(address, bytes).is_some()
            || promised.is_some_and(|(first, len)| (address - first).saturating_add(bytes as u64) <= *len as u64)
    }

    /// The block that holds a byte.
    pub(crate) fn at(&self, address: u64) -> Option<&Block> {
        self.find(address, 1)
    }

    pub(crate) fn overlaps(&self, address: u64, bytes: usize) -> bool {
        let end = address.saturating_add(bytes as u64);
        let before = self.all.range(..end).next_back();
        before.is_some_and(|(_, block)| block.address + block.bytes as u64 > address)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Block> {
        self.all.values()
    }

    /// Adds memory to reserved addresses. Pieces that touch become one, as copies go across them.
    pub(crate) fn map(&mut self, context: Handle, address: u64, bytes: usize) -> Done {
        let end = address.saturating_add(bytes as u64);
        let reserved = self.reserved.range(..=address).next_back();
        let whole = reserved.filter(|(first, whole)| end <= *first + whole.len() as u64);
        let Some((_, whole)) = whole else {
            return refuse(format!("{bytes} bytes from {address:#x} on are not reserved"));
        };
        if self.overlaps(address, bytes) {
            return refuse(format!("there is memory at {address:#x}"));
        }
        let hold = Hold::Own(whole.clone());
        let mut block = Block {
            address,
            bytes,
            kind: Kind::Mapped,
            context,
            hold,
        };
        let touches = |other: &Block| match (&other.hold, &block.hold) {
            (Hold::Own(one), Hold::Own(two)) => Arc::ptr_eq(one, two),
            _ => false,
        };
        let before = self.all.range(..address).next_back().map(|(_, before)| before.clone());
        let before = before.filter(|before| before.address + before.bytes as u64 == address && touches(before));
        let after = self.all.get(&end).filter(|after| touches(after)).cloned();
        if let Some(after) = after {
            self.all.remove(&end);
            block.bytes += after.bytes;
        }
        if let Some(before) = before {
            block.address = before.address;
            block.bytes += before.bytes;
        }
        self.insert(block);
        Ok(())
    }

    /// Takes memory from reserved addresses.
    pub(crate) fn unmap(&mut self, address: u64, bytes: usize) -> Done {
        let found = self.find(address, bytes).filter(|block| block.kind == Kind::Mapped);
        let Some(block) = found.cloned() else {
            return refuse(format!("{bytes} bytes from {address:#x} on are not mapped"));
        };
        self.all.remove(&block.address);
        let (end, last) = (address + bytes as u64, block.address + block.bytes as u64);
        for (first, end) in [(block.address, address), (end, last)] {
            if first < end {
                let bytes = (end - first) as usize;
                self.insert(Block {
                    address: first,
                    bytes,
                    ..block.clone()
                });
            }
        }
        Ok(())
    }

    pub(crate) fn insert(&mut self, block: Block) {
        self.all.insert(block.address, block);
    }

    /// Takes the block that begins at an address, if it is of one of these kinds.
    pub(crate) fn remove(&mut self, address: u64, kinds: &[Kind]) -> Option<Block> {
        let is_one = self.all.get(&address).is_some_and(|block| kinds.contains(&block.kind));
        if is_one { self.all.remove(&address) } else { None }
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&Block) -> bool) {
        self.all.retain(|_, block| keep(block));
    }

    /// The bytes of device memory in use.
    pub(crate) fn used(&self) -> usize {
        let device = self
            .iter()
            .filter(|block| matches!(block.kind, Kind::Device | Kind::Managed));
        device.map(|block| block.bytes).sum::<usize>() + self.physical
    }
}

/// The alignment of device memory, which textures need.
const ALIGNMENT: u64 = 512;

/// Allocates device memory, where `used` bytes are in use. Its contents are not zero, as on a GPU.
pub(crate) fn allocate(context: Handle, bytes: usize, used: usize) -> Done<Block> {
    let free = SETTINGS.memory.saturating_sub(used);
    if bytes > free {
        return fail(
            OUT_OF_MEMORY,
            format!("{bytes} bytes of device memory, but {free} are free"),
        );
    }
    let Ok(allocation) = MEMORY.allocate("device memory", bytes + ALIGNMENT as usize) else {
        return fail(OUT_OF_MEMORY, format!("the host has no {bytes} bytes"));
    };
    let garbage = bytes.min(1 << 16) + ALIGNMENT as usize;
    let _ = allocation.fill(0, &[0xcd], garbage);
    Ok(Block {
        address: allocation.address().next_multiple_of(ALIGNMENT),
        bytes,
        kind: Kind::Device,
        context,
        hold: Hold::Own(Arc::new(allocation)),
    })
}

/// Allocates memory of the host that kernels reach at its own address.
pub(crate) fn allocate_host(context: Handle, bytes: usize, kind: Kind) -> Done<Block> {
    let words = bytes.checked_next_multiple_of(4);
    let layout = words.and_then(|bytes| Layout::from_size_align(bytes, 4096).ok());
    let Some(layout) = layout.filter(|layout| layout.size() > 0) else {
        return fail(OUT_OF_MEMORY, format!("{bytes} bytes of the host"));
    };
    // SAFETY: the layout has a size.
    let Some(first) = NonNull::new(unsafe { alloc_zeroed(layout) }) else {
        return fail(OUT_OF_MEMORY, format!("the host has no {bytes} bytes"));
    };
    // SAFETY: the memory was just allocated, in whole words; `HostMemory` frees it after the allocation. Kernels and
    // the program access it as CUDA's documentation asks of the program.
    let allocation = unsafe { MEMORY.adopt("page-locked memory", first, bytes) };
    Ok(Block {
        address: allocation.address(),
        bytes,
        kind,
        context,
        hold: Hold::Host(Arc::new(HostMemory {
            allocation: Some(allocation),
            own: Some((first, layout)),
        })),
    })
}

/// The memory of the user that is page-locked, or was when a kernel began that still runs, by its first word and bytes.
///
/// Such a kernel finds all memory of its beginning by address. So memory that is page-locked again meanwhile is the
/// same as before: else the kernel would find it freed when it is unlocked once more.
static REGISTERED: Mutex<BTreeMap<(usize, usize), Weak<HostMemory>>> = Mutex::new(BTreeMap::new());

/// Page-locks memory of the user.
pub(crate) fn register_host(context: Handle, address: usize, bytes: usize) -> Done<Block> {
    let first = address / 4 * 4;
    let end = address.saturating_add(bytes).next_multiple_of(4);
    let Some(pointer) = NonNull::new(std::ptr::with_exposed_provenance_mut::<u8>(first)) else {
        return refuse("null has no memory");
    };
    let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    registered.retain(|_, memory| memory.strong_count() > 0);
    let known = registered.get(&(first, end - first)).and_then(Weak::upgrade);
    let memory = known.unwrap_or_else(|| {
        // SAFETY: the caller of the library promises that the bytes are there until they are unregistered; the other
        // bytes of their words are on the same pages, and are only accessed by operations that keep their values.
        let allocation = unsafe { MEMORY.adopt("registered memory", pointer, end - first) };
        Arc::new(HostMemory {
            allocation: Some(allocation),
            own: None,
        })
    });
    registered.insert((first, end - first), Arc::downgrade(&memory));
    Ok(Block {
        address: address as u64,
        bytes,
        kind: Kind::Registered,
        context,
        hold: Hold::Host(memory),
    })
}

/// A CUDA array: texels that follow each other without gaps.
pub(crate) struct Array {
    pub(crate) allocation: Allocation,
    pub(crate) channel: Channel,
    pub(crate) channels: u8,
    pub(crate) extent: Extent,
    /// The bytes of a row, the rows of a plane, and the planes.
    pub(crate) sides: [usize; 3],
}

/// Where a side of a copy is.
pub(crate) enum Place {
    Held(Hold, usize),
    Array(Arc<Array>),
    Host(usize),
    Bytes(Arc<[u8]>),
}

/// One side of a copy: a place, and the distances of rows and planes.
pub(crate) struct Side {
    pub(crate) place: Place,
    pub(crate) start: usize,
    pub(crate) pitch: usize,
    pub(crate) height: usize,
}

impl Side {
    fn offset(&self, plane: usize, row: usize) -> usize {
        self.start + (plane * self.height + row) * self.pitch
    }
}

fn illegal<T>(text: impl std::fmt::Display) -> Done<T> {
    fail(ILLEGAL_ADDRESS, text.to_string())
}

fn allocation(place: &Place) -> Option<(&Allocation, usize)> {
    match place {
        Place::Held(hold, start) => Some((hold.allocation()?, *start)),
        Place::Array(array) => Some((&array.allocation, 0)),
        Place::Host(_) | Place::Bytes(_) => None,
    }
}

/// Copies rows, `[width in bytes, rows, planes]`.
pub(crate) fn copy(from: &Side, to: &Side, [width, rows, planes]: [usize; 3]) -> Done {
    for (plane, row) in (0..planes).flat_map(|plane| (0..rows).map(move |row| (plane, row))) {
        let (from_at, to_at) = (from.offset(plane, row), to.offset(plane, row));
        let copied = match (allocation(&from.place), allocation(&to.place)) {
            (Some((source, first)), Some((target, start))) => {
                target.copy_from(start + to_at, source, first + from_at, width)
            }
            (None, Some((target, start))) => match &from.place {
                Place::Bytes(bytes) => target.write(start + to_at, &bytes[from_at..from_at + width]),
                Place::Host(first) => {
                    // SAFETY: the caller of the library has the bytes there, and changes them only after the copy.
                    let bytes = unsafe {
                        std::slice::from_raw_parts(std::ptr::with_exposed_provenance(first + from_at), width)
                    };
                    target.write(start + to_at, bytes)
                }
                Place::Held(..) | Place::Array(_) => return illegal("the memory of a variable is gone"),
            },
            (Some((source, first)), None) => match &to.place {
                Place::Host(start) => {
                    let target = std::ptr::with_exposed_provenance_mut(start + to_at);
                    // SAFETY: the caller of the library has the bytes there, and does not touch them before the copy is
                    // done.
                    let bytes = unsafe { std::slice::from_raw_parts_mut(target, width) };
                    source.read(first + from_at, bytes)
                }
                Place::Bytes(_) | Place::Held(..) | Place::Array(_) => return illegal("nothing can be copied there"),
            },
            (None, None) => match (&from.place, &to.place) {
                (Place::Host(first), Place::Host(start)) => {
                    let source: *const u8 = std::ptr::with_exposed_provenance(first + from_at);
                    // SAFETY: as above.
                    unsafe { source.copy_to(std::ptr::with_exposed_provenance_mut(start + to_at), width) };
                    Ok(())
                }
                (Place::Bytes(bytes), Place::Host(start)) => {
                    let source = bytes[from_at..from_at + width].as_ptr();
                    // SAFETY: as above.
                    unsafe { source.copy_to(std::ptr::with_exposed_provenance_mut(start + to_at), width) };
                    Ok(())
                }
                _ => return illegal("nothing can be copied there"),
            },
        };
        copied.or_else(illegal)?;
    }
    Ok(())
}
