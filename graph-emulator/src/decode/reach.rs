//! The functions that a function may call, as far as the code and the initial values of variables say.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use graph_ptx::ast::{self, Base, Operand};

use crate::code::Function;
use crate::fault::LoadError;

/// The functions that may call a refused one, by index, each with the reason of that one. `functions` are the functions
/// of the module that have a body, in order.
pub(super) fn refused_calls(module: &ast::Module, functions: &[Function]) -> Vec<(usize, Arc<LoadError>)> {
    let mut left: Vec<usize> = (0..functions.len())
        .filter(|&index| functions[index].refused.is_some())
        .collect();
    if left.is_empty() {
        return Vec::new();
    }
    let mut reasons: Vec<Option<Arc<LoadError>>> = functions.iter().map(|function| function.refused.clone()).collect();
    let users = users(module);
    let mut calls = Vec::new();
    while let Some(called) = left.pop() {
        let Some(reason) = reasons[called].clone() else {
            continue;
        };
        for &caller in users.get(&called).into_iter().flatten() {
            if reasons[caller].is_none() {
                reasons[caller] = Some(reason.clone());
                calls.push((caller, reason.clone()));
                left.push(caller);
            }
        }
    }
    calls
}

/// For each function that has a body, the functions that name it, themselves or by a variable that holds its address.
fn users(module: &ast::Module) -> HashMap<usize, Vec<usize>> {
    let defined = || module.functions.iter().filter(|function| function.body.is_some());
    let indices: HashMap<&str, usize> = defined()
        .enumerate()
        .map(|(index, function)| (function.name.as_str(), index))
        .collect();
    let held: HashMap<&str, Vec<&str>> = module
        .variables
        .iter()
        .filter(|variable| !variable.relocations.is_empty())
        .map(|variable| {
            let symbols = variable.relocations.iter().map(|(_, symbol, _)| symbol.as_str());
            (variable.name.as_str(), symbols.collect())
        })
        .collect();
    let mut users: HashMap<usize, Vec<usize>> = HashMap::new();
    for (caller, body) in defined().filter_map(|function| function.body.as_ref()).enumerate() {
        let mut named = Vec::new();
        for instruction in &body.instructions {
            instruction
                .operands
                .iter()
                .for_each(|operand| names(operand, &mut named));
        }
        named.extend(body.target_lists.iter().flat_map(|(_, list)| list).map(String::as_str));
        let mut seen = HashSet::new();
        while let Some(name) = named.pop() {
            if seen.insert(name) {
                named.extend(held.get(name).into_iter().flatten());
                if let Some(&called) = indices.get(name) {
                    users.entry(called).or_default().push(caller);
                }
            }
        }
    }
    users
}

/// The symbols of an operand.
fn names<'a>(operand: &'a Operand, named: &mut Vec<&'a str>) {
    match operand {
        Operand::Symbol(name, _) | Operand::Address(Base::Symbol(name), _) => named.push(name),
        Operand::Vector(parts) => parts.iter().for_each(|part| names(part, named)),
        Operand::Pair(first, second) => {
            names(first, named);
            names(second, named);
        }
        Operand::Register(_)
        | Operand::Part(..)
        | Operand::NotPredicate(_)
        | Operand::Special(_)
        | Operand::Integer(_)
        | Operand::F32(_)
        | Operand::F64(_)
        | Operand::Address(Base::Register(_) | Base::Absolute, _)
        | Operand::Label(_)
        | Operand::Discard => {}
    }
}
