//! The params of a graph that was declared call by call: their values, and the nodes that were given them.

use crate::kernel::{ArgumentKind, KernelFacts, Value};
use std::any::TypeId;
use std::borrow::Cow;

/// A param of a graph.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredParam {
    pub(crate) name: Cow<'static, str>,
    pub(crate) ty: TypeId,
    pub(crate) type_name: &'static str,
    /// The value that it has: the nodes that use it run with it.
    pub(crate) value: Value,
    pub(crate) uses: Vec<ParamUse>,
}

impl DeclaredParam {
    /// Whether both have one name and one type.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        (&self.name, self.ty) == (&other.name, other.ty)
    }
}

/// A node that was given a param.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParamUse {
    pub(crate) node: usize,
    /// The argument of a kernel that is the param, and the facts of the kernel by the declaration that was called,
    /// whose contracts a value must satisfy. `None` for the value of a memset.
    pub(crate) argument: Option<(usize, &'static KernelFacts)>,
    /// Makes the argument of the bytes of a value of the param.
    pub(crate) make: fn(&Value) -> ArgumentKind,
}
