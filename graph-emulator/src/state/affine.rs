//! Affine values, which follow from a thread's position in its block, and their arithmetic.

/// Values `base + across * x + down * y`, where `x` is the thread's position in a row of the block and `y` is the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Affine {
    pub(crate) base: u64,
    pub(crate) across: i64,
    pub(crate) down: i64,
}

/// The knowledge about the values of a register slot in all threads of the block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Tracked {
    /// Values that were computed before the block began and have not been examined.
    #[default]
    Unseen,
    /// Values that were computed lane by lane and have not been examined.
    Computed,
    /// Values that are not affine.
    Scattered,
    /// Values that are affine.
    Affine(Affine),
    /// Values that are affine and have not been written to the lanes.
    Pending(Affine),
}

impl Tracked {
    #[inline(always)]
    pub(crate) fn affine(self) -> Option<Affine> {
        match self {
            Tracked::Affine(affine) | Tracked::Pending(affine) => Some(affine),
            Tracked::Unseen | Tracked::Computed | Tracked::Scattered => None,
        }
    }
}

impl From<Option<Affine>> for Tracked {
    fn from(found: Option<Affine>) -> Tracked {
        found.map_or(Tracked::Scattered, Tracked::Affine)
    }
}

impl Affine {
    /// The same value in all threads.
    #[inline(always)]
    pub(crate) fn uniform(base: u64) -> Affine {
        Affine {
            base,
            across: 0,
            down: 0,
        }
    }

    #[inline(always)]
    pub(crate) fn is_uniform(self) -> bool {
        self.across == 0 && self.down == 0
    }

    /// Adds a number to all values.
    #[inline(always)]
    pub(crate) fn offset(self, offset: i64) -> Affine {
        Affine {
            base: self.base.wrapping_add_signed(offset),
            ..self
        }
    }

    /// The sum, modulo 2^64.
    #[inline(always)]
    pub(crate) fn add(self, other: Affine) -> Affine {
        Affine {
            base: self.base.wrapping_add(other.base),
            across: self.across.wrapping_add(other.across),
            down: self.down.wrapping_add(other.down),
        }
    }

    /// The product with a number, modulo 2^64.
    #[inline(always)]
    pub(crate) fn times(self, factor: u64) -> Affine {
        Affine {
            base: self.base.wrapping_mul(factor),
            across: self.across.wrapping_mul(factor as i64),
            down: self.down.wrapping_mul(factor as i64),
        }
    }

    /// The values modulo 2^32.
    #[inline(always)]
    pub(crate) fn narrow(self) -> Affine {
        Affine {
            base: u64::from(self.base as u32),
            across: i64::from(self.across as i32),
            down: i64::from(self.down as i32),
        }
    }

    /// The least and the greatest value over `rows` rows of `width` threads; `None` if values wrap around, or are so
    /// far apart that they may.
    #[inline(always)]
    pub(crate) fn bounds(&self, width: usize, rows: usize) -> Option<(u64, u64)> {
        let (below, above) = self.spread(width, rows)?;
        Some((
            self.base.checked_add_signed(below)?,
            self.base.checked_add_signed(above)?,
        ))
    }

    /// The distances of the least and the greatest value from the first one, if they fit in 64 bits.
    #[inline(always)]
    fn spread(&self, width: usize, rows: usize) -> Option<(i64, i64)> {
        let across = self.across.checked_mul(width as i64 - 1)?;
        let down = self.down.checked_mul(rows as i64 - 1)?;
        let below = across.min(0).checked_add(down.min(0));
        let above = across.max(0).checked_add(down.max(0));
        Some((below?, above?))
    }

    /// The exact values of a 32-bit register, sign- or zero-extended, and the least and the greatest of them; `None` if
    /// they wrap around.
    #[inline(always)]
    pub(crate) fn widen(self, signed: bool, width: usize, rows: usize) -> Option<(Affine, i64, i64)> {
        let base = if signed {
            i64::from(self.base as i32)
        } else {
            self.base as i64
        };
        let (below, above) = self.spread(width, rows)?;
        let (least, greatest) = (base.checked_add(below)?, base.checked_add(above)?);
        let fits = if signed {
            i32::try_from(least).is_ok() && i32::try_from(greatest).is_ok()
        } else {
            u32::try_from(least).is_ok() && u32::try_from(greatest).is_ok()
        };
        let exact = Affine {
            base: base as u64,
            ..self
        };
        fits.then_some((exact, least, greatest))
    }
}

/// The row width of a block: the number of threads with the same `%tid.y`, or all threads if those are few.
pub(crate) fn row_width(block: [u32; 3]) -> usize {
    let [x, y, z] = block.map(|threads| threads as usize);
    if x < 8 { x * y * z } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_descending_values() {
        let affine = Affine {
            base: 100,
            across: -4,
            down: 0,
        };
        assert_eq!(affine.bounds(16, 2), Some((40, 100)));
        assert_eq!(affine.bounds(32, 1), None);
    }
}
