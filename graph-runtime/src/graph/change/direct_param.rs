//! Params that are whole arguments of kernels: their values go to the nodes as they are, without their declarations.

use crate::graph::GraphData;
use crate::kernel::{ParamKind, Scalar};
use crate::program::{ChangedValue, Program};
use std::any::Any;

/// A param that is a by-value argument of kernels wherever its graph mentions it, and its value.
#[derive(Debug)]
pub struct DirectParam {
    /// The declarations of the nodes, and the index of the argument.
    uses: &'static [(usize, usize)],
    scalar: Scalar,
    /// The value as in [`Value::word`](crate::kernel::Value::word).
    word: u64,
}

/// A param with this value and these uses, by the indices of declarations and of arguments. `None` if its type is not a
/// number of a type that kernels have, too.
#[inline]
pub fn direct_param<T: 'static>(uses: &'static [(usize, usize)], value: &T) -> Option<DirectParam> {
    let value: &dyn Any = value;
    macro_rules! scalars {
        ($($ty:ty: $scalar:ident)*) => {$(
            if let Some(value) = value.downcast_ref::<$ty>() {
                let mut word = [0; 8];
                word[..size_of::<$ty>()].copy_from_slice(&value.to_ne_bytes());
                return Some(DirectParam { uses, scalar: Scalar::$scalar, word: u64::from_ne_bytes(word) });
            }
        )*};
    }
    scalars!(u8: U8 u16: U16 u32: U32 u64: U64 i8: I8 i16: I16 i32: I32 i64: I64 f32: F32 f64: F64);
    None
}

/// The arguments that are whole params, by param, as far as edits of a graph have found them. They stay in that graph,
/// and no other one uses them.
#[derive(Debug, Default)]
pub(crate) struct DirectUses {
    of: Vec<Option<FoundUses>>,
    /// The number of edits that have ended.
    ended: u64,
}

/// The uses of one param.
#[derive(Debug)]
struct FoundUses {
    uses: Box<[DirectUse]>,
    /// The number of edits that had ended, and one more, when the value was requested last.
    requested: u64,
}

/// An argument of a kernel node that is a param of the argument's own type.
#[derive(Debug)]
struct DirectUse {
    node: usize,
    /// The index in [`Program::arguments`].
    argument: usize,
}

impl DirectUses {
    /// As [`DirectUses::put`], for a param with one use that is set for the first time in an edit. Returns false for
    /// others, or if `values` is full. So this calls no other function, and needs no stack.
    #[inline]
    pub(in crate::graph) fn put_first(
        &mut self,
        program: &Program,
        values: &mut Vec<ChangedValue>,
        param: usize,
        direct: &DirectParam,
    ) -> bool {
        if let Some(Some(found)) = self.of.get_mut(param)
            && let [only] = &*found.uses
            && found.requested <= self.ended
            && values.len() < values.capacity()
        {
            found.requested = self.ended + 1;
            only.put(program, values, direct.word);
            return true;
        }
        false
    }

    /// Requests that all nodes that mention a param get its value. Returns false if its uses have not been found, or if
    /// some node needs its declaration for that.
    pub(in crate::graph) fn put(
        &mut self,
        program: &Program,
        values: &mut Vec<ChangedValue>,
        param: usize,
        direct: &DirectParam,
    ) -> bool {
        let Some(Some(found)) = self.of.get_mut(param) else {
            return false;
        };
        let again = std::mem::replace(&mut found.requested, self.ended + 1) > self.ended;
        for known in &found.uses {
            let mut earlier = values.iter_mut().filter(|_| again).rev();
            match earlier.find(|earlier| earlier.argument == known.argument) {
                Some(earlier) => earlier.word = direct.word,
                None => known.put(program, values, direct.word),
            }
        }
        true
    }

    /// Notes that an edit has ended, whose values were made.
    #[inline]
    pub(in crate::graph) fn end_edit(&mut self) {
        self.ended += 1;
    }

    /// Finds the arguments that are a param, unless some are of another type, which the value may not fit, or are
    /// mentioned by a contract.
    pub(in crate::graph) fn find(&mut self, data: &GraphData, param: usize, direct: &DirectParam) {
        if let Some(Some(_)) = self.of.get(param) {
            return;
        }
        let mut found = Vec::new();
        for &(declared, argument) in direct.uses {
            match &data.declared_nodes.own {
                None => found.push((declared, argument)),
                Some(nodes) => found.extend(nodes.each(declared).map(|(node, _)| (node, argument))),
            }
        }
        let uses = found
            .iter()
            .map(|&(node, argument)| DirectUse::of(&data.program, node, argument, direct.scalar));
        if self.of.len() <= param {
            self.of.resize_with(param + 1, || None);
        }
        let uses: Option<Box<[DirectUse]>> = uses.collect();
        self.of[param] = uses.map(|uses| FoundUses { uses, requested: 0 });
    }
}

impl DirectUse {
    /// Requests that the argument gets this value, unless it has it.
    #[inline]
    fn put(&self, program: &Program, values: &mut Vec<ChangedValue>, word: u64) {
        let Self { node, argument, .. } = *self;
        if program.arguments[argument].word() != Some(word) {
            values.push(ChangedValue { node, argument, word });
        }
    }

    /// The use of a param as an argument of a node; `None` if the kernel's parameter is of another type than `scalar`,
    /// or if a contract mentions it.
    fn of(program: &Program, node: usize, param: usize, scalar: Scalar) -> Option<Self> {
        let kernel = program.ops.get(node)?.kernel()?;
        let function = &program.functions[kernel.function as usize];
        let kind = function.facts.params.get(param)?.kind;
        (function.is_free(param) && kind == ParamKind::Value(scalar)).then(|| Self {
            node,
            argument: kernel.arguments.start as usize + param,
        })
    }
}
