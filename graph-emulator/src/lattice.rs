//! Addresses of a whole block that follow from where a thread is in it.

/// Addresses `base + across * x + down * y`, where a thread is `x` in a row of the block and `y` rows down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lattice {
    pub(crate) base: u64,
    pub(crate) across: i64,
    pub(crate) down: i64,
}

impl Lattice {
    /// Find the lattice that values of consecutive threads form, if they do.
    #[inline(always)]
    pub(crate) fn detect64(values: &[u64], side: usize) -> Option<Lattice> {
        let base = values[0];
        let across = values[1 % side].wrapping_sub(base);
        let down = values.get(side).map_or(0, |next| next.wrapping_sub(base));
        let mut differs = 0;
        for (y, row) in values.chunks_exact(side).enumerate() {
            differs |= row[0] ^ base.wrapping_add(down.wrapping_mul(y as u64));
            for (next, value) in row[1..].iter().zip(row) {
                differs |= next.wrapping_sub(*value) ^ across;
            }
        }
        let (across, down) = (across as i64, down as i64);
        (differs == 0).then_some(Lattice { base, across, down })
    }

    /// The same of 32-bit values.
    #[inline(always)]
    pub(crate) fn detect32(values: &[u32], side: usize) -> Option<Lattice> {
        let base = values[0];
        let across = values[1 % side].wrapping_sub(base);
        let down = values.get(side).map_or(0, |next| next.wrapping_sub(base));
        let mut differs = 0;
        for (y, row) in values.chunks_exact(side).enumerate() {
            differs |= row[0] ^ base.wrapping_add(down.wrapping_mul(y as u32));
            for (next, value) in row[1..].iter().zip(row) {
                differs |= next.wrapping_sub(*value) ^ across;
            }
        }
        let (base, across, down) = (base.into(), (across as i32).into(), (down as i32).into());
        (differs == 0).then_some(Lattice { base, across, down })
    }

    /// The lattice, so much further on.
    #[inline(always)]
    pub(crate) fn offset(self, offset: i64) -> Lattice {
        Lattice {
            base: self.base.wrapping_add_signed(offset),
            ..self
        }
    }

    /// The least and the greatest address of a block with `side` threads in a row and so many rows, or `None` where
    /// addresses wrap around.
    #[inline(always)]
    pub(crate) fn bounds(&self, side: usize, rows: usize) -> Option<(u64, u64)> {
        let across = i128::from(self.across) * (side as i128 - 1);
        let down = i128::from(self.down) * (rows as i128 - 1);
        let base = i128::from(self.base);
        let least = base + across.min(0) + down.min(0);
        let greatest = base + across.max(0) + down.max(0);
        Some((u64::try_from(least).ok()?, u64::try_from(greatest).ok()?))
    }
}

/// How many threads of a block are a row: those with the same `%tid.y` or, where these are few, all.
pub(crate) fn side(block: [u32; 3]) -> usize {
    let [x, y, z] = block.map(|side| side as usize);
    if x < 8 { x * y * z } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registers::LANES;

    #[test]
    fn lattices_are_found() {
        let value = |x: u64, y: u64| 1000 + 4 * x + 64 * y;
        let mut values: Vec<u64> = (0..LANES as u64 * 8).map(|lane| value(lane % 16, lane / 16)).collect();
        let lattice = Lattice::detect64(&values, 16).unwrap();
        assert_eq!((lattice.base, lattice.across, lattice.down), (1000, 4, 64));
        assert_eq!(lattice.bounds(16, 16), Some((1000, 1000 + 60 + 960)));
        values[200] += 1;
        assert_eq!(Lattice::detect64(&values, 16), None);
    }

    #[test]
    fn bounds_of_descending_addresses() {
        let lattice = Lattice {
            base: 100,
            across: -4,
            down: 0,
        };
        assert_eq!(lattice.bounds(16, 2), Some((40, 100)));
        assert_eq!(lattice.bounds(32, 1), None);
    }
}
