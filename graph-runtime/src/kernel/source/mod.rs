//! The source of a kernel's code: PTX that is compiled into the program, or CUDA C++ that is compiled when it is first
//! used.

mod resolve;
mod cache;
mod compile;

use crate::error::{Error, Result, Site};
pub(crate) use compile::Architecture;
pub(crate) use resolve::{Unresolved, facts, forever, ptx_of, resolve};
use std::fmt;
use std::ptr;

/// A PTX file that is compiled into the program.
#[derive(Debug)]
pub struct Ptx {
    /// The path from which it was read when the program was compiled.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

impl Ptx {
    /// PTX that a program has while it runs, for [`Device::module`](crate::Device::module). The name stands for it in
    /// messages. Both are kept as long as the program runs.
    ///
    /// # Errors
    /// [`Error::Module`] if the text has a zero byte, which no PTX has: it may be a cubin.
    pub fn from_text(name: impl Into<String>, text: impl Into<String>) -> Result<Ptx> {
        let (name, text) = (name.into(), text.into());
        let has_zero = text.contains('\0');
        let path = name.leak();
        if has_zero {
            return Err(Error::Module {
                site: Site::default(),
                path,
                message: "the text contains a zero byte, so it is no PTX".to_owned(),
            });
        }
        Ok(Ptx {
            path,
            text: text.leak(),
        })
    }
}

/// A cubin that a program has while it runs: machine code for devices of one kind.
pub struct CubinCode {
    /// The name that stands for it in messages.
    pub(crate) path: &'static str,
    /// The ELF file.
    pub(crate) image: &'static [u8],
}

impl fmt::Debug for CubinCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CubinCode({}, {} bytes)", self.path, self.image.len())
    }
}

/// The code of a module that graphs load.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ModuleCode {
    Ptx(&'static Ptx),
    Cubin(&'static CubinCode),
}

impl ModuleCode {
    /// The name that stands for it in messages.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            ModuleCode::Ptx(ptx) => ptx.path,
            ModuleCode::Cubin(cubin) => cubin.path,
        }
    }

    /// The PTX, if it is some.
    pub(crate) const fn ptx(self) -> Option<&'static Ptx> {
        match self {
            ModuleCode::Ptx(ptx) => Some(ptx),
            ModuleCode::Cubin(_) => None,
        }
    }

    /// Whether both are the same `static`. (Each exists once.)
    pub(crate) fn is(self, other: Self) -> bool {
        match (self, other) {
            (ModuleCode::Ptx(one), ModuleCode::Ptx(other)) => ptr::eq(one, other),
            (ModuleCode::Cubin(one), ModuleCode::Cubin(other)) => ptr::eq(one, other),
            (ModuleCode::Ptx(_), ModuleCode::Cubin(_)) | (ModuleCode::Cubin(_), ModuleCode::Ptx(_)) => false,
        }
    }
}

/// The source of a kernel's code.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// PTX. Kernels that refer to the same `static` share a module.
    Ptx(&'static Ptx),
    /// CUDA C++, which NVRTC compiles when a graph that uses one of its kernels is first built. Then the declaration is
    /// checked against the PTX, and the facts that only PTX tells are found.
    Cuda(&'static CudaSource, Declaration),
    /// PTX that was compiled of a CUDA source while the program runs. Its path is that of the source.
    Compiled(&'static Ptx),
    /// A cubin. Nothing is known about it, but graphs load it.
    Cubin(&'static CubinCode),
    /// A module that somebody has loaded. Nothing is known about it.
    Loaded,
}

impl Source {
    /// Whether it is CUDA C++, so that its PTX is not known before the graph is built.
    pub(crate) const fn is_cuda(&self) -> bool {
        matches!(self, Source::Cuda(..))
    }

    /// The code of its module, if the program has that.
    pub(crate) const fn code(&self) -> Option<ModuleCode> {
        match self {
            Source::Ptx(ptx) | Source::Compiled(ptx) => Some(ModuleCode::Ptx(ptx)),
            Source::Cubin(cubin) => Some(ModuleCode::Cubin(cubin)),
            Source::Cuda(..) | Source::Loaded => None,
        }
    }

    /// Whether both are of the same module.
    pub(crate) fn is(&self, other: &Source) -> bool {
        self.code().zip(other.code()).is_some_and(|(one, other)| one.is(other))
    }

    /// The file's path when the program was compiled; empty for a loaded module.
    pub const fn path(&self) -> &'static str {
        match self {
            Source::Ptx(ptx) | Source::Compiled(ptx) => ptx.path,
            Source::Cuda(source, _) => source.path,
            Source::Cubin(cubin) => cubin.path,
            Source::Loaded => "",
        }
    }
}

/// The part of a declaration that [`KernelFacts`](crate::kernel::KernelFacts) do not have. The PTX of a CUDA source
/// must agree with it.
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
    /// The type as the author has written it: `&mut [f32]`.
    pub text: &'static str,
    /// The size of a by-value parameter in bytes, or of the elements of memory of [`Atomic`](crate::Atomic)
    /// or [`Mapped`](crate::Mapped).
    pub size: usize,
    /// The alignment of a by-value parameter in bytes.
    pub align: usize,
}

/// A CUDA C++ file whose text is part of the program, with the headers beside it that it includes.
#[derive(Debug)]
pub struct CudaSource {
    /// The path from which it was read when the program was compiled.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
    /// The headers: the name by which the source includes each, and its text.
    pub headers: &'static [(&'static str, &'static str)],
    /// Options for NVRTC.
    pub options: &'static [&'static str],
}

impl CudaSource {
    pub(crate) fn text(&self) -> SourceText<'_> {
        let Self {
            path,
            text,
            headers,
            options,
        } = *self;
        SourceText {
            path,
            text,
            headers,
            options,
        }
    }
}

/// CUDA C++ as it is compiled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceText<'a> {
    /// The name in messages.
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
    /// The headers: the name by which the source includes each, and its text.
    pub(crate) headers: &'a [(&'a str, &'a str)],
    /// Options for NVRTC.
    pub(crate) options: &'a [&'a str],
}

/// CUDA C++ that a program has while it runs, for [`Device::compile`](crate::Device::compile), with its headers and the
/// options of NVRTC.
#[derive(Clone, Debug)]
pub struct CudaText {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) options: Vec<String>,
}

impl CudaText {
    /// Takes a text. The name stands for it in messages.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
            headers: Vec::new(),
            options: Vec::new(),
        }
    }

    /// Adds a header, which the text includes by this name. It counts before all others of that name.
    pub fn header(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.headers.push((name.into(), text.into()));
        self
    }

    /// Adds an option of NVRTC, such as `--use_fast_math`, `-DTILE=64` or `--gpu-architecture=compute_90a`. Without an
    /// architecture, the newest is chosen that the device runs.
    pub fn option(mut self, option: impl Into<String>) -> Self {
        self.options.push(option.into());
        self
    }
}
