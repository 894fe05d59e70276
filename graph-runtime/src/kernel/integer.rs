//! Integers of every type, which become the type of a kernel's parameter if their value fits.

use crate::kernel::param::Param;
use crate::kernel::{ArgumentKind, CallArgument, Value};
use crate::shape::Element;

/// Seals [`Integer`]: only Rust's own integers are integers, so that a kernel gets the value that a program has
/// written.
mod sealed {
    pub trait Integer {}
}

/// An integer of any type, or a [`Param`] that is one. A kernel's integer parameter takes it if the value fits the
/// parameter's type.
#[diagnostic::on_unimplemented(
    message = "expected an integer, found `{Self}`",
    label = "not an integer",
    note = "integers of every type convert where their value fits; floats, `bool` and `char` do not"
)]
pub trait Integer: Sized + sealed::Integer {
    /// Whether it has negative values.
    #[doc(hidden)]
    const SIGNED: bool;

    /// The value. A `u128` that no `i128` can hold becomes `i128::MAX`, which fits no parameter either.
    #[doc(hidden)]
    fn wide(self) -> i128;

    /// The value as this type; `None` if it does not fit.
    #[doc(hidden)]
    fn fitting(value: i128) -> Option<Self>;

    /// The argument for a parameter of type `T`.
    #[doc(hidden)]
    #[inline]
    fn argument<T: Integer + Element>(self) -> CallArgument {
        let value = self.wide();
        match T::fitting(value) {
            Some(value) => CallArgument::value(value),
            None => CallArgument(ArgumentKind::Misfit(value)),
        }
    }
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

impl<P> sealed::Integer for &Param<P> {}

/// A param that is an integer, in the place of its value.
#[diagnostic::do_not_recommend]
impl<P: Integer + Element> Integer for &Param<P> {
    const SIGNED: bool = P::SIGNED;

    fn wide(self) -> i128 {
        self.initial().wide()
    }

    fn fitting(_: i128) -> Option<Self> {
        None
    }

    fn argument<T: Integer + Element>(self) -> CallArgument {
        let passed = self.passed(size_of::<T>(), argument_of::<P, T>);
        CallArgument(ArgumentKind::Param(Box::new(passed)))
    }
}

/// The argument for a parameter of type `T` that a value of a param of type `P` is.
fn argument_of<P: Integer + Element, T: Integer + Element>(value: &Value) -> ArgumentKind {
    match bytemuck::try_pod_read_unaligned::<P>(value.bytes()) {
        Ok(value) => value.argument::<T>().0,
        Err(_) => ArgumentKind::Misfit(i128::MAX), // never: the value is a `P`
    }
}

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
