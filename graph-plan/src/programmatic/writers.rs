//! The writers of the memory of a kernel that starts before the kernels before it have ended.

use crate::scope::Scopes;
use crate::{Access, Draft, Nest};

/// The accesses of a draft that write, by resource.
pub struct Writers<'a> {
    scopes: Scopes,
    order: &'a Nest,
    of_resources: Vec<Vec<&'a Access>>,
}

impl<'a> Writers<'a> {
    /// The writing accesses of `draft`, whose order is `order`.
    pub fn new(draft: &'a Draft, order: &'a Nest) -> Self {
        let mut of_resources = vec![Vec::new(); draft.resources.len()];
        for access in draft.accesses.iter().filter(|access| access.mode.writes()) {
            of_resources[access.resource].push(access);
        }
        Self {
            scopes: Scopes::new(draft),
            order,
            of_resources,
        }
    }

    /// Whether some node writes memory that the access touches. The node of the access counts too.
    pub fn any(&self, access: &Access) -> bool {
        self.overlapping(access).next().is_some()
    }

    /// Whether a node that runs before the node of the access writes memory that the access touches. In a loop all
    /// nodes run before it, in the previous iteration.
    pub fn before(&self, access: &Access) -> bool {
        let node = access.node;
        self.overlapping(access)
            .any(|writer| self.order.before(writer.node, node) || self.again(writer.node, node))
    }

    fn overlapping<'b>(&'b self, access: &'b Access) -> impl Iterator<Item = &'b Access> {
        let writers = self.of_resources[access.resource].iter().copied();
        writers.filter(|writer| writer.region.overlaps_in_some_iterations(&access.region))
    }

    /// Whether there is a loop that repeats both nodes.
    fn again(&self, first: usize, second: usize) -> bool {
        let mut repetitions = self.scopes.repetitions(second);
        repetitions.any(|scope| self.scopes.contains(scope, first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_draft::draft_of;
    use crate::{Bound, Memory, Mode, NodeKind, Region, check};

    #[test]
    fn writers_are_found_by_region_and_order() {
        let draft = draft_of(
            "device data; kernel first: data[0..4]*; then kernel second: data[0..4], data[4..8];
             then kernel third: data[6..8]=;",
        );
        let (low, high) = (1, 2);
        let order = check(&draft).order;
        let writers = Writers::new(&draft, &order);
        let found = |access: usize| {
            let access = &draft.accesses[access];
            (writers.any(access), writers.before(access))
        };
        assert_eq!((found(low), found(high)), ((true, true), (true, false)));

        let mut looped = draft.clone();
        looped.for_loop("i", None);
        looped.nodes.iter_mut().for_each(|node| node.in_loop = Some(0));
        let writers = Writers::new(&looped, &order);
        assert!(writers.before(&looped.accesses[high]), "in the iteration before");
    }

    #[test]
    fn what_is_apart_in_one_iteration_may_meet_in_two() {
        let mut draft = Draft::new("Test");
        let data = draft.resource("data", Memory::Device);
        let for_loop = draft.for_loop("i", None);
        let split = || Bound::iteration("i", for_loop);
        for (name, region, mode) in [
            ("read", Region::Range(Bound::Known(0), split()), Mode::Read),
            ("write", Region::Range(split(), Bound::End), Mode::Write),
        ] {
            let node = draft.node(name, NodeKind::Kernel);
            draft.nodes[node].in_loop = Some(for_loop);
            draft.access(node, data, region, mode);
        }
        let outcome = check(&draft);
        assert_eq!(outcome.errors, []);
        let writers = Writers::new(&draft, &outcome.order);
        assert!(writers.before(&draft.accesses[0]), "in the iteration before");
    }

    #[test]
    fn what_a_node_writes_itself_is_written() {
        let draft = draft_of("device data; kernel only: data*;");
        let order = check(&draft).order;
        let writers = Writers::new(&draft, &order);
        assert!(writers.any(&draft.accesses[0]) && !writers.before(&draft.accesses[0]));
    }
}
