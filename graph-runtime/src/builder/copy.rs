//! Copies and memsets, of places and of rectangles.

use super::GraphBuilder;
use crate::graph::node::NodeId;
use crate::kernel::Value;
use crate::program::Op;
use crate::shape::part::Part;
use crate::shape::place::{Memory, OnDevice, Place, Span};
use crate::shape::rectangle::{Rectangle, RectangleSpan};
use crate::shape::{ArrayOf, Element, SameShape};
use graph_plan::{Code, Diagnostic, Draft, Mode, NodeKind, Subject};
use std::borrow::Cow;

impl GraphBuilder {
    /// Adds a node that copies `from` to `to`. Where only their types' outermost lengths are unknown, `build` compares
    /// them.
    pub fn memcpy<A, B, M1, M2>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        from: &Place<A, M1>,
        to: &mut Place<B, M2>,
    ) -> NodeId
    where
        A: ?Sized + SameShape<B>,
        B: ?Sized,
        M1: Memory,
        M2: Memory,
    {
        let node = self.node(name, NodeKind::Memcpy);
        let read = self.touch(node, from.span, Mode::Read);
        let written = self.touch(node, to.span, Mode::Write);
        if read && written && from.span.bytes != to.span.bytes {
            let mistake = mismatch(&self.draft, node, from.span, to.span);
            self.mistakes.push(mistake);
        }
        self.push(Op::Memcpy {
            from: Part::of(from.span).into(),
            to: Part::of(to.span).into(),
        })
    }

    /// Adds a node that sets every element of `to` to `value`.
    pub fn memset<S: ?Sized + ArrayOf<T>, T: Element>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        to: &mut Place<S, OnDevice>,
        value: T,
    ) -> NodeId {
        let node = self.node(name, NodeKind::Memset);
        self.touch(node, to.span, Mode::Write);
        self.push(Op::Memset {
            to: Part::of(to.span).into(),
            value: Value::new(&value),
            will_update: false,
        })
    }

    /// Adds a node that copies columns of rows, or to them. Numbers of rows and columns that types do not tell are
    /// compared when the graph is built.
    ///
    /// CUDA cannot change such a node in place: rebinding memory that it uses instantiates the graph again, unless both
    /// sides are in one piece.
    pub fn memcpy_2d<A, B, M1, M2>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        from: &Rectangle<A, M1>,
        to: &mut Rectangle<B, M2>,
    ) -> NodeId
    where
        A: ?Sized + SameShape<B>,
        B: ?Sized,
        M1: Memory,
        M2: Memory,
    {
        let node = self.node(name, NodeKind::Memcpy);
        let (from, to) = (from.area, to.area);
        let read = self.touch_area(node, from, Mode::Read);
        let written = self.touch_area(node, to, Mode::Write);
        if read && written && (from.rows(), from.span.bytes) != (to.rows(), to.span.bytes) {
            let mistake = other_rectangle(&self.draft, node, from, to);
            self.mistakes.push(mistake);
        }
        let (from, to) = match (from.in_one_piece(), to.in_one_piece()) {
            (Some(from), Some(to)) => (Part::of(from).into(), Part::of(to).into()),
            _ => (from.rows_of_bytes(), to.rows_of_bytes()),
        };
        self.push(Op::Memcpy { from, to })
    }

    /// Adds a node that sets every element of some columns of rows to `value`.
    pub fn memset_2d<S: ?Sized + ArrayOf<T>, T: Element>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        to: &mut Rectangle<S, OnDevice>,
        value: T,
    ) -> NodeId {
        let node = self.node(name, NodeKind::Memset);
        self.touch_area(node, to.area, Mode::Write);
        self.push(Op::Memset {
            to: to.area.bytes(),
            value: Value::new(&value),
            will_update: false,
        })
    }

    /// Records that the newest node touches a rectangle, or why it cannot.
    fn touch_area(&mut self, node: usize, area: RectangleSpan, mode: Mode) -> bool {
        match area.in_one_piece() {
            Some(span) => self.touch(node, span, mode),
            None => self.touch_region(node, area.span, mode, |_| area.region()),
        }
    }
}

/// A copy between different lengths.
#[cold]
fn mismatch(draft: &Draft, node: usize, from: Span, to: Span) -> Diagnostic {
    let name = |span: Span| &draft.resources[span.resource].name;
    let message = format!(
        "node `{}` copies {} bytes of `{}` to {} bytes of `{}`",
        draft.nodes[node].name,
        from.bytes,
        name(from),
        to.bytes,
        name(to)
    );
    Diagnostic::new(Code::ShapeMismatch, Subject::Node(node), message).help("copy between places of one length")
}

/// A copy between different numbers of rows, or of bytes in each.
#[cold]
fn other_rectangle(draft: &Draft, node: usize, from: RectangleSpan, to: RectangleSpan) -> Diagnostic {
    let side = |area: RectangleSpan| {
        let name = &draft.resources[area.span.resource].name;
        format!("{} rows of {} bytes of `{name}`", area.rows(), area.width)
    };
    let name = &draft.nodes[node].name;
    let message = format!("node `{name}` copies {} to {}", side(from), side(to));
    Diagnostic::new(Code::ShapeMismatch, Subject::Node(node), message).help("copy between places of one shape")
}
