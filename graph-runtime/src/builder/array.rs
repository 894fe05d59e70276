//! CUDA arrays: memory of texels, of which only the GPU knows how they lie.

use super::GraphBuilder;
use crate::error::mistakes;
use crate::kernel::texels::ArrayUse;
use crate::kernel::{ArgumentKind, CallArgument, KernelFacts};
use crate::shape::Element;
use crate::shape::place::{OnArray, Place};
use crate::shape::rows::Tabular;
use crate::shape::size::Size;
use crate::shape::table::Table;
use graph_plan::Memory;
use std::borrow::Cow;

impl GraphBuilder {
    /// Declares a CUDA array of shape `S`, which the graph owns. It is zeroed when the graph is built, and kept between
    /// launches. It has no address: kernels take it as [`Texel`](crate::Texel)s or [`Surfel`](crate::Surfel)s, and
    /// [`GraphBuilder::memcpy`] copies all of it from and to other memory. Nodes of other kinds cannot take it.
    ///
    /// The kernels that take it say the type of its texels and its dimensions. `build` fails if two of them differ, or
    /// if there is none.
    pub fn array<S: Element>(&mut self, name: impl Into<Cow<'static, str>>) -> Place<S, OnArray> {
        self.declare(name, Memory::Array, Size::fixed())
    }

    /// Declares a CUDA array of `len` elements. As [`GraphBuilder::array`], with a length that is known at run time.
    pub fn array_slice<T: Element>(&mut self, name: impl Into<Cow<'static, str>>, len: usize) -> Place<[T], OnArray> {
        self.declare(name, Memory::Array, Size::slice(len))
    }

    /// Declares a CUDA array of two to four dimensions. As [`GraphBuilder::array`]; `lengths` begin with the outermost
    /// dimension and count elements: see [`Table`].
    pub fn array_table<T: Element, const D: usize>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        lengths: [usize; D],
    ) -> Place<Table<T, D>, OnArray>
    where
        Table<T, D>: Tabular,
    {
        self.declare(name, Memory::Array, Size::table(lengths))
    }

    /// Reports memory among the arguments that cannot be what the kernel takes: a texture, a surface, or an address.
    pub(super) fn check_texels(&mut self, node: usize, facts: &KernelFacts, arguments: &[CallArgument]) {
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
