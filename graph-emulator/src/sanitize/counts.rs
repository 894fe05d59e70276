//! Counting of what makes a kernel slow on a GPU: conflicts of banks of shared memory, and branches at which warps
//! diverge.

use super::Touch;
use crate::code::Space;
use crate::state::LANES;

/// The banks of shared memory, each a word of four bytes wide.
const BANKS: u64 = 32;
const WORD: u64 = 4;
/// The bytes that shared memory moves at once.
const MOVED: usize = BANKS as usize * WORD as usize;
/// The most bytes that a lane accesses by one instruction.
const MAX_LANE: usize = 16;

/// The counts of a block, or of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) bank_conflicts: u64,
    pub(crate) divergent_branches: u64,
}

impl Counts {
    /// Counts the accesses of one instruction of a warp.
    pub(super) fn access(&mut self, touches: &[Touch]) {
        let shared: Vec<&Touch> = touches.iter().filter(|touch| touch.space == Space::Shared).collect();
        if !shared.is_empty() {
            self.bank_conflicts += conflicts(&shared);
        }
    }
}

/// The number of times that shared memory moves words more often than it would if no two words were in one bank.
///
/// A warp that accesses up to four bytes a lane is served at once, one of eight bytes in two halves, and one of sixteen
/// in four quarters. In each of these, a bank gives one word at a time, to all lanes that access it.
fn conflicts(touches: &[&Touch]) -> u64 {
    let mut bytes = [0; LANES];
    for touch in touches {
        bytes[touch.lane] += touch.bytes as usize;
    }
    let widest = bytes.into_iter().max().unwrap_or_default().next_power_of_two();
    let together = MOVED / widest.clamp(WORD as usize, MAX_LANE);
    let parts = (0..LANES).step_by(together).map(|first| {
        let part = touches
            .iter()
            .filter(|touch| (first..first + together).contains(&touch.lane));
        let mut words: Vec<u64> = part.flat_map(|touch| words(touch)).collect();
        words.sort_unstable();
        words.dedup();
        let mut banks = [0_u64; BANKS as usize];
        words.iter().for_each(|word| banks[(word % BANKS) as usize] += 1);
        banks.into_iter().max().unwrap_or_default().saturating_sub(1)
    });
    parts.sum()
}

/// The words that an access touches.
fn words(touch: &Touch) -> impl Iterator<Item = u64> {
    let last = touch.address.saturating_add(u64::from(touch.bytes).saturating_sub(1));
    touch.address / WORD..=last / WORD
}
