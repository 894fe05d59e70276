//! The launches that may be in flight and use one block of memory.

use std::sync::{Arc, Weak};

/// A range of bytes of a block, and whether they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    start: usize,
    end: usize,
    write: bool,
}

impl Access {
    pub(crate) const fn new(start: usize, end: usize, write: bool) -> Self {
        Self { start, end, write }
    }

    pub(super) fn writes(&self) -> bool {
        self.write
    }

    /// Whether the two must not happen at the same time: they overlap, and one writes.
    pub(super) fn conflicts(&self, other: &Access) -> bool {
        (self.write || other.write) && self.start.max(other.start) < self.end.min(other.end)
    }

    /// Whether every access that conflicts with `other` conflicts with this one, too.
    fn covers(&self, other: &Access) -> bool {
        self.write && self.start <= other.start && other.end <= self.end
    }
}

/// The launches that may be in flight. `E` is the event that a graph records after its launches: when the event has
/// been dropped, the launches are done.
pub(super) struct Launches<E>(Vec<GraphLaunch<E>>);

/// The last launch of a graph with this access.
struct GraphLaunch<E> {
    access: Access,
    /// The stream's number; `None` if its handle means another stream on each thread. Numbers are never reused.
    stream: Option<u64>,
    event: Weak<E>,
}

impl<E> Default for Launches<E> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<E> Launches<E> {
    /// The events of the launches for which `is_asked` is true.
    fn events(&self, is_asked: impl Fn(&GraphLaunch<E>) -> bool) -> Vec<Arc<E>> {
        let launches = self.0.iter().filter(|launch| is_asked(launch));
        launches.filter_map(|launch| launch.event.upgrade()).collect()
    }

    /// The events of all launches.
    pub(super) fn all(&self) -> Vec<Arc<E>> {
        self.events(|_| true)
    }

    /// The events of the launches that conflict with an access.
    pub(super) fn conflicting(&self, access: Access) -> Vec<Arc<E>> {
        self.events(|launch| launch.access.conflicts(&access))
    }

    /// The events of conflicting launches for which a new launch must wait explicitly: they are neither on the same
    /// `stream`, nor launches of the same graph that `event` stands for.
    pub(super) fn elsewhere(&self, access: Access, stream: Option<u64>, event: &Arc<E>) -> Vec<Arc<E>> {
        self.events(|launch| {
            let is_elsewhere = launch.stream != stream || stream.is_none();
            let is_other = launch.event.as_ptr() != Arc::as_ptr(event);
            is_elsewhere && is_other && launch.access.conflicts(&access)
        })
    }

    /// Forgets launches that conflict with an access, since they are done.
    pub(super) fn forget(&mut self, access: Access) {
        self.0.retain(|launch| !launch.access.conflicts(&access));
    }

    /// Remembers a launch, which runs after all launches that conflict with it. So it replaces those that it covers.
    pub(super) fn add(&mut self, access: Access, stream: Option<u64>, event: &Arc<E>) {
        let event = Arc::downgrade(event);
        self.0.retain(|old| {
            let replaced = access.covers(&old.access) || old.access == access && old.event.ptr_eq(&event);
            old.event.strong_count() > 0 && !replaced
        });
        self.0.push(GraphLaunch { access, stream, event });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Event(&'static str);

    fn event(name: &'static str) -> Arc<Event> {
        Arc::new(Event(name))
    }

    fn names(events: Vec<Arc<Event>>) -> Vec<&'static str> {
        events.into_iter().map(|event| event.0).collect()
    }

    const READ: Access = Access::new(0, 64, false);
    const WRITE: Access = Access::new(0, 64, true);

    #[test]
    fn only_conflicts_on_other_streams_are_waited_for() {
        let (writer, reader, next) = (event("writer"), event("reader"), event("next"));
        let mut launches = Launches::default();
        launches.add(WRITE, Some(1), &writer);
        assert_eq!(names(launches.elsewhere(READ, Some(2), &reader)), ["writer"]);
        assert!(
            launches.elsewhere(READ, Some(1), &reader).is_empty(),
            "the stream orders them"
        );
        assert!(launches.elsewhere(WRITE, Some(2), &writer).is_empty(), "the graph does");
        launches.add(READ, Some(2), &reader);
        assert_eq!(
            names(launches.elsewhere(READ, Some(3), &next)),
            ["writer"],
            "readers need no order"
        );
        assert_eq!(names(launches.elsewhere(WRITE, Some(3), &next)), ["writer", "reader"]);
        assert_eq!(names(launches.elsewhere(WRITE, Some(2), &next)), ["writer"]);
    }

    #[test]
    fn streams_without_a_number_are_never_the_same() {
        let (first, second) = (event("first"), event("second"));
        let mut launches = Launches::default();
        launches.add(WRITE, None, &first);
        assert_eq!(names(launches.elsewhere(READ, None, &second)), ["first"]);
    }

    #[test]
    fn parts_that_do_not_overlap_are_independent() {
        let (low, high) = (event("low"), event("high"));
        let mut launches = Launches::default();
        launches.add(Access::new(0, 32, true), Some(1), &low);
        launches.add(Access::new(32, 64, true), Some(2), &high);
        assert_eq!(names(launches.conflicting(Access::new(16, 32, true))), ["low"]);
        assert_eq!(names(launches.conflicting(Access::new(31, 33, false))), ["low", "high"]);
        assert!(
            launches.conflicting(Access::new(40, 40, true)).is_empty(),
            "nothing overlaps no bytes"
        );
    }

    #[test]
    fn a_writer_stands_for_what_it_came_after() {
        let (first, second, part) = (event("first"), event("second"), event("part"));
        let mut launches = Launches::default();
        launches.add(READ, Some(1), &first);
        launches.add(Access::new(0, 32, true), Some(2), &part);
        assert_eq!(names(launches.all()), ["first", "part"], "it wrote only a part");
        launches.add(WRITE, Some(3), &second);
        assert_eq!(names(launches.all()), ["second"]);
    }

    #[test]
    fn graphs_are_remembered_once_and_not_for_ever() {
        let (reader, other) = (event("reader"), event("other"));
        let mut launches = Launches::default();
        for stream in 0..10 {
            launches.add(READ, Some(stream), &reader);
        }
        assert_eq!(names(launches.all()), ["reader"]);
        assert!(
            launches.elsewhere(WRITE, Some(9), &other).is_empty(),
            "it moved to that stream"
        );
        drop(reader);
        launches.add(READ, Some(1), &other);
        assert_eq!(launches.0.len(), 1, "its graph is gone");
        launches.forget(READ);
        assert_eq!(names(launches.all()), ["other"], "readers do not wait for readers");
        launches.forget(WRITE);
        assert!(launches.all().is_empty());
    }
}
