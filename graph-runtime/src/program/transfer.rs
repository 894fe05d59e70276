//! Copies and memsets as the builder and updates take them. Types are checked where these are made; below, parts of
//! memory are plain data.

use crate::kernel::Value;
use crate::kernel::param::{Param, PassedParam};
use crate::program::reach::Reach;
use crate::program::{MemcpyOp, MemsetOp};
use crate::shape::bytes::{Bytes, Selection};
use crate::shape::place::OnDevice;
use crate::shape::same_shape::{SameShape, difference};
use crate::shape::{ArrayOf, Element, Lengths};
use graph_plan::{Diagnostic, Draft};

/// A copy.
#[derive(Clone, Copy, Debug)]
pub struct Memcpy {
    pub(crate) from: Bytes,
    pub(crate) to: Bytes,
    /// The memory in which updates choose `from` and `to`, if they do.
    pub(crate) within: Option<(Bytes, Bytes)>,
    /// The lengths of `from` and `to` that their types do not tell, if these differ.
    differing: Option<(Lengths, Lengths)>,
}

impl Memcpy {
    /// A copy between memory of one shape.
    pub fn new<A, B>(from: &A, to: &mut B) -> Self
    where
        A: Selection<Shape: SameShape<B::Shape>>,
        B: Selection,
    {
        let ((from, source), (to, destination)) = (from.selected(), to.selected());
        Self {
            from,
            to,
            within: None,
            differing: difference::<A::Shape, B::Shape>((from.all.bytes, &source), (to.all.bytes, &destination)),
        }
    }

    /// A copy between bytes of which nothing else is known. `build` compares their numbers.
    pub(crate) fn of_bytes(from: Bytes, to: Bytes) -> Self {
        Self {
            from,
            to,
            within: None,
            differing: None,
        }
    }

    /// The copy whose parts updates choose in `read` and in `written`.
    pub fn within(self, read: &impl Selection, written: &impl Selection) -> Self {
        Self {
            within: Some((read.selected().0, written.selected().0)),
            ..self
        }
    }

    /// The mistake of the copy if the two parts have other shapes.
    pub(crate) fn mistake(&self, draft: &Draft, node: usize) -> Option<Diagnostic> {
        self.from.mistake(draft, node, self.to, self.differing)
    }

    /// The copy in the form that backends take.
    pub(crate) fn lowered(&self) -> MemcpyOp {
        let [from, to] = Bytes::sides([self.from, self.to]);
        MemcpyOp { from, to }
    }

    /// The memory in which updates choose the parts, if they do.
    pub(crate) fn reach(&self) -> Option<Reach> {
        self.within.map(|(read, written)| Reach {
            from: Some(read.lowered()),
            to: written.lowered(),
            rows: self.to.is_rectangle,
        })
    }
}

/// A memset.
#[derive(Clone, Debug)]
pub struct Memset {
    pub(crate) to: Bytes,
    pub(crate) value: Value,
    /// The memory in which updates choose `to`, if they do.
    pub(crate) within: Option<Bytes>,
    /// The param that the value is.
    pub(crate) param: Option<Box<PassedParam>>,
}

impl Memset {
    /// A memset of every element of `to`.
    pub fn new<S, T>(to: &S, value: T) -> Self
    where
        S: Selection<Shape: ArrayOf<T>, Memory = OnDevice>,
        T: Element,
    {
        Self {
            to: to.selected().0,
            value: Value::new(&value),
            within: None,
            param: None,
        }
    }

    /// A memset of every element of `to` to the value of a param.
    pub(crate) fn to<S, T>(to: &S, param: &Param<T>) -> Self
    where
        S: Selection<Shape: ArrayOf<T>, Memory = OnDevice>,
        T: Element,
    {
        Self {
            param: Some(Box::new(param.whole())),
            ..Self::new(to, param.initial())
        }
    }

    /// The memset whose part updates choose in `written`.
    pub fn within(self, written: &impl Selection<Memory = OnDevice>) -> Self {
        Self {
            within: Some(written.selected().0),
            ..self
        }
    }

    /// The memset in the form that backends take. `will_update` says whether updates may replace the value.
    pub(crate) fn lowered(self, will_update: bool) -> MemsetOp {
        MemsetOp {
            to: self.to.lowered(),
            value: self.value,
            will_update,
        }
    }

    /// The memory in which updates choose the part, if they do.
    pub(crate) fn reach(&self) -> Option<Reach> {
        self.within.map(|written| Reach {
            from: None,
            to: written.lowered(),
            rows: self.to.is_rectangle,
        })
    }
}
