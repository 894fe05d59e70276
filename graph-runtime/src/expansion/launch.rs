//! Launches of declared kernels in expansions of `cuda_graph!`. The bounds here make rustc's messages say what is
//! wrong.

use crate::driver::CudaFunction;
use crate::kernel::{CallArgument, Callee, Dimensions, Kernel, KernelCall, Launch, NoMemory};
use crate::shape::place::{OnArray, OnDevice, OnMapped, Place, TexelMemory};

/// A kernel that is declared `safe`.
#[diagnostic::on_unimplemented(
    message = "kernel `{Self}` is not declared `safe`",
    label = "launching it is unsafe",
    note = "write `unsafe {Self}<<<..>>>(..)` if this launch does no harm, or declare it `safe fn` if no launch can"
)]
pub trait SafeKernel {}

/// An instance that a generic kernel has, by its type. Unlike a bound, the associated type is no type at all where this
/// is not implemented, so that rustc reports nothing about what uses it.
#[diagnostic::on_unimplemented(
    message = "there is no kernel `{Self}`",
    label = "no kernel",
    note = "`#[for_each(..)]` lists the types that a generic kernel exists for"
)]
pub trait Instance {
    /// The same type.
    type Kernel: Kernel;
}

/// The dimensions of a launch without `unsafe`, whose kernel must be declared `safe`.
pub fn launch<K: SafeKernel>(grid: impl Dimensions, block: impl Dimensions) -> Launch {
    Launch::new(grid, block)
}

/// A literal that no `i32` can hold. Without this function, rustc would take it for an `i32`.
pub const fn literal(value: i128) -> i128 {
    value
}

/// A call of a loaded function. In an update, `function` is `None`: the node keeps the function with which it was
/// built.
///
/// # Safety
///
/// As for [`KernelCall::loaded`].
pub unsafe fn loaded_call<const N: usize>(
    function: Option<CudaFunction>,
    arguments: [CallArgument; N],
) -> KernelCall<N> {
    KernelCall {
        callee: function.map_or(Callee::Unchanged, Callee::Loaded),
        arguments,
    }
}

/// Memory that is lent to a kernel.
pub trait Lent {
    /// The argument for a parameter that is `&`.
    fn read(self) -> CallArgument;

    /// The argument for a parameter that is `&` of `Atomic`.
    fn atomic(self) -> CallArgument;
}

/// Memory that is lent to a kernel as `&mut`.
pub trait LentMut: Lent {
    /// The argument for a parameter that is `&mut`.
    fn write(self) -> CallArgument;

    /// The argument for a parameter that is `&mut` of `MaybeUninit`.
    fn uninit(self) -> CallArgument;
}

/// Mapped memory that is lent to a kernel.
pub trait LentMapped {
    /// The argument for a parameter that is `&` of `Mapped`.
    fn mapped(self) -> CallArgument;
}

/// Memory that is lent to a kernel as texels.
pub trait LentTexels {
    /// The argument for a parameter that is `&` of `Texel`.
    fn texture(self) -> CallArgument;
}

/// An array that is lent to a kernel as a surface.
pub trait LentSurface {
    /// The argument for a parameter that is `&` of `Surfel`.
    fn surface(self) -> CallArgument;
}

/// An array that is lent to a kernel as a surface to store to.
pub trait LentSurfaceMut: LentSurface {
    /// The argument for a parameter that is `&mut` of `Surfel`.
    fn surface_mut(self) -> CallArgument;
}

/// `None` in place of memory, for parameters that are `Option<&[T]>` and so on: their traits are implemented for it.
impl Lent for Option<NoMemory> {
    fn read(self) -> CallArgument {
        CallArgument::none()
    }

    fn atomic(self) -> CallArgument {
        CallArgument::none()
    }
}

impl LentMut for Option<NoMemory> {
    fn write(self) -> CallArgument {
        CallArgument::none()
    }

    fn uninit(self) -> CallArgument {
        CallArgument::none()
    }
}

/// Implements these traits: each method makes the [`CallArgument`] of its name.
macro_rules! lent {
    ($($trait:ident($($method:ident),*) for $place:ty $(, $memory:ident: $bound:ident)?;)*) => {$(
        impl<S: ?Sized $(, $memory: $bound)?> $trait for $place {
            $(fn $method(self) -> CallArgument {
                CallArgument::$method(self)
            })*
        }
    )*};
}
lent! {
    Lent(read, atomic) for &Place<S, OnDevice>;
    Lent(read, atomic) for &mut Place<S, OnDevice>;
    LentMut(write, uninit) for &mut Place<S, OnDevice>;
    LentMapped(mapped) for &Place<S, OnMapped>;
    LentTexels(texture) for &Place<S, M>, M: TexelMemory;
    LentTexels(texture) for &mut Place<S, M>, M: TexelMemory;
    LentSurface(surface) for &Place<S, OnArray>;
    LentSurface(surface) for &mut Place<S, OnArray>;
    LentSurfaceMut(surface_mut) for &mut Place<S, OnArray>;
}
