//! Groups of memory as arguments of declared graphs: `build` takes several groups for `layers: [Layer; n]`, and
//! `rebind_layers` replaces one. Each field of each group is memory that the graph shares, `layers[2].q`.

use crate::builder::GraphBuilder;
use crate::error::{Error, Result, Site, mistakes};
use crate::expansion::argument::{memory_argument, rebound};
use crate::graph::change::rebind::Rebound;
use crate::memory::DeviceBuffer;
use crate::shape::Extent;
use crate::shape::place::{OnDevice, Place};
use std::fmt;
use std::sync::Arc;

/// One field of all groups of an argument: a place for each group. It is cheap to clone.
pub struct GroupField<S: ?Sized, M> {
    owner: Arc<FieldOwner>,
    places: Arc<[Place<S, M>]>,
}

/// The names of a field, for messages.
struct FieldOwner {
    graph: Box<str>,
    argument: &'static str,
    field: &'static str,
}

impl<S: ?Sized, M> GroupField<S, M> {
    /// Returns the place of this field in group `index`.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] if there is no such group.
    pub fn at(&self, index: usize) -> Result<Place<S, M>> {
        let FieldOwner { graph, argument, field } = &*self.owner;
        self.places.get(index).copied().ok_or_else(|| Error::OutOfBounds {
            site: Site::graph(graph).at_memory(&format!("{argument}[{index}].{field}")),
        })
    }

    /// Returns the place of this field in each group.
    pub fn places(&self) -> impl Iterator<Item = &Place<S, M>> {
        self.places.iter()
    }

    /// Compares the number of groups with the number that the graph declares.
    ///
    /// # Errors
    /// [`Error::Invalid`] (`shape-mismatch`) if these differ.
    pub fn require(&self, groups: usize) -> Result<()> {
        let FieldOwner { graph, argument, .. } = &*self.owner;
        let has = self.places.len();
        if has == groups {
            return Ok(());
        }
        let first = self.places.first().map_or(0, |place| place.span.resource);
        Err(Error::mistake(
            graph,
            mistakes::wrong_length(first, argument, has, groups, "groups"),
        ))
    }
}

impl<S: ?Sized + Extent> GroupField<S, OnDevice> {
    /// Declares one field of all groups that a graph takes when it is built. `build` fails if a length does not match
    /// `S`.
    pub fn declared<G>(
        builder: &mut GraphBuilder,
        (argument, field): (&'static str, &'static str),
        groups: &[G],
        get: impl Fn(&G) -> &DeviceBuffer<S>,
        mutable: bool,
    ) -> Self {
        let declare = |(index, group): (usize, &G)| {
            let name = format!("{argument}[{index}].{field}");
            memory_argument::<S, OnDevice>(builder, name, get(group), mutable)
        };
        let places = groups.iter().enumerate().map(declare).collect();
        let graph = builder.name().into();
        Self {
            owner: Arc::new(FieldOwner { graph, argument, field }),
            places,
        }
    }

    /// Returns a buffer with the place of this field in group `index`, which it replaces.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] if there is no such group.
    pub fn rebound(&self, index: usize, memory: &DeviceBuffer<S>) -> Result<Rebound> {
        Ok(rebound(&self.at(index)?, memory))
    }
}

impl<S: ?Sized, M> Clone for GroupField<S, M> {
    fn clone(&self) -> Self {
        Self {
            owner: Arc::clone(&self.owner),
            places: Arc::clone(&self.places),
        }
    }
}

impl<S: ?Sized, M> fmt::Debug for GroupField<S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FieldOwner { argument, field, .. } = &*self.owner;
        write!(f, "{argument}.{field} of {} groups", self.places.len())
    }
}
