//! Params of graphs that are declared call by call: handles, and the arguments that are params.

use crate::kernel::{ArgumentKind, CallArgument, Callee, KernelCall, Value};
use crate::shape::Element;
use graph_plan::{ParamKind, Scalar, nearest};
use graph_ptx::declaration::{Mistake, Place, Rule};
use std::any::TypeId;
use std::borrow::Cow;
use std::sync::Arc;

/// A value that can change between launches: [`GraphBuilder::param`](crate::GraphBuilder::param) declares it, and
/// [`Graph::set`](crate::Graph::set) gives it another value, in all nodes that were given it.
#[derive(Clone, Debug)]
pub struct Param<T> {
    /// The id of the builder that declared it.
    pub(crate) graph: u64,
    /// The index among the builder's params.
    pub(crate) index: usize,
    pub(crate) name: Cow<'static, str>,
    value: T,
}

impl<T: Element> Param<T> {
    /// The param with this index of a builder.
    pub(crate) fn of(graph: u64, index: usize, name: Cow<'static, str>, value: T) -> Self {
        Self {
            graph,
            index,
            name,
            value,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value with which it was declared. [`Graph::get`](crate::Graph::get) returns the one that it has in a graph.
    pub fn initial(&self) -> T {
        self.value
    }

    /// The param as an argument of `size` bytes, which `argument` makes of the bytes of a value of the param.
    pub(crate) fn passed(&self, size: usize, argument: fn(&Value) -> ArgumentKind) -> PassedParam {
        PassedParam {
            graph: self.graph,
            index: self.index,
            name: self.name.clone(),
            size,
            argument,
        }
    }

    /// The param as an argument of its own type.
    pub(crate) fn whole(&self) -> PassedParam {
        self.passed(size_of::<T>(), |value| ArgumentKind::Value(value.clone()))
    }
}

/// An argument, or the value of a memset, that is a param.
#[derive(Clone, Debug)]
pub(crate) struct PassedParam {
    /// The id of the builder that declared the param.
    pub(crate) graph: u64,
    /// The index among the builder's params.
    pub(crate) index: usize,
    pub(crate) name: Cow<'static, str>,
    /// The number of bytes of the argument.
    pub(crate) size: usize,
    /// Makes the argument of the bytes of a value of the param.
    pub(crate) argument: fn(&Value) -> ArgumentKind,
}

/// A param as an argument by position, of its own type.
impl<T: Element> From<&Param<T>> for CallArgument {
    fn from(param: &Param<T>) -> Self {
        Self(ArgumentKind::Param(Box::new(param.whole())))
    }
}

impl<T: Element> From<Param<T>> for CallArgument {
    fn from(param: Param<T>) -> Self {
        Self::from(&param)
    }
}

/// The type of a kernel's by-value parameter that takes a `T` as it is.
fn scalar<T: 'static>() -> Scalar {
    macro_rules! scalars {
        ($($ty:ty: $scalar:ident)*) => {$(
            if TypeId::of::<T>() == TypeId::of::<$ty>() {
                return Scalar::$scalar;
            }
        )*};
    }
    scalars!(u8: U8 u16: U16 u32: U32 u64: U64 i8: I8 i16: I16 i32: I32 i64: I64 f32: F32 f64: F64);
    Scalar::Other
}

impl<const N: usize> KernelCall<N> {
    /// Passes a param for the by-value parameter `parameter` of a declared kernel, instead of the value in the call:
    /// [`Graph::set`](crate::Graph::set) changes that then. The param has the parameter's type. (Integers need no such
    /// call: a parameter that is an integer takes a `&Param` of any integer in the place of a value.)
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder, Launch, cuda_kernels};
    ///
    /// #[cuda_kernels("../docs/kernels/samples.ptx")] // relative to the crate's manifest
    /// unsafe extern "C" {
    ///     /// `data[i] *= factor`, for the first `n`
    ///     #[requires(n <= data.len())]
    ///     safe fn scaled(data: &mut [f32], factor: f32, n: u32);
    /// }
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Scale");
    /// let mut data = builder.device::<[f32; 64]>("data");
    /// let rate = builder.param("rate", 2.0_f32);
    /// let call = scaled::call(&mut data, rate.initial(), 64).with_param("factor", &rate);
    /// builder.kernel("scale", Launch::new(1, 64), call);
    /// let mut graph = builder.build()?;
    /// graph.device_mut(&data)?.copy_from(&[1.0; 64])?;
    /// graph.set(&rate, 3.0)?;
    /// graph.launch()?;
    /// assert_eq!(*graph.device(&data)?.read()?, [3.0; 64]);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// The graph or the update that takes the call reports a parameter that does not exist or has another type
    /// (`signature`), and a kernel that is not declared `safe`, whose author has promised nothing about other values.
    #[must_use]
    pub fn with_param<T: Element>(mut self, parameter: &str, param: &Param<T>) -> Self {
        if let Callee::Refused(_) = self.callee {
            return self;
        }
        match self.parameter::<T>(parameter, &param.name) {
            Ok(index) => self.arguments[index] = param.into(),
            Err(mistake) => self.callee = Callee::Refused(Arc::new([mistake])),
        }
        self
    }

    /// The index of the parameter of this name, if it takes values of type `T`.
    fn parameter<T: Element>(&self, parameter: &str, param: &str) -> Result<usize, Mistake> {
        let mistake = |message, help: Option<String>| Mistake {
            rule: Rule::Signature,
            place: Place::Kernel,
            message,
            notes: Vec::new(),
            help,
        };
        let Callee::Declared(facts, true) = self.callee else {
            let message = format!("`{param}` is passed to a kernel that is not declared `safe`");
            let help = "pass it where the `unsafe` call is made, or change the node by `Graph::update`";
            return Err(mistake(message, Some(help.to_owned())));
        };
        let names = facts.params.iter().map(|known| known.name);
        let found = names.clone().zip(0..N).find(|(known, _)| *known == parameter);
        let Some((_, index)) = found else {
            let message = format!("kernel `{}` has no parameter `{parameter}`", facts.name);
            let near = nearest(parameter, names).map(|near| format!("did you mean `{near}`?"));
            return Err(mistake(message, near));
        };
        let takes = match (facts.params[index].kind, &self.arguments[index].0) {
            (ParamKind::Value(kind), ArgumentKind::Value(value)) => {
                kind == scalar::<T>() && value.bytes().len() == size_of::<T>()
            }
            (ParamKind::Value(kind), ArgumentKind::Param(_) | ArgumentKind::Misfit(_)) => {
                kind == scalar::<T>() && kind != Scalar::Other
            }
            (ParamKind::Value(_), ArgumentKind::Buffer(..)) | (ParamKind::Buffer { .. }, _) => false,
        };
        if takes {
            return Ok(index);
        }
        let (name, ty) = (facts.name, std::any::type_name::<T>());
        let message = format!("parameter `{parameter}` of kernel `{name}` does not take `{param}`, which is `{ty}`");
        Err(mistake(message, None))
    }
}
