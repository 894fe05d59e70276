//! Changes of a built graph in place. After one that failed half-way, the graph does not launch.

use crate::backend::executable::CAPTURED;
use crate::error::Error;
use crate::graph::Graph;

/// A change of nodes in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    /// A [`Graph::update`] of this name.
    Update(&'static str),
    /// An update of nothing but values, which is being made.
    Values,
    /// A recording of a captured graph again.
    Recording,
    /// A [`Graph::edit`] whose closure is running.
    Open,
    /// A [`Graph::rebind`] of this resource.
    Rebind(usize),
    /// A [`Graph::update_from`] a definition.
    Replace,
    /// A capture that another thread made while the graph was launched: it took the launch. This never ends.
    Captured,
}

impl Graph {
    /// Begins an edit: launches are refused until [`Graph::finish`].
    #[inline]
    pub(crate) fn begin(&mut self, edit: Edit) {
        if !self.half_edited.contains(&edit) {
            self.half_edited.push(edit);
        }
    }

    /// Ends an edit that has succeeded.
    #[inline]
    pub(crate) fn finish(&mut self, edit: Edit) {
        match self.half_edited[..] {
            [only] if only == edit => self.half_edited.clear(),
            _ => self.half_edited.retain(|&other| other != edit),
        }
    }

    /// Ends all updates, since all nodes are now as the program says.
    #[inline]
    pub(crate) fn finish_updates(&mut self) {
        match self.half_edited[..] {
            [Edit::Update(_) | Edit::Values] => self.half_edited.clear(),
            _ => self
                .half_edited
                .retain(|edit| !matches!(edit, Edit::Update(_) | Edit::Values)),
        }
    }

    #[cold]
    pub(crate) fn refusal(&self) -> Error {
        match self.half_edited[0] {
            Edit::Update(what) => Error::HalfUpdated {
                site: self.site(),
                what,
            },
            // The driver's refusal is undone, or named; this is after a panic.
            Edit::Values => Error::HalfUpdated {
                site: self.site(),
                what: "values",
            },
            Edit::Recording => Error::HalfUpdated {
                site: self.site(),
                what: "record_again",
            },
            Edit::Open => Error::Unsupported {
                site: self.site(),
                message: "the graph is being edited, and can be launched when `edit` has returned",
            },
            Edit::Rebind(resource) => Error::HalfRebound {
                site: self.site().at_memory(&self.draft.resources[resource].name),
            },
            Edit::Replace => Error::HalfUpdated {
                site: self.site(),
                what: "the whole graph",
            },
            Edit::Captured => Error::Stream {
                site: self.site(),
                message: CAPTURED,
            },
        }
    }
}
