//! Variables of kernels' modules: declaring them, and finding their modules.

use super::GraphBuilder;
use crate::kernel::source::Ptx;
use crate::program::ModuleMemory;
use crate::shape::Element;
use crate::shape::place::{OnDevice, Place};
use crate::shape::size::Size;
use graph_plan::{Constant, Diagnostic, Memory, ModuleVariable, ModuleVariables, Subject, same};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ptr;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// A variable of a module that was declared as memory.
pub(super) struct DeclaredConstant {
    pub(super) resource: usize,
    /// The name in the PTX.
    pub(super) symbol: Cow<'static, str>,
    pub(super) align: usize,
}

impl GraphBuilder {
    /// Declares a `__constant__` or `__device__` variable of the kernels' module as memory of shape `S`. `symbol` is
    /// its name in the PTX. Copies and memsets take it, and [`Graph::device`](crate::Graph::device) lends it. A kernel
    /// that reads or writes the variable touches this memory, so a copy that is not ordered with the kernel is a race.
    ///
    /// The graph loads its own instance of the module: it shares the variable with its children, and with no other
    /// graph. The variable has the initial value of the CUDA source until something writes it.
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder, Launch, cuda_kernels};
    ///
    /// #[cuda_kernels("tests/kernels/constants.ptx")] // relative to the crate's manifest
    /// unsafe extern "C" {
    ///     /// `data[i] *= table[i % 4]`
    ///     #[requires(threads <= data.len())]
    ///     safe fn weigh(data: &mut [f32]);
    /// }
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Weighted");
    /// let input = builder.host::<[f32; 4]>("input");
    /// let mut data = builder.device::<[f32; 4]>("data");
    /// let mut table = builder.constant::<[f32; 4]>("table", "table");
    /// let upload = builder.memcpy("upload", &input, &mut table);
    /// let ones = builder.memset("ones", &mut data, 1.0_f32);
    /// let weigh = builder.kernel("weigh", Launch::new(1, 4), weigh::call(&mut data));
    /// builder.after(weigh, &[upload, ones]);
    ///
    /// let mut graph = builder.build()?;
    /// *graph.host_mut(&input)? = [1.0, 2.0, 3.0, 4.0];
    /// graph.launch()?;
    /// assert_eq!(*graph.device(&data)?.read()?, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// Exactly one of the modules of the graph's kernels must have a variable of this name. [`GraphBuilder::build`]
    /// returns [`Error::Invalid`](crate::Error::Invalid) if none has it (`unknown-resource`), if several have it
    /// (`duplicate-name`), or if the variable has another size than `S` or less alignment (`shape-mismatch`).
    pub fn constant<S: Element>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        symbol: impl Into<Cow<'static, str>>,
    ) -> Place<S, OnDevice> {
        let place: Place<S, OnDevice> = self.declare(name, Memory::Constant, Size::fixed());
        let resource = place.span.resource;
        self.memory.constants.push(DeclaredConstant {
            resource,
            symbol: symbol.into(),
            align: align_of::<S>(),
        });
        place
    }

    /// Finds the module of each declared variable. Accesses of kernels to the variable, and of nodes to other memory
    /// that is declared as the same variable, become accesses to the one resource.
    pub(super) fn find_constants(&mut self) -> Vec<ModuleMemory> {
        if self.memory.constants.is_empty() || !self.kernels.unresolved.is_empty() {
            return Vec::new();
        }
        let modules: Vec<Option<Arc<Variables>>> = self
            .program
            .modules
            .iter()
            .map(|module| Variables::of(module.ptx()?))
            .collect();
        let found = modules
            .iter()
            .map(|module| module.as_ref().map(|module| module.listed()));
        let lists: Vec<Option<Vec<ModuleVariable<'_>>>> = found.collect();
        let listed: Vec<Option<ModuleVariables<'_>>> = lists
            .iter()
            .zip(&self.program.modules)
            .map(|(list, module)| {
                let variables = list.as_deref()?;
                Some(ModuleVariables {
                    file: module.path(),
                    variables,
                })
            })
            .collect();
        let mut found: Vec<ModuleMemory> = Vec::new();
        for constant in &self.memory.constants {
            let resource = constant.resource;
            let declared = Constant {
                name: &self.draft.resources[resource].name,
                symbol: &constant.symbol,
                bytes: self.memory.bytes(resource) as u64,
                align: constant.align as u64,
            };
            let module = match declared.find(&listed, true) {
                Ok(Some(module)) => module,
                // Without the module the memory has no address, so nothing may be built.
                missing_or_wrong => {
                    let text = missing_or_wrong.err().unwrap_or_else(|| declared.missing(&listed));
                    let mistake = Diagnostic::parse(Subject::Resource(resource), text.as_str());
                    self.findings.mistake(mistake);
                    continue;
                }
            };
            let line = modules[module]
                .as_ref()
                .and_then(|module| module.line(&constant.symbol));
            found.push(ModuleMemory {
                resource,
                module,
                symbol: constant.symbol.clone(),
                line: line.unwrap_or(0),
            });
        }
        self.unite(&found);
        found
    }

    /// Replaces all resources that are the same variable by one: the memory that is declared first. The others are
    /// memory that is declared as the same variable, and the resources of variables that kernels touch.
    fn unite(&mut self, found: &[ModuleMemory]) {
        let mut united: Vec<usize> = (0..self.draft.resources.len()).collect();
        for (index, variable) in found.iter().enumerate() {
            let is_same = |other: &&ModuleMemory| other.module == variable.module && other.symbol == variable.symbol;
            if let Some(first) = found[..index].iter().find(is_same) {
                united[variable.resource] = first.resource;
                continue;
            }
            let functions = self.program.functions.iter();
            let of_module = functions.filter(|function| function.module() == Some(variable.module));
            for &(resource, _) in of_module.flat_map(|function| &function.variables) {
                let known = &self.draft.resources[resource];
                if known.memory == Memory::Variable && same(&known.name, &variable.symbol) {
                    united[resource] = variable.resource;
                }
            }
        }
        for access in &mut self.draft.accesses {
            access.resource = united[access.resource];
        }
        for function in &mut self.program.functions {
            for (resource, _) in &mut function.variables {
                *resource = united[*resource];
            }
        }
    }
}

/// The variables of a module.
struct Variables(Vec<Variable>);

struct Variable {
    name: String,
    bytes: u64,
    align: u64,
    line: u32,
}

impl Variables {
    /// The variables in PTX, which is parsed once; `None` if it cannot be read.
    fn of(ptx: &'static Ptx) -> Option<Arc<Self>> {
        /// By the address of the PTX, which stays.
        static KNOWN: LazyLock<Mutex<HashMap<usize, Option<Arc<Variables>>>>> = LazyLock::new(Mutex::default);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.entry(ptr::from_ref(ptx).addr());
        found.or_insert_with(|| Self::parsed(ptx.text).map(Arc::new)).clone()
    }

    fn parsed(text: &str) -> Option<Self> {
        let module = graph_ptx::parse(text).ok()?;
        let variables = module.variables().map(|variable| Variable {
            name: variable.name.clone(),
            bytes: variable.size,
            align: variable.align.into(),
            line: variable.line,
        });
        Some(Self(variables.collect()))
    }

    fn listed(&self) -> Vec<ModuleVariable<'_>> {
        let listed = self.0.iter().map(|variable| ModuleVariable {
            name: &variable.name,
            bytes: variable.bytes,
            align: variable.align,
        });
        listed.collect()
    }

    fn line(&self, symbol: &str) -> Option<u32> {
        let found = self.0.iter().find(|variable| variable.name == symbol);
        found.map(|variable| variable.line)
    }
}
