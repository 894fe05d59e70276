//! The target of a node that mentions a `param`: the builder that adds the node, or the update that changes it.
//!
//! `cuda_graph!` expands such a node to one function over [`NodeTarget`]. So the user's expressions are compiled once,
//! and `build` and `set_x` cannot differ.

use super::declare;
use crate::builder::GraphBuilder;
use crate::error::{Error, Result, mistakes};
use crate::graph::change::update::Update;
use crate::kernel::{KernelCall, Launch};
use crate::program::transfer::{Memcpy, Memset};
use crate::shape::place::{Memory, Place};
use crate::shape::rows::{Rows, sealed};

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

    /// Adds or changes the copy of the declaration with this index and name.
    fn memcpy(&mut self, index: usize, name: &'static str, copy: Memcpy) -> Result<()>;

    /// Adds or changes the memset of the declaration with this index and name.
    fn memset(&mut self, index: usize, name: &'static str, set: Memset) -> Result<()>;

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

    /// The graph's name.
    fn graph_name(&self) -> &str;

    /// The elements `start..end` of `place`, for the node that was declared with this index and name.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the range leaves the place, which is `memory` in messages.
    fn chosen<S: ?Sized + Rows, M: Memory>(
        &self,
        index: usize,
        name: &'static str,
        memory: &str,
        place: &Place<S, M>,
        start: usize,
        end: usize,
    ) -> Result<Place<S::Several, M>> {
        self.check_part(index, name, memory, length(place), start, end)?;
        Ok(place.rows(start..end))
    }

    /// Refuses a range that leaves `memory`, which has `len` elements.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it does.
    fn check_part(
        &self,
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
        Err(self.outside(index, name, memory, (start, end), len))
    }
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

    fn memcpy(&mut self, _index: usize, name: &'static str, copy: Memcpy) -> Result<()> {
        self.copy(name.into(), &copy);
        Ok(())
    }

    fn memset(&mut self, _index: usize, name: &'static str, set: Memset) -> Result<()> {
        let node = self.set(name.into(), set);
        self.will_update(node);
        Ok(())
    }

    fn outside(&self, _index: usize, name: &'static str, memory: &str, range: (usize, usize), len: usize) -> Error {
        let node = self.newest_node().index().wrapping_add(1);
        Error::mistake(self.name(), mistakes::outside_range(node, name, memory, range, len))
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

    fn graph_name(&self) -> &str {
        self.name()
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

    fn memcpy(&mut self, index: usize, _name: &'static str, copy: Memcpy) -> Result<()> {
        self.copy(self.declared(index), &copy)
    }

    fn memset(&mut self, index: usize, _name: &'static str, set: Memset) -> Result<()> {
        self.set(self.declared(index), set)
    }

    fn outside(&self, index: usize, name: &'static str, memory: &str, range: (usize, usize), len: usize) -> Error {
        let node = self.declared(index).index();
        let name = self.graph.data.draft.nodes.get(node).map_or(name, |node| &node.name);
        Error::mistake(
            self.graph_name(),
            mistakes::outside_range(node, name, memory, range, len),
        )
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

    fn graph_name(&self) -> &str {
        &self.graph.data.draft.name
    }
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
