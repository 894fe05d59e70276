//! Memory that kernels take as texels: the checks of arguments that are textures, surfaces or arrays.

use super::GraphBuilder;
use crate::error::mistakes;
use crate::kernel::texels::ArrayUse;
use crate::kernel::{ArgumentKind, CallArgument, KernelFacts};
use graph_plan::Memory;

impl GraphBuilder {
    /// Reports memory among the arguments that cannot be what the kernel takes: a texture, a surface, or an address.
    #[inline]
    pub(super) fn check_texels(&mut self, node: usize, facts: &KernelFacts, arguments: &[CallArgument]) {
        let is_array = |CallArgument(argument): &CallArgument| match argument {
            ArgumentKind::Buffer(span, _) => self.draft.resources[span.resource].memory == Memory::Array,
            ArgumentKind::Value(_) | ArgumentKind::Misfit(_) | ArgumentKind::Param(_) => false,
        };
        if facts.takes_texels() || arguments.iter().any(is_array) {
            self.check_texels_of(node, facts, arguments);
        }
    }

    fn check_texels_of(&mut self, node: usize, facts: &KernelFacts, arguments: &[CallArgument]) {
        for (param, argument) in arguments.iter().enumerate() {
            let CallArgument(ArgumentKind::Buffer(span, _)) = argument else {
                continue;
            };
            let (memory, node_name) = (&self.draft.resources[span.resource], &self.draft.nodes[node].name);
            let mistake = |misfit: &str| mistakes::texels(node, node_name, &memory.name, misfit);
            let no_array = || {
                mistake("is no `array`")
                    .note("only `tex1Dfetch` and `tex2D` read memory that is no `array`")
                    .help(format!("declare it `array {}: ..;`", memory.name))
            };
            let found = match (
                facts.texture(param),
                facts.surface(param),
                memory.memory == Memory::Array,
            ) {
                (None, None, false) => None,
                (None, None, true) => Some(mistakes::no_address(node, node_name, &memory.name)),
                (Some(texture), _, is_array) => match (texture.mistake(), texture.array, is_array) {
                    (Some((reason, help)), ..) => Some(mistake(&format!("has no such texture: {reason}")).help(help)),
                    (None, Some(false), true) => {
                        let help = format!("read it by `tex1D`, or declare it `device {}: ..;`", memory.name);
                        Some(mistake("is an `array`, which `tex1Dfetch` cannot read").help(help))
                    }
                    (None, Some(true) | None, true) => {
                        let misfit = texture.texels.misfit(span.bytes, texture.array_use());
                        misfit.map(|misfit| mistake(&misfit))
                    }
                    (None, Some(true), false) => Some(no_array()),
                    (None, Some(false) | None, false) => {
                        let misfit = texture.misfit(span.start, span.bytes);
                        misfit.map(|misfit| mistake(&misfit).note(ALIGNED))
                    }
                },
                (None, Some(surface), true) => {
                    let misfit = surface.texels.misfit(span.bytes, ArrayUse::Surface);
                    misfit.map(|misfit| mistake(&misfit))
                }
                (None, Some(_), false) => Some(no_array()),
            };
            if let Some(mistake) = found {
                self.findings.mistake(mistake);
            }
        }
    }
}

/// The rule about memory that is read through a texture and is no array.
const ALIGNED: &str =
    "CUDA's textures of memory begin at multiples of 512 bytes, and their rows have multiples of 32 bytes";
