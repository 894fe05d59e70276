//! The state of a built graph between changes: whether its device runs what its program says.

use crate::backend::executable::CAPTURED;
use crate::error::{Error, Result};
use crate::graph::Graph;
use std::cell::Cell;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};

/// Whether the device runs the nodes of a graph as its program says. Launches need [`State::Whole`].
///
/// A change leaves this state before it touches the device or runs code of the user in between, and returns to it when
/// the device has taken all of it. So a panic of that code leaves a graph that does not launch.
#[derive(Debug)]
pub(crate) enum State {
    /// The device runs what the program says.
    Whole,
    /// The closure of an edit is running, or was when the graph was swapped out of it. Before, the graph was whole.
    Open,
    /// As `Open`, of a graph that was broken before.
    OpenBroken(Broken),
    /// A change has begun and not ended. The next change that succeeds mends that.
    Broken(Broken),
    /// A capture that another thread made while the graph was launched took the launch. This never ends.
    Captured,
}

/// The change that has begun and not ended, or the first of several.
#[derive(Debug, Default)]
pub(crate) struct Broken {
    /// The name of the change.
    pub(super) what: &'static str,
    /// The nodes that the device may run otherwise than the program says. (All, if the executable graph is stale.)
    pub(super) nodes: Vec<usize>,
}

impl State {
    /// The nodes that the device may run otherwise than the program says.
    pub(super) fn broken_nodes(&self) -> &[usize] {
        match self {
            State::Broken(broken) => &broken.nodes,
            State::Whole | State::Open | State::OpenBroken(_) | State::Captured => &[],
        }
    }
}

/// The number of a built graph, which no other one has: not the one that takes its place by an update from a
/// definition, nor one that is swapped with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instance(u64);

impl Instance {
    /// No graph has this number.
    const NONE: Self = Self(0);

    pub(crate) fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

thread_local! {
    /// The graph whose edit has its closure running on this thread. A graph that is open, but not this one, has been
    /// swapped out of its edit.
    static EDITED: Cell<Instance> = const { Cell::new(Instance::NONE) };
}

impl Graph {
    /// Returns whether a change is a part of an edit, which makes it when its closure has returned.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the edit of another graph is running, which could not undo this change, or if this
    /// graph was swapped out of its edit; [`Error::Stream`] if no change can mend the graph.
    #[inline]
    pub(in crate::graph) fn is_in_edit(&self) -> Result<bool> {
        let edited = EDITED.get();
        match self.state {
            State::Whole if edited == Instance::NONE => Ok(false),
            State::Open | State::OpenBroken(_) if edited == self.instance => Ok(true),
            State::Whole | State::Open | State::OpenBroken(_) | State::Broken(_) | State::Captured => {
                self.check_outside(edited)
            }
        }
    }

    #[cold]
    fn check_outside(&self, edited: Instance) -> Result<bool> {
        match self.state {
            State::Open | State::OpenBroken(_) | State::Captured => Err(self.refusal()),
            State::Whole | State::Broken(_) if edited == Instance::NONE => Ok(false),
            State::Whole | State::Broken(_) => Err(Error::Unsupported {
                site: self.site(),
                message: "the edit of another graph is running on this thread, and it makes changes of that graph only",
            }),
        }
    }

    /// As [`Graph::is_in_edit`], for changes that are no part of an edit.
    pub(in crate::graph) fn check_no_edit(&mut self) -> Result<()> {
        if self.is_in_edit()? {
            return self.refuse(self.refusal());
        }
        Ok(())
    }

    /// As [`Graph::check_no_edit`], for what makes another graph of this one. That mends a graph that was swapped out
    /// of an edit, whose params are not those of its nodes.
    pub(in crate::graph) fn check_replaceable(&mut self) -> Result<()> {
        if matches!(self.state, State::Open | State::OpenBroken(_)) && EDITED.get() == Instance::NONE {
            return Ok(());
        }
        self.check_no_edit()
    }

    /// Begins an edit, whose closure runs next on this thread.
    #[inline]
    pub(super) fn open(&mut self) -> Instance {
        if self.is_whole() {
            self.state = State::Open;
        } else if let State::Broken(broken) = &mut self.state {
            self.state = State::OpenBroken(mem::take(broken));
        } // `is_in_edit` has refused the others
        EDITED.set(self.instance);
        self.instance
    }

    /// Ends the closure of an edit of this graph.
    #[inline]
    pub(super) fn close(&mut self) {
        if let State::Open = self.state {
            self.state = State::Whole;
        } else if let State::OpenBroken(broken) = &mut self.state {
            self.state = State::Broken(mem::take(broken));
        }
    }

    /// Begins a change that the device takes in several steps. Until [`Graph::mend`], the graph does not launch.
    /// Returns the state before.
    pub(in crate::graph) fn begin_change(&mut self, what: &'static str, nodes: Vec<usize>) -> State {
        let what = match &self.state {
            State::Broken(before) => before.what,
            State::Whole | State::Open | State::OpenBroken(_) | State::Captured => what,
        };
        mem::replace(&mut self.state, State::Broken(Broken { what, nodes }))
    }

    /// Ends all changes that have begun: the device runs what the program says.
    pub(in crate::graph) fn mend(&mut self) {
        self.state = State::Whole;
    }

    /// Whether the device runs what the program says, or did when the edit began whose closure is running.
    #[inline]
    pub(super) fn was_whole(&self) -> bool {
        matches!(self.state, State::Whole | State::Open)
    }

    #[inline]
    pub(in crate::graph) fn is_whole(&self) -> bool {
        matches!(self.state, State::Whole)
    }

    /// The reason why the graph does not launch.
    #[cold]
    pub(in crate::graph) fn refusal(&self) -> Error {
        let site = self.site();
        let message = match &self.state {
            State::Broken(Broken { what, .. }) => return Error::HalfUpdated { site, what },
            State::Captured => {
                return Error::Stream {
                    site,
                    message: CAPTURED,
                };
            }
            State::Open | State::OpenBroken(_) if EDITED.get() != self.instance => {
                "the graph was swapped with another one while it was edited; update it from a definition"
            }
            // Nobody asks for the reason of a whole graph.
            State::Open | State::OpenBroken(_) | State::Whole => {
                "the graph is being edited, and can be launched when `edit` has returned"
            }
        };
        Error::Unsupported { site, message }
    }
}

/// Ends the closure of the edit that is running on this thread, if there is one.
#[inline]
pub(super) fn leave_edit() {
    EDITED.set(Instance::NONE);
}
