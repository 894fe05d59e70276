//! Rectangles: several rows of bytes that lie apart, as columns of a matrix do.

/// Several rows of `width` bytes, each of which begins `pitch` bytes after the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rectangle {
    /// The offset of the first row in bytes.
    pub start: u64,
    /// The bytes of a row.
    pub width: u64,
    /// The bytes from the beginning of a row to the beginning of the next; at least `width`.
    pub pitch: u64,
    /// The number of rows.
    pub rows: u64,
}

impl Rectangle {
    /// The offset of the first byte, and the end after the last byte.
    pub(super) fn around(&self) -> (u64, u64) {
        let before_last = self.rows.saturating_sub(1).saturating_mul(self.pitch);
        let end = self.start.saturating_add(before_last).saturating_add(self.width);
        (self.start, if self.is_empty() { self.start } else { end })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0 || self.width == 0
    }

    /// Whether some byte from `start` up to `end` is in a row.
    pub(super) fn meets(&self, start: u64, end: u64) -> bool {
        if self.is_empty() || start >= end {
            return false;
        }
        let pitch = i128::from(self.pitch.max(1));
        let (from, to) = (
            i128::from(start) - i128::from(self.start),
            i128::from(end) - i128::from(self.start),
        );
        // Row `r` meets it if `r * pitch < to` and `r * pitch + width > from`.
        let first = (from - i128::from(self.width)).div_euclid(pitch) + 1;
        let last = (to - 1).div_euclid(pitch);
        first.max(0) <= last.min(i128::from(self.rows) - 1)
    }

    /// Whether the two have a byte in common.
    pub(super) fn overlaps(&self, other: &Rectangle) -> bool {
        if self.is_empty() || other.is_empty() {
            return false;
        }
        if self.pitch == other.pitch {
            return self.overlaps_in_step(other);
        }
        let (few, many) = if self.rows <= other.rows {
            (self, other)
        } else {
            (other, self)
        };
        (0..few.rows).any(|row| {
            let start = few.start + row * few.pitch;
            many.meets(start, start + few.width)
        })
    }

    /// Whether two of the same pitch have a byte in common: only the distance of two rows counts.
    fn overlaps_in_step(&self, other: &Rectangle) -> bool {
        let pitch = i128::from(self.pitch.max(1));
        let offset = i128::from(other.start) - i128::from(self.start);
        // Rows that are `k` apart meet if `-other.width < offset + k * pitch < self.width`.
        let first = (-i128::from(other.width) - offset).div_euclid(pitch) + 1;
        let last = (i128::from(self.width) - 1 - offset).div_euclid(pitch);
        let (least, most) = (1 - i128::from(self.rows), i128::from(other.rows) - 1);
        first.max(least) <= last.min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn rectangle() -> impl Strategy<Value = Rectangle> {
        (0_u64..40, 0_u64..6, 0_u64..6, 0_u64..5).prop_map(|(start, width, gap, rows)| Rectangle {
            start,
            width,
            pitch: width + gap,
            rows,
        })
    }

    fn bytes(area: &Rectangle) -> BTreeSet<u64> {
        let rows = (0..area.rows).map(|row| area.start + row * area.pitch);
        rows.flat_map(|start| start..start + area.width).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn areas_overlap_where_they_share_a_byte(a in rectangle(), b in rectangle(), same: bool) {
            let b = if same { Rectangle { pitch: a.pitch, width: b.width.min(a.pitch), ..b } } else { b };
            prop_assert_eq!(a.overlaps(&b), !bytes(&a).is_disjoint(&bytes(&b)));
            prop_assert_eq!(b.overlaps(&a), a.overlaps(&b));
        }

        #[test]
        fn spans_meet_where_they_share_a_byte(area in rectangle(), start in 0_u64..80, len in 0_u64..20) {
            let span: BTreeSet<u64> = (start..start + len).collect();
            prop_assert_eq!(area.meets(start, start + len), !bytes(&area).is_disjoint(&span));
            let (first, end) = area.around();
            prop_assert!(bytes(&area).iter().all(|byte| (first..end).contains(byte)));
        }
    }
}
