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

    /// The same value everywhere.
    #[inline(always)]
    pub(crate) fn uniform(base: u64) -> Lattice {
        Lattice {
            base,
            across: 0,
            down: 0,
        }
    }

    #[inline(always)]
    pub(crate) fn is_uniform(self) -> bool {
        self.across == 0 && self.down == 0
    }

    /// The lattice, so much further on.
    #[inline(always)]
    pub(crate) fn offset(self, offset: i64) -> Lattice {
        Lattice {
            base: self.base.wrapping_add_signed(offset),
            ..self
        }
    }

    /// The sum, modulo 2^64.
    #[inline(always)]
    pub(crate) fn add(self, other: Lattice) -> Lattice {
        Lattice {
            base: self.base.wrapping_add(other.base),
            across: self.across.wrapping_add(other.across),
            down: self.down.wrapping_add(other.down),
        }
    }

    /// The product with a number, modulo 2^64.
    #[inline(always)]
    pub(crate) fn times(self, factor: u64) -> Lattice {
        Lattice {
            base: self.base.wrapping_mul(factor),
            across: self.across.wrapping_mul(factor as i64),
            down: self.down.wrapping_mul(factor as i64),
        }
    }

    /// The values modulo 2^32.
    #[inline(always)]
    pub(crate) fn narrow(self) -> Lattice {
        Lattice {
            base: u64::from(self.base as u32),
            across: i64::from(self.across as i32),
            down: i64::from(self.down as i32),
        }
    }

    /// The least and the greatest address of a block with `side` threads in a row and so many rows, or `None` where
    /// addresses wrap around.
    #[inline(always)]
    pub(crate) fn bounds(&self, side: usize, rows: usize) -> Option<(u64, u64)> {
        let (below, above) = self.spread(side, rows);
        let base = i128::from(self.base);
        Some((u64::try_from(base + below).ok()?, u64::try_from(base + above).ok()?))
    }

    /// How far values go below and above the first one.
    #[inline(always)]
    fn spread(&self, side: usize, rows: usize) -> (i128, i128) {
        let across = i128::from(self.across) * (side as i128 - 1);
        let down = i128::from(self.down) * (rows as i128 - 1);
        (across.min(0) + down.min(0), across.max(0) + down.max(0))
    }

    /// The lattice of the exact values of a 32-bit register, sign- or zero-extended, and the least and the greatest of
    /// them; `None` where they wrap around.
    #[inline(always)]
    pub(crate) fn widen(self, signed: bool, side: usize, rows: usize) -> Option<(Lattice, i64, i64)> {
        let base = match signed {
            true => i64::from(self.base as i32),
            false => self.base as i64,
        };
        let (below, above) = self.spread(side, rows);
        let (least, greatest) = ((i128::from(base) + below) as i64, (i128::from(base) + above) as i64);
        let fits = match signed {
            true => i32::try_from(least).is_ok() && i32::try_from(greatest).is_ok(),
            false => u32::try_from(least).is_ok() && u32::try_from(greatest).is_ok(),
        };
        let exact = Lattice {
            base: base as u64,
            ..self
        };
        fits.then_some((exact, least, greatest))
    }

    /// Write the values of consecutive threads, modulo 2^32.
    pub(crate) fn write32(self, values: &mut [u32], side: usize) {
        let (mut start, across) = (self.base as u32, self.across as u32);
        for row in values.chunks_exact_mut(side) {
            for (x, value) in row.iter_mut().enumerate() {
                *value = start.wrapping_add(across.wrapping_mul(x as u32));
            }
            start = start.wrapping_add(self.down as u32);
        }
    }

    /// Write the values of consecutive threads.
    pub(crate) fn write64(self, values: &mut [u64], side: usize) {
        let mut start = self.base;
        for row in values.chunks_exact_mut(side) {
            let mut next = start;
            for value in row {
                *value = next;
                next = next.wrapping_add_signed(self.across);
            }
            start = start.wrapping_add_signed(self.down);
        }
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
