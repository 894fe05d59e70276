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

/// The edits that have begun and not ended.
#[derive(Debug, Default)]
pub(crate) struct HalfEdited {
    /// Whether [`Edit::Open`] is among them. It and [`Edit::Values`] begin and end with every edit, so this is cheap.
    open: bool,
    /// Whether [`Edit::Values`] is among them.
    values: bool,
    others: Vec<Edit>,
}

impl HalfEdited {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        !self.open && !self.values && self.others.is_empty()
    }

    /// Whether the closure of an edit is running.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// The edit to report, if there is one.
    pub(crate) fn first(&self) -> Option<Edit> {
        let others = self.others.first().copied();
        others
            .or(self.values.then_some(Edit::Values))
            .or(self.open.then_some(Edit::Open))
    }

    /// Whether another thread's capture has taken a launch.
    pub(crate) fn is_captured(&self) -> bool {
        self.others.contains(&Edit::Captured)
    }
}

impl Graph {
    /// Begins an edit: launches are refused until [`Graph::finish`].
    #[inline]
    pub(crate) fn begin(&mut self, edit: Edit) {
        let half_edited = &mut self.half_edited;
        match edit {
            Edit::Open => half_edited.open = true,
            Edit::Values => half_edited.values = true,
            Edit::Update(_) | Edit::Recording | Edit::Rebind(_) | Edit::Replace | Edit::Captured => {
                if !half_edited.others.contains(&edit) {
                    half_edited.others.push(edit);
                }
            }
        }
    }

    /// Ends an edit that has succeeded.
    #[inline]
    pub(crate) fn finish(&mut self, edit: Edit) {
        let half_edited = &mut self.half_edited;
        match edit {
            Edit::Open => half_edited.open = false,
            Edit::Values => half_edited.values = false,
            Edit::Update(_) | Edit::Recording | Edit::Rebind(_) | Edit::Replace | Edit::Captured => {
                half_edited.others.retain(|&other| other != edit);
            }
        }
    }

    /// Ends all updates, since all nodes are now as the program says.
    #[inline]
    pub(crate) fn finish_updates(&mut self) {
        self.finish(Edit::Values);
        let others = &mut self.half_edited.others;
        if !others.is_empty() {
            others.retain(|edit| !matches!(edit, Edit::Update(_)));
        }
    }

    #[cold]
    pub(crate) fn refusal(&self) -> Error {
        // Without a half-made edit, nobody asks.
        match self.half_edited.first().unwrap_or(Edit::Values) {
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
