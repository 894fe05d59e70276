//! Constants that nodes pass by value, for the assertions about launches: integers by their value, whatever their
//! type, everything else by its bytes.
//!
//! Only the type of a constant tells which it is, and a `const fn` cannot ask for that. So the expansion makes a
//! closure that is never called: rustc looks up the method [`__IntegerConstant::kind`] or, where that does not fit,
//! [`__OtherConstant::kind`], and [`Passed::argument`] reads the answer from the type that the closure returns.

use super::assert::{constant, extended};
use crate::kernel::integer::Integer;
use crate::shape::Element;
use graph_plan::Argument;
use std::marker::PhantomData;

/// A constant, to call `kind` on a reference to this.
#[derive(Debug)]
pub struct Passed<T>(pub T);

/// The answer about a constant.
pub trait ConstantKind {
    /// Whether the integer can be negative; `None` if it is no integer.
    const SIGNED: Option<bool>;
}

/// The constant is an integer of type `T`.
#[derive(Debug)]
pub struct IntegerKind<T>(PhantomData<T>);

/// The constant is no integer.
#[derive(Debug)]
pub struct OtherKind;

impl<T: Integer> ConstantKind for IntegerKind<T> {
    const SIGNED: Option<bool> = Some(T::SIGNED);
}

impl ConstantKind for OtherKind {
    const SIGNED: Option<bool> = None;
}

/// Found first, for integers.
pub trait __IntegerConstant {
    /// The answer.
    type Kind: ConstantKind;

    /// Never called.
    fn kind(&self) -> Self::Kind;
}

/// Found behind one more `&`, for everything else.
pub trait __OtherConstant {
    /// Never called.
    fn kind(&self) -> OtherKind;
}

impl<T: Integer> __IntegerConstant for Passed<&T> {
    type Kind = IntegerKind<T>;

    fn kind(&self) -> IntegerKind<T> {
        IntegerKind(PhantomData)
    }
}

impl<T> __OtherConstant for &Passed<&T> {
    fn kind(&self) -> OtherKind {
        OtherKind
    }
}

impl<T> Passed<T> {
    /// The constant as an argument of a launch. The closure is not called.
    pub const fn argument<K: ConstantKind>(value: T, _: &impl Fn() -> K) -> Argument
    where
        T: Element,
    {
        match K::SIGNED {
            Some(signed) => Argument::Int(extended(value, signed)),
            None => constant(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{__IntegerConstant as _, __OtherConstant as _, Passed};
    use graph_plan::Argument;

    macro_rules! passed {
        ($value:expr) => {
            match $value {
                value => Passed::argument(value, &|| (&Passed(&value)).kind()),
            }
        };
    }

    #[test]
    fn the_type_of_a_constant_tells_how_it_is_passed() {
        const NEGATIVE: Argument = passed!(-1_i32);
        const LARGE: Argument = passed!(u64::MAX);
        const FLOAT: Argument = passed!(1.5_f32);
        assert!(matches!(NEGATIVE, Argument::Int(-1)));
        assert!(matches!(LARGE, Argument::Int(value) if value == i128::from(u64::MAX)));
        assert!(matches!(FLOAT, Argument::Bytes(_, 4)));
        const PAIR: Argument = passed!([1_u32, 2]);
        assert!(matches!(PAIR, Argument::Bytes(_, 8)));
    }
}
