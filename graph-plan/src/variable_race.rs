//! Races on module-scope variables, which all kernels of one module share. The facts about two kernels decide.

use crate::parallel::concurrent;
use crate::text::same;
use crate::{Draft, KernelCode, Nest, Text};
use std::collections::HashMap;

/// The message about the race of two nodes that can run at the same time and launch the kernels `a` and `b`; `None` if
/// neither writes a module-scope variable that both touch.
pub const fn variable_race(first: &str, a: &KernelCode<'_>, second: &str, b: &KernelCode<'_>) -> Option<Text> {
    if !a.shares_module(b) {
        return None;
    }
    let mut index = 0;
    while index < a.variables.len() * b.variables.len() {
        let (name, mode) = a.variables[index / b.variables.len()];
        let (other, other_mode) = b.variables[index % b.variables.len()];
        index += 1;
        if same(name, other) && mode.conflicts(other_mode) {
            let of_one = same(first, second);
            let text = match of_one {
                true => Text::new()
                    .str("iterations of `")
                    .str(first)
                    .str("` can run at the same time and access `"),
                false => {
                    let text = Text::new().str("nodes `").str(first).str("` and `").str(second);
                    text.str("` can run at the same time and both access `")
                }
            };
            let text = text
                .str(name)
                .str("` [race]\nnote: `")
                .str(name)
                .str("` ")
                .str(VARIABLE);
            if of_one {
                let text = text
                    .str("\nhelp: order the iterations, for example by `after ")
                    .str(first);
                return Some(text.str("(i - 1)`, where `i` is the variable of the `each`"));
            }
            let text = text.str("\nhelp: add `").str(first).str("` to the `after` list of `");
            return Some(text.str(second).str("`"));
        }
    }
    None
}

/// The note on a variable that two nodes race on; its name comes before.
pub(crate) const VARIABLE: &str = "is a module-scope variable of their kernels, which all nodes of a graph share";

/// The pairs that [`variable_race`] must look at: for each two kernels, the first two nodes that launch them and can
/// run at the same time, or the first node whose iterations can. `launches` has nodes with the kernels that they
/// launch, in order; a pair has two indices into it, which are equal for iterations of one node.
pub fn unordered_launches(draft: &Draft, order: &Nest, launches: &[(usize, impl AsRef<str>)]) -> Vec<(usize, usize)> {
    let has_parallel = draft.loops.iter().any(|for_loop| for_loop.parallel);
    let concurrent = concurrent(draft, order);
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let launches = launches.iter().map(|(node, kernel)| {
        let next = numbers.len();
        (*node, *numbers.entry(kernel.as_ref()).or_insert(next))
    });
    let launches: Vec<(usize, usize)> = launches.collect();
    // By kernels rather than by nodes: large graphs launch few kernels many times.
    let mut known = vec![vec![false; numbers.len()]; numbers.len()];
    let mut found = Vec::new();
    for (second, &(node, kernel)) in launches.iter().enumerate() {
        let known = &mut known[kernel];
        if known.iter().all(|known| *known) {
            continue;
        }
        let earlier = second + usize::from(has_parallel);
        for (first, &(other, other_kernel)) in launches[..earlier].iter().enumerate() {
            if !known[other_kernel] && concurrent(other, node) {
                known[other_kernel] = true;
                found.push((first, second));
            }
        }
    }
    found
}
