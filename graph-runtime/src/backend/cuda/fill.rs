//! Lowers a memset node: to CUDA's own memset if the value repeats every 1, 2 or 4 bytes, else to a kernel.

use crate::program::reach::Reach;
use crate::program::{MemsetOp, Program};
use crate::shape::part::ByteRectangle;

/// The most bytes that a value may have if CUDA's memset cannot write it: the size of the built-in kernel's parameter.
pub(super) const MAX_PATTERN: usize = 256;

/// The parameters of the built-in kernels that set memory.
pub(super) struct FillArguments {
    pub(super) to: u64,
    pub(super) count: u64,
    pub(super) period: u32,
    pub(super) pattern: [u8; MAX_PATTERN],
    pub(super) pitch: u64,
    pub(super) rows: u64,
}

impl Default for FillArguments {
    fn default() -> Self {
        Self {
            to: 0,
            count: 0,
            period: 0,
            pattern: [0; MAX_PATTERN],
            pitch: 0,
            rows: 0,
        }
    }
}

/// The way in which a memset node sets its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// Nothing is set.
    Nothing,
    /// A CUDA memset of elements of `size` bytes.
    Memset { size: u32, value: u32 },
    /// The built-in kernel, which writes the pattern over and over: in words of 4 bytes if all is aligned to them.
    Kernel { pattern: Vec<u8>, words: bool },
    /// A value that is too long.
    TooLong,
}

impl Fill {
    /// The way in which a node of a program sets its memory. `set` is the work of the node, as it is or as it will be.
    pub(super) fn of_node(program: &Program, node: usize, set: &MemsetOp) -> Self {
        match program.reach(node) {
            Some(reach) => Self::in_reach(set.value.bytes(), reach),
            None => Self::of(set),
        }
    }

    /// The same by the built-in kernel, where CUDA's own memset would do. `to` is what the node sets; if updates choose
    /// a part of it, it may be any part.
    pub(super) fn by_kernel(self, program: &Program, node: usize, to: &ByteRectangle) -> Self {
        let Fill::Memset { size, value } = self else {
            return self;
        };
        let element = &value.to_le_bytes()[..size as usize];
        let is_aligned = match program.reach(node) {
            Some(_) => false, // but elements of words are always aligned
            None => is_in_words(to),
        };
        Self::of_element(element, is_aligned)
    }

    /// The built-in kernel for an element of 1, 2 or 4 bytes; `is_aligned` says whether all is in words.
    fn of_element(element: &[u8], is_aligned: bool) -> Self {
        let elements = if is_aligned { 4 / element.len() } else { 1 };
        Fill::Kernel {
            pattern: element.repeat(elements),
            words: is_aligned || element.len() == 4,
        }
    }

    /// The way to set any part of `reach` to `value` over and over: one that fits every part, and every other value of
    /// that length.
    fn in_reach(value: &[u8], reach: &Reach) -> Self {
        if value.is_empty() || reach.is_empty() {
            return Fill::Nothing;
        }
        // A part begins and ends with elements, so it has words if these have.
        match Self::row(value, 0, value.len(), true) {
            // CUDA's memset of rows can neither be disabled nor be made smaller.
            Fill::Memset { .. } if reach.rows => Fill::Kernel {
                pattern: value.to_vec(),
                words: value.len() == 4,
            },
            fill => fill,
        }
    }

    /// The way in which a memset node sets its memory, if updates choose no part of it.
    fn of(set: &MemsetOp) -> Self {
        let MemsetOp { to, value, will_update } = set;
        if to.is_one_row() {
            Self::row(value.bytes(), to.part().start, to.part().bytes, *will_update)
        } else {
            Self::rows(value.bytes(), to, *will_update)
        }
    }

    /// The way to set `bytes` bytes from `start` on to `value`, over and over. `will_update` says that updates may
    /// replace the value.
    fn row(value: &[u8], start: usize, bytes: usize, will_update: bool) -> Self {
        if value.is_empty() || bytes == 0 {
            return Fill::Nothing;
        }
        let plain = matches!(value.len(), 1 | 2 | 4);
        if plain || !will_update {
            for size in [1, 2, 4] {
                if repeats(value, size) {
                    // Elements as large as the value, if CUDA can: fewer of them set the same bytes.
                    let size = if plain { value.len() } else { size };
                    return Fill::Memset {
                        size: size as u32,
                        value: little_endian(&value[..size]),
                    };
                }
            }
        }
        let period = if will_update {
            value.len()
        } else {
            shortest_period(value)
        };
        if period > MAX_PATTERN {
            return Fill::TooLong;
        }
        Fill::Kernel {
            pattern: value[..period].to_vec(),
            words: [period, start, bytes].iter().all(|number| number.is_multiple_of(4)),
        }
    }

    /// The way to set rows that lie apart: the kernel, since a CUDA memset of rows can neither be disabled (see
    /// [`super::change::enabled`]) nor be made smaller.
    fn rows(value: &[u8], to: &ByteRectangle, will_update: bool) -> Self {
        let aligned = is_in_words(to);
        match Self::row(value, to.part().start, to.width(), will_update) {
            Fill::Memset { size, value } => Self::of_element(&value.to_le_bytes()[..size as usize], aligned),
            // Words, if each row begins and ends at a multiple of 4 bytes.
            Fill::Kernel { pattern, words } => Fill::Kernel {
                pattern,
                words: words && aligned,
            },
            other => other,
        }
    }
}

/// Whether all rows begin and end at multiples of 4 bytes.
fn is_in_words(to: &ByteRectangle) -> bool {
    let numbers = [to.part().start, to.width(), to.pitch()];
    numbers.iter().all(|number| number.is_multiple_of(4))
}

/// Whether the value is its first `period` bytes, over and over.
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
        let fill = |value: &[u8]| Fill::row(value, 0, 64, true);
        assert_eq!(fill(&[7]), Fill::Memset { size: 1, value: 7 });
        assert_eq!(fill(&[1, 2]), Fill::Memset { size: 2, value: 0x201 });
        let expected = Fill::Memset {
            size: 4,
            value: 0x3f80_0000,
        };
        assert_eq!(fill(&1.0_f32.to_le_bytes()), expected);
        assert_eq!(fill(&[0; 4]), Fill::Memset { size: 4, value: 0 });
    }

    #[test]
    fn longer_values_are_memsets_where_they_repeat() {
        assert_eq!(Fill::row(&[0; 8], 0, 64, false), Fill::Memset { size: 1, value: 0 });
        let expected = Fill::Memset { size: 2, value: 0x201 };
        assert_eq!(Fill::row(&[1, 2, 1, 2, 1, 2], 0, 60, false), expected);
        let words = |value: f64, will_update| Fill::row(&value.to_le_bytes(), 8, 64, will_update);
        assert!(matches!(words(0.0, false), Fill::Memset { .. }));
        let expected = Fill::Kernel {
            pattern: vec![0; 8],
            words: true,
        };
        assert_eq!(words(0.0, true), expected);
        assert!(matches!(words(1.5, false), Fill::Kernel { words: true, .. }));
    }

    fn reach(bytes: usize, rows: bool) -> Reach {
        let (resource, start) = (0, 4);
        Reach {
            from: None,
            to: ByteRectangle::Row { resource, start, bytes },
            rows,
        }
    }

    /// One way for all parts and all values of a length, since an update changes neither the kind of a node nor its
    /// kernel.
    #[test]
    fn parts_that_updates_choose_are_set_in_one_way() {
        let fill = |value: &[u8], rows| Fill::in_reach(value, &reach(64, rows));
        for (value, other) in [(&[7][..], &[9][..]), (&[1, 2], &[3, 3]), (&[0; 4], &[1, 2, 3, 4])] {
            assert!(matches!(fill(value, false), Fill::Memset { size, .. } if size as usize == value.len()));
            assert!(matches!(fill(other, false), Fill::Memset { size, .. } if size as usize == value.len()));
            let words = value.len() == 4;
            let wanted = Fill::Kernel {
                pattern: value.to_vec(),
                words,
            };
            assert_eq!(fill(value, true), wanted);
        }
        for value in [[0; 8], [1, 2, 3, 4, 5, 6, 7, 8]] {
            let expected = Fill::Kernel {
                pattern: value.to_vec(),
                words: true,
            };
            assert_eq!((fill(&value, false), fill(&value, true)), (expected.clone(), expected));
        }
        let odd = Fill::Kernel {
            pattern: vec![0; 6],
            words: false,
        };
        assert_eq!(fill(&[0; 6], false), odd);
        assert_eq!(fill(&[0; 260], false), Fill::TooLong);
        let wanted = (Fill::Nothing, Fill::Nothing);
        assert_eq!((fill(&[], false), Fill::in_reach(&[1], &reach(0, true))), wanted);
    }

    /// The built-in kernels, run by the emulator: what they write, and where.
    #[cfg(feature = "emulator")]
    #[test]
    fn the_kernels_fill_rows() {
        use graph_emulator::{Access, Buffer, Launch, Memory, Module, Options};
        let memory = Memory::new();
        let module = Module::load(&memory, include_str!("../../../kernels/fill.ptx")).unwrap();
        let pattern: [u8; MAX_PATTERN] = std::array::from_fn(|byte| (byte as u8).wrapping_add(1));
        for (kernel, unit, period, width, pitch, rows, grid) in [
            ("graph_runtime_fill_words", 4, 2, 24, 40, 5, [1, 2, 1]),
            ("graph_runtime_fill_words", 4, 3, 1200, 1200, 1, [1, 1, 1]),
            ("graph_runtime_fill_bytes", 1, 3, 9, 16, 4, [2, 3, 1]),
            ("graph_runtime_fill_bytes", 1, 5, 40, 40, 1, [1, 1, 1]),
        ] {
            let data = memory.allocate("data", rows * pitch).unwrap();
            let count = (width / unit) as u64;
            let arguments: [&[u8]; 6] = [
                &data.address().to_le_bytes(),
                &count.to_le_bytes(),
                &(period as u32).to_le_bytes(),
                &pattern,
                &(pitch as u64).to_le_bytes(),
                &(rows as u64).to_le_bytes(),
            ];
            let buffer = Buffer {
                name: "data",
                address: data.address(),
                len: data.len(),
                access: Access::ReadWrite,
            };
            let launch = Launch {
                grid,
                block: [32, 1, 1],
                shared_bytes: 0,
                arguments: &arguments,
                buffers: &[buffer],
                textures: &[],
                surfaces: &[],
                options: &Options::default(),
            };
            module.run(kernel, &launch).unwrap();
            let mut written = vec![0; rows * pitch];
            data.read(0, &mut written).unwrap();
            let expected = |byte: usize| match byte % pitch {
                column if column < width => pattern[column % (period * unit)],
                _ => 0,
            };
            let expected: Vec<u8> = (0..rows * pitch).map(expected).collect();
            assert_eq!(written, expected, "{kernel}, {rows} rows of {width} bytes");
        }
    }

    #[test]
    fn rows_are_filled_in_words_where_all_begin_at_one() {
        let rows = |value: &[u8], width, pitch| {
            let part = crate::shape::part::Part {
                resource: 0,
                start: 0,
                bytes: 3 * width,
            };
            Fill::of(&MemsetOp {
                to: ByteRectangle::of_rows(part, width, pitch),
                value: crate::kernel::Value::new(&<[u8; 8]>::try_from(value).unwrap()),
                will_update: false,
            })
        };
        let value = [1, 2, 3, 4, 5, 6, 7, 8];
        assert!(matches!(rows(&value, 16, 32), Fill::Kernel { words: true, .. }));
        assert!(matches!(rows(&value, 16, 18), Fill::Kernel { words: false, .. }));
        let (pattern, words) = (vec![7; 4], true);
        assert_eq!(rows(&[7; 8], 16, 32), Fill::Kernel { pattern, words });
        let (pattern, words) = (vec![7], false);
        assert_eq!(rows(&[7; 8], 16, 18), Fill::Kernel { pattern, words });
    }

    #[test]
    fn odd_values_are_written_byte_by_byte() {
        let pattern = vec![1, 2, 3];
        let expected = Fill::Kernel { pattern, words: false };
        assert_eq!(Fill::row(&[1, 2, 3, 1, 2, 3], 0, 60, false), expected);
        let mut long = [0; 260];
        assert_eq!(Fill::row(&long, 0, 260, false), Fill::Memset { size: 1, value: 0 });
        long[259] = 1;
        assert_eq!(Fill::row(&long, 0, 260, false), Fill::TooLong);
        assert_eq!(Fill::row(&[], 0, 0, false), Fill::Nothing);
        assert_eq!(Fill::row(&[1], 0, 0, false), Fill::Nothing);
    }
}
