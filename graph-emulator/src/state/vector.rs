//! Fast loops over lanes: a second instruction set that they are compiled for, and rows of lanes that begin at cache
//! lines.

use super::mask::LANES;

/// Proof that the processor has the features that functions made by [`dispatch`] enable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide(());

impl Wide {
    /// Asks the processor.
    pub(crate) fn detect() -> Option<Wide> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("lzcnt")
            && std::arch::is_x86_feature_detected!("popcnt")
        {
            return Some(Wide(()));
        }
        None
    }
}

/// Compiles a function twice, for the baseline and for the features of [`Wide`], and calls the one that fits. The body
/// must be `#[inline(always)]`, so that it is compiled for the features of its caller.
macro_rules! dispatch {
    ($(#[$attribute:meta])* fn $name:ident($registers:ident: &mut Registers $(, $argument:ident: $ty:ty)*) $(-> $result:ty)? = $body:ident) => {
        $(#[$attribute])*
        pub(crate) fn $name($registers: &mut Registers $(, $argument: $ty)*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            if $registers.wide.is_some() {
                #[target_feature(enable = "avx2,fma,bmi2,lzcnt,popcnt")]
                fn wide($registers: &mut Registers $(, $argument: $ty)*) $(-> $result)? {
                    $body($registers $(, $argument)*)
                }
                // SAFETY: a `Wide` exists only where `Wide::detect` found these very features.
                return unsafe { wide($registers $(, $argument)*) };
            }
            $body($registers $(, $argument)*)
        }
    };
}
pub(crate) use dispatch;

/// The bytes of a cache line. A row that begins at a line touches the fewest lines, which halves the time of stores.
const LINE: usize = 64;

/// Rows of lanes in one piece of memory, the first of which begins at a cache line.
#[derive(Default)]
pub(crate) struct Aligned<T> {
    lanes: Vec<T>,
    /// The first lane of the first row.
    start: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows().len()
    }

    /// Grows to at least `rows` rows; new ones are zero.
    pub(crate) fn grow(&mut self, rows: usize) {
        let rows = rows.max(self.len() * 2);
        let spare = LINE / size_of::<T>();
        let mut lanes = vec![T::default(); rows * LANES + spare];
        // If there is no such offset, `align_offset` returns one that is too large.
        let start = lanes.as_ptr().align_offset(LINE).min(spare);
        let old = self.rows().as_flattened();
        lanes[start..start + old.len()].copy_from_slice(old);
        lanes.truncate(start + rows * LANES);
        *self = Aligned { lanes, start };
    }

    #[inline(always)]
    pub(crate) fn rows(&self) -> &[[T; LANES]] {
        self.lanes[self.start..].as_chunks().0
    }

    #[inline(always)]
    pub(crate) fn rows_mut(&mut self) -> &mut [[T; LANES]] {
        self.lanes[self.start..].as_chunks_mut().0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_begin_at_cache_lines_and_keep_their_values() {
        let mut rows = Aligned::<u32>::default();
        rows.grow(3);
        rows.rows_mut()[2] = [7; LANES];
        rows.grow(100);
        assert_eq!(rows.len(), 100);
        assert_eq!(rows.rows()[2], [7; LANES]);
        assert_eq!(rows.rows()[99], [0; LANES]);
        assert_eq!(rows.rows().as_ptr() as usize % LINE, 0);
    }
}
