//! Integers of every type, which become the type of a kernel's parameter if their value fits.

use crate::shape::Element;

/// Seals [`Integer`]: only Rust's own integers are integers, so that a kernel gets the value that a program has
/// written.
mod sealed {
    pub trait Integer {}
}

/// An integer of any type. A kernel's integer parameter takes it if the value fits the parameter's type.
#[diagnostic::on_unimplemented(
    message = "expected an integer, found `{Self}`",
    label = "not an integer",
    note = "integers of every type convert where their value fits; floats, `bool` and `char` do not"
)]
pub trait Integer: Element + sealed::Integer {
    /// Whether it has negative values.
    #[doc(hidden)]
    const SIGNED: bool;

    /// The value. A `u128` that no `i128` can hold becomes `i128::MAX`, which fits no parameter either.
    #[doc(hidden)]
    fn wide(self) -> i128;

    /// The value as this type; `None` if it does not fit.
    #[doc(hidden)]
    fn fitting(value: i128) -> Option<Self>;
}

macro_rules! integers {
    ($signed:literal: $($ty:ty)*) => {$(
        impl sealed::Integer for $ty {}

        #[diagnostic::do_not_recommend]
        impl Integer for $ty {
            const SIGNED: bool = $signed;

            #[inline]
            fn wide(self) -> i128 {
                i128::try_from(self).unwrap_or(i128::MAX)
            }

            #[inline]
            fn fitting(value: i128) -> Option<Self> {
                value.try_into().ok()
            }
        }
    )*};
}
integers!(false: u8 u16 u32 u64 u128 usize);
integers!(true: i8 i16 i32 i64 i128 isize);

/// The value of an integer of `size` bytes. A `u128` above the greatest `i128` becomes that.
pub(crate) const fn widened(bytes: [u8; 16], size: usize, signed: bool) -> i128 {
    let bits = i128::from_le_bytes(bytes);
    let unused = 128 - 8 * size as u32;
    if signed {
        return (bits << unused) >> unused;
    }
    if bits < 0 { i128::MAX } else { bits }
}

#[cfg(test)]
mod tests {
    use super::Integer;

    #[test]
    fn values_that_fit_keep_their_value() {
        assert_eq!(u32::fitting(u64::from(u32::MAX).wide()), Some(u32::MAX));
        assert_eq!(u32::fitting((1_u64 << 32).wide()), None);
        assert_eq!(u32::fitting((-1_i8).wide()), None);
        assert_eq!(i8::fitting((-1_isize).wide()), Some(-1));
        assert_eq!(u64::fitting(u128::MAX.wide()), None);
    }
}
