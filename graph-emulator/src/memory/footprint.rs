//! Footprints: the bytes that a launch, or other work, reads, writes and updates.

use crate::fault::Operation;
use std::fmt;
use std::ops::Range;

/// The addresses of the bytes that a launch, or other work, reads, writes and updates.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Sorted ranges, which are neither empty nor adjacent.
    read: Vec<Range<u64>>,
    written: Vec<Range<u64>>,
    updated: Vec<Range<u64>>,
}

/// The pairs of operations that conflict if nothing orders them. For each operation, those that write come first.
const CONFLICTS: [(Operation, Operation); 7] = {
    use Operation::{Atomic, Load, Store};
    [
        (Store, Store),
        (Store, Atomic),
        (Atomic, Store),
        (Store, Load),
        (Load, Store),
        (Atomic, Load),
        (Load, Atomic),
    ]
};

impl fmt::Debug for Footprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Footprint");
        debug.field("read", &self.read);
        debug.field("written", &self.written);
        debug.field("updated", &self.updated).finish()
    }
}

/// Bytes that two footprints share, in ways that conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The addresses of the first such bytes.
    pub addresses: Range<u64>,
    /// The operation of the first footprint.
    pub first: Operation,
    /// The operation of the second footprint.
    pub second: Operation,
}

impl Footprint {
    /// An empty footprint.
    pub fn new() -> Footprint {
        Footprint::default()
    }

    /// Adds bytes that are read.
    pub fn read(&mut self, address: u64, len: u64) {
        insert(&mut self.read, address, len);
    }

    /// Adds bytes that are written.
    pub fn write(&mut self, address: u64, len: u64) {
        insert(&mut self.written, address, len);
    }

    /// Adds bytes that are updated by atomic operations.
    pub fn update(&mut self, address: u64, len: u64) {
        insert(&mut self.updated, address, len);
    }

    /// Adds all bytes of another footprint.
    pub fn merge(&mut self, other: &Footprint) {
        let lists = [
            (&mut self.read, &other.read),
            (&mut self.written, &other.written),
            (&mut self.updated, &other.updated),
        ];
        for (own, others) in lists {
            for range in others {
                insert(own, range.start, range.end - range.start);
            }
        }
    }

    /// The bytes read, as sorted ranges of addresses.
    pub fn reads(&self) -> &[Range<u64>] {
        &self.read
    }

    /// The bytes written, as sorted ranges of addresses.
    pub fn writes(&self) -> &[Range<u64>] {
        &self.written
    }

    /// The bytes updated by atomic operations, as sorted ranges of addresses.
    pub fn updates(&self) -> &[Range<u64>] {
        &self.updated
    }

    /// The first bytes that both footprints touch in ways that conflict, if there are any.
    pub fn conflict(&self, other: &Footprint) -> Option<Conflict> {
        CONFLICTS.iter().find_map(|&(first, second)| {
            let addresses = common(self.used(first), other.used(second))?;
            Some(Conflict {
                addresses,
                first,
                second,
            })
        })
    }

    /// An operation on any of these bytes that is in conflict with `own`, if there is one.
    pub(crate) fn meets(&self, own: Operation, address: u64, len: u64) -> Option<Operation> {
        let range = address..address.saturating_add(len);
        let mut conflicts = CONFLICTS.iter().filter(|(first, _)| *first == own);
        let found = conflicts.find(|(_, theirs)| overlaps(self.used(*theirs), &range));
        found.map(|(_, theirs)| *theirs)
    }

    fn used(&self, operation: Operation) -> &[Range<u64>] {
        match operation {
            Operation::Load => &self.read,
            Operation::Store => &self.written,
            Operation::Atomic => &self.updated,
        }
    }
}

fn overlaps(ranges: &[Range<u64>], range: &Range<u64>) -> bool {
    let index = ranges.partition_point(|known| known.end <= range.start);
    ranges.get(index).is_some_and(|known| known.start < range.end)
}

fn insert(ranges: &mut Vec<Range<u64>>, address: u64, len: u64) {
    if len == 0 {
        return;
    }
    let (mut start, mut end) = (address, address.saturating_add(len));
    let from = ranges.partition_point(|known| known.end < start);
    let to = from + ranges[from..].partition_point(|known| known.start <= end);
    for known in &ranges[from..to] {
        start = start.min(known.start);
        end = end.max(known.end);
    }
    ranges.splice(from..to, std::iter::once(start..end));
}

/// The first range that is in both lists.
fn common(a: &[Range<u64>], b: &[Range<u64>]) -> Option<Range<u64>> {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let (start, end) = (x.start.max(y.start), x.end.min(y.end));
        if start < end {
            return Some(start..end);
        }
        if x.end <= y.end {
            i += 1;
        } else {
            j += 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_merge() {
        let mut footprint = Footprint::new();
        for (start, len) in [(10, 5), (20, 5), (0, 1), (15, 5), (40, 0), (22, 10)] {
            footprint.write(start, len);
        }
        assert_eq!(footprint.writes(), [0..1, 10..32]);
        assert_eq!(footprint.meets(Operation::Load, 9, 1), None);
        assert_eq!(footprint.meets(Operation::Load, 9, 2), Some(Operation::Store));
        assert_eq!(footprint.meets(Operation::Store, 32, 8), None);
    }

    #[test]
    fn merging_is_touching_all_of_both() {
        let (mut a, mut b) = (Footprint::new(), Footprint::new());
        a.read(0, 4);
        b.read(4, 4);
        b.write(16, 4);
        a.merge(&b);
        assert_eq!(a.reads(), std::slice::from_ref(&(0..8)));
        assert_eq!(a.writes(), std::slice::from_ref(&(16..20)));
    }

    #[test]
    fn reads_alone_do_not_conflict() {
        let (mut a, mut b) = (Footprint::new(), Footprint::new());
        a.read(0, 100);
        b.read(50, 10);
        assert_eq!(a.conflict(&b), None);
        b.write(99, 5);
        let expected = Conflict {
            addresses: 99..100,
            first: Operation::Load,
            second: Operation::Store,
        };
        assert_eq!(a.conflict(&b), Some(expected));
        a.write(98, 2);
        assert!(
            a.conflict(&b)
                .is_some_and(|conflict| (conflict.first, conflict.second) == (Operation::Store, Operation::Store))
        );
    }

    #[test]
    fn updates_conflict_with_all_but_each_other() {
        let (mut a, mut b) = (Footprint::new(), Footprint::new());
        a.update(0, 8);
        b.update(4, 8);
        assert_eq!((a.conflict(&b), a.meets(Operation::Atomic, 0, 4)), (None, None));
        assert_eq!(a.meets(Operation::Load, 0, 4), Some(Operation::Atomic));
        b.read(0, 4);
        let expected = Conflict {
            addresses: 0..4,
            first: Operation::Atomic,
            second: Operation::Load,
        };
        assert_eq!(a.conflict(&b), Some(expected));
        b.merge(&a);
        assert_eq!(b.updates(), std::slice::from_ref(&(0..12)));
    }
}
