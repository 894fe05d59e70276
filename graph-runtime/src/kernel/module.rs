//! Modules that a program makes of PTX while it runs, and calls of their kernels with arguments by position.

use crate::error::{Error, Result, Site};
use crate::kernel::source::{self, Architecture, CudaText, Ptx, SourceText, forever, ptx_of};
use crate::kernel::{ArgumentKind, CallArgument, Callee, KernelCall, KernelFacts, NoMemory};
use crate::shape::place::{OnDevice, Place};
use graph_plan::{Mode, nearest};
use graph_ptx::ast;
use graph_ptx::declaration::{self as rules, Mistake, Place as Pointed, Proposal, Rule};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Kernels of which a program learns while it runs: PTX of a JIT compiler, of Triton, of an autotuner, of which
/// [`Device::module`](crate::Device::module) makes it; or CUDA C++, which [`Device::compile`](crate::Device::compile)
/// compiles. A clone is the same module.
///
/// The effects of kernels are read from the PTX, as `#[cuda_kernels]` does: a call with other arguments than a kernel
/// takes, or that lends memory for less than it does, is a mistake of the graph.
///
/// ```
/// use graph_runtime::{Device, GraphBuilder, Launch, Ptx};
///
/// let device = Device::emulator();
/// let text = std::fs::read_to_string("../examples/kernels/forward_backward.ptx").expect("the file is there");
/// let module = device.module(Ptx::from_text("forward_backward.ptx", text)?)?;
/// let forward = module.kernel("kernel_forward")?;
///
/// let mut builder = GraphBuilder::new(&device, "Forward");
/// let mut data = builder.device::<[f32; 64]>("data");
/// // SAFETY: 64 threads double an element each, of 64.
/// let call = unsafe { forward.call([data.write()]) };
/// builder.kernel("forward", Launch::new(1, 64), call);
/// let mut graph = builder.build()?;
/// graph.device_mut(&data)?.copy_from(&[1.0; 64])?;
/// graph.launch()?;
/// assert_eq!(*graph.device(&data)?.read()?, [2.0; 64]);
/// # Ok::<(), graph_runtime::Error>(())
/// ```
///
/// The text, and what is known of the kernels that are called, are kept as long as the program runs, as PTX that is
/// part of the program is. Graphs of a device share what they load of it.
#[derive(Clone)]
pub struct Module(Arc<Contents>);

struct Contents {
    ptx: &'static Ptx,
    module: ast::Module,
    /// The facts of kernels that were called.
    known: Mutex<HashMap<Called, Outcome>>,
}

/// The index of a function that was called, its arguments, and whether it is proved.
type Called = (usize, Vec<Passed>, bool);

/// The facts of a kernel that is called with certain kinds of arguments, or the mistakes of such a call.
type Outcome = std::result::Result<&'static KernelFacts, Arc<[Mistake]>>;

/// The way in which an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Passed {
    /// Memory, for such accesses. Of mapped memory, the call does not tell the size of elements.
    Memory(Mode),
    /// Mapped memory, of elements of this many bytes.
    Mapped(u64),
    /// A value of this many bytes.
    Value(usize),
}

/// A kernel of a [`Module`].
#[derive(Clone)]
pub struct ModuleKernel {
    module: Module,
    /// The index of the function.
    function: usize,
}

impl Module {
    /// Reads PTX.
    ///
    /// # Errors
    /// [`Error::Module`] if it is not PTX.
    pub(crate) fn new(ptx: Ptx) -> Result<Self> {
        let module = graph_ptx::parse(ptx.text).map_err(|error| Error::Module {
            site: Site::default(),
            path: ptx.path,
            message: error.to_string(),
        })?;
        Ok(Self::of(ptx, module))
    }

    /// Compiles CUDA C++.
    ///
    /// # Errors
    /// [`Error::NoNvrtc`] and [`Error::Compile`] as [`Device::compile`](crate::Device::compile).
    pub(crate) fn compile(source: &CudaText, architecture: Architecture) -> Result<Self> {
        let CudaText {
            name,
            text,
            headers,
            options,
        } = source;
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, text)| (&**name, &**text)).collect();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let source = SourceText {
            path: name,
            text,
            headers: &headers,
            options: &options,
        };
        let compiled = ptx_of(&source, architecture);
        let (module, ptx) = compiled.map_err(|uncompiled| uncompiled.error(Site::default(), forever(name)))?;
        Self::kept(name, &ptx, |_| Ok(module))
    }

    fn of(ptx: Ptx, module: ast::Module) -> Self {
        Self(Arc::new(Contents {
            ptx: Box::leak(Box::new(ptx)),
            module,
            known: Mutex::default(),
        }))
    }

    /// The module of PTX that is in a file.
    ///
    /// # Errors
    /// The reason why the text is no PTX.
    pub(crate) fn of_file(name: &str, text: &str) -> std::result::Result<Self, String> {
        Self::kept(name, text, |text| {
            if text.contains('\0') {
                return Err("the text contains a zero byte, so it is no PTX".to_owned());
            }
            graph_ptx::parse(text).map_err(|error| error.to_string())
        })
    }

    /// The module of a text. The same text is one module, however often it is met, so that it is kept only once.
    fn kept<E>(
        name: &str,
        text: &str,
        parse: impl FnOnce(&str) -> std::result::Result<ast::Module, E>,
    ) -> std::result::Result<Self, E> {
        static KNOWN: LazyLock<Mutex<HashMap<&'static str, Module>>> = LazyLock::new(Mutex::default);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = known.get(text) {
            return Ok(module.clone());
        }
        let module = parse(text)?; // before the text is kept for ever
        let ptx = Ptx {
            path: forever(name),
            text: forever(text),
        };
        let module = Self::of(ptx, module);
        known.insert(module.0.ptx.text, module.clone());
        Ok(module)
    }

    /// The name that it was given.
    pub fn name(&self) -> &'static str {
        self.0.ptx.path
    }

    /// The PTX.
    pub fn ptx(&self) -> &'static str {
        self.0.ptx.text
    }

    /// The names of all kernels, in the order of the PTX.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        let functions = self.0.module.functions.iter();
        functions
            .filter(|function| function.entry)
            .map(|function| &*function.name)
    }

    /// Finds a kernel by its name in the PTX, which is mangled if its source is C++ without `extern "C"`.
    ///
    /// # Errors
    /// [`Error::Kernel`] if there is none of this name. The message names the nearest one, or one that C++ calls so.
    pub fn kernel(&self, name: &str) -> Result<ModuleKernel> {
        let functions = &self.0.module.functions;
        let found = functions
            .iter()
            .position(|function| function.entry && function.body.is_some() && function.name == name);
        if let Some(function) = found {
            let module = self.clone();
            return Ok(ModuleKernel { module, function });
        }
        let in_cpp = format!("{}{name}", name.len());
        let mangled = self
            .kernels()
            .find(|kernel| kernel.starts_with("_Z") && kernel.contains(&in_cpp));
        let help = match (mangled, nearest(name, self.kernels())) {
            (Some(mangled), _) => format!(
                "\nnote: C++ calls it `{mangled}`\nhelp: find it by that name, or write `extern \"C\"` before it in its source"
            ),
            (None, Some(similar)) => format!("\nhelp: there is a kernel `{similar}`"),
            (None, None) => String::new(),
        };
        Err(Error::Kernel {
            site: Site::default(),
            kernel: source::forever(name),
            message: format!("is not in `{}`{help}", self.name()),
        })
    }
}

impl ModuleKernel {
    /// Its name in the PTX.
    pub fn name(&self) -> &str {
        &self.code().name
    }

    /// The number of its parameters.
    pub fn parameters(&self) -> usize {
        self.code().params.len()
    }

    fn code(&self) -> &ast::Function {
        &self.module.0.module.functions[self.function]
    }

    /// A call with arguments by position: memory as `x.read()` and `y.write()`, values as `256_u32.into()`, a
    /// [`Param`](crate::Param) as `(&param).into()`, and `None.into()` in the place of memory for a pointer that may be
    /// null.
    ///
    /// The arguments are compared with the PTX. If their number or a size differs, or the kernel stores through memory
    /// that is passed to be read, the graph or the update that takes the call reports that.
    ///
    /// # Safety
    ///
    /// The kernel stays within the memory of its arguments, in every launch of the graph that safe code can bring
    /// about: for any contents of memory, whichever nodes are disabled, for any memory that is rebound, or bound where
    /// the graph is a child, and for all values of params among the arguments. It writes an element of a
    /// [`CallArgument::uninit`] before it reads it, and if another node may read it. (What it does with the memory is
    /// read from the PTX.)
    pub unsafe fn call<const N: usize>(&self, arguments: [CallArgument; N]) -> KernelCall<N> {
        let passed = arguments.iter().map(|argument| Passed::of(&argument.0)).collect();
        let callee = self.callee(passed, false);
        KernelCall { callee, arguments }
    }

    /// The kernel as it is called with arguments that are passed so. If it is proved, and not promised by its caller,
    /// to stay within its memory, then that must begin where the proof assumes.
    pub(crate) fn callee(&self, passed: Vec<Passed>, proved: bool) -> Callee {
        match self.known(passed, proved) {
            Ok(facts) => Callee::Declared(facts, false),
            Err(mistakes) => Callee::Refused(mistakes),
        }
    }

    /// The PTX that it is in.
    pub(crate) fn syntax(&self) -> &ast::Module {
        &self.module.0.module
    }

    fn known(&self, passed: Vec<Passed>, proved: bool) -> Outcome {
        let contents = &*self.module.0;
        let mut known = contents.known.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = known.entry((self.function, passed, proved));
        outcome
            .or_insert_with_key(|(_, passed, proved)| self.compared(passed, *proved))
            .clone()
    }

    /// Compares the arguments of a call with the PTX.
    fn compared(&self, passed: &[Passed], proved: bool) -> Outcome {
        let params = &self.code().params;
        let declared = passed.iter().enumerate().map(|(index, passed)| {
            let align = params.get(index).map_or(1, |param| param.align);
            let (ty, kind) = passed.declared(u64::from(align));
            let name = format!("p{index}");
            rules::Param { name, ty, kind }
        });
        let declaration = rules::Declaration {
            name: self.name().to_owned(),
            entry: self.name().to_owned(),
            safe: false,
            params: declared.collect(),
        };
        let facts = source::facts(&declaration, &self.module.0.module, self.module.0.ptx, proved);
        facts.map_err(|mistakes| {
            let mistakes = mistakes.into_iter();
            mistakes.map(|mistake| self.of_call(mistake, passed)).collect()
        })
    }

    /// A mistake of a declaration in the words of a call by position: nobody has written the declaration.
    fn of_call(&self, mistake: Mistake, passed: &[Passed]) -> Mistake {
        let Some((summary, proposals)) = rules::propose(self.name(), &self.module.0.module) else {
            return mistake;
        };
        let (kernel, fits) = (self.name(), proposals.iter().map(fitting).collect::<Vec<_>>());
        let position = |index: usize| format!("argument {}", index + 1);
        let (message, help) = match (mistake.rule, mistake.place) {
            (Rule::Signature, Pointed::Kernel) => {
                let (taken, count) = (fits.len(), passed.len());
                let plural = if taken == 1 { "" } else { "s" };
                (
                    format!("the kernel `{kernel}` takes {taken} argument{plural}, and the call passes {count}"),
                    format!("pass `[{}]`", fits.join(", ")),
                )
            }
            (Rule::Signature | Rule::Access, Pointed::Param(index)) if index < fits.len() => {
                let (own, taken) = (position(index), rules::bytes(summary.params[index].size));
                let message = match (mistake.rule, passed[index]) {
                    (Rule::Signature, Passed::Value(size)) => {
                        let size = rules::bytes(size as u64);
                        format!(
                            "{own} of the kernel `{kernel}` is a value of {size}, but the kernel takes {taken} there"
                        )
                    }
                    (Rule::Signature, Passed::Memory(_) | Passed::Mapped(_)) => {
                        format!("{own} of the kernel `{kernel}` is memory, but the kernel takes {taken} by value there")
                    }
                    _ => format!("the kernel `{kernel}` writes to {own}, which is passed by `read()`"),
                };
                (message, format!("pass `{}` as {own}", fits[index]))
            }
            _ => return mistake,
        };
        let mut notes = mistake.notes;
        if mistake.rule == Rule::Access {
            for note in &mut notes {
                *note = (0..fits.len()).fold(std::mem::take(note), |note, index| {
                    note.replace(&format!("`p{index}`"), &position(index))
                });
            }
        }
        let help = Some(help);
        Mistake {
            message,
            notes,
            help,
            ..mistake
        }
    }
}

/// An argument that fits a parameter, as it is written.
fn fitting(proposal: &Proposal) -> String {
    match proposal {
        Proposal::Memory(memory) if memory.atomic => "CallArgument::atomic(&memory)".to_owned(),
        Proposal::Memory(memory) if memory.mutable => "memory.write()".to_owned(),
        Proposal::Memory(_) => "memory.read()".to_owned(),
        Proposal::Value(ty) if ty.starts_with('[') => {
            format!("CallArgument::value([0{}", ty.replacen('[', "_", 1) + ")")
        }
        Proposal::Value(ty) if ty.starts_with('f') => format!("0.0_{ty}.into()"),
        Proposal::Value(ty) => format!("0_{ty}.into()"),
    }
}

impl Passed {
    pub(crate) fn of(argument: &ArgumentKind) -> Self {
        match argument {
            ArgumentKind::Buffer(_, mode) => Self::Memory(*mode),
            ArgumentKind::Value(value) => Self::Value(value.bytes().len()),
            ArgumentKind::Misfit(_) => Self::Value(0),
            ArgumentKind::Param(param) => Self::Value(param.size),
        }
    }

    /// The type, and the kind of a parameter that takes it, of which the alignment is known.
    fn declared(self, align: u64) -> (String, rules::Kind) {
        let (ty, access) = match self {
            Self::Value(size) => {
                let size = size as u64;
                let text = format!("a value of {}", rules::bytes(size));
                return (text, rules::Kind::Value { size, align });
            }
            Self::Mapped(size) => ("&[Mapped<_>]", rules::BufferAccess::Mapped { size }),
            Self::Memory(Mode::Read) => ("&[_]", rules::BufferAccess::Read),
            Self::Memory(Mode::ReadWrite) => ("&mut [_]", rules::BufferAccess::Write),
            Self::Memory(Mode::Write) => ("&mut [MaybeUninit<_>]", rules::BufferAccess::Overwrite),
            Self::Memory(Mode::Atomic) => ("&[Atomic<_>]", rules::BufferAccess::Atomic { size: None }),
            // Words of four bytes: a kernel that accesses others is refused.
            Self::Memory(Mode::Mapped) => ("&[Mapped<u32>]", rules::BufferAccess::Mapped { size: 4 }),
        };
        (ty.to_owned(), rules::Kind::Buffer(access))
    }
}

/// Arguments of calls by position.
impl<S: ?Sized> Place<S, OnDevice> {
    /// The memory as an argument that a kernel reads: [`CallArgument::read`].
    pub fn read(&self) -> CallArgument {
        CallArgument::read(self)
    }

    /// The memory as an argument that a kernel reads and writes: [`CallArgument::write`].
    pub fn write(&mut self) -> CallArgument {
        CallArgument::write(self)
    }
}

/// `None` in the place of memory: a null pointer.
impl From<Option<NoMemory>> for CallArgument {
    fn from(_: Option<NoMemory>) -> Self {
        Self::none()
    }
}

macro_rules! values {
    ($($ty:ty),*) => {$(
        /// A value, which the kernel gets as these bytes.
        impl From<$ty> for CallArgument {
            fn from(value: $ty) -> Self {
                Self::value(value)
            }
        }
    )*};
}
values!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Module({})", self.name())
    }
}

impl fmt::Debug for ModuleKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModuleKernel({})", self.name())
    }
}
