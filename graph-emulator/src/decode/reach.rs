//! The functions that may call a refused one.

use std::sync::Arc;

use graph_ptx::{ast, callers};

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
    let all = module.functions.iter().enumerate();
    let defined: Vec<usize> = all
        .filter(|(_, function)| function.body.is_some())
        .map(|(index, _)| index)
        .collect();
    let callers = callers(module);
    let mut calls = Vec::new();
    while let Some(called) = left.pop() {
        let Some(reason) = reasons[called].clone() else {
            continue;
        };
        for caller in callers.get(&defined[called]).into_iter().flatten() {
            let Ok(caller) = defined.binary_search(caller) else {
                continue;
            };
            if reasons[caller].is_none() {
                reasons[caller] = Some(reason.clone());
                calls.push((caller, reason.clone()));
                left.push(caller);
            }
        }
    }
    calls
}
