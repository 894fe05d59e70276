//! The order of a graph whose nodes have bodies of their own: one [`Order`] a body.

use crate::{Draft, Order, Role};

/// The order of nodes, in the graph itself and in all bodies.
///
/// Two nodes of different bodies are ordered like the nodes of their innermost common body that they are in.
#[derive(Clone, Debug)]
pub struct Nest {
    /// The order of each body of [`Draft::bodies`]; its nodes are indices into `members`.
    orders: Vec<Order>,
    /// The nodes of each body; empty if there is one body, which has all nodes.
    members: Vec<Vec<usize>>,
    /// The body of each node and its index there; empty if there is one body.
    places: Vec<(u32, u32)>,
    /// For each body, its node and its role.
    owners: Vec<(Option<usize>, Role)>,
    /// For each body, the number of bodies around it.
    depths: Vec<u32>,
}

impl Nest {
    /// The graph without bodies that `order` orders.
    pub(crate) fn flat(order: Order) -> Self {
        Self {
            orders: vec![order],
            members: Vec::new(),
            places: Vec::new(),
            owners: vec![(None, Role::Graph)],
            depths: vec![0],
        }
    }

    /// A graph with bodies: the nodes and the order of each.
    pub(crate) fn new(draft: &Draft, members: Vec<Vec<usize>>, orders: Vec<Order>) -> Self {
        let mut places = vec![(0, 0); draft.nodes.len()];
        for (body, nodes) in members.iter().enumerate() {
            for (local, &node) in nodes.iter().enumerate() {
                places[node] = (body as u32, local as u32);
            }
        }
        // A body comes after the one that its node is in.
        let mut depths = vec![0; draft.bodies.len()];
        for (body, declared) in draft.bodies.iter().enumerate() {
            depths[body] = declared.node.map_or(0, |node| depths[draft.nodes[node].body] + 1);
        }
        Self {
            orders,
            members,
            places,
            depths,
            owners: draft.bodies.iter().map(|body| (body.node, body.role)).collect(),
        }
    }

    /// Whether `first` always ends before `second` starts. For nodes of two bodies, the nodes around them decide.
    pub fn before(&self, first: usize, second: usize) -> bool {
        if self.places.is_empty() {
            return self.orders[0].before(first, second);
        }
        let (body, first, second) = self.common(first, second);
        self.orders[body].before(first, second)
    }

    /// Whether the two can never run at the same time. This is also true of a node and itself, of a node and the nodes
    /// in its bodies, and of nodes if a launch runs only one of them.
    pub fn ordered(&self, first: usize, second: usize) -> bool {
        if self.places.is_empty() {
            return self.orders[0].ordered(first, second);
        }
        let (body, first, second) = self.common(first, second);
        self.orders[body].ordered(first, second)
    }

    /// Whether the two are in different bodies of one node, of which only one runs each time.
    pub fn exclusive(&self, first: usize, second: usize) -> bool {
        if self.places.is_empty() {
            return false;
        }
        let (mut first, mut second) = (self.body(first), self.body(second));
        while first != second {
            if self.owners[first].0.is_some() && self.owners[first].0 == self.owners[second].0 {
                return true;
            }
            let inner = if self.depths[first] >= self.depths[second] {
                &mut first
            } else {
                &mut second
            };
            *inner = self.enclosing(*inner).unwrap_or(0);
        }
        false
    }

    /// The nodes of a body in a topological order.
    pub fn sequence(&self, body: usize) -> impl ExactSizeIterator<Item = usize> + DoubleEndedIterator + '_ {
        let sequence = self.orders[body].sequence();
        sequence.iter().map(move |&local| self.node(body, local))
    }

    /// The number of bodies.
    pub fn bodies(&self) -> usize {
        self.orders.len()
    }

    /// The length in edges of the longest path of its body that ends at `node`.
    pub fn level(&self, node: usize) -> usize {
        let (body, local) = self.place(node);
        self.orders[body].level(local)
    }

    /// The body that `node` is in.
    pub fn body(&self, node: usize) -> usize {
        self.place(node).0
    }

    /// The order of one body, by local index.
    pub(crate) fn order(&self, body: usize) -> &Order {
        &self.orders[body]
    }

    /// The node with a local index.
    #[inline]
    pub(crate) fn node(&self, body: usize, local: usize) -> usize {
        self.members.get(body).map_or(local, |members| members[local])
    }

    fn place(&self, node: usize) -> (usize, usize) {
        self.places
            .get(node)
            .map_or((0, node), |&(body, local)| (body as usize, local as usize))
    }

    fn enclosing(&self, body: usize) -> Option<usize> {
        self.owners[body].0.map(|node| self.body(node))
    }

    /// The innermost body that both nodes are in, and for each the local index there of the node that it is or is in.
    fn common(&self, first: usize, second: usize) -> (usize, usize, usize) {
        let ((mut a, mut first), (mut b, mut second)) = (self.place(first), self.place(second));
        let out = |body: &mut usize, local: &mut usize| {
            if let Some(owner) = self.owners[*body].0 {
                (*body, *local) = self.place(owner);
            }
        };
        while a != b {
            if self.depths[a] >= self.depths[b] {
                out(&mut a, &mut first);
            } else {
                out(&mut b, &mut second);
            }
        }
        (a, first, second)
    }
}

#[cfg(test)]
mod tests {
    use crate::check;
    use crate::test_draft::draft_of;

    #[test]
    fn nodes_of_bodies_are_ordered_as_those_around_them() {
        let draft = draft_of("join before; then if choice { join a after b; join b; } else { join c; } join last;");
        let [before, choice, a, b, c, after] = [0, 1, 2, 3, 4, 5];
        let (then, otherwise) = (1, 2);
        let order = check(&draft).order;
        assert!(order.before(before, choice) && order.before(before, a) && order.before(b, a));
        assert!(!order.before(a, b) && !order.before(choice, a) && !order.before(a, after));
        assert!(order.ordered(choice, a) && order.ordered(a, c) && !order.ordered(after, c));
        assert!(order.exclusive(a, c) && !order.exclusive(a, b) && !order.exclusive(a, before));
        assert_eq!(order.sequence(then).collect::<Vec<_>>(), [b, a]);
        assert_eq!(order.sequence(0).collect::<Vec<_>>(), [before, choice, after]);
        assert_eq!((order.level(a), order.level(choice), order.body(c)), (1, 1, otherwise));
    }
}
