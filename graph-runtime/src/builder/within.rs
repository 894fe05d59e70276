//! Copies and memsets of a part of memory that updates choose.

use super::GraphBuilder;
use crate::error::mistakes;
use crate::graph::node::NodeId;
use crate::kernel::Value;
use crate::program::reach::Reach;
use crate::program::{MemcpyOp, MemsetOp, Work};
use crate::shape::place::{Copied, Memory, OnDevice, Place};
use crate::shape::rectangle::{Rectangle, RectangleSpan};
use crate::shape::same::{SameShape, difference};
use crate::shape::{ArrayOf, Element, Lengths};
use graph_plan::{Mode, NodeKind, Region};
use std::borrow::Cow;

/// A part of memory, and the memory in which updates choose another part.
#[derive(Clone, Copy)]
struct Chosen {
    part: RectangleSpan,
    all: RectangleSpan,
}

impl GraphBuilder {
    /// Adds a node that copies `from` to `to`, and that updates can make copy other parts: any part of the first place
    /// of `within` to any part of the second. These places hold `from` and `to`. A copy of an empty part does nothing.
    ///
    /// The analysis takes all of `within` as read and written. As the node may copy nothing, it does not initialise
    /// scratch memory and does not end a `while`.
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder};
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Prefix");
    /// let input = builder.host::<[f32; 8]>("input");
    /// let x = builder.device::<[f32; 8]>("x");
    /// let up = builder.memcpy_within("up", &input.rows(..2), &mut x.rows(..2), (&input, &x));
    ///
    /// let mut graph = builder.build()?;
    /// graph.host_mut(&input)?.fill(1.0);
    /// graph.launch()?;
    /// assert_eq!(graph.device(&x)?.read()?[..4], [1.0, 1.0, 0.0, 0.0]);
    /// graph.update("n", |update| update.memcpy(up, &input.rows(..3), &mut x.rows(..3)))?;
    /// graph.launch()?;
    /// assert_eq!(graph.device(&x)?.read()?[..4], [1.0, 1.0, 1.0, 0.0]);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    pub fn memcpy_within<A, B, R, W, M1, M2>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        from: &Place<A, M1>,
        to: &mut Place<B, M2>,
        within: (&Place<R, M1>, &Place<W, M2>),
    ) -> NodeId
    where
        A: ?Sized + SameShape<B>,
        B: ?Sized,
        R: ?Sized,
        W: ?Sized,
        M1: Copied,
        M2: Copied,
    {
        let lengths = difference::<A, B>((from.span.bytes, &from.lengths), (to.span.bytes, &to.lengths));
        let sides = [(from.span, within.0.span), (to.span, within.1.span)];
        let sides = sides.map(|(part, all)| Chosen {
            part: part.into(),
            all: all.into(),
        });
        self.copy_within(name.into(), sides, lengths, false)
    }

    /// As [`GraphBuilder::memcpy_within`], for rectangles. CUDA cannot change such a copy in place: an update of it
    /// waits for launches in flight and instantiates the graph again.
    pub fn memcpy_2d_within<A, B, R, W, M1, M2>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        from: &Rectangle<A, M1>,
        to: &mut Rectangle<B, M2>,
        within: (&Rectangle<R, M1>, &Rectangle<W, M2>),
    ) -> NodeId
    where
        A: ?Sized + SameShape<B>,
        B: ?Sized,
        R: ?Sized,
        W: ?Sized,
        M1: Memory,
        M2: Memory,
    {
        let lengths = difference::<A, B>((from.span.all.bytes, &from.lengths), (to.span.all.bytes, &to.lengths));
        let sides = [(from.span, within.0.span), (to.span, within.1.span)];
        self.copy_within(
            name.into(),
            sides.map(|(part, all)| Chosen { part, all }),
            lengths,
            true,
        )
    }

    /// Adds a node that sets every element of `to`, and that updates can make set any other part of `within`, which
    /// holds `to`. Updates can also change the value. The analysis takes all of `within` as written: see
    /// [`GraphBuilder::memcpy_within`].
    pub fn memset_within<S: ?Sized + ArrayOf<T>, T: Element, W: ?Sized>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        to: &mut Place<S, OnDevice>,
        value: T,
        within: &Place<W, OnDevice>,
    ) -> NodeId {
        let to = Chosen {
            part: to.span.into(),
            all: within.span.into(),
        };
        self.set_within(name.into(), to, Value::new(&value), false)
    }

    /// As [`GraphBuilder::memset_within`], for rectangles.
    pub fn memset_2d_within<S: ?Sized + ArrayOf<T>, T: Element, W: ?Sized>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        to: &mut Rectangle<S, OnDevice>,
        value: T,
        within: &Rectangle<W, OnDevice>,
    ) -> NodeId {
        let to = Chosen {
            part: to.span,
            all: within.span,
        };
        self.set_within(name.into(), to, Value::new(&value), true)
    }

    /// `lengths` are those of the two parts if they differ; if not `rows`, the parts are in one piece.
    fn copy_within(
        &mut self,
        name: Cow<'static, str>,
        [from, to]: [Chosen; 2],
        lengths: Option<(Lengths, Lengths)>,
        rows: bool,
    ) -> NodeId {
        let node = self.node(name, NodeKind::Memcpy);
        let read = self.touch_within(node, from, Mode::Read);
        let written = self.touch_within(node, to, Mode::Write);
        if read && written {
            let mistake = from.part.mistake(&self.draft, node, to.part, lengths, rows);
            self.findings.mistakes(mistake);
        }
        let (source, destination) = RectangleSpan::sides([from.part, to.part]);
        let work = Work::Memcpy(MemcpyOp {
            from: source,
            to: destination,
        });
        let reach = Reach {
            from: Some(from.all.bytes()),
            to: to.all.bytes(),
            rows,
        };
        self.push_within(node, work, reach)
    }

    fn set_within(&mut self, name: Cow<'static, str>, to: Chosen, value: Value, rows: bool) -> NodeId {
        let node = self.node(name, NodeKind::Memset);
        self.touch_within(node, to, Mode::Write);
        let work = Work::Memset(MemsetOp {
            to: to.part.bytes(),
            value,
            will_update: true,
        });
        let reach = Reach {
            from: None,
            to: to.all.bytes(),
            rows,
        };
        self.push_within(node, work, reach)
    }

    /// Records that the newest node touches all of the memory in which its part is chosen. If it cannot touch that,
    /// reports the mistake and returns false.
    fn touch_within(&mut self, node: usize, chosen: Chosen, mode: Mode) -> bool {
        let Chosen { part, all } = chosen;
        let name = &self.draft.nodes[node].name;
        if part.all.graph != self.id {
            self.findings.mistake(mistakes::foreign(node, name));
            return false;
        }
        if part.all.outside {
            let (memory, bytes) = (
                &self.draft.resources[part.all.resource].name,
                self.memory.bytes(part.all.resource),
            );
            self.findings.mistake(mistakes::outside(node, name, memory, bytes));
            return false;
        }
        // The region is not `Whole`, since a node that touches `Whole` certainly writes all of it.
        self.touch_region(node, all.all, mode, |_| match all.in_one_piece() {
            Some(span) => Region::span(span.start as u64, (span.start + span.bytes) as u64),
            None => all.region(),
        })
    }

    /// Adds the work of the newest node, and reports work that is not in its reach.
    fn push_within(&mut self, node: usize, work: Work, reach: Reach) -> NodeId {
        self.draft.nodes[node].partial = true;
        let left = reach
            .left_by(&work)
            .and_then(|resource| self.draft.resources.get(resource));
        if let Some(memory) = left {
            let mistake = mistakes::beyond(node, &self.draft.nodes[node].name, &memory.name);
            self.findings.mistake(mistake);
        }
        let added = self.push(work);
        self.program.reaches.insert(added.index(), reach);
        added
    }
}
