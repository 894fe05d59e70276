//! The target of a node that mentions a `param`: the builder that adds the node, or the update that changes it.
//!
//! `cuda_graph!` expands such a node to one function over [`NodeTarget`]. So the user's expressions are compiled once,
//! and `build` and `set_x` cannot differ.

use super::declare;
use crate::builder::GraphBuilder;
use crate::error::Result;
use crate::graph::update::Update;
use crate::kernel::{KernelCall, Launch};
use crate::shape::place::{OnDevice, Place};
use crate::shape::rectangle::Rectangle;
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

    /// Adds or changes the child graph of the declaration with this index and name, with the bindings `bound`. `add`
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
    fn kernel<const N: usize>(
        &mut self,
        index: usize,
        _name: &'static str,
        launch: Launch,
        call: KernelCall<N>,
    ) -> Result<()> {
        Update::kernel(self, self.declared(index), launch, call)
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
