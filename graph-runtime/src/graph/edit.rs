//! Changes of a built graph in place, and what it means for launches if one fails half-way.

use crate::error::Error;
use crate::graph::Graph;

/// A change of nodes in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    /// [`Graph::update`] of this name.
    Update(&'static str),
    /// [`Graph::rebind`] of this resource.
    Rebind(usize),
}

impl Graph {
    /// Makes launching refuse until [`Graph::finish`].
    pub(crate) fn begin(&mut self, edit: Edit) {
        if !self.half_edited.contains(&edit) {
            self.half_edited.push(edit);
        }
    }

    /// The edit has succeeded.
    pub(crate) fn finish(&mut self, edit: Edit) {
        self.half_edited.retain(|&other| other != edit);
    }

    #[cold]
    pub(crate) fn refusal(&self) -> Error {
        match self.half_edited[0] {
            Edit::Update(what) => Error::HalfUpdated {
                site: self.site(),
                what,
            },
            Edit::Rebind(resource) => Error::HalfRebound {
                site: self.site().at_memory(&self.draft.resources[resource].name),
            },
        }
    }
}
