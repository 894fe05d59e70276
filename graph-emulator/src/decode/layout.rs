//! The places of a module's variables and functions.

use std::collections::HashMap;

use graph_ptx::ast::{self, Space};

use crate::code::{Builtin, FUNCTION_BASE, MAX_SHARED};
use crate::fault::LoadError;

/// The place of a named variable or function.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// An address in global memory (`.global` and `.const`).
    Global(u64),
    /// An offset in the block's shared memory.
    Shared(u32),
    /// The dynamic shared memory.
    DynamicShared,
    /// An offset in the frame's local memory: `.local` and `.param` variables, parameters of functions.
    Frame(u32),
    /// An offset in the kernel's parameters.
    Parameter(u32),
    /// A function with a body.
    Function(u32),
    Builtin(Builtin),
}

/// The names of a module.
#[derive(Default)]
pub(crate) struct Symbols {
    places: HashMap<String, Place>,
    /// Bytes of shared memory that variables of the module and of functions take. The variables of kernels follow.
    pub(super) shared: u32,
    function_shared: HashMap<String, HashMap<String, u32>>,
}

impl Symbols {
    /// Places all variables and functions; the addresses of global and constant variables are given.
    pub(crate) fn new(module: &ast::Module, addresses: HashMap<String, u64>) -> Result<Symbols, LoadError> {
        let mut symbols = Symbols::default();
        symbols.places.extend(
            addresses
                .into_iter()
                .map(|(name, address)| (name, Place::Global(address))),
        );
        for variable in module
            .variables
            .iter()
            .filter(|variable| variable.space == Space::Shared)
        {
            let place = match variable.size {
                0 => Place::DynamicShared,
                _ => Place::Shared(allocate(&mut symbols.shared, variable)?),
            };
            symbols.places.insert(variable.name.clone(), place);
        }
        symbols.place_functions(module)?;
        Ok(symbols)
    }

    fn place_functions(&mut self, module: &ast::Module) -> Result<(), LoadError> {
        let mut index = 0;
        for function in &module.functions {
            let Some(body) = &function.body else {
                let builtin = match function.name.as_str() {
                    "vprintf" => Builtin::Vprintf,
                    "__assertfail" => Builtin::AssertFail,
                    "malloc" => Builtin::Malloc,
                    "free" => Builtin::Free,
                    "cudaGraphSetConditional" => Builtin::SetConditional,
                    _ => continue,
                };
                self.places
                    .entry(function.name.clone())
                    .or_insert(Place::Builtin(builtin));
                continue;
            };
            self.places.insert(function.name.clone(), Place::Function(index));
            index += 1;
            if !function.entry {
                let shared = body.variables.iter().filter(|variable| variable.space == Space::Shared);
                let mut offsets = HashMap::new();
                for variable in shared.filter(|variable| variable.size != 0) {
                    offsets.insert(variable.name.clone(), allocate(&mut self.shared, variable)?);
                }
                self.function_shared.insert(function.name.clone(), offsets);
            }
        }
        Ok(())
    }

    /// The place of a name of the module.
    pub(crate) fn find(&self, name: &str) -> Option<Place> {
        self.places.get(name).copied()
    }

    /// The offset of a shared variable that belongs to a function.
    pub(super) fn find_shared(&self, function: &str, name: &str) -> Option<u32> {
        self.function_shared.get(function)?.get(name).copied()
    }

    /// The address that a name stands for in an initialiser or `mov`.
    pub(crate) fn address(&self, name: &str) -> Option<u64> {
        match self.find(name)? {
            Place::Global(address) => Some(address),
            Place::Function(index) => Some(FUNCTION_BASE + 16 * u64::from(index)),
            Place::Shared(_) | Place::DynamicShared | Place::Frame(_) | Place::Parameter(_) | Place::Builtin(_) => None,
        }
    }
}

/// Takes the next aligned place for a variable.
pub(super) fn place(end: &mut u32, variable: &ast::Variable, least_align: u32) -> Result<u32, String> {
    let too_large = || format!("`{}` is too large", variable.name);
    let align = variable.align.max(least_align).max(1);
    let start = end.checked_next_multiple_of(align).ok_or_else(too_large)?;
    let size = u32::try_from(variable.size).map_err(|_| too_large())?;
    *end = start
        .checked_add(size)
        .filter(|&end| end <= MAX_SHARED)
        .ok_or_else(too_large)?;
    Ok(start)
}

fn allocate(end: &mut u32, variable: &ast::Variable) -> Result<u32, LoadError> {
    place(end, variable, 4).map_err(|message| LoadError {
        function: None,
        line: variable.line,
        message,
        instruction: None,
    })
}
