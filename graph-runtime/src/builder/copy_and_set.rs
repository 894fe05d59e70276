//! Copies and memsets, also of a part of memory that updates choose.

use super::GraphBuilder;
use crate::error::mistakes;
use crate::graph::node::NodeId;
use crate::program::Work;
use crate::program::reach::Reach;
use crate::program::transfer::{Memcpy, Memset};
use crate::shape::bytes::Bytes;
use crate::shape::place::{Copied, Memory, OnDevice, Place};
use crate::shape::rectangle::Rectangle;
use crate::shape::same_shape::SameShape;
use crate::shape::{ArrayOf, Element};
use graph_plan::{Mode, NodeKind, Region};
use std::borrow::Cow;

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
        self.copy(name.into(), &Memcpy::new(from, to).within(within.0, within.1))
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
        self.copy(name.into(), &Memcpy::new(from, to).within(within.0, within.1))
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
        self.set(name.into(), Memset::new(to, value).within(within))
    }

    /// As [`GraphBuilder::memset_within`], for rectangles.
    pub fn memset_2d_within<S: ?Sized + ArrayOf<T>, T: Element, W: ?Sized>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        to: &mut Rectangle<S, OnDevice>,
        value: T,
        within: &Rectangle<W, OnDevice>,
    ) -> NodeId {
        self.set(name.into(), Memset::new(to, value).within(within))
    }

    /// Adds a copy.
    pub(crate) fn copy(&mut self, name: Cow<'static, str>, copy: &Memcpy) -> NodeId {
        let node = self.node(name, NodeKind::Memcpy);
        let (all_read, all_written) = copy.within.unzip();
        let read = self.touch_bytes(node, copy.from, all_read, Mode::Read);
        let written = self.touch_bytes(node, copy.to, all_written, Mode::Write);
        if read && written {
            self.findings.mistakes(copy.mistake(&self.draft, node));
        }
        self.push_in_reach(node, copy.lowered().into(), copy.reach())
    }

    /// Adds a memset.
    pub(crate) fn set(&mut self, name: Cow<'static, str>, set: Memset) -> NodeId {
        let node = self.node(name, NodeKind::Memset);
        self.touch_bytes(node, set.to, set.within, Mode::Write);
        if let Some(param) = &set.param {
            self.use_param(node, None, param);
        }
        let reach = set.reach();
        let will_update = reach.is_some() || set.param.is_some();
        let work = set.lowered(will_update);
        self.push_in_reach(node, work.into(), reach)
    }

    /// Records that the newest node touches these bytes or, if updates choose them in `all`, all of that. If the node
    /// cannot touch them, reports the mistake and returns false.
    fn touch_bytes(&mut self, node: usize, bytes: Bytes, all: Option<Bytes>, mode: Mode) -> bool {
        let Some(all) = all else {
            return match bytes.in_one_piece() {
                Some(span) => self.touch(node, span, mode),
                None => self.touch_region(node, bytes.all, mode, |_| bytes.region()),
            };
        };
        // The region is not `Whole`, since a node that touches `Whole` certainly writes all of it.
        self.is_inside(node, bytes.all)
            && self.touch_region(node, all.all, mode, |_| match all.in_one_piece() {
                Some(span) => Region::span(span.start as u64, (span.start + span.bytes) as u64),
                None => all.region(),
            })
    }

    /// Adds the work of the newest node. If updates choose its parts, reports work that is not in its reach.
    fn push_in_reach(&mut self, node: usize, work: Work, reach: Option<Reach>) -> NodeId {
        let Some(reach) = reach else {
            return self.push(work);
        };
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
