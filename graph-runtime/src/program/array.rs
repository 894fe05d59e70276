//! The arrays of a graph, as the kernels take them.

use crate::error::mistakes;
use crate::kernel::texels::{ArrayUse, Texels};
use crate::program::{Argument, MemcpyOp, Program, Work};
use graph_plan::{Diagnostic, Draft, Memory};

/// A CUDA array of a graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrayForm {
    pub(crate) texels: Texels,
    /// Whether a kernel takes it as a surface.
    pub(crate) surface: bool,
    /// Whether `tex2Dgather` reads it.
    pub(crate) gathered: bool,
}

/// The form of each resource that is an array, and the mistakes of arrays that have none.
pub(crate) fn forms(draft: &Draft, program: &Program) -> (Vec<Option<ArrayForm>>, Vec<Diagnostic>) {
    let mut found: Vec<Option<(ArrayForm, usize)>> = vec![None; draft.resources.len()];
    let mut mistaken = Vec::new();
    if !draft.has(Memory::Array) {
        return (Vec::new(), mistaken);
    }
    for (node, op) in program.ops.iter().enumerate() {
        let Some(kernel) = op.kernel() else { continue };
        let facts = program.functions[kernel.function as usize].facts;
        for (param, argument) in program.arguments(kernel).iter().enumerate() {
            let Argument::Buffer { resource, .. } = argument else {
                continue;
            };
            let resource = *resource as usize;
            let Some(&texels) = facts
                .texels(param)
                .filter(|_| draft.resources[resource].memory == Memory::Array)
            else {
                continue; // `build` has reported arrays that a kernel takes by address
            };
            let surface = facts.surface(param).is_some();
            let texture = facts.texture(param);
            let gathered = texture.is_some_and(|texture| texture.array_use() == ArrayUse::Gather);
            match &mut found[resource] {
                Some((form, _)) if form.texels == texels => {
                    form.surface |= surface;
                    form.gathered |= gathered;
                }
                Some((_, first)) => {
                    let names = [*first, node].map(|node| &*draft.nodes[node].name);
                    mistaken.push(mistakes::other_texels(resource, &draft.resources[resource].name, names));
                }
                none => {
                    let form = ArrayForm {
                        texels,
                        surface,
                        gathered,
                    };
                    *none = Some((form, node));
                }
            }
        }
    }
    for (resource, declared) in draft.resources.iter().enumerate() {
        if declared.memory == Memory::Array && found[resource].is_none() {
            mistaken.push(mistakes::no_texels(resource, &declared.name));
        }
    }
    for (node, op) in program.ops.iter().enumerate() {
        let Some(Work::Memcpy(MemcpyOp { from, to })) = op.work() else {
            continue;
        };
        let sides = [from, to].map(|side| side.part().resource as usize);
        if let [Some((one, _)), Some((other, _))] = sides.map(|side| &found[side])
            && one.texels != other.texels
        {
            let names = sides.map(|side| &*draft.resources[side].name);
            mistaken.push(mistakes::copied_texels(node, &draft.nodes[node].name, names));
        }
    }
    (
        found.into_iter().map(|found| found.map(|(form, _)| form)).collect(),
        mistaken,
    )
}
