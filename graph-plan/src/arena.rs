//! The places of scratch buffers in the one arena that they share. Packing is a `const fn`, since only rustc knows the
//! sizes of static shapes. `sharing` decides which buffers may share addresses.

mod packing;

pub(crate) use packing::aligned;
#[cfg(test)]
pub(crate) use packing::below;
use packing::{NOWHERE, Packing};
use std::cmp::Ordering;
use std::fmt;

/// The alignment of every buffer of an arena, in bytes: that of `cuMemAlloc`.
pub const ARENA_ALIGNMENT: usize = 256;

/// The number of steps (iterations of loops, and calls) after which the search for a better packing ends. rustc
/// evaluates less than a million a second, and two million without complaint.
const MAX_STEPS: usize = 1 << 17;

/// The number of steps after which the search ends at run time.
const MAX_STEPS_AT_RUN_TIME: usize = 1 << 21;

/// `N` buffers in one piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arena<const N: usize> {
    /// The offset of each buffer in bytes: a multiple of [`ARENA_ALIGNMENT`].
    pub offsets: [usize; N],
    /// The size of the whole arena in bytes.
    pub bytes: usize,
}

impl<const N: usize> Arena<N> {
    /// Packs buffers of these sizes. `apart` lists, for each buffer, the buffers that it may not overlap, ascending;
    /// it is symmetric.
    pub const fn new(mut sizes: [usize; N], apart: &[&[usize]]) -> Self {
        let (mut offsets, mut order, mut best, mut near) = ([0; N], [0; N], [0; N], [0; N]);
        let mut trial = [0; N];
        let bytes = Packing {
            sizes: &mut sizes,
            apart,
            order: &mut order,
            best: &mut best,
            trial: &mut trial,
            near: &mut near,
            offsets: &mut offsets,
            bytes: NOWHERE,
            steps: 0,
            effort: MAX_STEPS,
        }
        .run();
        Self { offsets, bytes }
    }
}

/// The size of an arena in bytes; unknown in static data if a length is known only when the graph is built.
///
/// It compares with a number of bytes, to which an unknown size is neither equal nor below nor above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ArenaSize(Option<usize>);

impl ArenaSize {
    /// The size that only building tells.
    pub const UNKNOWN: Self = Self(None);

    /// A size in bytes.
    pub const fn of(bytes: usize) -> Self {
        Self(Some(bytes))
    }

    /// The size in bytes; `None` if it is unknown.
    pub const fn bytes(self) -> Option<usize> {
        self.0
    }

    /// The bytes that are known of: 0 if the size is unknown.
    pub const fn bytes_or_none(self) -> usize {
        match self.0 {
            Some(bytes) => bytes,
            None => 0,
        }
    }

    /// This size, if that of a part of it is known.
    pub const fn with(self, part: Self) -> Self {
        match part.0 {
            Some(_) => self,
            None => part,
        }
    }
}

impl PartialEq<usize> for ArenaSize {
    fn eq(&self, bytes: &usize) -> bool {
        self.0 == Some(*bytes)
    }
}

impl PartialOrd<usize> for ArenaSize {
    fn partial_cmp(&self, bytes: &usize) -> Option<Ordering> {
        self.0.map(|known| known.cmp(bytes))
    }
}

impl fmt::Display for ArenaSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(bytes) => write!(f, "{bytes}"),
            None => write!(f, "unknown"),
        }
    }
}

/// Packs any number of buffers. Returns the offset of each, and the size of the arena.
pub fn pack(sizes: &[usize], apart: &[&[usize]]) -> (Vec<usize>, usize) {
    let buffer = || vec![0; sizes.len()];
    let mut offsets = buffer();
    let bytes = Packing {
        sizes: &mut sizes.to_vec(),
        apart,
        order: &mut buffer(),
        best: &mut buffer(),
        trial: &mut buffer(),
        near: &mut buffer(),
        offsets: &mut offsets,
        bytes: NOWHERE,
        steps: 0,
        effort: MAX_STEPS_AT_RUN_TIME,
    }
    .run();
    (offsets, bytes)
}

/// Whether these offsets are a packing: aligned, within `bytes`, and without overlaps of buffers that must not overlap.
pub fn is_packing(sizes: &[usize], apart: &[&[usize]], offsets: &[usize], bytes: usize) -> bool {
    let end = |buffer: usize| offsets[buffer].checked_add(aligned(sizes[buffer]));
    let apart_from = |buffer: usize, other: usize| {
        let before = |a: usize, b: usize| end(a).is_some_and(|end| end <= offsets[b]);
        sizes[buffer] == 0 || sizes[other] == 0 || before(buffer, other) || before(other, buffer)
    };
    offsets.len() == sizes.len()
        && (0..sizes.len()).all(|buffer| {
            offsets[buffer].is_multiple_of(ARENA_ALIGNMENT)
                && end(buffer).is_some_and(|end| end <= bytes)
                && apart[buffer].iter().all(|&other| apart_from(buffer, other))
        })
}

#[cfg(test)]
mod packings;
