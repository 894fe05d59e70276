//! The target of a node that mentions a `param`: the builder that adds the node, or the update that changes it.
//!
//! `cuda_graph!` expands such a node to one function over [`NodeTarget`]. So the user's expressions are compiled once,
//! and `build` and `set_x` cannot differ.

use super::declare;
use crate::builder::GraphBuilder;
use crate::error::{Error, Result, mistakes};
use crate::graph::change::update::Update;
use crate::kernel::{KernelCall, Launch};
use crate::shape::place::{Copied, Memory, OnDevice, Place};
use crate::shape::rectangle::Rectangle;
use crate::shape::rows::{Rows, sealed};
use crate::shape::same::SameShape;
use crate::shape::{ArrayOf, Element};

/// The builder that adds nodes, or the update that changes them.
pub trait NodeTarget {
    /// Adds or changes the kernel node of the declaration with this index and name.
    fn kernel<const N: usize>(
        &mut self,
        index: usize,
        name: &'static str,
        launch: Launch,
        call: KernelCall<N>,
    ) -> Result<()>;

    /// Adds or changes the memset node of the declaration with this index and name.
    fn memset<S: ?Sized + ArrayOf<T>, T: Element>(
        &mut self,
        index: usize,
        name: &'static str,
        to: &mut Place<S, OnDevice>,
        value: T,
    ) -> Result<()>;

    /// Adds or changes the memset node of a rectangle, of the declaration with this index and name.
    fn memset_2d<S: ?Sized + ArrayOf<T>, T: Element>(
        &mut self,
        index: usize,
        name: &'static str,
        to: &mut Rectangle<S, OnDevice>,
        value: T,
    ) -> Result<()>;

    /// Adds or changes the copy of a part that params choose, of the declaration with this index and name.
    fn memcpy<A, B, R, W, M1, M2>(
        &mut self,
        index: usize,
        name: &'static str,
        from: &Place<A, M1>,
        to: &mut Place<B, M2>,
        within: (&Place<R, M1>, &Place<W, M2>),
    ) -> Result<()>
    where
        A: ?Sized + SameShape<B>,
        B: ?Sized,
        R: ?Sized,
        W: ?Sized,
        M1: Copied,
        M2: Copied;

    /// Adds or changes the copy of a rectangle that params choose, of the declaration with this index and name.
    fn memcpy_2d<A, B, R, W, M1, M2>(
        &mut self,
        index: usize,
        name: &'static str,
        from: &Rectangle<A, M1>,
        to: &mut Rectangle<B, M2>,
        within: (&Rectangle<R, M1>, &Rectangle<W, M2>),
    ) -> Result<()>
    where
        A: ?Sized + SameShape<B>,
        B: ?Sized,
        R: ?Sized,
        W: ?Sized,
        M1: Memory,
        M2: Memory;

    /// Adds or changes the memset of a part that params choose, of the declaration with this index and name.
    fn memset_within<S: ?Sized + ArrayOf<T>, T: Element, W: ?Sized>(
        &mut self,
        index: usize,
        name: &'static str,
        to: &mut Place<S, OnDevice>,
        value: T,
        within: &Place<W, OnDevice>,
    ) -> Result<()>;

    /// Adds or changes the memset of a rectangle that params choose, of the declaration with this index and name.
    fn memset_2d_within<S: ?Sized + ArrayOf<T>, T: Element, W: ?Sized>(
        &mut self,
        index: usize,
        name: &'static str,
        to: &mut Rectangle<S, OnDevice>,
        value: T,
        within: &Rectangle<W, OnDevice>,
    ) -> Result<()>;

    /// The error of a range of the node that was declared with this index and name: it leaves `memory`, which has `len`
    /// elements.
    fn outside(&self, index: usize, name: &'static str, memory: &str, range: (usize, usize), len: usize) -> Error;

    /// The child graph of the declaration with this index and name, with the bindings `bound`. `add`
    /// adds its nodes, and `update` changes those that mention params; both are functions of the child.
    fn child<B>(
        &mut self,
        index: usize,
        name: &'static str,
        bound: B,
        add: impl FnOnce(&mut GraphBuilder, B) -> Result<()>,
        update: impl FnOnce(&mut Update<'_>, B) -> Result<()>,
    ) -> Result<()>;

    /// The numbers of the current iterations, from the outermost `for` inwards.
    fn iterations<const DEPTH: usize>(&self) -> [usize; DEPTH];
}

/// Adds nodes. The index of a node is the number of nodes declared before it.
impl NodeTarget for GraphBuilder {
    fn kernel<const N: usize>(
        &mut self,
        _index: usize,
        name: &'static str,
        launch: Launch,
        call: KernelCall<N>,
    ) -> Result<()> {
        GraphBuilder::kernel(self, name, launch, call);
        Ok(())
    }

    fn memset<S: ?Sized + ArrayOf<T>, T: Element>(
        &mut self,
        _index: usize,
        name: &'static str,
        to: &mut Place<S, OnDevice>,
        value: T,
    ) -> Result<()> {
        let node = GraphBuilder::memset(self, name, to, value);
        self.will_update(node);
        Ok(())
    }

    fn memset_2d<S: ?Sized + ArrayOf<T>, T: Element>(
        &mut self,
        _index: usize,
        name: &'static str,
        to: &mut Rectangle<S, OnDevice>,
        value: T,
    ) -> Result<()> {
        let node = GraphBuilder::memset_2d(self, name, to, value);
        self.will_update(node);
        Ok(())
    }

    fn memcpy<A, B, R, W, M1, M2>(
        &mut self,
        _index: usize,
        name: &'static str,
        from: &Place<A, M1>,
        to: &mut Place<B, M2>,
        within: (&Place<R, M1>, &Place<W, M2>),
    ) -> Result<()>
    where
        A: ?Sized + SameShape<B>,
        B: ?Sized,
        R: ?Sized,
        W: ?Sized,
        M1: Copied,
        M2: Copied,
    {
        GraphBuilder::memcpy_within(self, name, from, to, within);
        Ok(())
    }

    fn memcpy_2d<A, B, R, W, M1, M2>(
        &mut self,
        _index: usize,
        name: &'static str,
        from: &Rectangle<A, M1>,
        to: &mut Rectangle<B, M2>,
        within: (&Rectangle<R, M1>, &Rectangle<W, M2>),
    ) -> Result<()>
    where
        A: ?Sized + SameShape<B>,
        B: ?Sized,
        R: ?Sized,
        W: ?Sized,
        M1: Memory,
        M2: Memory,
    {
        GraphBuilder::memcpy_2d_within(self, name, from, to, within);
        Ok(())
    }

    fn memset_within<S: ?Sized + ArrayOf<T>, T: Element, W: ?Sized>(
        &mut self,
        _index: usize,
        name: &'static str,
        to: &mut Place<S, OnDevice>,
        value: T,
        within: &Place<W, OnDevice>,
    ) -> Result<()> {
        GraphBuilder::memset_within(self, name, to, value, within);
        Ok(())
    }

    fn memset_2d_within<S: ?Sized + ArrayOf<T>, T: Element, W: ?Sized>(
        &mut self,
        _index: usize,
        name: &'static str,
        to: &mut Rectangle<S, OnDevice>,
        value: T,
        within: &Rectangle<W, OnDevice>,
    ) -> Result<()> {
        GraphBuilder::memset_2d_within(self, name, to, value, within);
        Ok(())
    }

    fn outside(&self, _index: usize, name: &'static str, memory: &str, range: (usize, usize), len: usize) -> Error {
        let node = self.newest_node().index().wrapping_add(1);
        Error::Invalid {
            graph: self.name().into(),
            diagnostics: vec![mistakes::outside_range(node, name, memory, range, len)],
        }
    }

    fn child<B>(
        &mut self,
        _index: usize,
        name: &'static str,
        bound: B,
        add: impl FnOnce(&mut GraphBuilder, B) -> Result<()>,
        _update: impl FnOnce(&mut Update<'_>, B) -> Result<()>,
    ) -> Result<()> {
        declare::child(self, name, bound, add);
        Ok(())
    }

    fn iterations<const DEPTH: usize>(&self) -> [usize; DEPTH] {
        std::array::from_fn(|depth| self.iteration(depth))
    }
}

/// Changes nodes. For a node in a `for`, that is the node of the current iteration.
impl NodeTarget for Update<'_> {
    #[inline]
    fn kernel<const N: usize>(
        &mut self,
        index: usize,
        _name: &'static str,
        launch: Launch,
        call: KernelCall<N>,
    ) -> Result<()> {
        Update::declared_kernel(self, self.declared(index), launch, call)
    }

    fn memset<S: ?Sized + ArrayOf<T>, T: Element>(
        &mut self,
        index: usize,
        _name: &'static str,
        to: &mut Place<S, OnDevice>,
        value: T,
    ) -> Result<()> {
        Update::memset(self, self.declared(index), to, value)
    }

    fn memset_2d<S: ?Sized + ArrayOf<T>, T: Element>(
        &mut self,
        index: usize,
        _name: &'static str,
        to: &mut Rectangle<S, OnDevice>,
        value: T,
    ) -> Result<()> {
        Update::memset_2d(self, self.declared(index), to, value)
    }

    fn memcpy<A, B, R, W, M1, M2>(
        &mut self,
        index: usize,
        _name: &'static str,
        from: &Place<A, M1>,
        to: &mut Place<B, M2>,
        _within: (&Place<R, M1>, &Place<W, M2>),
    ) -> Result<()>
    where
        A: ?Sized + SameShape<B>,
        B: ?Sized,
        R: ?Sized,
        W: ?Sized,
        M1: Copied,
        M2: Copied,
    {
        Update::memcpy(self, self.declared(index), from, to)
    }

    fn memcpy_2d<A, B, R, W, M1, M2>(
        &mut self,
        index: usize,
        _name: &'static str,
        from: &Rectangle<A, M1>,
        to: &mut Rectangle<B, M2>,
        _within: (&Rectangle<R, M1>, &Rectangle<W, M2>),
    ) -> Result<()>
    where
        A: ?Sized + SameShape<B>,
        B: ?Sized,
        R: ?Sized,
        W: ?Sized,
        M1: Memory,
        M2: Memory,
    {
        Update::memcpy_2d(self, self.declared(index), from, to)
    }

    fn memset_within<S: ?Sized + ArrayOf<T>, T: Element, W: ?Sized>(
        &mut self,
        index: usize,
        _name: &'static str,
        to: &mut Place<S, OnDevice>,
        value: T,
        _within: &Place<W, OnDevice>,
    ) -> Result<()> {
        Update::memset(self, self.declared(index), to, value)
    }

    fn memset_2d_within<S: ?Sized + ArrayOf<T>, T: Element, W: ?Sized>(
        &mut self,
        index: usize,
        _name: &'static str,
        to: &mut Rectangle<S, OnDevice>,
        value: T,
        _within: &Rectangle<W, OnDevice>,
    ) -> Result<()> {
        Update::memset_2d(self, self.declared(index), to, value)
    }

    fn outside(&self, index: usize, name: &'static str, memory: &str, range: (usize, usize), len: usize) -> Error {
        let node = self.declared(index).index();
        let name = self.graph.data.draft.nodes.get(node).map_or(name, |node| &node.name);
        Error::Invalid {
            graph: self.graph_name().into(),
            diagnostics: vec![mistakes::outside_range(node, name, memory, range, len)],
        }
    }

    fn child<B>(
        &mut self,
        index: usize,
        _name: &'static str,
        bound: B,
        _add: impl FnOnce(&mut GraphBuilder, B) -> Result<()>,
        update: impl FnOnce(&mut Update<'_>, B) -> Result<()>,
    ) -> Result<()> {
        self.within(index, |child| update(child, bound))
    }

    fn iterations<const DEPTH: usize>(&self) -> [usize; DEPTH] {
        std::array::from_fn(|depth| self.iteration(depth))
    }
}

/// The elements `start..end` of `place`, for the node that was declared with this index and name.
///
/// # Errors
/// [`Error::Invalid`] if the range leaves the place, which is `memory` in messages.
pub fn chosen<S: ?Sized + Rows, M: Memory>(
    target: &impl NodeTarget,
    index: usize,
    name: &'static str,
    memory: &str,
    place: &Place<S, M>,
    start: usize,
    end: usize,
) -> Result<Place<S::Several, M>> {
    check_part(target, index, name, memory, length(place), start, end)?;
    Ok(place.rows(start..end))
}

/// Refuses a range that leaves `memory`, which has `len` elements.
///
/// # Errors
/// [`Error::Invalid`] if it does.
pub fn check_part(
    target: &impl NodeTarget,
    index: usize,
    name: &'static str,
    memory: &str,
    len: usize,
    start: usize,
    end: usize,
) -> Result<()> {
    if start <= end && end <= len {
        return Ok(());
    }
    Err(target.outside(index, name, memory, (start, end), len))
}

/// The length of the outermost dimension of a place.
pub fn length<S: ?Sized + Rows, M>(place: &Place<S, M>) -> usize {
    S::count(place.span.bytes, &place.lengths).unwrap_or(0)
}

/// The length of the next dimension.
pub fn inner_length<S: ?Sized + Rows<Row: Rows>, M>(place: &Place<S, M>) -> usize {
    let (bytes, lengths) = (S::row_bytes(&place.lengths), S::row_lengths(&place.lengths));
    <S::Row as sealed::Rows>::count(bytes, &lengths).unwrap_or(0)
}

/// The end of a range that includes `last`. If `last` is the greatest number, no memory has it: the end, which is less
/// than it should be, is then outside, too.
pub const fn after(last: usize) -> usize {
    last.saturating_add(1)
}
