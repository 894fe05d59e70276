//! Surfaces: CUDA arrays that kernels load and store by texels.

use crate::kernel::texels::{TexelFormat, Texels};
use std::marker::PhantomData;

/// An element of a CUDA [array](crate::GraphBuilder::array) that a kernel loads, or also stores, through a surface, in
/// the declaration of a kernel: `&[[Surfel<T>; W]]` to load, `&mut [[Surfel<T>; W]]` to store, too. `&[Surfel<T>]` has
/// one dimension, `&[[[Surfel<T>; W]; H]]` has three, and [`Layered`](crate::Layered) layers.
///
/// The kernel takes a `cudaSurfaceObject_t`, and accesses it by `surf1Dread`, `surf2Dwrite` and so on, with the type
/// of the texels (see [`TexelFormat`]). The x coordinate is in bytes. Stores are not seen by textures of the same
/// kernel, nor loads by other blocks; a later node sees all of them.
///
/// If the kernel is declared `safe`, PTX that uses the parameter in any other way is refused.
#[derive(Debug)]
pub struct Surfel<T> {
    format: PhantomData<T>,
}

/// A parameter of a kernel that is a surface, and its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Surface {
    /// The index of the parameter.
    pub param: usize,
    /// Its texels.
    pub texels: Texels,
}

impl Surface {
    /// The surface of a parameter whose elements are `Surfel<T>`. The other arguments are those of [`Texels::of`].
    pub const fn of<T: TexelFormat>(param: usize, layered: bool, lengths: &[usize]) -> Self {
        Self {
            param,
            texels: Texels::of::<T>(layered, lengths),
        }
    }
}
