//! A loaded module: its decoded functions, and the memory of its variables.

use std::collections::{HashMap, HashSet};
use std::fmt;

use graph_ptx::ast::{self, Space};

use crate::code::Code;
use crate::decode::{self, Symbols};
use crate::fault::LoadError;
use crate::memory::heap::Heap;
use crate::memory::view::Access;
use crate::memory::{Allocation, Memory};
use crate::run::parsed::{Parameter, Parsed, at};

/// A PTX module, decoded once and ready to launch. Its `.global` and `.const` variables live in the [`Memory`] it was
/// loaded for and keep their values between launches.
pub struct Module {
    memory: Memory,
    code: Code,
    parsed: Parsed,
    variables: Vec<Variable>,
    /// The heap, if the module calls `malloc`.
    heap: Option<Heap>,
}

/// A variable of the module.
struct Variable {
    name: String,
    allocation: Allocation,
    access: Access,
}

/// A kernel of a [`Module`].
#[derive(Clone, Copy, Debug)]
pub struct Kernel<'a> {
    name: &'a str,
    function: usize,
    parameters: &'a [Parameter],
    required_block: Option<[u32; 3]>,
    max_block: Option<[u32; 3]>,
    cluster: ast::Cluster,
    shared_bytes: u32,
    refused: Option<&'a LoadError>,
}

impl<'a> Kernel<'a> {
    /// Its name in the PTX.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Its index among the functions of the code.
    pub(crate) fn function(&self) -> usize {
        self.function
    }

    /// Its parameters, in order.
    pub fn parameters(&self) -> &'a [Parameter] {
        self.parameters
    }

    /// `.reqntid`: the only block that it may be launched with.
    pub fn required_block(&self) -> Option<[u32; 3]> {
        self.required_block
    }

    /// `.maxntid`, whose product is the most threads of a block.
    pub fn max_block(&self) -> Option<[u32; 3]> {
        self.max_block
    }

    /// `.reqnctapercluster`: the only cluster that it may be launched in.
    pub fn cluster(&self) -> Option<[u32; 3]> {
        self.cluster.required
    }

    /// Whether its grid counts clusters (`.blocksareclusters`). Such a kernel cannot be launched.
    pub fn counts_clusters(&self) -> bool {
        self.cluster.counts_grid
    }

    /// The reason that it cannot be launched: an instruction that the emulator does not have, in the kernel or in a
    /// function that it may call, or a variable that has no place. The error names the function and the line.
    pub fn refused(&self) -> Option<&'a LoadError> {
        self.refused
    }

    /// The static shared memory of a block, in bytes.
    pub fn shared_bytes(&self) -> u32 {
        self.shared_bytes
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("instructions", &self.code.instructions.len())
            .finish_non_exhaustive()
    }
}

impl Module {
    /// Parses and decodes a module, and allocates its variables. A kernel with an instruction that the emulator does
    /// not have is [refused](Kernel::refused); the others can be launched.
    ///
    /// # Errors
    /// A [`LoadError`] if the text is not PTX of 64-bit addresses, or the host has no memory for the heap.
    pub fn load(memory: &Memory, ptx: &str) -> Result<Module, LoadError> {
        Self::of(memory, &Parsed::new(ptx)?, None)
    }

    /// As [`Module::load`], of what has been parsed, for these kernels alone, or for all. Only they, and what they may
    /// call, are decoded; the other kernels are [refused](Kernel::refused). The variables are the module's own.
    ///
    /// # Errors
    /// A [`LoadError`] if the host has no memory for the heap.
    pub fn of(memory: &Memory, parsed: &Parsed, kernels: Option<&[&str]>) -> Result<Module, LoadError> {
        let module = parsed.module();
        let (variables, refused) = allocate(memory, module);
        let addresses = variables
            .iter()
            .map(|variable| (variable.name.clone(), variable.allocation.address()));
        let mut symbols = Symbols::new(module, addresses.collect(), refused);
        initialize(module, &variables, &mut symbols)?;
        let wanted = kernels.map(|kernels| parsed.reached(kernels));
        let is_wanted = |index: usize| wanted.as_ref().is_none_or(|wanted| wanted.contains(&index));
        let mut code = decode::decode(module, &symbols, is_wanted);
        code.constants = variables
            .iter()
            .filter(|variable| variable.access == Access::Read)
            .map(|variable| {
                variable.allocation.address()..variable.allocation.address() + variable.allocation.len() as u64
            })
            .collect();
        let allocates = module.functions.iter().any(|function| function.name == "malloc");
        let heap = allocates.then(|| Heap::new(memory)).transpose();
        Ok(Module {
            heap: heap.map_err(|error| at(0, error.to_string()))?,
            memory: memory.clone(),
            code,
            parsed: parsed.clone(),
            variables,
        })
    }

    /// All kernels, in no order.
    pub fn kernels(&self) -> impl Iterator<Item = Kernel<'_>> {
        self.parsed.kernels().keys().filter_map(|name| self.kernel(name))
    }

    /// The kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<Kernel<'_>> {
        let (name, data) = self.parsed.kernels().get_key_value(name)?;
        Some(Kernel {
            name,
            function: data.function,
            parameters: &data.parameters,
            required_block: data.required_block,
            max_block: data.max_block,
            cluster: data.cluster,
            shared_bytes: self.code.functions[data.function].shared,
            refused: self.code.functions[data.function].refused.as_deref(),
        })
    }

    /// The memory of a `.global` or `.const` variable.
    pub fn variable(&self, name: &str) -> Option<&Allocation> {
        self.variables
            .iter()
            .find(|variable| variable.name == name)
            .map(|variable| &variable.allocation)
    }

    pub(crate) fn heap(&self) -> Option<&Heap> {
        self.heap.as_ref()
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(crate) fn code(&self) -> &Code {
        &self.code
    }

    /// The memory and the access of every variable.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&Allocation, Access)> {
        self.variables
            .iter()
            .map(|variable| (&variable.allocation, variable.access))
    }
}

/// Allocates the `.global` and `.const` variables. Returns also those that have no place, each with the reason.
fn allocate(memory: &Memory, module: &ast::Module) -> (Vec<Variable>, HashMap<String, String>) {
    let (mut variables, mut refused) = (Vec::new(), HashMap::new());
    let defined: HashSet<&str> = module.variables().map(|variable| variable.name.as_str()).collect();
    for variable in module
        .variables
        .iter()
        .filter(|variable| matches!(variable.space, Space::Global | Space::Const))
    {
        let name = &variable.name;
        if variable.external {
            if !defined.contains(name.as_str()) {
                let reason = format!("`{name}` is external: linking is not supported");
                refused.insert(name.clone(), reason);
            }
            continue;
        }
        let len = usize::try_from(variable.size).unwrap_or(usize::MAX);
        let access = if variable.space == Space::Const {
            Access::Read
        } else {
            Access::ReadWrite
        };
        match memory.allocate(name, len) {
            Ok(allocation) => variables.push(Variable {
                name: name.clone(),
                allocation,
                access,
            }),
            Err(error) => drop(refused.insert(name.clone(), format!("`{name}` has no place: {error}"))),
        }
    }
    (variables, refused)
}

/// Writes the initial values, and the addresses in them. A variable that holds an address which is not known is
/// refused, and so are those that hold its address.
fn initialize(module: &ast::Module, variables: &[Variable], symbols: &mut Symbols) -> Result<(), LoadError> {
    let declared: HashMap<&str, &ast::Variable> = module
        .variables()
        .map(|variable| (variable.name.as_str(), variable))
        .collect();
    let declarations = variables
        .iter()
        .filter_map(|variable| Some((*declared.get(variable.name.as_str())?, variable)));
    let declarations: Vec<(&ast::Variable, &Variable)> = declarations.collect();
    loop {
        let mut changed = false;
        for (declaration, variable) in &declarations {
            let unknown = |symbol: &&String| symbols.address(symbol).is_none();
            let mut symbols_of = declaration.relocations.iter().map(|(_, symbol, _)| symbol);
            let missing = symbols_of.find(unknown).cloned();
            if let Some(symbol) = missing.filter(|_| symbols.address(&variable.name).is_some()) {
                let reason = format!(
                    "`{}` holds the address of `{symbol}`, which is not known",
                    variable.name
                );
                symbols.refuse(&variable.name, reason);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for (declaration, variable) in declarations {
        let failed = |message: String| at(declaration.line, message);
        let write = |offset: usize, bytes: &[u8]| {
            variable
                .allocation
                .write(offset, bytes)
                .map_err(|error| failed(error.to_string()))
        };
        write(0, &declaration.initial)?;
        for (offset, name, addend) in &declaration.relocations {
            if let Some(address) = symbols.address(name) {
                let offset = usize::try_from(*offset).unwrap_or(usize::MAX);
                write(offset, &address.wrapping_add_signed(*addend).to_le_bytes())?;
            }
        }
    }
    Ok(())
}
