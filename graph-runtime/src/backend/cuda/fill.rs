//! How a memset node becomes a CUDA node: CUDA's own memset for values that repeat every 1, 2 or 4 bytes, else a kernel.

/// The most bytes a value may have that CUDA's memset cannot write: what fits into the built-in kernel's parameter.
pub(super) const LONGEST_PATTERN: usize = 256;

/// What a memset node becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// Nothing is set.
    Nothing,
    /// A CUDA memset of elements of `size` bytes.
    Memset { size: u32, value: u32 },
    /// The built-in kernel, writing this pattern over and over, in words where all is aligned to them.
    Kernel { pattern: Vec<u8>, words: bool },
    /// A value that is too long.
    TooLong,
}

impl Fill {
    /// How to set `bytes` bytes from `start` on to `value` over and over. `changes`: other values will follow.
    pub(super) fn new(value: &[u8], start: usize, bytes: usize, changes: bool) -> Self {
        if value.is_empty() || bytes == 0 {
            return Fill::Nothing;
        }
        let plain = matches!(value.len(), 1 | 2 | 4);
        if plain || !changes {
            for size in [1, 2, 4] {
                if repeats(value, size) {
                    // Larger elements where the value has them: the same bytes, fewer of them.
                    let size = if plain { value.len() } else { size };
                    return Fill::Memset {
                        size: size as u32,
                        value: little_endian(&value[..size]),
                    };
                }
            }
        }
        let period = if changes { value.len() } else { shortest_period(value) };
        if period > LONGEST_PATTERN {
            return Fill::TooLong;
        }
        Fill::Kernel {
            pattern: value[..period].to_vec(),
            words: [period, start, bytes].iter().all(|number| number.is_multiple_of(4)),
        }
    }
}

/// Does the value consist of its first `period` bytes, over and over?
fn repeats(value: &[u8], period: usize) -> bool {
    value.len().is_multiple_of(period) && value.chunks(period).all(|chunk| chunk == &value[..period])
}

fn shortest_period(value: &[u8]) -> usize {
    (1..value.len())
        .find(|&period| repeats(value, period))
        .unwrap_or(value.len())
}

fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_values_are_memsets() {
        let fill = |value: &[u8]| Fill::new(value, 0, 64, true);
        assert_eq!(fill(&[7]), Fill::Memset { size: 1, value: 7 });
        assert_eq!(fill(&[1, 2]), Fill::Memset { size: 2, value: 0x201 });
        assert_eq!(
            fill(&1.0_f32.to_le_bytes()),
            Fill::Memset {
                size: 4,
                value: 0x3f80_0000
            }
        );
        assert_eq!(fill(&[0; 4]), Fill::Memset { size: 4, value: 0 });
    }

    #[test]
    fn longer_values_are_memsets_where_they_repeat() {
        assert_eq!(Fill::new(&[0; 8], 0, 64, false), Fill::Memset { size: 1, value: 0 });
        assert_eq!(
            Fill::new(&[1, 2, 1, 2, 1, 2], 0, 60, false),
            Fill::Memset { size: 2, value: 0x201 }
        );
        let words = |value: f64, changes| Fill::new(&value.to_le_bytes(), 8, 64, changes);
        assert!(matches!(words(0.0, false), Fill::Memset { .. }));
        assert_eq!(
            words(0.0, true),
            Fill::Kernel {
                pattern: vec![0; 8],
                words: true
            }
        );
        assert!(matches!(words(1.5, false), Fill::Kernel { words: true, .. }));
    }

    #[test]
    fn odd_values_are_written_byte_by_byte() {
        let pattern = vec![1, 2, 3];
        assert_eq!(
            Fill::new(&[1, 2, 3, 1, 2, 3], 0, 60, false),
            Fill::Kernel { pattern, words: false }
        );
        let mut long = [0; 260];
        assert_eq!(Fill::new(&long, 0, 260, false), Fill::Memset { size: 1, value: 0 });
        long[259] = 1;
        assert_eq!(Fill::new(&long, 0, 260, false), Fill::TooLong);
        assert_eq!(Fill::new(&[], 0, 0, false), Fill::Nothing);
        assert_eq!(Fill::new(&[1], 0, 0, false), Fill::Nothing);
    }
}
