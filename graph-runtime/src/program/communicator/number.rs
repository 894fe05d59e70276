//! The numbers that reductions combine, and their arithmetic, as NCCL has both.

use crate::shape::table::Table;
use half::{bf16, f16};

/// The way in which the numbers of all ranks become one.
///
/// On the emulator, they are combined in the order of ranks, each operation rounded to the element's type, so that
/// results are equal in every run. Integers wrap around; their average is rounded toward zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The sum.
    Sum,
    /// The product.
    Prod,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The sum, divided by the number of ranks.
    Avg,
}

impl Reduction {
    /// The word in `cuda_graph!`.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Reduction::Sum => "sum",
            Reduction::Prod => "prod",
            Reduction::Min => "min",
            Reduction::Max => "max",
            Reduction::Avg => "avg",
        }
    }
}

mod sealed {
    pub trait Reducible {}
}

/// Shapes whose elements a [`Reduction`] combines: `f16` and `bf16` of the crate `half`, `f32`, `f64`, and integers of
/// 8, 32 and 64 bits.
#[diagnostic::on_unimplemented(
    message = "no reduction takes memory of shape `{Self}` [shape-mismatch]",
    label = "its elements are no numbers that reductions take",
    note = "reductions take f16, bf16, f32, f64, i8, u8, i32, u32, i64 and u64, as NCCL does"
)]
pub trait Reducible: sealed::Reducible {
    /// The type of the elements.
    #[doc(hidden)]
    const NUMBER: Number;
}

impl<T: Reducible, const N: usize> sealed::Reducible for [T; N] {}
#[diagnostic::do_not_recommend]
impl<T: Reducible, const N: usize> Reducible for [T; N] {
    const NUMBER: Number = T::NUMBER;
}
impl<T: Reducible> sealed::Reducible for [T] {}
#[diagnostic::do_not_recommend]
impl<T: Reducible> Reducible for [T] {
    const NUMBER: Number = T::NUMBER;
}
impl<T: Reducible, const D: usize> sealed::Reducible for Table<T, D> {}
#[diagnostic::do_not_recommend]
impl<T: Reducible, const D: usize> Reducible for Table<T, D> {
    const NUMBER: Number = T::NUMBER;
}

/// Arithmetic on one element.
trait Arithmetic: Copy {
    fn add(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn least(self, other: Self) -> Self;
    fn greatest(self, other: Self) -> Self;
    fn share(self, ranks: usize) -> Self;
}

macro_rules! integers {
    ($($type:ident)*) => {$(
        impl Arithmetic for $type {
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn multiply(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            fn least(self, other: Self) -> Self {
                self.min(other)
            }

            fn greatest(self, other: Self) -> Self {
                self.max(other)
            }

            fn share(self, ranks: usize) -> Self {
                // More ranks than the type counts leave nothing.
                Self::try_from(ranks).map_or(0, |ranks| self.checked_div(ranks).unwrap_or(self))
            }
        }
    )*};
}
integers! { i8 u8 i32 u32 i64 u64 }

macro_rules! floats {
    ($($type:ident, $of:expr;)*) => {$(
        impl Arithmetic for $type {
            fn add(self, other: Self) -> Self {
                self + other
            }

            fn multiply(self, other: Self) -> Self {
                self * other
            }

            fn least(self, other: Self) -> Self {
                self.min(other)
            }

            fn greatest(self, other: Self) -> Self {
                self.max(other)
            }

            fn share(self, ranks: usize) -> Self {
                self / $of(ranks)
            }
        }
    )*};
}
floats! {
    f16, |ranks| f16::from_f64(ranks as f64);
    bf16, |ranks| bf16::from_f64(ranks as f64);
    f32, |ranks| ranks as f32;
    f64, |ranks| ranks as f64;
}

macro_rules! numbers {
    ($($variant:ident = $type:ident;)*) => {
        /// A type of elements that reductions take.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Number {
            $(#[doc = concat!("`", stringify!($type), "`")] $variant,)*
        }

        $(
            impl sealed::Reducible for $type {}
            #[diagnostic::do_not_recommend]
            impl Reducible for $type {
                const NUMBER: Number = Number::$variant;
            }
        )*

        impl Number {
            /// The name of the type.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($type),)*
                }
            }

            /// The size of an element in bytes.
            pub(crate) const fn bytes(self) -> usize {
                match self {
                    $(Self::$variant => size_of::<$type>(),)*
                }
            }

            /// Combines the elements of all ranks, in the order of ranks. All have the same number of bytes.
            pub(crate) fn reduce<'a>(self, reduction: Reduction, all: impl Iterator<Item = &'a [u8]> + Clone) -> Vec<u8> {
                match self {
                    $(Self::$variant => {
                        let of = |bytes: &[u8]| $type::from_le_bytes(bytes.try_into().unwrap_or_default());
                        reduce(reduction, all, of, $type::to_le_bytes)
                    })*
                }
            }
        }
    };
}
numbers! {
    F16 = f16;
    Bf16 = bf16;
    F32 = f32;
    F64 = f64;
    I8 = i8;
    U8 = u8;
    I32 = i32;
    U32 = u32;
    I64 = i64;
    U64 = u64;
}

fn reduce<'a, T: Arithmetic, const SIZE: usize>(
    reduction: Reduction,
    all: impl Iterator<Item = &'a [u8]> + Clone,
    of: impl Fn(&[u8]) -> T,
    bytes_of: impl Fn(T) -> [u8; SIZE],
) -> Vec<u8> {
    let combine = match reduction {
        Reduction::Sum | Reduction::Avg => T::add,
        Reduction::Prod => T::multiply,
        Reduction::Min => T::least,
        Reduction::Max => T::greatest,
    };
    let ranks = all.clone().count();
    let mut parts = all.map(|bytes| bytes.chunks_exact(SIZE).map(&of));
    let mut result: Vec<T> = parts.next().into_iter().flatten().collect();
    for part in parts {
        result
            .iter_mut()
            .zip(part)
            .for_each(|(so_far, other)| *so_far = combine(*so_far, other));
    }
    if reduction == Reduction::Avg {
        result.iter_mut().for_each(|sum| *sum = sum.share(ranks));
    }
    result.into_iter().flat_map(bytes_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reduces numbers of several ranks, and returns the numbers of the result.
    fn reduced<const SIZE: usize>(number: Number, reduction: Reduction, ranks: &[[[u8; SIZE]; 2]]) -> Vec<[u8; SIZE]> {
        let all: Vec<Vec<u8>> = ranks.iter().map(|rank| rank.concat()).collect();
        let bytes = number.reduce(reduction, all.iter().map(Vec::as_slice));
        assert_eq!(number.bytes(), SIZE);
        bytes
            .chunks_exact(SIZE)
            .map(|chunk| chunk.try_into().unwrap())
            .collect()
    }

    macro_rules! halves {
        ($($type:ident $number:ident;)*) => {$(
            #[test]
            fn $type() {
                let ranks: Vec<[$type; 2]> = (1..=8)
                    .map(|rank| [rank as f32 / 3.0, 100.0 - 7.0 * rank as f32].map($type::from_f32))
                    .collect();
                let bytes: Vec<[[u8; 2]; 2]> = ranks.iter().map(|rank| rank.map($type::to_le_bytes)).collect();
                let operations: [(Reduction, fn($type, $type) -> $type); 4] = [
                    (Reduction::Sum, |a, b| a + b),
                    (Reduction::Prod, |a, b| a * b),
                    (Reduction::Min, $type::min),
                    (Reduction::Max, $type::max),
                ];
                for count in [1, 2, 3, 5, 8] {
                    for (reduction, combine) in operations {
                        let expected = [0, 1].map(|index| {
                            let numbers = ranks[..count].iter().map(|rank| rank[index]);
                            numbers.reduce(combine).unwrap().to_le_bytes()
                        });
                        assert_eq!(reduced(Number::$number, reduction, &bytes[..count]), expected, "{reduction:?}");
                    }
                    let average = [0, 1].map(|index| {
                        let sum = ranks[..count].iter().map(|rank| rank[index]).reduce(|a, b| a + b).unwrap();
                        (sum / $type::from_f32(count as f32)).to_le_bytes()
                    });
                    assert_eq!(reduced(Number::$number, Reduction::Avg, &bytes[..count]), average);
                }
            }
        )*};
    }
    halves! {
        f16 F16;
        bf16 Bf16;
    }

    #[test]
    fn more_ranks_than_a_type_counts_leave_nothing() {
        let ranks = vec![[[1_u8], [2]]; 300];
        assert_eq!(reduced(Number::U8, Reduction::Avg, &ranks), [[0], [0]]);
        assert_eq!(reduced(Number::U8, Reduction::Sum, &ranks), [[44], [88]]);
    }
}
