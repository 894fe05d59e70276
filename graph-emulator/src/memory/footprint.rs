//! Footprints: the bytes that a launch, or other work, reads and writes.

use std::fmt;
use std::ops::Range;

/// The addresses of the bytes that a launch, or other work, reads and writes.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Sorted ranges, which are neither empty nor adjacent.
    read: Vec<Range<u64>>,
    written: Vec<Range<u64>>,
}

impl fmt::Debug for Footprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Footprint");
        debug.field("read", &self.read);
        debug.field("written", &self.written).finish()
    }
}

/// Bytes that two footprints share, at least one of them writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The addresses of the first such bytes.
    pub addresses: Range<u64>,
    /// Whether the first footprint writes them.
    pub first_writes: bool,
    /// Whether the second footprint writes them.
    pub second_writes: bool,
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

    /// Adds all bytes of another footprint.
    pub fn merge(&mut self, other: &Footprint) {
        let len = |range: &Range<u64>| range.end - range.start;
        other.read.iter().for_each(|range| self.read(range.start, len(range)));
        other
            .written
            .iter()
            .for_each(|range| self.write(range.start, len(range)));
    }

    /// The bytes read, as sorted ranges of addresses.
    pub fn reads(&self) -> &[Range<u64>] {
        &self.read
    }

    /// The bytes written, as sorted ranges of addresses.
    pub fn writes(&self) -> &[Range<u64>] {
        &self.written
    }

    /// The first bytes that both footprints touch and at least one writes, if there are any.
    pub fn conflict(&self, other: &Footprint) -> Option<Conflict> {
        let found = |addresses: Option<Range<u64>>, first_writes, second_writes| {
            addresses.map(|addresses| Conflict {
                addresses,
                first_writes,
                second_writes,
            })
        };
        found(common(&self.written, &other.written), true, true)
            .or_else(|| found(common(&self.written, &other.read), true, false))
            .or_else(|| found(common(&self.read, &other.written), false, true))
    }

    /// Whether any of these bytes is written (`Some(true)`), only read (`Some(false)`), or not touched (`None`).
    pub(crate) fn touches(&self, address: u64, len: u64) -> Option<bool> {
        let range = address..address.saturating_add(len);
        if overlaps(&self.written, &range) {
            Some(true)
        } else {
            overlaps(&self.read, &range).then_some(false)
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
        assert_eq!(footprint.touches(9, 1), None);
        assert_eq!(footprint.touches(9, 2), Some(true));
        assert_eq!(footprint.touches(32, 8), None);
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
            first_writes: false,
            second_writes: true,
        };
        assert_eq!(a.conflict(&b), Some(expected));
        a.write(98, 2);
        assert!(
            a.conflict(&b)
                .is_some_and(|conflict| conflict.first_writes && conflict.second_writes)
        );
    }
}
