//! The accesses to one resource that later accesses are compared with, found by the bytes that they touch.

use crate::{Bound, Region};
use std::collections::BTreeMap;

/// Accesses, by index. Those of known ranges that are far from a region are not looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct LiveAccesses {
    /// The accesses of known ranges, by the number of binary digits of their lengths and by their starts. There are few
    /// different numbers of digits.
    ranges: Vec<(u32, BTreeMap<u64, Vec<usize>>)>,
    others: Vec<usize>,
}

impl LiveAccesses {
    /// The only access, if there is one, it is of no known range, and `region`, which covers it, is all of the memory.
    #[inline]
    pub(crate) fn only_under(&mut self, region: &Region) -> Option<&mut usize> {
        match (region, &mut self.others[..]) {
            (Region::Whole, [only]) if self.ranges.is_empty() => Some(only),
            _ => None,
        }
    }

    /// Calls `keep` with every access that may overlap `region`, and perhaps with others; those for which it returns
    /// false are removed.
    pub(crate) fn retain_near(&mut self, region: &Region, mut keep: impl FnMut(usize) -> bool) {
        self.others.retain(|&access| keep(access));
        let (start, end) = known(region).unwrap_or((0, u64::MAX));
        for (digits, ranges) in &mut self.ranges {
            // A range of so many digits that begins before this ends before `start`.
            let longest = 1_u64.checked_shl(*digits).unwrap_or(u64::MAX);
            for (_, accesses) in ranges.range_mut(start.saturating_sub(longest)..=end) {
                accesses.retain(|&access| keep(access));
            }
        }
    }

    /// Adds an access to `region`.
    pub(crate) fn insert(&mut self, region: &Region, access: usize) {
        let Some((start, end)) = known(region) else {
            return self.others.push(access);
        };
        let digits = u64::BITS - (end - start).leading_zeros();
        let index = match self.ranges.iter().position(|(other, _)| *other == digits) {
            Some(index) => index,
            None => {
                self.ranges.push((digits, BTreeMap::new()));
                self.ranges.len() - 1
            }
        };
        self.ranges[index].1.entry(start).or_default().push(access);
    }
}

/// The start and end of a known range that is not empty.
fn known(region: &Region) -> Option<(u64, u64)> {
    match region {
        Region::Range(Bound::Known(start), Bound::Known(end)) if start < end => Some((*start, *end)),
        Region::Whole | Region::Index(_) | Region::Range(..) | Region::Parts(_) | Region::Rectangle(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn everything_that_overlaps_is_near(ranges in prop::collection::vec((0_u64..200, 0_u64..70), 0..40), at: (u8, u8)) {
            let region = |start: u64, len: u64| Region::span(start, start + len);
            let mut live = LiveAccesses::default();
            for (index, &(start, len)) in ranges.iter().enumerate() {
                live.insert(&region(start, len), index);
            }
            let asked = region(u64::from(at.0), u64::from(at.1));
            let mut near = Vec::new();
            live.retain_near(&asked, |access| {
                near.push(access);
                access % 2 == 0
            });
            for (index, &(start, len)) in ranges.iter().enumerate() {
                prop_assert!(near.contains(&index) || !region(start, len).overlaps(&asked));
            }
            near.sort_unstable();
            let mut again = Vec::new();
            live.retain_near(&asked, |access| {
                again.push(access);
                true
            });
            again.sort_unstable();
            near.retain(|access| access % 2 == 0);
            prop_assert_eq!(again, near);
        }
    }

    #[test]
    fn ranges_far_away_are_not_near() {
        let mut live = LiveAccesses::default();
        (0..1000).for_each(|index| live.insert(&Region::span(4 * index, 4 * index + 4), index as usize));
        live.insert(&Region::Whole, 1000);
        let mut near = 0;
        live.retain_near(&Region::span(2000, 2004), |_| {
            near += 1;
            true
        });
        assert!(near < 10, "{near}");
        live.insert(&Region::span(0, u64::MAX), 1001);
        let mut all = 0;
        live.retain_near(&Region::Whole, |_| {
            all += 1;
            true
        });
        assert_eq!(all, 1002);
    }
}
