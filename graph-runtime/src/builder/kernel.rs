//! Nodes that launch kernels.

use super::GraphBuilder;
use crate::error::{Error, mistakes};
use crate::graph::node::NodeId;
use crate::kernel::source::{ModuleCode, Source, Unresolved, resolve};
use crate::kernel::{ArgumentKind, CallArgument, Callee, KernelCall, KernelFacts, LOADED, Launch, launch_mistake};
use crate::program::{Argument, KernelAttributes, KernelOp, Op, Work};
use graph_plan::{LaunchConfig, Memory, Mode, NodeKind, Region};
use std::borrow::Cow;
use std::ptr;

/// The checks of kernels and launches so far.
#[derive(Default)]
pub(super) struct KernelChecks {
    /// Kernels of CUDA sources whose mistakes have been reported.
    pub(super) unresolved: Vec<&'static KernelFacts>,
    /// The last launch, if it had no mistake. Its arguments are the program's last.
    last: Option<CheckedLaunch>,
}

/// A launch that passed its checks. Adjacent launches are often alike, and the checks would be most of the cost of
/// adding a kernel node.
struct CheckedLaunch {
    facts: &'static KernelFacts,
    launch: Launch,
    config: LaunchConfig,
    /// The kernel's declaration, if nothing has to be done for a node but what this tells.
    plain: Option<PlainKernel>,
}

/// A declared kernel without textures, surfaces and variables, whose code is known.
#[derive(Clone, Copy)]
struct PlainKernel {
    declared: &'static KernelFacts,
    is_safe: bool,
    /// The index of its function.
    function: u32,
}

impl GraphBuilder {
    /// Adds a node that launches a kernel: `call` is `name::call(arguments..)` of a kernel that
    /// [`cuda_kernels`](crate::cuda_kernels) declares, or [`KernelCall::loaded`].
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder, Launch, cuda_kernels};
    ///
    /// #[cuda_kernels("../examples/kernels/forward_backward.ptx")] // relative to the crate's manifest
    /// unsafe extern "C" {
    ///     /// `data[i] *= 2`, one thread for each element
    ///     #[requires(threads <= data.len())]
    ///     safe fn kernel_forward(data: &mut [f32]);
    /// }
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Forward");
    /// let mut data = builder.device::<[f32; 64]>("data");
    /// let forward = builder.kernel("forward", Launch::new(1, 64), kernel_forward::call(&mut data));
    ///
    /// let mut graph = builder.build()?;
    /// graph.device_mut(&data)?.copy_from(&[1.0; 64])?;
    /// graph.launch()?;
    /// graph.update("half", |update| update.kernel(forward, Launch::new(1, 32), kernel_forward::call(&mut data)))?;
    /// graph.launch()?;
    /// let data = graph.device(&data)?.read()?;
    /// assert_eq!((data[31], data[32]), (4.0, 2.0));
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    pub fn kernel<const N: usize>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        launch: Launch,
        mut call: KernelCall<N>,
    ) -> NodeId {
        self.launch(name.into(), launch, &call.callee, &mut call.arguments)
    }

    /// Adds a node that launches a kernel with these arguments, whose values it takes.
    pub(super) fn launch(
        &mut self,
        name: Cow<'static, str>,
        launch: Launch,
        callee: &Callee,
        call: &mut [CallArgument],
    ) -> NodeId {
        let node = self.node(name, NodeKind::Kernel);
        let (mut places, mut arrays) = (true, false);
        for argument in &*call {
            if let ArgumentKind::Buffer(span, mode) = &argument.0 {
                let is_own = self.touch(node, *span, *mode);
                arrays |= is_own && self.draft.resources[span.resource].memory == Memory::Array;
                places &= is_own;
            }
        }
        let (function, config) = match self.alike(callee, &launch, call).filter(|_| places && !arrays) {
            Some((function, last)) => {
                let config = last.config;
                // Neighbours are alike if their memory has the same lengths, wherever that begins.
                self.check_alignment(node, self.program.functions[function as usize].facts, call);
                (function, config)
            }
            None => self.check_kernel(node, launch, callee, call, places),
        };
        let start = self.program.arguments.len() as u32;
        let arguments = start..start + call.len() as u32;
        for argument in call {
            Argument::put(argument, &mut self.program.arguments);
        }
        let node = self.program.push(Op::Work(Work::Kernel(KernelOp {
            function,
            config,
            arguments,
            attributes: KernelAttributes::of(&launch),
        })));
        NodeId::of(self.id, node)
    }

    /// The last launch and its function, if that is a plain kernel and this launch is like the last one.
    #[inline]
    fn alike(&self, callee: &Callee, launch: &Launch, call: &[CallArgument]) -> Option<(u32, &CheckedLaunch)> {
        let last = self.kernels.last.as_ref()?;
        let plain = last.plain.as_ref()?;
        match callee {
            Callee::Declared(facts, is_safe)
                if ptr::eq(plain.declared, *facts)
                    && plain.is_safe == *is_safe
                    && last.launch == *launch
                    && self.are_last_arguments(call) =>
            {
                Some((plain.function, last))
            }
            _ => None,
        }
    }

    /// Whether a contract cannot tell the arguments from those of the last kernel node.
    #[inline]
    fn are_last_arguments(&self, call: &[CallArgument]) -> bool {
        let arguments = &self.program.arguments;
        let before = arguments
            .len()
            .checked_sub(call.len())
            .map(|before| &arguments[before..]);
        before.is_some_and(|before| before.iter().zip(call).all(|(last, new)| last.is_like(new)))
    }

    /// Reports parts of memory that begin where the kernel cannot access several elements at once. (The backend looks
    /// at addresses, since memory of others may begin anywhere.)
    fn check_alignment(&mut self, node: usize, facts: &KernelFacts, call: &[CallArgument]) {
        for &(param, bytes) in facts.aligned {
            if let Some(CallArgument(ArgumentKind::Buffer(span, _))) = call.get(param)
                && span.bytes > 0
                && !span.start.is_multiple_of(bytes as usize)
            {
                let [name, memory] = [&self.draft.nodes[node].name, &self.draft.resources[span.resource].name];
                let mistake = mistakes::misaligned(node, name, facts.name, memory, bytes);
                self.findings.mistake(mistake);
            }
        }
    }

    /// The function and the dimensions of the newest node, after all checks of its kernel and its launch. Placeholders
    /// if one fails. `places` says whether the node may access its memory.
    fn check_kernel(
        &mut self,
        node: usize,
        launch: Launch,
        callee: &Callee,
        call: &mut [CallArgument],
        mut places: bool,
    ) -> (u32, LaunchConfig) {
        let (function, facts) = self.function(node, callee);
        if call.iter().any(|argument| matches!(argument.0, ArgumentKind::Param(_))) {
            places &= self.use_params(node, facts, call);
        }
        if places {
            self.check_texels(node, facts, call);
            self.check_alignment(node, facts, call);
        }
        // If a place or a param is wrong, a mistake about its length would only repeat that.
        let config = if places {
            self.check_launch(node, facts, launch, call)
        } else {
            None
        };
        let plain = self.plain(callee, function, facts);
        self.kernels.last = config.map(|config| CheckedLaunch {
            facts,
            launch,
            config,
            plain,
        });
        let placeholder = LaunchConfig {
            grid: [1; 3],
            block: [1; 3],
            shared: 0,
        };
        (function, config.unwrap_or(placeholder))
    }

    /// The kernel, if it is a plain one.
    fn plain(&self, callee: &Callee, function: u32, facts: &KernelFacts) -> Option<PlainKernel> {
        let Callee::Declared(declared, is_safe) = *callee else {
            return None;
        };
        let known = self.program.functions.get(function as usize);
        let is_other = known.is_none_or(|known| !known.variables.is_empty())
            || matches!(facts.source, Source::Cubin(_))
            || facts.takes_texels();
        (!is_other).then_some(PlainKernel {
            declared,
            is_safe,
            function,
        })
    }

    /// The checked dimensions of the newest node's launch. If they are wrong, reports the mistake and returns `None`.
    fn check_launch(
        &mut self,
        node: usize,
        facts: &'static KernelFacts,
        launch: Launch,
        call: &[CallArgument],
    ) -> Option<LaunchConfig> {
        if let Some(last) = &self.kernels.last
            && ptr::eq(last.facts, facts)
            && last.launch == launch
            && self.are_last_arguments(call)
        {
            return Some(last.config);
        }
        let checked = launch_mistake(&self.draft, node, facts, launch, call);
        checked.map_err(|mistake| self.findings.mistake(mistake)).ok()
    }

    /// The index of the function that the newest node launches, and its facts. If the kernel cannot be resolved, the
    /// build will fail, so the returned index is a placeholder.
    fn function(&mut self, node: usize, callee: &Callee) -> (u32, &'static KernelFacts) {
        match callee {
            Callee::Declared(facts, safe) => {
                let (function, facts) = self.declared(node, facts);
                if let Some(function) = self.program.functions.get_mut(function as usize) {
                    function.safe &= safe;
                }
                self.draft.nodes[node].opaque |= matches!(facts.source, Source::Cubin(_));
                (function, facts)
            }
            Callee::Loaded(function) => {
                if self.device.is_emulator() {
                    self.fail(node, "the CPU emulator runs PTX, which a loaded `CudaFunction` no longer has; declare the kernel with `#[cuda_kernels]`");
                }
                self.draft.nodes[node].opaque = true;
                (self.program.loaded(function.clone()), &LOADED)
            }
            Callee::Refused(mistakes) => {
                let name = &self.draft.nodes[node].name;
                self.findings.mistakes(mistakes::declarations(node, name, mistakes));
                self.draft.nodes[node].opaque = true;
                (0, &LOADED)
            }
            Callee::Unchanged => {
                self.fail(node, "only an update can leave a node's kernel as it is");
                (0, &LOADED)
            }
        }
    }

    /// The function of a declared kernel. Records that the newest node touches the variables of its module.
    fn declared(&mut self, node: usize, facts: &'static KernelFacts) -> (u32, &'static KernelFacts) {
        if let Some(function) = self.program.recent(facts) {
            self.touch_variables(node, function);
            return (function, facts);
        }
        let facts = match resolve(facts, || self.device.backend.architecture()) {
            Ok(facts) => facts,
            Err(unresolved) => {
                self.unresolved(node, facts, unresolved);
                return (0, facts);
            }
        };
        let Some(code) = facts.source.code() else {
            return (0, facts); // never: resolved facts have their code
        };
        (self.module_function(node, facts, code), facts)
    }

    /// Reports why a kernel cannot be resolved, once for all nodes that launch it.
    #[cold]
    fn unresolved(&mut self, node: usize, facts: &'static KernelFacts, unresolved: Unresolved) {
        if self.kernels.unresolved.iter().any(|known| ptr::eq(*known, facts)) {
            return;
        }
        self.kernels.unresolved.push(facts);
        let path = facts.source.path();
        match unresolved.error(&self.draft.name, node, &self.draft.nodes[node].name, path) {
            Error::Invalid { diagnostics, .. } => self.findings.mistakes(diagnostics),
            error => self.findings.fail(error),
        }
    }

    /// The function of a kernel with a module. Records that the newest node touches the variables of its module.
    fn module_function(&mut self, node: usize, facts: &'static KernelFacts, code: ModuleCode) -> u32 {
        let Self {
            draft, memory, program, ..
        } = self;
        // Functions of the module that were added earlier have its variables.
        let function = program.function(facts, code, |known, module| {
            let variables = facts.variables.iter().map(|&(name, mode)| {
                // The name of declared memory is not that of its variable.
                let same = |&&(resource, _): &&(usize, Mode)| {
                    draft.resources[resource].memory == Memory::Variable && draft.resources[resource].name == name
                };
                let of_module = known.iter().filter(|function| function.module() == Some(module));
                let known = of_module.flat_map(|function| &function.variables).find(same);
                // Memory that is declared as a variable of this name is this variable. If another module has such a
                // variable too, `build` reports that.
                let declared = memory.constants.iter().find(|constant| constant.symbol == name);
                let resource = declared.map(|constant| constant.resource);
                let resource = resource.or(known.map(|&(resource, _)| resource)).unwrap_or_else(|| {
                    memory.layouts.push(None);
                    draft.resource(name, Memory::Variable)
                });
                (resource, mode)
            });
            variables.collect()
        });
        self.touch_variables(node, function);
        function
    }

    /// Records that the newest node touches the variables of its kernel's module.
    fn touch_variables(&mut self, node: usize, function: u32) {
        for &(resource, mode) in &self.program.functions[function as usize].variables {
            let access = self.draft.access(node, resource, Region::Whole, mode);
            self.draft.accesses[access].by_name = true;
        }
    }
}
