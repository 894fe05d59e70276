//! What a graph keeps of the user's as long as it lives.

use crate::backend::calls::Calls;
use crate::backend::{Blueprint, Storage};
use crate::event::Event;
use crate::program::Op;

/// Freed only when no launch is in flight and the graph is gone; leaked where that is not sure.
pub(super) struct Kept {
    pub(super) calls: Calls,
    /// Those of `record` and `wait` nodes.
    _events: Vec<Event>,
}

impl Kept {
    pub(super) fn new(blueprint: &Blueprint<'_>, storage: &[Storage]) -> Self {
        let event = |op: &Op| match op {
            Op::Record(event) | Op::Wait(event) => Some(event.clone()),
            _ => None,
        };
        Self {
            calls: Calls::new(blueprint, storage),
            _events: blueprint.program.ops.iter().filter_map(event).collect(),
        }
    }
}
