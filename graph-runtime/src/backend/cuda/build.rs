//! Making an executable graph: memory, modules, nodes, instantiation, upload.

use super::add::{Adder, COPY_BYTES};
use super::builtin::Builtin;
use super::change::prepared_launch::PreparedLaunches;
use super::conditional::{self, Turn};
use super::fill::Fill;
use super::forms::{Forms, Refused};
use super::kernels::{self, Kernels};
use super::predicated::{Entry, Predicated};
use super::prices::Prices;
use super::user_objects::UserObjects;
use super::{CudaExecutable, attribute, programmatic, uploads};
use crate::devices::Backend;
use crate::devices::bodies::BodyForm;
use crate::devices::cuda::Cuda;
use crate::devices::cuda::check_version;
use crate::devices::cuda_memory::CudaMemory;
use crate::devices::launch_event::LaunchEvent;
use crate::devices::options::InstantiateOptions;
use crate::devices::uploads::UploadForm;
use crate::driver::{self, RelaxedCapture};
use crate::error::{At, Error, Result, Site};
use crate::ownership::blueprint::{Blueprint, Programmatic};
use crate::ownership::device_memory::KernelMemory;
use crate::ownership::storage::{Storage, allocate};
use crate::program::{External, KernelOp, Op, Program, Structure, Work};
use graph_plan::{Code, Diagnostic, Draft, Memory, Node, NodeKind, Subject};
use graph_ptx::GuardForm;
use std::cell::Cell;
use std::collections::{BTreeSet, VecDeque};
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Arc;

impl CudaExecutable {
    /// Makes all but the executable graph: memory, kernels, and the graph with its nodes.
    pub(crate) fn with_nodes(cuda: &Arc<Cuda>, blueprint: &Blueprint<'_>) -> Result<Self> {
        let _relaxed = RelaxedCapture::enter();
        let mut prepared = Self::prepared(cuda, blueprint)?;
        let plain = Programmatic::default();
        let blueprint = &Blueprint {
            programmatic: programmatic::edges(cuda, blueprint, &plain)?,
            ..*blueprint
        };
        prepared.programmatic = !blueprint.programmatic.is_empty();
        programmatic::divide_alike(&prepared.kernels, blueprint)?;
        match blueprint.program.whole_capture() {
            Some(_) => prepared.adopt(0),
            None => prepared.add_nodes(blueprint)?,
        }
        Ok(prepared)
    }

    /// Makes the executable graph, if there is none yet.
    pub(crate) fn instantiate(&mut self, blueprint: &Blueprint<'_>, options: InstantiateOptions) -> Result<()> {
        let _relaxed = RelaxedCapture::enter();
        self.options = options;
        self.changed = blueprint.changed;
        self.cuda.bind().at(|| Site::graph(&blueprint.draft.name))?;
        let plain = Programmatic::default();
        self.instantiate_graph(&Blueprint {
            programmatic: programmatic::edges(&self.cuda, blueprint, &plain)?,
            ..*blueprint
        })
    }

    /// Makes all that a graph needs before its first node is added: memory, a stream, kernels, captured graphs. Every
    /// node has been checked against the device. The context is current afterwards.
    pub(super) fn prepared(cuda: &Arc<Cuda>, blueprint: &Blueprint<'_>) -> Result<Self> {
        let graph = || Site::graph(&blueprint.draft.name);
        check_version()?;
        #[cfg(feature = "cudart")]
        cuda.check_api(graph)?;
        let storage = allocate(&Backend::Cuda(cuda.clone()), blueprint)?;
        cuda.bind().at(graph)?;
        announce!(cuda, trace, graph = %blueprint.draft.name, "cuEventCreate").at(graph)?;
        let mut built = Self {
            cuda: cuda.clone(),
            stream: ptr::null_mut(),
            stream_id: None,
            event: Arc::new(LaunchEvent::new(cuda).at(graph)?),
            events: VecDeque::new(),
            rebound: false,
            graph: ptr::null_mut(),
            exec: ptr::null_mut(),
            origin: None,
            options: InstantiateOptions::default(),
            stale: false,
            changed: false,
            programmatic: false,
            nodes: vec![ptr::null_mut(); blueprint.program.ops.len()],
            setters: Vec::new(),
            predicated: Predicated::default(),
            body_forms: Vec::new(),
            upload_forms: Vec::new(),
            kernels: Kernels::new(cuda),
            adder: Adder::new(cuda, &storage),
            prepared: PreparedLaunches::default(),
            user_objects: ManuallyDrop::new(UserObjects::new(blueprint, &storage)),
            storage: ManuallyDrop::new(storage),
            in_flight: Cell::new(0),
        };
        announce!(cuda, trace, graph = %blueprint.draft.name, "cuStreamCreate").at(graph)?;
        // SAFETY: the context is current.
        built.stream = unsafe { driver::stream::create() }.at(graph)?;
        // SAFETY: the stream was just made.
        built.stream_id = Some(unsafe { driver::stream::id(built.stream) }.at(graph)?);
        built.load_kernels(blueprint)?;
        built.put_variables(blueprint)?;
        built.prepare(blueprint)?;
        Ok(built)
    }

    /// Chooses the forms of bodies and of copies from the host, and loads all kernels.
    fn load_kernels(&mut self, blueprint: &Blueprint<'_>) -> Result<()> {
        let Blueprint { draft, program, .. } = blueprint;
        let is_plain = blueprint.debug.is_some() || !program.others().any(|(_, op)| op.conditional().is_some());
        if is_plain {
            let (variables, mut refused) = (blueprint.variables, Refused::new());
            self.kernels
                .load(draft, program, variables, &BTreeSet::new(), &mut refused)?;
        }
        if blueprint.debug.is_some() {
            return Ok(());
        }
        let prices = Prices::of(self.cuda.capability().at(|| Site::graph(&draft.name))?);
        let mut forms = match is_plain {
            true => Forms::default(),
            false => self.load_copies(blueprint, prices)?,
        };
        for (node, form) in uploads::choose(blueprint, prices) {
            if form.kernel {
                forms.add_kernel(node);
            }
            self.upload_forms.push(form);
        }
        self.adder.forms = forms;
        Ok(())
    }

    /// Chooses the forms of bodies, and loads all kernels, with the copies that predicated bodies need.
    fn load_copies(&mut self, blueprint: &Blueprint<'_>, prices: &Prices) -> Result<Forms> {
        let Blueprint { draft, program, .. } = blueprint;
        let graph = || Site::graph(&draft.name);
        let mut refused = Refused::new();
        let waiting = programmatic::waiting(&self.cuda, blueprint)?;
        let mut forms = Forms::choose(blueprint, &refused, prices, &waiting);
        let copies = forms.members().flat_map(|(node, guards)| {
            let kernel = program.ops[node].kernel();
            // With fewer tests, too: if a copy is refused below, a body around this one becomes a conditional node.
            let all = guards.iter().flat_map(|guard| {
                let fewer = (1..guard.tests).map(|tests| GuardForm {
                    waits: guard.waits,
                    ..GuardForm::tests(tests)
                });
                fewer.chain([*guard])
            });
            let copied = all.filter(|guard| guard.tests > 0);
            copied.filter_map(move |guard| Some((kernel?.function, guard)))
        });
        let copies: BTreeSet<(u32, GuardForm)> = copies.collect();
        self.kernels
            .load(draft, program, blueprint.variables, &copies, &mut refused)?;
        // A copy may need more registers than its kernel. Then the kernel is launched as asked, and not predicated.
        if !copies.is_empty() {
            for kernel in program.ops.iter().filter_map(Op::kernel) {
                if let Some(reason) = self.copy_refusal(kernel) {
                    refused.insert(kernel.function, reason);
                }
            }
        }
        if !refused.is_empty() {
            self.kernels.forget_copies(&refused);
            forms = Forms::choose(blueprint, &refused, prices, &waiting);
        }
        self.body_forms = forms.report(blueprint);
        if forms.copies > 0 {
            self.kernels.load_builtin(draft, Builtin::Latch, GuardForm::default())?;
            let copies = CudaMemory::zeroed(&self.cuda, COPY_BYTES * forms.copies).at(graph)?;
            self.adder.copies = copies.address();
            self.user_objects.condition_copies = Some(copies);
        }
        Ok(forms)
    }

    /// The reason why the predicated copies of a kernel cannot be launched as the kernel is, if there are copies. The
    /// context is current.
    fn copy_refusal(&mut self, kernel: &KernelOp) -> Option<String> {
        if !self.kernels.has_copies(kernel.function) {
            return None;
        }
        let checked = self.kernels.check(kernel.function, &kernel.config);
        let checked = checked.and_then(|()| {
            let permitted = self.kernels.permit(kernel.function, kernel.config.shared);
            permitted.map_err(|error| format!("cannot be set up: {error}"))
        });
        checked
            .and_then(|()| attribute::check(&self.cuda, &self.kernels, kernel))
            .err()
    }

    /// The forms of the bodies, for a reader.
    pub(crate) fn body_forms(&self) -> &[BodyForm] {
        &self.body_forms
    }

    /// The forms of copies from the host, for a reader.
    pub(crate) fn upload_forms(&self) -> &[UploadForm] {
        &self.upload_forms
    }

    /// Loads the built-in kernels of a copy or a memset that is a kernel.
    fn prepare_guards(&mut self, draft: &Draft, node: usize, kernel: Builtin) -> Result<()> {
        let guards = self.adder.forms.guards(node);
        guards
            .into_iter()
            .try_for_each(|guard| self.kernels.load_builtin(draft, kernel, guard))
    }

    /// Checks every node against the device, and loads what it needs, before any node is added.
    fn prepare(&mut self, blueprint: &Blueprint<'_>) -> Result<()> {
        let Blueprint { draft, program, .. } = blueprint;
        if blueprint.delays.is_some() {
            self.kernels.load_builtin(draft, Builtin::Delay, GuardForm::default())?;
        }
        let (mut last, mut looks_at_arguments) = (None::<&KernelOp>, true);
        for (node, op) in program.ops.iter().enumerate() {
            let site = || Site::graph(&draft.name).at_node(&draft.nodes[node].name);
            match op {
                Op::Work(Work::Kernel(kernel)) => {
                    // Neighbours are often launched alike: then one check is enough.
                    if !last.replace(kernel).is_some_and(|last| last.is_launched_like(kernel)) {
                        self.prepare_launch(program, kernel, site)?;
                        let facts = program.functions[kernel.function as usize].facts;
                        let asks_for_addresses = !(facts.textures.is_empty() && facts.aligned.is_empty());
                        looks_at_arguments = asks_for_addresses || self.kernels.has_params(kernel.function);
                    }
                    if looks_at_arguments {
                        self.check_addresses(draft, program, node, kernel)?;
                        let arguments = program.arguments(kernel);
                        if let Err(message) = self.kernels.check_arguments(kernel.function, arguments) {
                            return Err(mistaken_arguments(draft, node, &message));
                        }
                    }
                }
                Op::Work(Work::Memset(set)) => {
                    let is_variable = draft.resources[set.to.part().resource as usize].memory == Memory::Constant;
                    let fill = self.adder.fill_of(program, node, set);
                    self.prepare_fill(draft, &fill, is_variable, site)?;
                    if matches!(fill, Fill::Kernel { .. }) {
                        self.prepare_guards(draft, node, Builtin::FillWords)?;
                    }
                }
                // In debug mode the host reads conditions.
                Op::Structure(Structure::Conditional(_))
                    if self.adder.forms.is_predicated(node) || blueprint.debug.is_some() => {}
                Op::Structure(Structure::Conditional(_)) => {
                    conditional::check_driver(blueprint, site)?;
                    self.kernels
                        .load_builtin(draft, Builtin::Condition, GuardForm::default())?;
                }
                Op::External(External::Capture(call)) => self.capture(blueprint, node, call)?,
                Op::Work(Work::Memcpy(_)) => self.prepare_guards(draft, node, Builtin::CopyWords)?,
                Op::Work(Work::Join) | Op::Structure(Structure::Child(_)) => {}
                Op::External(External::Collective(call)) => self.prepare_collective(draft, node, call)?,
                Op::External(External::Call(_) | External::Record(_) | External::Wait(_) | External::Raw(_)) => {}
            }
        }
        Ok(())
    }

    /// Checks a launch against the device, and sets the function up for it.
    fn prepare_launch(&mut self, program: &Program, kernel: &KernelOp, site: impl Fn() -> Site) -> Result<()> {
        let facts = program.functions[kernel.function as usize].facts;
        let refuse = |message| Error::Kernel {
            site: site(),
            kernel: facts.name,
            message,
        };
        self.kernels.check(kernel.function, &kernel.config).map_err(refuse)?;
        kernels::check_bytes(program.arguments(kernel)).map_err(refuse)?;
        self.kernels.permit(kernel.function, kernel.config.shared).at(&site)?;
        attribute::check(&self.cuda, &self.kernels, kernel).map_err(refuse)?;
        attribute::permit(&self.kernels, facts, kernel).at(&site)
    }

    /// Puts the variables of modules that are memory of the graph into its storage. The graph has loaded such modules
    /// for itself alone, so nothing else has these variables.
    fn put_variables(&mut self, blueprint: &Blueprint<'_>) -> Result<()> {
        for variable in blueprint.variables {
            let (draft, resource) = (blueprint.draft, variable.resource);
            let name = &draft.resources[resource].name;
            let site = || Site::graph(&draft.name).at_memory(name);
            let (address, bytes) = self.kernels.variable(variable).at(site)?;
            if Some(bytes) != blueprint.layouts[resource].map(|layout| layout.bytes) {
                return Err(Error::OutOfBounds { site: site() });
            }
            // SAFETY: `load` has loaded the module in this context, and the driver says where the variable is. The
            // module stays loaded as long as anything uses `storage` (fact 2).
            let memory = unsafe { CudaMemory::of_module(&self.cuda, address, bytes) };
            self.storage[resource] = Storage::Device(Arc::new(KernelMemory::Cuda(memory)));
            self.adder.rebind(resource, &self.storage[resource]);
        }
        Ok(())
    }

    /// Loads the built-in kernel if a memset node needs it. Refuses a value that no memset can set.
    fn prepare_fill(&mut self, draft: &Draft, fill: &Fill, is_variable: bool, site: impl Fn() -> Site) -> Result<()> {
        match fill {
            // The address of a variable is for the host's calls: no kernel gets it.
            Fill::Kernel { .. } if is_variable => Err(Error::Unsupported {
                site: site(),
                message: "a memset of a module's variable takes a value that repeats every 1, 2 or 4 bytes, sets it in one piece, and \
                          cannot be updated; copy to the variable instead",
            }),
            Fill::Kernel { .. } => self
                .kernels
                .load_builtin(draft, Builtin::FillWords, GuardForm::default()),
            Fill::TooLong => Err(Error::Unsupported {
                site: site(),
                message: "a memset value that does not repeat has at most 256 bytes",
            }),
            Fill::Nothing | Fill::Memset { .. } => Ok(()),
        }
    }

    /// Instantiates the graph and, if the options ask for it, uploads it.
    fn instantiate_graph(&mut self, blueprint: &Blueprint<'_>) -> Result<()> {
        let draft = blueprint.draft;
        let graph = || Site::graph(&draft.name);
        announce!(self.cuda, trace, graph = %draft.name, nodes = self.nodes.len(), "{}", self.cuda.api().names().instantiate)
            .at(graph)?;
        // SAFETY: fact 1 of `CudaExecutable`.
        let exec = unsafe {
            self.cuda
                .api()
                .instantiate(self.graph, attribute::flags(blueprint.program, self.options))
        };
        self.exec = match exec {
            Ok(exec) => exec,
            Err(failed) => {
                if announce!(self.cuda, debug, reason = failed.reason, "instantiation failed").is_err() {
                    return Err(failed.error).at(graph);
                }
                let told = self
                    .nodes
                    .iter()
                    .position(|&node| !node.is_null() && node == failed.node);
                let culprit = told.or_else(|| self.bisect(blueprint));
                return Err(failed.error).at(|| match culprit {
                    Some(node) => graph().at_node(&draft.nodes[node].name),
                    None => graph(),
                });
            }
        };
        self.make_ready(draft, blueprint.program)
    }

    /// Finds the first node, in topological order, with which the graph cannot be instantiated: CUDA often does not
    /// name it.
    fn bisect(&mut self, blueprint: &Blueprint<'_>) -> Option<usize> {
        let whole = |node: &Node| node.kind.is_conditional() || matches!(node.kind, NodeKind::Raw | NodeKind::Graph);
        let captured = blueprint.program.whole_capture().is_some();
        if blueprint.changed || captured || blueprint.draft.nodes.iter().any(whole) {
            // The user's change is in the whole graph only; the nodes of a body cannot be left out one by one; and
            // closures of `raw` nodes run once.
            return None;
        }
        let sequence: Vec<usize> = blueprint.order.sequence(0).collect();
        let kept = self.nodes.clone();
        // The shortest failing prefix has more than `good` and at most `bad` nodes.
        let (mut good, mut bad) = (0, sequence.len());
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            if self.instantiates(blueprint, &sequence[..middle]) {
                good = middle;
            } else {
                bad = middle;
            }
        }
        self.nodes = kept;
        bad.checked_sub(1).map(|last| sequence[last])
    }

    /// Whether a graph of these nodes alone can be instantiated.
    fn instantiates(&mut self, blueprint: &Blueprint<'_>, sequence: &[usize]) -> bool {
        // SAFETY: the driver is initialised.
        let Ok(graph) = (unsafe { self.cuda.api().create() }) else {
            return false;
        };
        // SAFETY: the graph was created above, and `sequence` is a prefix of all nodes in order.
        let added = unsafe {
            self.add_prefix(
                blueprint,
                graph,
                sequence.iter().copied(),
                Entry::default(),
                &mut Turn::Free,
            )
        }
        .is_ok();
        let flags = attribute::flags(blueprint.program, self.options);
        // SAFETY: the graph was created above.
        let exec = added.then(|| unsafe { self.cuda.api().instantiate(graph, flags) });
        let works = matches!(exec, Some(Ok(_)));
        if let Some(Ok(exec)) = exec {
            // SAFETY: it was made above and never launched.
            let _ = unsafe { self.cuda.api().destroy_executable(exec) };
        }
        // SAFETY: the graph was created above and given to nobody.
        let _ = unsafe { self.cuda.api().destroy(graph) };
        works
    }
}

/// The error of a loaded function whose parameters are not those of the call, as the driver tells.
fn mistaken_arguments(draft: &Draft, node: usize, message: &str) -> Error {
    let message = format!("node `{}`: the `CudaFunction` {message}", draft.nodes[node].name);
    let mistake = Diagnostic::new(Code::Signature, Subject::Node(node), message);
    let help = "pass the parameters of the CUDA kernel, in order and of the same types";
    Error::mistake(&draft.name, mistake.help(help))
}
