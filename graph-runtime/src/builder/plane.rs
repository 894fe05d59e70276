//! Copies and memsets of rectangles.

use super::GraphBuilder;
use crate::error::mistakes;
use crate::graph::node::NodeId;
use crate::kernel::Value;
use crate::program::{CopyRows, Op, Part, SetRows};
use crate::shape::place::{Memory, OnDevice};
use crate::shape::rectangle::{Area, Rectangle};
use crate::shape::{ArrayOf, Element, SameShape};
use graph_plan::{Mode, NodeKind};
use std::borrow::Cow;

impl GraphBuilder {
    /// Adds a node that copies columns of rows, or to them. Numbers of rows and columns that types do not tell are compared when the graph is built.
    ///
    /// CUDA cannot change such a node in place: rebinding memory that it uses instantiates the graph again, unless both sides are in one piece.
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
            let mistake = mistakes::other_rectangle(&self.draft, node, from, to);
            self.mistakes.push(mistake);
        }
        self.push(match (from.in_one_piece(), to.in_one_piece()) {
            (Some(from), Some(to)) => Op::Memcpy {
                from: Part::of(from),
                to: Part::of(to),
            },
            _ => Op::CopyRows(Box::new(CopyRows {
                from: from.strided(),
                to: to.strided(),
            })),
        })
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
        let value = Value::new(&value);
        self.push(match to.area.in_one_piece() {
            Some(span) => Op::Memset {
                to: Part::of(span),
                value,
                changes: false,
            },
            None => Op::SetRows(Box::new(SetRows {
                to: to.area.strided(),
                value,
                changes: false,
            })),
        })
    }

    /// Records that the newest node touches a rectangle, or why it cannot.
    fn touch_area(&mut self, node: usize, area: Area, mode: Mode) -> bool {
        match area.in_one_piece() {
            Some(span) => self.touch(node, span, mode),
            None => self.touch_region(node, area.span, mode, |_| area.region()),
        }
    }
}
