//! Lanes of a warp, and masks of them: bit `n` is lane `n`.

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;
/// The mask of a whole warp.
pub(crate) const FULL: u32 = u32::MAX;

/// The lanes of a mask, lowest first.
#[inline(always)]
pub(crate) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros() as usize;
        left &= left.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

/// The lanes of a mask for which a condition holds.
#[inline(always)]
pub(crate) fn lanes_where(mask: u32, holds: impl Fn(usize) -> bool) -> u32 {
    lanes(mask)
        .filter(|&lane| holds(lane))
        .fold(0, |all, lane| all | 1 << lane)
}

/// The mask of all lanes or of none.
#[inline(always)]
pub(crate) fn all_if(holds: bool) -> u32 {
    if holds { FULL } else { 0 }
}

/// The lowest lane of a mask that is not empty.
#[inline(always)]
pub(crate) fn first(mask: u32) -> usize {
    mask.trailing_zeros() as usize % LANES
}
