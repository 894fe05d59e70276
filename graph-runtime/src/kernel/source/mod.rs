//! The source of a kernel's code: PTX that is compiled into the program, or CUDA C++ that is compiled when it is first
//! used.

mod resolve;
mod cache;
mod compile;

pub(crate) use compile::Architecture;
#[cfg(test)]
pub(crate) use resolve::with_summary;
pub(crate) use resolve::{Unresolved, resolve};

/// A PTX file that is compiled into the program.
#[derive(Debug)]
pub struct Ptx {
    /// The path that it was read from when the program was compiled.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// The source of a kernel's code.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// In PTX. Kernels of one `static` share a module.
    Ptx(&'static Ptx),
    /// In CUDA C++, which NVRTC compiles when a graph first uses one of its kernels. What only the PTX tells is not in
    /// the kernel's facts then: it is found, and the declaration is held against it, when a graph is built.
    Cuda(&'static CudaSource, Declaration),
    /// In a module that is already loaded. Nothing is known of it.
    Loaded,
}

impl Source {
    /// Whether it is a CUDA source, of whose PTX nothing is known before the graph is built.
    pub(crate) const fn is_cuda(&self) -> bool {
        matches!(self, Source::Cuda(..))
    }

    /// The PTX, if it is there.
    pub(crate) const fn ptx(&self) -> Option<&'static Ptx> {
        match self {
            Source::Ptx(ptx) => Some(ptx),
            Source::Cuda(..) | Source::Loaded => None,
        }
    }

    /// Whether the two are one PTX `static`. Each exists once.
    pub(crate) fn is(&self, other: &Source) -> bool {
        self.ptx()
            .zip(other.ptx())
            .is_some_and(|(one, other)| std::ptr::eq(one, other))
    }

    /// The file's path when the program was compiled.
    pub const fn path(&self) -> &'static str {
        match self {
            Source::Ptx(ptx) => ptx.path,
            Source::Cuda(source, _) => source.path,
            Source::Loaded => "",
        }
    }
}

/// The declaration that the PTX of a CUDA source must agree with, besides what
/// [`KernelFacts`](crate::kernel::KernelFacts) say.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// Whether it is declared `safe fn`.
    pub safe: bool,
    /// The type of each parameter.
    pub types: &'static [ParamType],
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct ParamType {
    /// As it is written: `&mut [f32]`.
    pub text: &'static str,
    /// The size of a by-value parameter in bytes, or of the elements of memory of [`Atomic`](crate::Atomic).
    pub size: usize,
    /// The alignment of a by-value parameter in bytes.
    pub align: usize,
}

/// A CUDA C++ file that is compiled into the program as text, with the headers of its own that it includes.
#[derive(Debug)]
pub struct CudaSource {
    /// The path that it was read from when the program was compiled.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
    /// The headers: what they are included as, and their texts.
    pub headers: &'static [(&'static str, &'static str)],
    /// Options for NVRTC.
    pub options: &'static [&'static str],
}
