//! Launch dimensions: the types that may stand for them, and their values in constants.

use crate::kernel::integer::widened;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, offset_of};

/// An integer of any type, or a tuple of one to three of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no launch dimension",
    label = "expected an integer, or a tuple of one to three integers"
)]
pub trait Dimensions {
    /// The places of the dimensions in a value. Types of other crates keep this one: their dimensions are read when the
    /// graph is built.
    #[doc(hidden)]
    const LAYOUT: Layout<Self> = Layout::UNKNOWN;

    /// As x, y and z.
    fn dimensions(self) -> [i128; 3];
}

/// The places in a `D` of its dimensions, where they are known. Constants read them there, since they cannot call
/// methods of traits.
///
/// Only this module makes one that is known. Each [`Part::Integer`] in it has these properties:
/// 1. in every `D`, the `size` bytes from `offset` on are one integer, so they are initialised;
/// 2. `size` is at most 16.
#[derive(Debug)]
pub struct Layout<D: ?Sized> {
    parts: Option<[Part; 3]>,
    of: PhantomData<fn(&D)>,
}

/// The place of one dimension.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// A dimension that the type does not have, which is 1.
    One,
    Integer {
        offset: usize,
        size: usize,
        signed: bool,
    },
}

impl Part {
    /// The first part of a type as a field at `offset`; `None` if the type is unknown.
    const fn first<D>(layout: &Layout<D>, offset: usize) -> Option<Self> {
        let Some([first, ..]) = layout.parts else { return None };
        Some(match first {
            Part::One => Part::One,
            Part::Integer {
                offset: inner,
                size,
                signed,
            } => Part::Integer {
                offset: offset + inner,
                size,
                signed,
            },
        })
    }
}

impl<D: ?Sized> Layout<D> {
    /// A type whose dimensions only [`Dimensions::dimensions`] knows.
    pub const UNKNOWN: Self = Self::of(None);

    const fn of(parts: Option<[Part; 3]>) -> Self {
        Self { parts, of: PhantomData }
    }
}

impl<D> Layout<D> {
    /// The layout of an integer type.
    const fn integer(signed: bool) -> Self {
        let size = size_of::<D>();
        let integer = Part::Integer {
            offset: 0,
            size,
            signed,
        };
        Self::of(Some([integer, Part::One, Part::One]))
    }

    /// The layout of a tuple with these fields; unknown if one of them is.
    const fn tuple(x: Option<Part>, y: Option<Part>, z: Option<Part>) -> Self {
        match (x, y, z) {
            (Some(x), Some(y), Some(z)) => Self::of(Some([x, y, z])),
            _ => Self::UNKNOWN,
        }
    }

    /// The dimensions of a value; `None` if their places are unknown.
    const fn read(&self, value: &D) -> Option<[i128; 3]> {
        let Some(parts) = self.parts else { return None };
        let start: *const u8 = std::ptr::from_ref(value).cast();
        let (mut values, mut index) = ([1; 3], 0);
        while index < parts.len() {
            if let Part::Integer { offset, size, signed } = parts[index] {
                let (mut bytes, mut byte) = ([0; 16], 0);
                while byte < size {
                    let address = start.wrapping_add(offset + byte);
                    // SAFETY: an integer of `value` begins at `offset` and has `size` bytes (fact 1 on `Layout`), and
                    // `byte` is below `size`. So the address is in `value`, which is borrowed, and that byte is
                    // initialised.
                    bytes[byte] = unsafe { address.read() };
                    byte += 1;
                }
                values[index] = widened(bytes, size, signed);
            }
            index += 1;
        }
        Some(values)
    }
}

macro_rules! integer_dimensions {
    ($signed:literal: $($ty:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Dimensions for $ty {
            const LAYOUT: Layout<Self> = Layout::integer($signed);

            fn dimensions(self) -> [i128; 3] {
                [self as i128, 1, 1]
            }
        }
    )*};
}
integer_dimensions!(false: u8 u16 u32 u64 usize);
integer_dimensions!(true: i8 i16 i32 i64 isize);

#[diagnostic::do_not_recommend]
impl<X: Dimensions> Dimensions for (X,) {
    const LAYOUT: Layout<Self> = Layout::tuple(
        Part::first(&X::LAYOUT, offset_of!((X,), 0)),
        Some(Part::One),
        Some(Part::One),
    );

    fn dimensions(self) -> [i128; 3] {
        [self.0.dimensions()[0], 1, 1]
    }
}

#[diagnostic::do_not_recommend]
impl<X: Dimensions, Y: Dimensions> Dimensions for (X, Y) {
    const LAYOUT: Layout<Self> = Layout::tuple(
        Part::first(&X::LAYOUT, offset_of!((X, Y), 0)),
        Part::first(&Y::LAYOUT, offset_of!((X, Y), 1)),
        Some(Part::One),
    );

    fn dimensions(self) -> [i128; 3] {
        [self.0.dimensions()[0], self.1.dimensions()[0], 1]
    }
}

#[diagnostic::do_not_recommend]
impl<X: Dimensions, Y: Dimensions, Z: Dimensions> Dimensions for (X, Y, Z) {
    const LAYOUT: Layout<Self> = Layout::tuple(
        Part::first(&X::LAYOUT, offset_of!((X, Y, Z), 0)),
        Part::first(&Y::LAYOUT, offset_of!((X, Y, Z), 1)),
        Part::first(&Z::LAYOUT, offset_of!((X, Y, Z), 2)),
    );

    fn dimensions(self) -> [i128; 3] {
        [self.0.dimensions()[0], self.1.dimensions()[0], self.2.dimensions()[0]]
    }
}

/// Constant dimensions of a launch.
#[derive(Debug)]
pub struct ConstantDimensions<D> {
    /// The dimensions, where the type tells them to constants.
    pub known: Option<[i128; 3]>,
    value: ManuallyDrop<D>,
    dimensions: fn(D) -> [i128; 3],
}

/// A constant as the dimensions of a launch: both `build` and the assertion about the launch call this, so that rustc
/// tells only once that a type is wrong.
pub const fn extent<D: Dimensions>(value: D) -> ConstantDimensions<D> {
    ConstantDimensions {
        known: D::LAYOUT.read(&value),
        value: ManuallyDrop::new(value),
        dimensions: D::dimensions,
    }
}

// Without a bound on `D`, which `extent` has.
#[diagnostic::do_not_recommend]
impl<D> Dimensions for ConstantDimensions<D> {
    fn dimensions(self) -> [i128; 3] {
        (self.dimensions)(ManuallyDrop::into_inner(self.value))
    }
}

#[cfg(test)]
mod tests {
    use super::{Dimensions, extent};

    /// A type of another crate.
    struct Mine(u32);

    impl Dimensions for Mine {
        fn dimensions(self) -> [i128; 3] {
            [i128::from(self.0), 2, 3]
        }
    }

    #[test]
    fn constants_are_read_where_they_are() {
        const KNOWN: [Option<[i128; 3]>; 8] = [
            extent(7_u8).known,
            extent(-7_i16).known,
            extent(u64::MAX).known,
            extent((1_usize,)).known,
            extent((-1_i8, u32::MAX)).known,
            extent((1_u8, 2_u64, i32::MIN)).known,
            extent(((1_u8, 5_u64), 2, 3_u16)).known,
            extent((3, i64::MIN, 4_isize)).known,
        ];
        let expected: [[i128; 3]; 8] = [
            [7, 1, 1],
            [-7, 1, 1],
            [u64::MAX.into(), 1, 1],
            [1, 1, 1],
            [-1, u32::MAX.into(), 1],
            [1, 2, i32::MIN.into()],
            [1, 2, 3],
            [3, i64::MIN.into(), 4],
        ];
        assert_eq!(KNOWN, expected.map(Some));
        assert_eq!(extent((1_u8, 2_u64, i32::MIN)).dimensions(), expected[5]);
    }

    #[test]
    fn types_of_others_are_known_at_build_only() {
        const MINE: [Option<[i128; 3]>; 2] = [extent(Mine(4)).known, extent((1, Mine(4))).known];
        assert_eq!(MINE, [None, None]);
        assert_eq!(extent(Mine(4)).dimensions(), [4, 2, 3]);
        assert_eq!(extent((1, Mine(4))).dimensions(), [1, 4, 1]);
    }
}
