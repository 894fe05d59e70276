//! Params that are whole arguments of kernels: their values go to the nodes as they are, without their declarations.

use crate::graph::Graph;
use crate::kernel::{ParamKind, Scalar};
use crate::program::{ChangedValue, Program};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
    of: Vec<Option<Box<[DirectUse]>>>,
}

/// An argument of a kernel node that is a param of the argument's own type.
#[derive(Debug)]
struct DirectUse {
    node: usize,
    /// The index in [`Program::arguments`].
    argument: usize,
    /// Whether contracts are as they were when the use was found: see [`Function::alike`](crate::program::Function).
    alike: Arc<AtomicBool>,
}

impl DirectUses {
    /// Requests that all nodes that mention a param get its value. Returns false if some node needs its declaration for
    /// that, since the kernel takes another type, which the value may not fit, or since a contract mentions it.
    #[inline]
    pub(in crate::graph) fn put(
        &mut self,
        graph: &Graph,
        values: &mut Vec<ChangedValue>,
        param: usize,
        DirectParam { uses, scalar, word }: DirectParam,
    ) -> bool {
        let uses = match self.of.get(param) {
            Some(Some(uses)) => Some(&**uses),
            Some(None) | None => self.find(graph, param, uses, scalar),
        };
        uses.is_some_and(|uses| uses.iter().all(|known| known.put(&graph.data.program, values, word)))
    }

    /// Finds the arguments that are a param. Returns `None` if some are of another type, or mentioned by a contract.
    #[cold]
    fn find(&mut self, graph: &Graph, param: usize, uses: &[(usize, usize)], scalar: Scalar) -> Option<&[DirectUse]> {
        let mut found = Vec::new();
        for &(declared, argument) in uses {
            match &graph.data.declared_nodes.own {
                None => found.push((declared, argument)),
                Some(nodes) => found.extend(nodes.each(declared).map(|(node, _)| (node, argument))),
            }
        }
        let uses = found
            .iter()
            .map(|&(node, argument)| DirectUse::of(&graph.data.program, node, argument, scalar));
        let uses = uses.collect::<Option<_>>()?;
        if self.of.len() <= param {
            self.of.resize_with(param + 1, || None);
        }
        Some(self.of[param].insert(uses))
    }
}

impl DirectUse {
    /// Requests that the argument gets this value. Returns false if it may need a check.
    #[inline]
    fn put(&self, program: &Program, values: &mut Vec<ChangedValue>, word: u64) -> bool {
        let Self { node, argument, .. } = *self;
        if !self.alike.load(Ordering::Relaxed) {
            return false;
        }
        if program.arguments[argument].word() != Some(word) {
            values.push(ChangedValue { node, argument, word });
        }
        true
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
            alike: function.alike.clone(),
        })
    }
}
