//! PTX that has been parsed, of which modules are loaded.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use graph_ptx::ast;

use crate::fault::LoadError;

/// A PTX module that has been parsed. [`Module::of`](crate::Module::of) loads it, as often as wanted: each has
/// variables of its own. A clone is the same one.
#[derive(Clone)]
pub struct Parsed(Arc<Contents>);

struct Contents {
    module: ast::Module,
    kernels: HashMap<String, KernelData>,
    /// The functions that a function may call, both by their index among those with a body.
    callees: OnceLock<HashMap<usize, Vec<usize>>>,
}

/// A kernel parameter, as the PTX declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The size in bytes.
    pub size: usize,
    /// The alignment in bytes.
    pub align: usize,
}

/// A kernel's declaration.
pub(super) struct KernelData {
    /// The index among the functions of the code.
    pub(super) function: usize,
    pub(super) parameters: Vec<Parameter>,
    pub(super) required_block: Option<[u32; 3]>,
    pub(super) max_block: Option<[u32; 3]>,
    pub(super) cluster: ast::Cluster,
}

impl Parsed {
    /// Parses a module.
    ///
    /// # Errors
    /// A [`LoadError`] if the text is not PTX of 64-bit addresses.
    pub fn new(ptx: &str) -> Result<Parsed, LoadError> {
        let module = graph_ptx::parse(ptx).map_err(|error| at(error.line, error.message))?;
        if module.address_size != 64 {
            return Err(at(0, "only modules with `.address_size 64` are supported".to_owned()));
        }
        Ok(Parsed(Arc::new(Contents {
            kernels: kernels(&module),
            module,
            callees: OnceLock::new(),
        })))
    }

    pub(super) fn module(&self) -> &ast::Module {
        &self.0.module
    }

    pub(super) fn kernels(&self) -> &HashMap<String, KernelData> {
        &self.0.kernels
    }

    /// The kernels with these names, and all functions that they may call, by their index among those with a body.
    pub(super) fn reached(&self, kernels: &[&str]) -> HashSet<usize> {
        let callees = self.0.callees.get_or_init(|| callees(&self.0.module));
        let named = kernels.iter().filter_map(|name| self.0.kernels.get(*name));
        let mut left: Vec<usize> = named.map(|kernel| kernel.function).collect();
        let mut reached = HashSet::new();
        while let Some(function) = left.pop() {
            if reached.insert(function) {
                left.extend(callees.get(&function).into_iter().flatten());
            }
        }
        reached
    }
}

impl fmt::Debug for Parsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Parsed({} kernels)", self.0.kernels.len())
    }
}

/// The functions that each function may call, by their index among those with a body.
fn callees(module: &ast::Module) -> HashMap<usize, Vec<usize>> {
    let all = module.functions.iter().enumerate();
    let defined: Vec<usize> = all
        .filter(|(_, function)| function.body.is_some())
        .map(|(index, _)| index)
        .collect();
    let mut callees: HashMap<usize, Vec<usize>> = HashMap::new();
    for (called, callers) in graph_ptx::callers(module) {
        let Ok(called) = defined.binary_search(&called) else {
            continue;
        };
        for caller in callers.iter().filter_map(|caller| defined.binary_search(caller).ok()) {
            callees.entry(caller).or_default().push(called);
        }
    }
    callees
}

/// The error of a module, at a line or, if that is 0, at none.
pub(super) fn at(line: u32, message: String) -> LoadError {
    LoadError {
        function: None,
        line,
        message,
        instruction: None,
    }
}

fn kernels(module: &ast::Module) -> HashMap<String, KernelData> {
    let defined = module
        .functions
        .iter()
        .filter(|function| function.body.is_some())
        .enumerate();
    defined
        .filter(|(_, function)| function.entry)
        .map(|(index, function)| {
            let parameter = |param: &ast::Variable| Parameter {
                size: usize::try_from(param.size).unwrap_or(usize::MAX),
                align: param.align as usize,
            };
            let data = KernelData {
                function: index,
                parameters: function.params.iter().map(parameter).collect(),
                required_block: function.required_block,
                max_block: function.max_block,
                cluster: function.cluster,
            };
            (function.name.clone(), data)
        })
        .collect()
}
