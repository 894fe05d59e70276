//! The functions that may call a function, as far as the code and the initial values of variables say.

use std::collections::{HashMap, HashSet};

use crate::ast::{Base, Body, Module, Operand, each_leaf};

/// Returns the functions that name a function, themselves or by a variable that holds its address, all by their index
/// in [`Module::functions`].
pub fn callers(module: &Module) -> HashMap<usize, Vec<usize>> {
    let functions = || module.functions.iter().enumerate();
    let defined = functions().filter(|(_, function)| function.body.is_some());
    let indices: HashMap<&str, usize> = defined
        .map(|(index, function)| (function.name.as_str(), index))
        .collect();
    let aliases = module.aliases.iter();
    let aliases: HashMap<&str, &str> = aliases.map(|(name, function)| (&**name, &**function)).collect();
    let holders = module
        .variables
        .iter()
        .filter(|variable| !variable.relocations.is_empty());
    let held: HashMap<&str, Vec<&str>> = holders
        .map(|variable| {
            let symbols = variable.relocations.iter().map(|(_, symbol, _)| symbol.as_str());
            (variable.name.as_str(), symbols.collect())
        })
        .collect();
    let mut callers: HashMap<usize, Vec<usize>> = HashMap::new();
    for (caller, body) in functions().filter_map(|(index, function)| Some((index, function.code()?))) {
        let mut named = names(body);
        let mut seen = HashSet::new();
        while let Some(name) = named.pop() {
            if seen.insert(name) {
                named.extend(held.get(name).into_iter().flatten());
                named.extend(aliases.get(name));
                if let Some(&called) = indices.get(name) {
                    callers.entry(called).or_default().push(caller);
                }
            }
        }
    }
    callers
}

/// The symbols that code names.
fn names(body: &Body) -> Vec<&str> {
    let mut named: Vec<&str> = body
        .target_lists
        .iter()
        .flat_map(|(_, list)| list)
        .map(String::as_str)
        .collect();
    for instruction in &body.instructions {
        each_leaf(&instruction.operands, &mut |leaf| {
            if let Operand::Symbol(name, _) | Operand::Address(Base::Symbol(name), _) = leaf {
                named.push(name);
            }
        });
    }
    named
}
