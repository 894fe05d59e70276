//! The places of a module's variables and functions.

use std::collections::HashMap;

use graph_ptx::ast::{self, Space};

use crate::code::{Builtin, FUNCTION_BASE, MAX_SHARED};

/// The place of a named variable or function.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// An address in global memory (`.global` and `.const`).
    Global(u64),
    /// An offset in the block's shared memory.
    Shared(u32),
    /// The dynamic shared memory.
    DynamicShared,
    /// An offset in the local memory, whatever the frame: `.local` variables of the module.
    Local(u32),
    /// An offset in the frame's local memory: `.local` and `.param` variables, parameters of functions.
    Frame(u32),
    /// An offset in the kernel's parameters.
    Parameter(u32),
    /// A function with a body.
    Function(u32),
    Builtin(Builtin),
}

/// The names of a module.
pub(crate) struct Symbols {
    places: HashMap<String, Place>,
    /// The variables and functions that cannot be used, each with the reason.
    refused: HashMap<String, String>,
    /// Bytes of shared memory that variables of the module and of functions take. The variables of kernels follow.
    pub(super) shared: u32,
    /// The end of the module's local variables. The frames of kernels follow.
    pub(super) local: u32,
    function_shared: HashMap<String, HashMap<String, u32>>,
}

impl Symbols {
    /// Places all variables and functions; the addresses of global and constant variables are given, or the reasons
    /// that there are none.
    pub(crate) fn new(
        module: &ast::Module,
        addresses: HashMap<String, u64>,
        refused: HashMap<String, String>,
    ) -> Symbols {
        let places = addresses.into_iter();
        let mut symbols = Symbols {
            places: places.map(|(name, address)| (name, Place::Global(address))).collect(),
            refused,
            shared: 0,
            // Address zero is left out: it would look like a null pointer.
            local: 16,
            function_shared: HashMap::new(),
        };
        for variable in &module.variables {
            let placed = match variable.space {
                Space::Shared if variable.size == 0 => Ok(Place::DynamicShared),
                Space::Shared => place(&mut symbols.shared, variable, 4).map(Place::Shared),
                Space::Local => place(&mut symbols.local, variable, 4).map(Place::Local),
                Space::Global | Space::Const => continue,
                Space::Param | Space::Reg => Err(format!("`{}` cannot be a variable of the module", variable.name)),
            };
            match placed {
                Ok(place) => drop(symbols.places.insert(variable.name.clone(), place)),
                Err(reason) => symbols.refuse(&variable.name, reason),
            }
        }
        symbols.place_functions(module);
        symbols
    }

    /// Notes that code which names this variable or function cannot run.
    pub(crate) fn refuse(&mut self, name: &str, reason: String) {
        self.places.remove(name);
        self.refused.insert(name.to_owned(), reason);
    }

    /// The reason that a variable or function cannot be used.
    pub(super) fn refusal(&self, name: &str) -> Option<&str> {
        self.refused.get(name).map(String::as_str)
    }

    fn place_functions(&mut self, module: &ast::Module) {
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
                let variables = body.iter().flat_map(|body| &body.variables);
                let shared = variables.filter(|variable| variable.space == Space::Shared);
                let mut offsets = HashMap::new();
                for variable in shared.filter(|variable| variable.size != 0) {
                    match place(&mut self.shared, variable, 4) {
                        Ok(offset) => drop(offsets.insert(variable.name.clone(), offset)),
                        Err(reason) => drop(self.refused.insert(function.name.clone(), reason)),
                    }
                }
                self.function_shared.insert(function.name.clone(), offsets);
            }
        }
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
            Place::Shared(_)
            | Place::DynamicShared
            | Place::Local(_)
            | Place::Frame(_)
            | Place::Parameter(_)
            | Place::Builtin(_) => None,
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
