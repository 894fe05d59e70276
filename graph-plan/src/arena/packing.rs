//! The search for a packing, in `const fn`s: no iterators, no allocation.

use super::ARENA_ALIGNMENT;

/// The offset of a buffer that is not placed yet.
pub(super) const NOWHERE: usize = usize::MAX;

/// The search for a packing.
///
/// Buffers are placed one after the other. Each goes into a gap between its neighbours (the buffers that it may not
/// overlap) that are placed already, or above them. So the order of placing decides. The search first tries a few
/// orders: of first use, of size, of size together with neighbours, of last use; each with the lowest and with the
/// tightest gap. Some order leads to an optimal packing with lowest gaps: the order of its offsets. So the search goes
/// on from the best order: it moves buffers that stick out to before one of their neighbours. It ends when a packing is
/// as small as the largest set found of buffers that must all be apart, or when its steps are spent.
pub(super) struct Packing<'a> {
    /// The sizes, rounded up to whole units of the alignment once the search runs.
    pub(super) sizes: &'a mut [usize],
    pub(super) apart: &'a [&'a [usize]],
    /// The order to try next.
    pub(super) order: &'a mut [usize],
    /// The order that led to `offsets`.
    pub(super) best: &'a mut [usize],
    /// The offsets that `order` leads to.
    pub(super) trial: &'a mut [usize],
    /// The placed neighbours of the current buffer, sorted by offset.
    pub(super) near: &'a mut [usize],
    /// The best offsets yet, and how many bytes they need.
    pub(super) offsets: &'a mut [usize],
    pub(super) bytes: usize,
    pub(super) steps: usize,
    pub(super) effort: usize,
}

/// The gap that a buffer goes to.
#[derive(Clone, Copy)]
enum Fit {
    Lowest,
    Tightest,
}

impl Packing<'_> {
    /// Searches, leaves the offsets of the smallest packing found in `offsets`, and returns its size.
    pub(super) const fn run(mut self) -> usize {
        if self.sizes.is_empty() {
            return 0;
        }
        let mut index = 0;
        while index < self.sizes.len() {
            self.sizes[index] = aligned(self.sizes[index]);
            index += 1;
        }
        let bound = self.bound();
        let mut start = 0;
        while start < 4 && self.bytes > bound && (start == 0 || self.steps < self.effort) {
            self.start(start);
            self.place(Fit::Tightest);
            self.place(Fit::Lowest);
            start += 1;
        }
        let mut random = 1_u64;
        while self.bytes > bound && self.steps < self.effort {
            self.order.copy_from_slice(self.best);
            self.stir(bound, &mut random);
            self.place(Fit::Lowest);
        }
        self.bytes
    }

    /// The largest total found of buffers that must all be apart: no packing is smaller.
    const fn bound(&mut self) -> usize {
        let (mut bound, mut buffer) = (0, 0);
        while buffer < self.sizes.len() {
            let mut sum = self.sizes[buffer];
            // In order of first use, the neighbours before a buffer are usually all live when it is.
            let (mut count, mut index) = (0, self.apart[buffer].len());
            while index > 0 && self.steps < self.effort / 4 {
                index -= 1;
                let other = self.apart[buffer][index];
                if other < buffer && self.is_near_all(other, count) {
                    self.near[count] = other;
                    count += 1;
                    sum = sum.saturating_add(self.sizes[other]);
                }
            }
            bound = if sum > bound { sum } else { bound };
            buffer += 1;
        }
        bound
    }

    /// Whether `buffer` may overlap none of the first `count` of `near`.
    const fn is_near_all(&mut self, buffer: usize, count: usize) -> bool {
        let mut index = 0;
        while index < count {
            self.steps += 1;
            if !contains(self.apart[buffer], self.near[index]) {
                return false;
            }
            index += 1;
        }
        true
    }

    /// Sets `order` to one of the first orders: of first use, of size, of size together with neighbours, of last use.
    const fn start(&mut self, which: usize) {
        let count = self.sizes.len();
        let mut index = 0;
        while index < count {
            self.near[index] = self.weight(which, index);
            index += 1;
        }
        index = 0;
        while index < count {
            let buffer = if which == 3 { count - 1 - index } else { index };
            let mut place = index;
            while place > 0 && self.near[buffer] > self.near[self.order[place - 1]] {
                self.order[place] = self.order[place - 1];
                place -= 1;
                self.steps += 1;
            }
            self.order[place] = buffer;
            index += 1;
        }
    }

    /// The weight by which an order is sorted, largest first.
    const fn weight(&self, which: usize, buffer: usize) -> usize {
        if which == 0 || which == 3 {
            return 0;
        }
        let mut weight = self.sizes[buffer];
        let mut index = 0;
        while which == 2 && index < self.apart[buffer].len() {
            weight = weight.saturating_add(self.sizes[self.apart[buffer][index]]);
            index += 1;
        }
        weight
    }

    /// Places the buffers in `order`, and keeps the outcome if it is as good as any.
    const fn place(&mut self, fit: Fit) {
        self.steps += 8 * self.sizes.len();
        let (mut index, mut bytes) = (0, 0);
        while index < self.trial.len() {
            self.trial[index] = NOWHERE;
            index += 1;
        }
        index = 0;
        while index < self.order.len() {
            let buffer = self.order[index];
            let offset = self.gap(buffer, fit);
            self.trial[buffer] = offset;
            let end = offset.saturating_add(self.sizes[buffer]);
            bytes = if end > bytes { end } else { bytes };
            index += 1;
        }
        if bytes <= self.bytes {
            self.bytes = bytes;
            self.best.copy_from_slice(self.order);
            self.offsets.copy_from_slice(self.trial);
        }
    }

    /// The offset of the gap that a buffer goes to.
    const fn gap(&mut self, buffer: usize, fit: Fit) -> usize {
        let count = self.placed_neighbours(buffer);
        self.steps += count;
        let size = self.sizes[buffer];
        let (mut end, mut offset, mut space) = (0_usize, NOWHERE, NOWHERE);
        let mut index = 0;
        while index < count {
            let start = self.trial[self.near[index]];
            if start > end && start - end >= size && start - end < space {
                (offset, space) = (end, start - end);
                if matches!(fit, Fit::Lowest) {
                    return offset;
                }
            }
            let above = start.saturating_add(self.sizes[self.near[index]]);
            end = if above > end { above } else { end };
            index += 1;
        }
        if offset == NOWHERE { end } else { offset }
    }

    /// Puts the placed neighbours of a buffer into `near`, sorted by offset. Returns their number.
    const fn placed_neighbours(&mut self, buffer: usize) -> usize {
        let (mut count, mut index) = (0, 0);
        while index < self.apart[buffer].len() {
            let other = self.apart[buffer][index];
            let offset = self.trial[other];
            index += 1;
            self.steps += 1;
            if offset == NOWHERE {
                continue;
            }
            let mut place = count;
            while place > 0 && self.trial[self.near[place - 1]] > offset {
                self.near[place] = self.near[place - 1];
                place -= 1;
                self.steps += 1;
            }
            self.near[place] = other;
            count += 1;
        }
        count
    }

    /// Moves half of the buffers that end above `bound` to before one of their neighbours in `order`.
    const fn stir(&mut self, bound: usize, random: &mut u64) {
        let mut index = 0;
        while index < self.order.len() {
            let buffer = self.order[index];
            let end = self.offsets[buffer].saturating_add(self.sizes[buffer]);
            let count = self.apart[buffer].len();
            if end > bound && count > 0 && below(random, 2) == 0 {
                let other = self.apart[buffer][below(random, count)];
                self.move_before(index, other);
            }
            index += 1;
        }
    }

    /// Moves the buffer at `index` of `order` to before `other`, if that is before it.
    const fn move_before(&mut self, index: usize, other: usize) {
        let mut to = 0;
        while to < index && self.order[to] != other {
            to += 1;
        }
        self.steps += index;
        let (buffer, mut place) = (self.order[index], index);
        while place > to {
            self.order[place] = self.order[place - 1];
            place -= 1;
        }
        self.order[to] = buffer;
    }
}

/// Whether `wanted` is in `sorted`, which is ascending.
const fn contains(sorted: &[usize], wanted: usize) -> bool {
    let (mut low, mut high) = (0, sorted.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if sorted[middle] == wanted {
            return true;
        }
        if sorted[middle] < wanted {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    false
}

/// A number below `end` that looks random: `splitmix64`.
pub(crate) const fn below(state: &mut u64, end: usize) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed >> 33) % end as u64) as usize
}

/// The space that a buffer takes up. If no memory could hold the size, none can hold the result.
pub(crate) const fn aligned(size: usize) -> usize {
    match size.checked_next_multiple_of(ARENA_ALIGNMENT) {
        Some(size) => size,
        None => NOWHERE - ARENA_ALIGNMENT + 1,
    }
}
