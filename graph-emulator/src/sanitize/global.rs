//! Checks of global memory: whether bytes were ever written, which bytes the launch touches, and which it must not
//! touch.

use std::ops::Range;

use crate::fault::{FaultKind, FaultyAccess, Operation};
use crate::memory::bitmap::Bitmap;
use crate::memory::footprint::Footprint;
use crate::memory::view::View;
use crate::state::context::{Options, Unordered};

/// The checks of global memory of a launch, which all its blocks share.
pub(crate) struct GlobalSanitizer<'a> {
    uninitialized: bool,
    unordered: &'a [Unordered],
    /// The addresses of the heap, which is not checked: unordered launches may get the same block of it one after the
    /// other.
    heap: Option<Range<u64>>,
    recorded: Vec<Recorded>,
}

/// The bytes of a range that were touched.
struct Recorded {
    start: u64,
    /// The address in the allocation that owns the bytes, which footprints use.
    home: u64,
    len: u64,
    read: Bitmap,
    written: Bitmap,
    updated: Bitmap,
}

impl<'a> GlobalSanitizer<'a> {
    /// The checks that the options ask for, if any. An error says that the host has no memory for them.
    pub(crate) fn new(
        view: &View,
        heap: Option<Range<u64>>,
        options: &'a Options,
    ) -> Result<Option<GlobalSanitizer<'a>>, String> {
        let Options {
            check_uninitialized,
            record_footprint,
            unordered,
            ..
        } = options;
        if !(*check_uninitialized || *record_footprint || !unordered.is_empty()) {
            return Ok(None);
        }
        let bitmap = |len: u64| {
            let bitmap = Bitmap::new(len as usize);
            bitmap.ok_or_else(|| format!("the host has no memory to record accesses to {len} bytes"))
        };
        let recorded = view.extents().filter(|_| *record_footprint).map(|(start, home, len)| {
            Ok(Recorded {
                start,
                home,
                len,
                read: bitmap(len)?,
                written: bitmap(len)?,
                updated: bitmap(len)?,
            })
        });
        Ok(Some(GlobalSanitizer {
            uninitialized: *check_uninitialized,
            unordered,
            heap,
            recorded: recorded.collect::<Result<_, String>>()?,
        }))
    }

    /// Checks an access. The instruction itself will fault if the view does not permit it.
    pub(crate) fn touch(&self, view: &View, operation: Operation, address: u64, bytes: u32) -> Result<(), FaultKind> {
        let Some(region) = view.permitted(operation, address, bytes) else {
            return Ok(());
        };
        if self.heap.as_ref().is_some_and(|heap| heap.contains(&address)) {
            return Ok(());
        }
        let (storage, count) = (region.storage(), bytes as usize);
        if let Some(initialized) = storage.initialized().filter(|_| self.uninitialized) {
            let offset = (address - storage.address()) as usize;
            if operation != Operation::Store && initialized.first_unset(offset, count).is_some() {
                let (buffer, offset) = view.locate(address);
                return Err(FaultKind::Uninitialized(FaultyAccess {
                    operation,
                    buffer,
                    offset,
                    bytes,
                }));
            }
            if operation != Operation::Load {
                initialized.set(offset, count);
            }
        }
        for other in self.unordered {
            if let Some(theirs) = other.footprint.meets(operation, storage.home(address), bytes.into()) {
                let (buffer, offset) = view.locate(address);
                let access = FaultyAccess {
                    operation,
                    buffer,
                    offset,
                    bytes,
                };
                return Err(FaultKind::Unordered {
                    access,
                    other: other.name.clone(),
                    other_operation: theirs,
                });
            }
        }
        self.record(operation, address, count);
        Ok(())
    }

    fn record(&self, operation: Operation, address: u64, count: usize) {
        let within = |recorded: &&Recorded| address >= recorded.start && address - recorded.start < recorded.len;
        let Some(recorded) = self.recorded.iter().find(within) else {
            return;
        };
        let offset = (address - recorded.start) as usize;
        match operation {
            Operation::Load => recorded.read.set(offset, count),
            Operation::Store => recorded.written.set(offset, count),
            Operation::Atomic => recorded.updated.set(offset, count),
        }
    }

    /// The bytes that were touched.
    pub(crate) fn footprint(&self) -> Footprint {
        let mut footprint = Footprint::new();
        for recorded in &self.recorded {
            for range in recorded.read.ranges() {
                footprint.read(recorded.home + range.start as u64, range.len() as u64);
            }
            for range in recorded.written.ranges() {
                footprint.write(recorded.home + range.start as u64, range.len() as u64);
            }
            for range in recorded.updated.ranges() {
                footprint.update(recorded.home + range.start as u64, range.len() as u64);
            }
        }
        footprint
    }
}
