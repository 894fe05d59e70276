//! Cubins: machine code of kernels, whose accesses only their callers tell.

use crate::error::{Error, Result, Site};
use crate::kernel::module::{Module, ModuleKernel, Passed};
use crate::kernel::source::{CubinCode, Source, forever};
use crate::kernel::{CallArgument, Callee, KernelCall, KernelFacts, LOADED};
use graph_plan::{FileCode, Mode, Param, ParamKind, Scalar};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

/// A cubin: kernels as machine code for devices of one kind, which a program has while it runs. Nothing is known of
/// them but what calls declare. Each graph loads it for itself, so [graph files](crate::Plan::save) have it, too.
///
/// ```no_run
/// use graph_runtime::{Cubin, Device, GraphBuilder, Launch};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::cuda(0)?;
/// let scale = Cubin::from_bytes("scale.sm_90.cubin", std::fs::read("scale.sm_90.cubin")?)?.kernel("scale")?;
/// let mut builder = GraphBuilder::new(&device, "Opaque");
/// let mut data = builder.device::<[f32; 64]>("data");
/// // SAFETY: `scale` reads and writes the first 64 elements of `data`, which has as many.
/// let call = unsafe { scale.call([data.write(), 3.0_f32.into(), 64_u32.into()]) };
/// builder.kernel("scale", Launch::new(1, 64), call);
/// builder.build()?.plan().save("scale.cugraph")?;
/// # Ok(())
/// # }
/// ```
///
/// The bytes are kept as long as the program runs. The emulator runs PTX alone: a graph with a kernel of a cubin can be
/// defined and saved there, but not built.
#[derive(Clone, Copy, Debug)]
pub struct Cubin(&'static CubinCode);

/// A kernel of a [`Cubin`].
#[derive(Clone, Copy, Debug)]
pub struct CubinKernel {
    cubin: Cubin,
    name: &'static str,
}

impl Cubin {
    /// Takes a cubin, which `name` stands for in messages.
    ///
    /// # Errors
    /// [`Error::Module`] if it is none, or not all of one.
    pub fn from_bytes(name: impl AsRef<str>, bytes: impl AsRef<[u8]>) -> Result<Self> {
        let (name, bytes) = (name.as_ref(), bytes.as_ref());
        Self::of_file(name, bytes).map_err(|message| Error::Module {
            site: Site::default(),
            path: forever(name),
            message,
        })
    }

    /// The cubin with these bytes. The same bytes are one cubin, however often they are read, so that they are kept
    /// only once.
    fn of_file(name: &str, bytes: &[u8]) -> std::result::Result<Self, String> {
        static KNOWN: LazyLock<Mutex<HashMap<&'static [u8], Cubin>>> = LazyLock::new(Mutex::default);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cubin) = known.get(bytes) {
            return Ok(*cubin);
        }
        check_elf(bytes)?; // before the bytes are kept for ever
        let (path, image): (_, &'static [u8]) = (forever(name), bytes.to_owned().leak());
        let cubin = Self(Box::leak(Box::new(CubinCode { path, image })));
        known.insert(image, cubin);
        Ok(cubin)
    }

    /// The name that it was given.
    pub fn name(&self) -> &'static str {
        self.0.path
    }

    /// Finds a kernel by its name, which is mangled if its source is C++ without `extern "C"`.
    ///
    /// # Errors
    /// [`Error::Kernel`] if the cubin has no code of this name.
    pub fn kernel(&self, name: &str) -> Result<CubinKernel> {
        // Each kernel is in a section of its own, whose name is in the table of names.
        let section = [b".text.", name.as_bytes(), b"\0"].concat();
        let is_name = !name.is_empty() && !name.contains('\0');
        let found = is_name && self.0.image.windows(section.len()).any(|bytes| bytes == section);
        if found {
            let name = forever(name);
            return Ok(CubinKernel { cubin: *self, name });
        }
        Err(Error::Kernel {
            site: Site::default(),
            kernel: forever(name),
            message: format!("is not in `{}`", self.name()),
        })
    }
}

impl CubinKernel {
    /// Its name in the cubin.
    pub fn name(&self) -> &str {
        self.name
    }

    /// A call with arguments by position, as for [`ModuleKernel::call`]. The way in which memory is passed declares
    /// what the kernel does with it: nothing else tells.
    ///
    /// `build` checks, if the driver can tell (CUDA 12.4 and later), the number and sizes of the arguments. It fails on
    /// the emulator, and on devices that do not run the cubin.
    ///
    /// # Safety
    ///
    /// As for [`KernelCall::loaded`], of the kernel of this name; and the cubin is one that NVIDIA's tools wrote.
    pub unsafe fn call<const N: usize>(&self, arguments: [CallArgument; N]) -> KernelCall<N> {
        let passed = arguments.iter().map(|argument| Passed::of(&argument.0)).collect();
        let callee = self.callee(passed);
        KernelCall { callee, arguments }
    }

    /// The kernel as it is called with arguments that are passed so.
    fn callee(self, passed: Vec<Passed>) -> Callee {
        /// The cubin by the address of its code, and the kernel by its name.
        type Key = (usize, &'static str, Vec<Passed>);
        static KNOWN: LazyLock<Mutex<HashMap<Key, &'static KernelFacts>>> = LazyLock::new(Mutex::default);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let facts = known.entry((std::ptr::from_ref(self.cubin.0).addr(), self.name, passed));
        Callee::Declared(facts.or_insert_with_key(|(.., passed)| self.facts(passed)), false)
    }

    /// The facts that the arguments of a call tell.
    fn facts(self, passed: &[Passed]) -> &'static KernelFacts {
        let buffer = |mode: Mode, unit| ParamKind::Buffer { unit, mode };
        let params = passed.iter().enumerate().map(|(index, passed)| Param {
            name: forever(&format!("p{index}")),
            kind: match *passed {
                Passed::Memory(mode) => buffer(mode, 1),
                Passed::Mapped(unit) => buffer(Mode::Mapped, unit as usize),
                Passed::Value(_) => ParamKind::Value(Scalar::Other),
            },
        });
        Box::leak(Box::new(KernelFacts {
            name: self.name,
            entry: self.name,
            source: Source::Cubin(self.cubin.0),
            params: params.collect::<Vec<_>>().leak(),
            ..LOADED
        }))
    }
}

/// Refuses what is no ELF file of 64 bits whose tables and sections are all there. The driver takes an address alone,
/// and reads as far as these say.
fn check_elf(bytes: &[u8]) -> std::result::Result<(), String> {
    const HEADER: usize = 64;
    const NO_BITS: u64 = 8;
    let number = |at: u64, len: u64| -> Option<u64> {
        let range = usize::try_from(at).ok()?..usize::try_from(at.checked_add(len)?).ok()?;
        let little = bytes.get(range)?.iter().rev();
        Some(little.fold(0, |number, byte| number << 8 | u64::from(*byte)))
    };
    if bytes.get(..6) != Some(b"\x7fELF\x02\x01") || bytes.len() < HEADER {
        return Err("it is no cubin: no ELF file of 64 bits".to_owned());
    }
    // The tables of segments and of sections: where each says its place, its entries' size and their number, and where
    // an entry has its kind, offset and size.
    let tables = [(32, 54, 56, 0, 8, 32), (40, 58, 60, 4, 24, 32)];
    let whole = tables.into_iter().all(|(place, size, count, kind, offset, len)| {
        let table = || Some((number(place, 8)?, number(size, 2)?, number(count, 2)?));
        let Some((start, size, count)) = table() else {
            return false;
        };
        (0..count).all(|index| {
            let entry = || {
                let at = start.checked_add(index * size)?;
                let field = |place: u64, len| number(at.checked_add(place)?, len);
                let end = field(offset, 8)?.checked_add(field(len, 8)?)?;
                Some((field(kind, 4)?, end))
            };
            size > len
                && entry().is_some_and(|(kind, end)| end <= bytes.len() as u64 || (place == 40 && kind == NO_BITS))
        })
    });
    match whole && number(60, 2) != Some(0) {
        true => Ok(()),
        false => Err("it is no whole cubin: a part that it announces is missing".to_owned()),
    }
}

/// A module of a graph file.
pub(crate) enum FileModuleCode {
    Ptx(Module),
    Cubin(Cubin),
}

/// A kernel of a [`FileModuleCode`].
pub(crate) enum FileModuleKernel {
    Ptx(ModuleKernel),
    Cubin(CubinKernel),
}

impl FileModuleCode {
    /// Reads a module.
    ///
    /// # Errors
    /// The reason why it is none.
    pub(crate) fn new(name: &str, code: &FileCode) -> std::result::Result<Self, String> {
        match code {
            FileCode::Ptx(text) => Module::of_file(name, text).map(Self::Ptx),
            FileCode::Cubin(image) => Cubin::of_file(name, image).map(Self::Cubin),
        }
    }

    /// Finds a kernel by its name.
    pub(crate) fn kernel(&self, name: &str) -> Result<FileModuleKernel> {
        match self {
            Self::Ptx(module) => module.kernel(name).map(FileModuleKernel::Ptx),
            Self::Cubin(cubin) => cubin.kernel(name).map(FileModuleKernel::Cubin),
        }
    }
}

impl FileModuleKernel {
    /// The kernel as it is called with arguments that are passed so. Only PTX may be proved.
    pub(crate) fn callee(&self, passed: Vec<Passed>, proved: bool) -> Callee {
        match self {
            Self::Ptx(kernel) => kernel.callee(passed, proved),
            Self::Cubin(kernel) => kernel.callee(passed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUBIN: &[u8] = include_bytes!("../../tests/kernels/opaque.sm_90.cubin");

    /// The driver reads as far as the tables say, so no part may be missing.
    #[test]
    fn a_cubin_that_is_cut_off_is_refused() {
        assert_eq!(check_elf(CUBIN), Ok(()));
        for len in 0..CUBIN.len() {
            assert!(check_elf(&CUBIN[..len]).is_err(), "{len}");
        }
        let mut longer = CUBIN.to_vec();
        longer.push(0);
        assert_eq!(check_elf(&longer), Ok(()));
        for (at, byte) in [(40, 0xff), (47, 0xff), (60, 0xff), (61, 0xff), (60, 0), (58, 8)] {
            let mut other = CUBIN.to_vec();
            other[at] = byte;
            if byte == 0 {
                other[at + 1] = 0;
            }
            assert!(check_elf(&other).is_err(), "{at}");
        }
        let mut far = CUBIN.to_vec();
        far[40..48].fill(0xff);
        assert!(check_elf(&far).is_err(), "a table at the end of all addresses");
        for text in [&b""[..], b".version 8.0", b"\x7fELF", &[0x7f; 64]] {
            let message = Cubin::from_bytes("k", text).unwrap_err().to_string();
            assert_eq!(message, "cannot load `k`: it is no cubin: no ELF file of 64 bits");
        }
    }

    #[test]
    fn kernels_are_found_by_name() -> Result<()> {
        let cubin = Cubin::from_bytes("opaque.sm_90.cubin", CUBIN)?;
        assert_eq!(cubin.kernel("scale")?.name(), "scale");
        for name in ["scal", "cale", "", "scale\0"] {
            let message = cubin.kernel(name).unwrap_err().to_string();
            assert_eq!(message, format!("kernel `{name}` is not in `opaque.sm_90.cubin`"));
        }
        let again = Cubin::from_bytes("other", CUBIN)?;
        assert!(std::ptr::eq(again.0, cubin.0), "the same bytes are kept once");
        Ok(())
    }
}
