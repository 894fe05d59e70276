//! The modules that a graph loads, the kernels in them, and the limits that the device sets for each.

use super::builtin::{Builtin, BuiltinModule};
use super::forms::Refused;
use crate::devices::cuda::Cuda;
use crate::devices::shared_modules::{SharedLimits, SharedModule};
use crate::driver::{
    self, CUdevice_attribute as DeviceAttribute, CUdeviceptr, CUfunction_attribute as FunctionAttribute, CudaFunction,
    KernelHandle, LoadedModule,
};
use crate::error::{At, CudaError, Error, Result, Site};
use crate::kernel::KernelFacts;
use crate::kernel::source::ModuleCode;
use crate::program::{Argument, Code, Function, ModuleMemory, Program};
use graph_plan::{Draft, LaunchConfig, Mode, Target};
use graph_ptx::GuardForm;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, CString};
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// All modules and kernels that a graph has loaded. [`Kernels::unload`] unloads them.
pub(super) struct Kernels {
    cuda: Arc<Cuda>,
    modules: Vec<HeldModule>,
    /// One for each of [`Program::functions`].
    functions: Vec<LoadedKernel>,
    /// The predicated copies of functions, by function and the form of their guards.
    predicated: BTreeMap<(u32, GuardForm), LoadedKernel>,
    /// The built-in kernels whose modules are loaded, each with the form of its guard.
    builtin: Vec<((Builtin, GuardForm), KernelHandle)>,
    /// The most shared memory a block may have, static and dynamic together, in bytes.
    shared_limit: u64,
}

/// A module of the program.
enum HeldModule {
    /// The graph's own: its kernels write variables, or variables are memory of the graph.
    Own(LoadedModule),
    /// One that other graphs may have. Not dropped if the graph is leaked, since it may still run.
    Shared(ManuallyDrop<Arc<SharedModule>>),
}

impl HeldModule {
    fn loaded(&self) -> LoadedModule {
        match self {
            Self::Own(module) => *module,
            Self::Shared(shared) => shared.loaded,
        }
    }

    fn limits(&self) -> Option<Arc<SharedLimits>> {
        match self {
            Self::Own(_) => None,
            Self::Shared(shared) => Some(shared.limits.clone()),
        }
    }
}

struct LoadedKernel {
    handle: KernelHandle,
    /// Keeps the module of a user's function loaded. Not dropped if the graph is leaked, since it may still run.
    owner: ManuallyDrop<Option<CudaFunction>>,
    /// The sizes in bytes of the parameters of a user's function or of a cubin's, if the driver tells.
    params: Option<Vec<usize>>,
    max_threads: u64,
    static_shared: u64,
    /// The most dynamic shared memory of a block that the function is set up for, in bytes.
    dynamic_shared: u32,
    /// The limits that all graphs which share the function's module have set.
    limits: Option<Arc<SharedLimits>>,
}

impl Kernels {
    /// No modules yet.
    pub(super) fn new(cuda: &Arc<Cuda>) -> Self {
        Self {
            cuda: cuda.clone(),
            modules: Vec::new(),
            functions: Vec::new(),
            predicated: BTreeMap::new(),
            builtin: Vec::new(),
            shared_limit: 0,
        }
    }

    /// Loads the modules and finds the kernels, and predicated copies of these: `copies` are functions, each with the
    /// form of a guard. Functions of which there are no copies after all are put into `refused`, with the reason. After
    /// an error, `self` owns what was loaded so far. The context must be current.
    pub(super) fn load(
        &mut self,
        draft: &Draft,
        program: &Program,
        variables: &[ModuleMemory],
        copies: &BTreeSet<(u32, GuardForm)>,
        refused: &mut Refused,
    ) -> Result<()> {
        let graph = || Site::graph(&draft.name);
        self.shared_limit = self
            .cuda
            .attribute(DeviceAttribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
            .at(graph)? as u64;
        let capability = self.cuda.capability().at(graph)?;
        for function in &program.functions {
            check_target(draft, function.facts, capability)?;
        }
        for (index, module) in program.modules.iter().enumerate() {
            let ptx = match module {
                ModuleCode::Ptx(ptx) => ptx,
                ModuleCode::Cubin(cubin) => {
                    // Nobody knows whether its kernels write variables.
                    self.own_module(draft, cubin.path, cubin.image)?;
                    continue;
                }
            };
            let of_module = variables.iter().filter(|variable| variable.module == index);
            let lines: Vec<u32> = of_module.map(|variable| variable.line).collect();
            let copied = copies
                .iter()
                .filter(|(function, _)| program.functions[*function as usize].module() == Some(index));
            let copied: Vec<(u32, GuardForm)> = copied.copied().collect();
            if copied.is_empty() && lines.is_empty() && !writes_variables(program, index) {
                self.shared_module(draft, ptx.path, ptx.text)?;
                continue;
            }
            let text = with_visible(ptx.text, &lines);
            if let Err(reason) = self.load_predicated(draft, program, (ptx.path, &text), &copied)? {
                refused.extend(copied.into_iter().map(|(function, _)| (function, reason.clone())));
                self.own_text(draft, ptx.path, &text)?;
            }
        }
        for function in &program.functions {
            let loaded = match &function.code {
                Code::Module(module) => {
                    let found = self.find(*module, function.facts.entry);
                    match program.modules[*module] {
                        ModuleCode::Ptx(_) => found,
                        ModuleCode::Cubin(_) => found.map(LoadedKernel::with_params),
                    }
                }
                Code::Loaded(function) => adopt(&self.cuda, draft, function)?,
            };
            self.functions
                .push(loaded.at(|| graph().at_memory(function.facts.name))?);
        }
        for &(function, guard) in copies.iter().filter(|(function, _)| !refused.contains_key(function)) {
            let of = &program.functions[function as usize];
            if let Code::Module(module) = of.code {
                let name = graph_ptx::predicated_name(of.facts.entry, guard);
                let found = self.find(module, &name).at(|| graph().at_memory(of.facts.name))?;
                self.predicated.insert((function, guard), found);
            }
        }
        Ok(())
    }

    /// Loads a module with predicated copies of its kernels. The inner error says why there are none; then the module
    /// is not loaded.
    fn load_predicated(
        &mut self,
        draft: &Draft,
        program: &Program,
        (path, text): (&'static str, &str),
        copies: &[(u32, GuardForm)],
    ) -> Result<Result<(), String>> {
        if copies.is_empty() {
            self.own_text(draft, path, text)?;
            return Ok(Ok(()));
        }
        let entry = |function: u32| program.functions[function as usize].facts.entry;
        let named: Vec<(&str, GuardForm)> = copies
            .iter()
            .map(|&(function, guard)| (entry(function), guard))
            .collect();
        let copied = match graph_ptx::predicated(text, &named) {
            Ok(copied) => copied,
            Err(error) => return Ok(Err(format!("cannot be predicated: `{path}`, {error}"))),
        };
        match self.own_text(draft, path, &copied) {
            Err(Error::Module { message, .. }) => Ok(Err(format!("cannot be predicated: {message}"))),
            loaded => loaded.map(|_| Ok(())),
        }
    }

    /// Finds a kernel in a module that was loaded here.
    fn find(&self, module: usize, entry: &str) -> Result<LoadedKernel, CudaError> {
        announce!(self.cuda, trace, entry, "{}", self.cuda.api().function_name())?;
        let name = CString::new(entry).unwrap_or_default();
        // SAFETY: the module was loaded by `load` just now.
        let handle = unsafe { self.modules[module].loaded().function(&name) }?;
        // SAFETY: as above.
        let kernel = unsafe { LoadedKernel::new(handle, None) }?;
        let limits = self.modules[module].limits();
        Ok(LoadedKernel { limits, ..kernel })
    }

    /// The address and the size of a variable of a module that was loaded here. The context must be current.
    pub(super) fn variable(&self, variable: &ModuleMemory) -> Result<(CUdeviceptr, usize), CudaError> {
        announce!(self.cuda, trace, symbol = %variable.symbol, "cuModuleGetGlobal")?;
        let name = CString::new(&*variable.symbol).unwrap_or_default();
        // SAFETY: the module was loaded by `load` and is unloaded only by `unload`.
        unsafe { self.modules[variable.module].loaded().variable(&name) }
    }

    /// Takes a module that other graphs of the context may have, too. Returns it.
    fn shared_module(&mut self, draft: &Draft, path: &'static str, text: &'static str) -> Result<LoadedModule> {
        let module = match self.cuda.modules().find(text) {
            Some(module) => module,
            None => self.cuda.modules().add(text, self.text(draft, path, text)?),
        };
        let loaded = module.loaded;
        self.modules.push(HeldModule::Shared(ManuallyDrop::new(module)));
        Ok(loaded)
    }

    /// Loads PTX as a module that no other graph has. Returns it.
    fn own_text(&mut self, draft: &Draft, path: &'static str, text: &str) -> Result<LoadedModule> {
        let module = self.text(draft, path, text)?;
        self.modules.push(HeldModule::Own(module));
        Ok(module)
    }

    /// Loads a cubin as a module that no other graph has.
    fn own_module(&mut self, draft: &Draft, path: &'static str, cubin: &[u8]) -> Result<()> {
        let module = self.module(draft, path, cubin)?;
        self.modules.push(HeldModule::Own(module));
        Ok(())
    }

    /// Loads PTX.
    fn text(&self, draft: &Draft, path: &'static str, text: &str) -> Result<LoadedModule> {
        let image = CString::new(text).map_err(|_| Error::Module {
            site: Site::graph(&draft.name),
            path,
            message: "the text contains a zero byte".to_owned(),
        })?;
        self.module(draft, path, image.as_bytes_with_nul())
    }

    /// Loads an image: PTX with a zero at its end, or a cubin.
    fn module(&self, draft: &Draft, path: &'static str, image: &[u8]) -> Result<LoadedModule> {
        let api = self.cuda.api();
        announce!(self.cuda, trace, graph = %draft.name, path, "{}", api.load_name())
            .at(|| Site::graph(&draft.name))?;
        let graph = || Site::graph(&draft.name);
        let failed = |message| Error::Module {
            site: graph(),
            path,
            message,
        };
        // SAFETY: `load` is called with the context current; the image is one of the two, as the callers say.
        unsafe { api.load(image) }.or_else(|_| {
            // Asking for the compiler's messages makes loading slower, so it is done only after a failure.
            announce!(self.cuda, trace, graph = %draft.name, path, "cuModuleLoadDataEx").at(graph)?;
            // SAFETY: as above.
            unsafe { api.load_explained(image) }.map_err(|(error, log)| {
                failed(if log.is_empty() {
                    error.to_string()
                } else {
                    format!("{error}\n{log}")
                })
            })
        })
    }

    /// Loads the module of a built-in kernel, unless it is loaded. The context must be current.
    pub(super) fn load_builtin(&mut self, draft: &Draft, kernel: Builtin, guard: GuardForm) -> Result<()> {
        if self.builtin.iter().any(|(known, _)| *known == (kernel, guard)) {
            return Ok(());
        }
        let graph = || Site::graph(&draft.name);
        let BuiltinModule { path, text, kernels } = kernel.module(&self.cuda).at(graph)?;
        let named = |&(_, name): &(Builtin, &'static CStr)| name.to_str().unwrap_or_default();
        let module = if guard.tests == 0 {
            self.shared_module(draft, path, text)
        } else {
            let named: Vec<(&str, GuardForm)> = kernels.iter().map(|kernel| (named(kernel), guard)).collect();
            let copied = graph_ptx::predicated(text, &named).map_err(|error| Error::Module {
                site: graph(),
                path,
                message: error.to_string(),
            });
            self.own_text(draft, path, &copied?)
        }?;
        // All or none: after a failure, a later call loads them again.
        let found = kernels.iter().map(|kernel| {
            let name = match guard.tests {
                0 => Cow::Borrowed(kernel.1),
                _ => Cow::Owned(CString::new(graph_ptx::predicated_name(named(kernel), guard)).unwrap_or_default()),
            };
            // SAFETY: the module was just loaded and is unloaded only by `unload`.
            let found = unsafe { module.function(&name) }.at(graph)?;
            Ok(((kernel.0, guard), found))
        });
        let found: Vec<_> = found.collect::<Result<_>>()?;
        self.builtin.extend(found);
        Ok(())
    }

    /// A built-in kernel with a guard of this form; null before [`Kernels::load_builtin`].
    pub(super) fn builtin(&self, kernel: Builtin, guard: GuardForm) -> KernelHandle {
        let found = self.builtin.iter().find(|(known, _)| *known == (kernel, guard));
        found.map_or(KernelHandle::NULL, |(_, handle)| *handle)
    }

    #[inline]
    pub(super) fn handle(&self, function: u32) -> KernelHandle {
        self.functions[function as usize].handle
    }

    /// The function, or its predicated copy with a guard of this form, which was loaded.
    #[inline]
    pub(super) fn guarded(&self, function: u32, guard: GuardForm) -> KernelHandle {
        match guard.tests {
            0 => self.handle(function),
            _ => self
                .predicated
                .get(&(function, guard))
                .map_or(KernelHandle::NULL, |loaded| loaded.handle),
        }
    }

    /// The function and its predicated copies.
    fn all(&self, function: u32) -> impl Iterator<Item = &LoadedKernel> {
        let copies = self.predicated.range((function, GuardForm::default())..);
        let copies = copies.take_while(move |((of, _), _)| *of == function);
        std::iter::once(&self.functions[function as usize]).chain(copies.map(|(_, copy)| copy))
    }

    /// The handles of the function and of its predicated copies.
    pub(super) fn handles(&self, function: u32) -> impl Iterator<Item = KernelHandle> {
        self.all(function).map(|loaded| loaded.handle)
    }

    /// Whether the function has predicated copies.
    pub(super) fn has_copies(&self, function: u32) -> bool {
        self.all(function).nth(1).is_some()
    }

    /// Forgets the predicated copies of these functions. Their modules stay loaded.
    pub(super) fn forget_copies(&mut self, functions: &Refused) {
        self.predicated
            .retain(|(function, _), _| !functions.contains_key(function));
    }

    /// Refuses a launch of a function, and of its predicated copies, that the device does not allow; the error says
    /// why.
    pub(super) fn check(&self, function: u32, config: &LaunchConfig) -> Result<(), String> {
        let threads = config.block_threads();
        let most = self
            .all(function)
            .map(|function| function.max_threads)
            .min()
            .unwrap_or(0);
        let function = &self.functions[function as usize];
        if threads > most {
            return Err(format!(
                "cannot have blocks of {threads} threads on this device, which allows it {most} (registers, shared memory)"
            ));
        }
        let shared = function.static_shared + u64::from(config.shared);
        if shared > self.shared_limit {
            return Err(format!(
                "needs {shared} bytes of shared memory a block ({} of them static), but the device allows {}",
                function.static_shared, self.shared_limit
            ));
        }
        Ok(())
    }

    /// Whether the driver tells the parameters of the function, with which arguments are compared.
    pub(super) fn has_params(&self, function: u32) -> bool {
        self.functions[function as usize].params.is_some()
    }

    /// Refuses arguments whose number or sizes are not those of the function's parameters, if the driver tells these.
    /// Only functions without PTX are checked so: others were compared with theirs.
    #[inline]
    pub(super) fn check_arguments(&self, function: u32, arguments: &[Argument]) -> Result<(), String> {
        let Some(params) = &self.functions[function as usize].params else {
            return Ok(());
        };
        let given: Vec<usize> = arguments.iter().map(Argument::size).collect();
        if given.len() != params.len() {
            return Err(format!(
                "takes {} parameters, but {} arguments are passed",
                params.len(),
                given.len()
            ));
        }
        let wrong = given.iter().zip(params).position(|(given, taken)| given != taken);
        wrong.map_or(Ok(()), |index| {
            Err(format!(
                "takes {} bytes as argument {index}, but {} are passed",
                params[index], given[index]
            ))
        })
    }

    /// Sets the function up for `shared` bytes of dynamic shared memory. CUDA requires this above 48 KiB.
    #[inline]
    pub(super) fn permit(&mut self, function: u32, shared: u32) -> Result<(), CudaError> {
        if shared > self.functions[function as usize].dynamic_shared {
            self.allow(function, shared)?;
            self.functions[function as usize].dynamic_shared = shared;
        }
        Ok(())
    }

    /// As [`Kernels::permit`], for a launch that is only being checked: `self` does not remember it.
    pub(super) fn allow(&self, function: u32, shared: u32) -> Result<(), CudaError> {
        if shared <= self.functions[function as usize].dynamic_shared {
            return Ok(());
        }
        // Other declarations of the kernel keep the shared memory that it is set up for.
        let handle = self.functions[function as usize].handle.function;
        let of_kernel = self.functions.iter().filter(|known| known.handle.function == handle);
        let shared = of_kernel.map(|known| known.dynamic_shared).fold(shared, u32::max);
        let attribute = FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        for kernel in self.all(function) {
            announce!(self.cuda, trace, ?attribute, shared, "cuFuncSetAttribute")?;
            let function = kernel.handle.function;
            // The lock is held until the attribute is set, so that no graph lowers what another one has set.
            let mut limits = kernel.limits.as_ref().map(|limits| limits.lock());
            let known = limits.as_ref().and_then(|limits| limits.get(&function.addr()));
            if known.is_some_and(|&known| shared <= known) {
                continue;
            }
            // SAFETY: the function's module is loaded until `unload`.
            unsafe { driver::module::set_function_attribute(function, attribute, shared as i32) }?;
            if let Some(limits) = &mut limits {
                limits.insert(function.addr(), shared);
            }
        }
        Ok(())
    }

    /// Sets an attribute of a function and of its predicated copies.
    pub(super) fn set(
        &self,
        handles: impl Iterator<Item = KernelHandle>,
        attribute: FunctionAttribute,
        value: i32,
    ) -> Result<(), CudaError> {
        for handle in handles {
            announce!(self.cuda, trace, ?attribute, value, "cuFuncSetAttribute")?;
            // SAFETY: the function's module is loaded until `unload`.
            unsafe { driver::module::set_function_attribute(handle.function, attribute, value) }?;
        }
        Ok(())
    }

    /// The bytes of shared memory of a block, static and dynamic, of a function that this graph has loaded. `None` for
    /// a user's function, which others launch as well.
    pub(super) fn own_shared(&self, function: u32, config: &LaunchConfig) -> Option<u64> {
        let function = &self.functions[function as usize];
        function
            .owner
            .is_none()
            .then(|| function.static_shared + u64::from(config.shared))
    }

    /// Asks that an SM that runs one of these kernels has as much shared memory, and as little cache, as it can.
    pub(super) fn prefer_shared(&self, handles: impl Iterator<Item = KernelHandle>) -> Result<(), CudaError> {
        /// All of it, in percent.
        const MAX_SHARED: i32 = 100;
        let attribute = FunctionAttribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
        self.set(handles, attribute, MAX_SHARED)
    }

    /// Unloads all modules.
    ///
    /// # Safety
    ///
    /// The context is current, and no graph that uses the kernels exists any more.
    pub(super) unsafe fn unload(&mut self) {
        for mut function in self.functions.drain(..) {
            // SAFETY: the function left the list just now and is not used again.
            unsafe { ManuallyDrop::drop(&mut function.owner) };
        }
        let _ = self.cuda.bind_to_free(); // cudarc has unloaded the modules of users' functions
        self.builtin.clear();
        self.predicated.clear();
        for module in self.modules.drain(..) {
            let module = match module {
                HeldModule::Own(module) => Some(module),
                // The last graph that has it.
                HeldModule::Shared(shared) => {
                    Arc::into_inner(ManuallyDrop::into_inner(shared)).map(|shared| shared.loaded)
                }
            };
            if let Some(module) = module {
                // SAFETY: the module was loaded by `module` and left the list just now; nothing uses it, by the
                // caller's promise, and by that of the callers for the other graphs that had it.
                let _ = unsafe { module.unload() };
            }
        }
    }
}

impl LoadedKernel {
    /// The kernel with the sizes of its parameters, which nothing else tells.
    fn with_params(self) -> Self {
        Self {
            // SAFETY: `Kernels` keeps the function's module loaded.
            params: unsafe { driver::module::function_parameters(self.handle.function) },
            ..self
        }
    }

    /// Asks the driver about a function.
    ///
    /// # Safety
    ///
    /// The function's module is loaded. `Kernels` keeps it loaded, or `owner` does.
    unsafe fn new(handle: KernelHandle, owner: Option<CudaFunction>) -> Result<Self, CudaError> {
        let attribute = |attribute| {
            // SAFETY: by the caller's promise.
            unsafe { driver::module::function_attribute(handle.function, attribute) }
        };
        Ok(Self {
            handle,
            max_threads: attribute(FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)? as u64,
            static_shared: attribute(FunctionAttribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)? as u64,
            dynamic_shared: attribute(FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)? as u32,
            params: None,
            owner: ManuallyDrop::new(owner),
            limits: None,
        })
    }
}

/// Whether a kernel that the graph launches may write a variable of the module.
fn writes_variables(program: &Program, module: usize) -> bool {
    let of_module = |function: &&Function| function.module() == Some(module);
    let writes = |function: &Function| function.facts.variables.iter().any(|(_, mode)| *mode != Mode::Read);
    program.functions.iter().filter(of_module).any(writes)
}

/// Refuses more than [`Argument::MAX_BYTES`].
pub(super) fn check_bytes(arguments: &[Argument]) -> Result<(), String> {
    let bytes = Argument::total(arguments);
    if bytes <= Argument::MAX_BYTES {
        return Ok(());
    }
    Err(format!(
        "takes {bytes} bytes of arguments, but kernels in graphs take {}: pass what is large in device memory",
        Argument::MAX_BYTES
    ))
}

/// The PTX, in which the variables that are declared on these lines are made visible from outside. NVRTC makes
/// variables local to their module, and the driver promises only the addresses of visible ones.
fn with_visible<'t>(text: &'t str, lines: &[u32]) -> Cow<'t, str> {
    if lines.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len() + 16 * lines.len());
    for (line, number) in text.split_inclusive('\n').zip(1_u32..) {
        let directive = line.trim_start();
        if lines.contains(&number) && (directive.starts_with(".global") || directive.starts_with(".const")) {
            visible.push_str(".visible ");
        }
        visible.push_str(line);
    }
    Cow::Owned(visible)
}

/// Takes a user's function. The outer error says that it belongs to another context, the inner one is the driver's.
fn adopt(cuda: &Cuda, draft: &Draft, function: &CudaFunction) -> Result<Result<LoadedKernel, CudaError>> {
    let graph = || Site::graph(&draft.name);
    announce!(cuda, trace, "cuFuncGetParamInfo").at(graph)?;
    let context = driver::objects::context_of(function); // it may make that context current
    cuda.bind().at(graph)?;
    let context = match context {
        Ok(context) => context,
        Err(error) => return Ok(Err(error)),
    };
    if context != cuda.raw() {
        return Err(Error::Unsupported {
            site: graph(),
            message: "a `CudaFunction` belongs to another context than the graph's device",
        });
    }
    // SAFETY: `function` is alive, and so is the module it holds; the clone keeps it.
    let adopted = unsafe { LoadedKernel::new(KernelHandle::of_driver(function.cu_function()), Some(function.clone())) };
    Ok(adopted.map(|adopted| LoadedKernel {
        // SAFETY: as above.
        params: unsafe { driver::module::function_parameters(adopted.handle.function) },
        ..adopted
    }))
}

/// Refuses a kernel whose PTX is for newer devices, or for others.
fn check_target(draft: &Draft, facts: &'static KernelFacts, capability: (i32, i32)) -> Result<()> {
    let device = (10 * capability.0 + capability.1) as u32;
    // If the target is spelt in no known way, CUDA decides.
    if Target::parse(facts.target).is_none_or(|target| target.runs_on(device)) {
        return Ok(());
    }
    Err(Error::Kernel {
        site: Site::graph(&draft.name),
        kernel: facts.name,
        message: format!(
            "is compiled for `{}`, but the device is `sm_{}{}`",
            facts.target, capability.0, capability.1
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Value;

    #[test]
    fn variables_are_made_visible() {
        let text =
            ".version 8.4\n.const .align 4 .b8 table[16];\n.visible .global .align 4 .u32 counter;\n.global .u32 own;";
        assert_eq!(
            with_visible(text, &[2, 3]),
            ".version 8.4\n.visible .const .align 4 .b8 table[16];\n.visible .global .align 4 .u32 counter;\n.global .u32 own;"
        );
        assert!(matches!(with_visible(text, &[]), Cow::Borrowed(_)));
    }

    #[test]
    fn arguments_have_4096_bytes_at_most() {
        let value = |bytes: usize| Argument::Value(Value::Large(vec![0; bytes].into()));
        assert_eq!(check_bytes(&[value(4088), Argument::Value(Value::new(&1_u8))]), Ok(()));
        let message = check_bytes(&[value(4089), Argument::Value(Value::new(&1_u8))]).unwrap_err();
        assert!(message.starts_with("takes 4104 bytes of arguments"), "{message}");
    }
}
