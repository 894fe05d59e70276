//! Launches of declared kernels in expansions of `cuda_graph!`. The bounds here make rustc's messages say what is
//! wrong.

use crate::kernel::{CallArgument, Callee, Dimensions, Kernel, KernelCall, Launch};
use crate::shape::place::{OnArray, OnDevice, OnMapped, Place, TexelMemory};
use cudarc::driver::CudaFunction;

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

/// Mapped memory that is lent to a kernel.
pub trait LentMapped {
    /// The argument for a parameter that is `&` of `Mapped`.
    fn mapped(self) -> CallArgument;
}

impl<S: ?Sized> LentMapped for &Place<S, OnMapped> {
    fn mapped(self) -> CallArgument {
        CallArgument::mapped(self)
    }
}

/// Memory that is lent to a kernel as texels.
pub trait LentTexels {
    /// The argument for a parameter that is `&` of `Texel`.
    fn texture(self) -> CallArgument;
}

impl<S: ?Sized, M: TexelMemory> LentTexels for &Place<S, M> {
    fn texture(self) -> CallArgument {
        CallArgument::texture(self)
    }
}

impl<S: ?Sized, M: TexelMemory> LentTexels for &mut Place<S, M> {
    fn texture(self) -> CallArgument {
        CallArgument::texture(self)
    }
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

impl<S: ?Sized> LentSurface for &Place<S, OnArray> {
    fn surface(self) -> CallArgument {
        CallArgument::surface(self)
    }
}

impl<S: ?Sized> LentSurface for &mut Place<S, OnArray> {
    fn surface(self) -> CallArgument {
        CallArgument::surface(self)
    }
}

impl<S: ?Sized> LentSurfaceMut for &mut Place<S, OnArray> {
    fn surface_mut(self) -> CallArgument {
        CallArgument::surface_mut(self)
    }
}

/// Memory that is lent to a kernel as `&mut`.
pub trait LentMut: Lent {
    /// The argument for a parameter that is `&mut`.
    fn write(self) -> CallArgument;

    /// The argument for a parameter that is `&mut` of `MaybeUninit`.
    fn uninit(self) -> CallArgument;
}

impl<S: ?Sized> Lent for &Place<S, OnDevice> {
    fn read(self) -> CallArgument {
        CallArgument::read(self)
    }

    fn atomic(self) -> CallArgument {
        CallArgument::atomic(self)
    }
}

impl<S: ?Sized> Lent for &mut Place<S, OnDevice> {
    fn read(self) -> CallArgument {
        CallArgument::read(self)
    }

    fn atomic(self) -> CallArgument {
        CallArgument::atomic(self)
    }
}

impl<S: ?Sized> LentMut for &mut Place<S, OnDevice> {
    fn write(self) -> CallArgument {
        CallArgument::write(self)
    }

    fn uninit(self) -> CallArgument {
        CallArgument::uninit(self)
    }
}
